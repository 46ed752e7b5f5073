//! Formatting of a list in block form, in pieces: each is looked at alone, and only those are formatted
//! that change, most of them alone, too.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::entry_lines::EntryLines;
use super::piece_form::{PieceForm, PieceGroup, grouped};
use crate::edit::window::ListPieces;
use crate::mapping::{Outline, Workers};

/// A list of entries, and what formatting changes in it. It holds no text of the file.
pub struct FormattedPieces<'l> {
    list: ListPieces<'l>,
    groups: Vec<PieceGroup>,
    /// The length of the text after the last entry of each piece.
    rests: Vec<usize>,
}

impl<'l> FormattedPieces<'l> {
    /// Looks at all pieces of a list; `None` if the text is not there, or is not in block form.
    pub fn of(list: ListPieces<'l>, workers: &dyn Workers) -> Option<Self> {
        let count = list.cut.pieces().len();
        let (next, is_lost) = (AtomicUsize::new(0), AtomicBool::new(false));
        let found = Mutex::new(Vec::with_capacity(count));
        workers.run(&|| {
            while !is_lost.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    break;
                }
                match list.form(number) {
                    Some(form) => {
                        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                        found.push((number, form));
                    }
                    None => is_lost.store(true, Ordering::Relaxed),
                }
            }
        });
        if count == 0 || is_lost.into_inner() {
            return None;
        }
        let mut forms = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        forms.sort_unstable_by_key(|(number, _)| *number);
        let forms: Vec<_> = forms.into_iter().map(|(_, form)| form).collect();
        Some(Self {
            list,
            groups: grouped(&forms),
            rests: forms.into_iter().map(|form| form.rest).collect(),
        })
    }

    /// Returns whether formatting changes the file.
    pub fn is_changed(&self) -> bool {
        self.groups.iter().any(|group| group.is_changed)
    }

    /// Passes the text of the formatted file, part by part. Returns whether the text of the file was there
    /// still.
    ///
    /// # Errors
    ///
    /// Those of `put`.
    pub fn write<E>(&self, mut put: impl FnMut(&str) -> Result<(), E>) -> Result<bool, E> {
        let Some(before) = self.list.before() else {
            return Ok(false);
        };
        put(&before)?;
        let mut piece = 0;
        // What follows the entries that were written; it belongs to the next one.
        let mut rest = String::new();
        for group in &self.groups {
            let mut text = std::mem::take(&mut rest);
            let pieces = &self.list.cut.pieces()[piece..piece + group.count];
            text.reserve_exact(pieces.iter().map(|it| it.length).sum());
            let mut starts = Vec::with_capacity(group.count);
            for number in piece..piece + group.count {
                let Some(more) = self.list.piece(number) else {
                    return Ok(false);
                };
                starts.push(text.len());
                text.push_str(&more);
            }
            piece += group.count;
            rest = text.split_off(text.len() - self.rests[piece - 1]);
            if !group.is_changed {
                put(&text)?;
                continue;
            }
            let Some(lines) = self.lines(&text, &starts, piece - group.count) else {
                return Ok(false);
            };
            lines.write(&text, "\n", &mut put)?;
        }
        put(&rest)?;
        let Some(after) = self.list.after() else {
            return Ok(false);
        };
        put(&after)?;
        Ok(true)
    }

    /// Returns the lines of the entries of a text that consists of pieces from a number on, each of which
    /// begins at an offset; one piece is outlined at a time.
    fn lines(&self, text: &str, starts: &[usize], first: usize) -> Option<EntryLines> {
        let mut lines = EntryLines::default();
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        for ((&start, end), number) in starts.iter().zip(ends).zip(first..) {
            let place = self.list.place(number)?;
            let outline = Outline::of_piece(&text[start..end], place, self.list.scheme)?;
            lines.add(text, start, outline.entries);
        }
        Some(lines)
    }
}

