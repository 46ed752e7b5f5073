//! Merging of a whole file by lines, if it cannot be merged by meaning.

use std::collections::{BTreeMap, BTreeSet};

use super::account::{self, Fact};
use super::merged::{Conflict, MergeError, Merged, NotByMeaning};
use super::sides::Sides;
use super::text;
use crate::mapping::{Diagnostic, Outline, SourceFile};

/// Merges by lines, and reports a result that is not a table.
pub(super) fn by_lines(
    sides: Sides<&SourceFile>,
    reason: NotByMeaning,
) -> Result<Merged, MergeError> {
    let merged = text::by_lines(sides.map(|file| &*file.bytes))?;
    let mut conflicts = Vec::new();
    if !merged.is_clean {
        let text = String::from_utf8_lossy(&merged.text);
        conflicts = Conflict::marked(&text, 1, "both sides changed these lines");
    }
    let file = SourceFile {
        path: sides.ours.path.clone(),
        bytes: merged.text,
    };
    if merged.is_clean
        && let Some(problem) = problem(sides, &file)
    {
        conflicts.push(problem);
    }
    Ok(Merged {
        text: file.bytes,
        conflicts,
        by_lines: Some(reason),
    })
}

/// Returns the problem of a result without conflicts, if its lines alone do not show it.
fn problem(sides: Sides<&SourceFile>, file: &SourceFile) -> Option<Conflict> {
    let outline = match Outline::of(file) {
        Ok(outline) => outline,
        Err(problems) => {
            let problem = problems.into_iter().find(Diagnostic::is_error)?;
            let line = problem.place.position.line;
            return Some(unmarked(line, &problem.message));
        }
    };
    let sides = sides.map(|file| Outline::of(file).ok()).all()?;
    let Sides { ours, theirs, .. } = sides.each().map(given_twice);
    let mut twice = given_twice(&outline).into_iter();
    if let Some((code, line)) =
        twice.find(|(code, _)| !ours.contains_key(code) && !theirs.contains_key(code))
    {
        return Some(unmarked(line, &format!("the code {code:?} is given twice")));
    }
    let expected = account::merged(sides.each().map(facts).each());
    let is_expected = expected == facts(&outline);
    (!is_expected).then(|| unmarked(1, "the entries are not what both sides made of them"))
}

fn unmarked(line: u32, what: &str) -> Conflict {
    Conflict {
        line: line as usize,
        message: format!("{what}: no line clashes, so compare it with both sides"),
    }
}

fn facts(outline: &Outline<'_>) -> BTreeSet<Fact> {
    let entries = outline.entries.iter();
    let facts = entries.flat_map(|entry| account::facts(&entry.code, &entry.pairs));
    facts.collect()
}

/// Returns the codes that appear more than once in a document, with the line of the last
/// occurrence.
fn given_twice(outline: &Outline<'_>) -> BTreeMap<String, u32> {
    let (mut seen, mut twice) = (BTreeSet::new(), BTreeMap::new());
    for entry in &outline.entries {
        let aliases = entry.pairs.iter().filter(|pair| pair.key == "aliases");
        let aliases = aliases.flat_map(|pair| pair.values.iter().map(|it| it.text.to_string()));
        for code in aliases.chain([entry.code.to_string()]) {
            if !seen.insert(code.clone()) {
                twice.insert(code, entry.position.line);
            }
        }
    }
    twice
}
