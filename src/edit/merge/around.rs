//! Merging of the text around the entries: the other keys of a document, including its tests.
//!
//! It is merged by lines. Where lines conflict, each test counts as one line, and tests are merged
//! as a list, so it is no conflict if both sides add some. Invariant: conflicts contain whole tests
//! and other lines.

use std::collections::HashSet;

use super::piece::{Clash, MergedPiece};
use super::sides::Sides;
use super::text;

/// Merges the lines of a document outside its entries.
///
/// # Errors
///
/// If there is too much text.
pub(super) fn merge(sides: Sides<&str>) -> Result<MergedPiece, git2::Error> {
    if let Some(text) = text::clean(sides) {
        return Ok(MergedPiece::Agreed(text));
    }
    let folded = sides.map(folded);
    let merged = text::with_base(folded.each().map(String::as_bytes))?.text;
    let merged = String::from_utf8(merged).expect("lines of texts are text");
    let mut result = Clash {
        marked: String::new(),
        ours: String::new(),
        theirs: String::new(),
        why: "both sides changed these lines".to_owned(),
    };
    let mut is_clean = true;
    for hunk in hunks(&merged) {
        let (ours, theirs) = match hunk {
            Hunk::Agreed(lines) => {
                let lines = unfolded(&lines);
                result.marked += &lines;
                (lines.clone(), lines)
            }
            Hunk::Clash(ours, theirs) => {
                is_clean = false;
                let (ours, theirs) = (unfolded(&ours), unfolded(&theirs));
                result.marked += &format!("<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n");
                (ours, theirs)
            }
        };
        result.ours += &ours;
        result.theirs += &theirs;
    }
    Ok(if is_clean {
        MergedPiece::Agreed(result.marked)
    } else {
        MergedPiece::Clash(result)
    })
}

/// Lines that both sides agree on, or the lines of either side.
enum Hunk<'t> {
    Agreed(Vec<&'t str>),
    Clash(Vec<&'t str>, Vec<&'t str>),
}

/// Returns the result of a merge by folded lines, with lists of tests merged as such.
fn hunks(merged: &str) -> Vec<Hunk<'_>> {
    let mut hunks = Vec::new();
    let mut lines = merged.split_inclusive('\n').peekable();
    while lines.peek().is_some() {
        // No line of a document that could be split looks like a marker.
        let mut until = |marker: &str| {
            let lines = lines.by_ref();
            let until = lines.take_while(|line| !line.starts_with(marker));
            until.collect::<Vec<_>>()
        };
        hunks.push(Hunk::Agreed(until("<<<<<<<")));
        let (ours, base, theirs) = (until("|||||||"), until("======="), until(">>>>>>>"));
        hunks.extend(narrowed(Sides { base, ours, theirs }));
    }
    hunks
}

/// Returns a conflict reduced to what differs: less if both sides share lines, or if all of it is
/// tests.
fn narrowed(sides: Sides<Vec<&str>>) -> [Hunk<'_>; 3] {
    let Sides {
        base,
        mut ours,
        mut theirs,
    } = sides;
    let alike = |(one, other): &(&&str, &&str)| one == other;
    let above = ours.iter().zip(&theirs).take_while(alike).count();
    let first: Vec<_> = ours.drain(..above).collect();
    theirs.drain(..above);
    let below = ours.iter().rev().zip(theirs.iter().rev());
    let below = below.take_while(alike).count();
    theirs.truncate(theirs.len() - below);
    let last = ours.split_off(ours.len() - below);

    let mut all = base.iter().chain(&ours).chain(&theirs);
    let is_list = all.all(|line| is_test(line));
    // A line that both sides removed may have been replaced by either.
    let is_complete = || {
        let there = ours.iter().chain(&theirs).chain(&first).chain(&last);
        let there: HashSet<_> = there.collect();
        base.iter().all(|line| there.contains(line))
    };
    let middle = if is_list && is_complete() {
        Hunk::Agreed(Sides { base, ours, theirs }.items())
    } else {
        Hunk::Clash(ours, theirs)
    };
    [Hunk::Agreed(first), middle, Hunk::Agreed(last)]
}

/// Returns a text with each test, and the comments above it, on one line: after a carriage return,
/// with another one at each of its line breaks. No document that could be split contains any.
fn folded(text: &str) -> String {
    let mut folded = Folded::default();
    for line in text.split_inclusive('\n') {
        folded.push(line);
    }
    folded.end_test();
    folded.text + &folded.above
}

#[derive(Default)]
struct Folded {
    text: String,
    /// The lines of the current test.
    test: String,
    /// Comments and blank lines that may belong to the next item.
    above: String,
    /// Whether the current line is in the list of tests.
    is_list: bool,
    /// The column of its dashes.
    dash: Option<usize>,
}

impl Folded {
    fn push(&mut self, line: &str) {
        let content = line.trim();
        let column = line.len() - line.trim_start().len();
        let is_deeper = !self.test.is_empty() && self.dash.is_some_and(|dash| column > dash);
        if content.is_empty() || (content.starts_with('#') && !is_deeper) {
            self.above += line;
        } else if is_deeper {
            self.test += &std::mem::take(&mut self.above);
            self.test += line;
        } else if self.is_list && content.starts_with('-') {
            self.end_test();
            self.dash = Some(column);
            self.test = std::mem::take(&mut self.above) + line;
        } else {
            self.end_test();
            self.text += &std::mem::take(&mut self.above);
            self.text += line;
            self.is_list = content.trim_start_matches(['"', '\'']).starts_with("tests");
            self.dash = None;
        }
    }

    fn end_test(&mut self) {
        let test = std::mem::take(&mut self.test);
        if let Some(test) = test.strip_suffix('\n') {
            self.text += &format!("\r{}\n", test.replace('\n', "\r"));
        }
    }
}

fn is_test(line: &str) -> bool {
    line.starts_with('\r')
}

/// Returns folded lines in their original form.
fn unfolded(lines: &[&str]) -> String {
    let lines = lines
        .iter()
        .map(|line| line.strip_prefix('\r').unwrap_or(line));
    lines.collect::<String>().replace('\r', "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_is_one_line_with_the_comments_above_it() {
        for (text, lines) in [
            (
                "tests:\n# a\n\n- from: /a\n  # deep\n\n  to: gone\n# end\n",
                "tests:\n\r# a\r\r- from: /a\r  # deep\r\r  to: gone\n# end\n",
            ),
            (
                "\n\"tests\":\n  - {from: /a, to: gone}\n  - from: /b\n    to: gone\n# d\ndefaults:\n",
                "\n\"tests\":\n\r  - {from: /a, to: gone}\n\r  - from: /b\r    to: gone\n# d\ndefaults:\n",
            ),
            // In another list, every line counts separately.
            ("forward:\n- path\n- query\n", "forward:\n- path\n- query\n"),
        ] {
            assert_eq!(folded(text), lines);
            let lines: Vec<_> = lines.split_inclusive('\n').collect();
            assert_eq!(unfolded(&lines), text);
        }
    }
}