impl ListPieces<'_> {
    fn form(&self, number: usize) -> Option<PieceForm> {
        PieceForm::of(&self.piece(number)?, self.place(number)?, self.scheme)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::edit::format::document::format;
    use crate::mapping::{Cut, Scheme, SourceFile, compile, scheme_of};

    /// Runs a job on two threads.
    struct TwoThreads;

    impl Workers for TwoThreads {
        fn run(&self, job: &(dyn Fn() + Sync)) {
            std::thread::scope(|scope| {
                scope.spawn(job);
                scope.spawn(job);
            });
        }
    }

    /// Formats a file in pieces; returns it with the number of groups, if it is in block form.
    fn in_pieces(file: &SourceFile) -> Option<(String, usize)> {
        let cut = Cut::of(&file.bytes);
        let read = |range| {
            String::from_utf8(file.bytes.get::<std::ops::Range<usize>>(range)?.to_vec()).ok()
        };
        let list = ListPieces {
            cut: &cut,
            scheme: scheme_of(&file.path, &cut)?,
            read: &read,
        };
        let pieces = FormattedPieces::of(list, &TwoThreads)?;
        let mut text = String::new();
        let Ok(is_there) = pieces.write(|part| {
            text.push_str(part);
            Ok::<_, Infallible>(())
        });
        assert!(is_there);
        assert_eq!(pieces.is_changed(), text.as_bytes() != file.bytes, "{text}");
        Some((text, pieces.groups.len()))
    }

    /// Returns the lines of an entry, of which some have more than one form.
    fn entry(number: u8, kind: u8) -> String {
        let code = format!("  short-code: {number:03}\n");
        match kind % 16 {
            0 => format!("- url: https://E.example/{number}\n{code}"),
            1 => format!("- url: 'https://e.example/{number}/../a'\n{code}  title: no # yes\n"),
            2 => format!(
                "- short-code: \"c{number}\"\n  url: https://e.example/{number} #c\n  # deep\n"
            ),
            3 => format!("- url: https://e.example/{number}\n  tags: [a, 1230 ,no]\n"),
            4 => format!(
                "- url: https://e.example/{number}\n  aliases:\n    - {number}e1\n    - x{number}\n\n    # end\n"
            ),
            5 => format!(
                "-   url: https://E.example/{number}\n    aliases: [ 0x{number}, y{number} ]   # c\n"
            ),
            6 => format!("-   number: {number}\n\n    # é\n    title: \u{e9}\n    retired: true\n"),
            7 => format!(
                "- url: https://a-long-name.example/{number}/{number}/{number}/{number}/{number}\n{code}"
            ),
            _ => format!("- url: https://e.example/{number}\n{code}"),
        }
    }

    /// Returns a document with such entries, and with other text above them.
    fn document(entries: &[(u8, u8, u8)], is_indented: bool, scheme: bool, end: usize) -> String {
        let mut list = String::new();
        for (number, kind, above) in entries {
            list += match above % 40 {
                0 => "# Heading.\n\n",
                1 => "\n# One.\n\n# Two.\n",
                2..6 => "# Above.\n",
                6 => "  # Deep.\n\n # Not so deep.\n",
                7..12 => "\n",
                12 => "\n  \n",
                _ => "",
            };
            list += &entry(*number, *kind);
        }
        if is_indented {
            let lines = list.lines().map(|line| format!("  {line}\n"));
            list = lines.collect();
        }
        let scheme = if scheme {
            "code-scheme: crc64-xz\n"
        } else {
            ""
        };
        let end = ["", "# End.\n", "\n# End.\n\ntests: []\n", "tests: []"][end];
        format!("base_url: https://s.example/\n{scheme}mapping:\n{list}{end}")
    }

    proptest! {
        #[test]
        fn what_is_formatted_in_pieces_is_what_is_formatted_as_a_whole(
            entries in vec(any::<(u8, u8, u8)>(), 1..80),
            is_sorted in any::<bool>(),
            is_plain in any::<bool>(),
            is_indented in any::<bool>(),
            scheme in any::<bool>(),
            end in 0..4_usize,
            other in 0..10_u8,
        ) {
            let mut entries = entries;
            let mut seen = std::collections::BTreeSet::new();
            entries.retain(|(number, ..)| seen.insert(*number));
            if is_sorted {
                entries.sort_unstable();
            }
            if is_plain {
                entries.iter_mut().for_each(|entry| entry.1 |= 8);
            }
            let mut text = document(&entries, is_indented, scheme, end);
            match other {
                0 => text = text.trim_end().to_owned(),
                1 => text = format!("\u{feff}{text}"),
                2 => text = text.replace('\n', "\r\n"),
                3 => text += "  - {url: https://e.example/flow}\n",
                _ => {}
            }
            let file = SourceFile::new("t.yaml".into(), text.into_bytes());
            if compile(std::slice::from_ref(&file)).table.is_none() {
                return Ok(());
            }
            let whole = format(&file);
            let found = in_pieces(&file);
            prop_assert!(found.is_some() || matches!(other, 2 | 3), "{:?}", file);
            if let Some((text, _)) = found {
                prop_assert_eq!(&text, &whole.unwrap());
                let again = SourceFile::new("t.yaml".into(), text.clone().into_bytes());
                // Quotes in brackets are not in block form.
                if let Some((again, _)) = in_pieces(&again) {
                    prop_assert_eq!(again, text);
                }
            }
        }
    }

    #[test]
    fn only_pieces_that_share_an_unsorted_section_are_formatted_together() {
        let entries: Vec<_> = (0..200).map(|number| (number, 8, 20)).collect();
        let groups = |entries: &[(u8, u8, u8)]| {
            let text = document(entries, false, false, 0);
            let file = SourceFile::new("t.yaml".into(), text.into_bytes());
            let (formatted, groups) = in_pieces(&file).unwrap();
            assert_eq!(formatted, format(&file).unwrap());
            let pieces = Cut::of(&file.bytes).pieces().len();
            assert!(pieces > 30, "{pieces}");
            (groups, pieces)
        };
        let (sorted, pieces) = groups(&entries);
        assert_eq!(sorted, pieces);
        let mut swapped = entries.clone();
        swapped.swap(0, 199);
        assert_eq!(groups(&swapped).0, 1);
        // A section before it and one after it are sorted.
        let mut headed = entries.clone();
        headed[50].2 = 0;
        headed[150].2 = 0;
        headed.swap(80, 120);
        let (joined, pieces) = groups(&headed);
        assert!(joined > 10 && joined < pieces - 10, "{joined} of {pieces}");
        // One with another spelling is formatted alone.
        let mut spelt = entries;
        spelt[100].1 = 0;
        let (alone, pieces) = groups(&spelt);
        assert_eq!(alone, pieces);
    }

    #[test]
    fn a_text_that_has_changed_is_not_written() {
        let before = document(&[(2, 8, 20), (1, 8, 20)], false, false, 3);
        for (old, new) in [
            ("s.example", "t.example"),
            ("002", "003"),
            ("tests", "texts"),
        ] {
            let after = before.replace(old, new);
            let has_changed = AtomicBool::new(false);
            let read = |range: std::ops::Range<usize>| {
                let text = match has_changed.load(Ordering::Relaxed) {
                    true => &after,
                    false => &before,
                };
                text.get(range).map(str::to_owned)
            };
            let cut = Cut::of(before.as_bytes());
            let list = ListPieces {
                cut: &cut,
                scheme: Scheme::default(),
                read: &read,
            };
            let pieces = FormattedPieces::of(list, &TwoThreads).unwrap();
            let write = || pieces.write(|_| Ok::<_, Infallible>(()));
            assert_eq!(write(), Ok(true));
            has_changed.store(true, Ordering::Relaxed);
            assert_eq!(write(), Ok(false), "{old}");
            if old == "002" {
                assert!(FormattedPieces::of(list, &TwoThreads).is_none());
            }
        }
    }
}
