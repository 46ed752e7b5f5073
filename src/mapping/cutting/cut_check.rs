//! Checking whether bytes are the content of a file that was cut before: where its parts begin is known, so
//! they are only hashed.

use super::cut::Cut;
use crate::mapping::value::{PieceHash, PieceId};

/// A check whether the bytes of a file, which are read in order, are those of a cut one.
#[derive(Debug)]
pub struct CutCheck<'c> {
    cut: &'c Cut,
    /// The identities of the parts that were read.
    read: Vec<PieceId>,
    /// The part that is being read.
    part: PieceHash,
    /// How many bytes of it are missing; `None` in the text after the list.
    missing: Option<usize>,
}

impl<'c> CutCheck<'c> {
    /// Begins to read a file.
    pub fn new(cut: &'c Cut) -> Self {
        Self {
            cut,
            read: Vec::with_capacity(cut.pieces().len() + 2),
            part: PieceHash::default(),
            missing: cut.part_length(0),
        }
    }

    /// Reads the next bytes.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while let Some(missing) = self.missing
            && let Some((last, rest)) = bytes.split_at_checked(missing)
        {
            self.part.update(last);
            self.read.push(std::mem::take(&mut self.part).finish());
            self.missing = self.cut.part_length(self.read.len());
            bytes = rest;
        }
        self.part.update(bytes);
        self.missing = self.missing.map(|missing| missing - bytes.len());
    }

    /// Returns whether these were all bytes of the file, and no others.
    pub fn finish(mut self) -> bool {
        // Ends parts without bytes.
        self.push(&[]);
        self.read.push(self.part.finish());
        PieceId::of_all(self.read).hash() == self.cut.hash()
    }
}

#[cfg(test)]
mod tests {
    use super::super::cut_texts;
    use super::*;

    /// Returns whether bytes that are read in parts of a length are the content of a cut file.
    fn is_content(cut: &Cut, bytes: &[u8], step: usize) -> bool {
        let mut check = CutCheck::new(cut);
        for bytes in bytes.chunks(step) {
            check.push(bytes);
        }
        check.finish()
    }

    fn assert_accepts_only(text: &[u8], step: usize) {
        let cut = Cut::of(text);
        assert!(is_content(&cut, text, step));
        assert!(!is_content(&cut, &[text, b"\n"].concat(), step));
        let Some(last) = text.len().checked_sub(1) else {
            return;
        };
        assert!(!is_content(&cut, &text[..last], step));
        for at in [0, last / 2, last] {
            let mut changed = text.to_vec();
            changed[at] ^= 1;
            assert!(!is_content(&cut, &changed, step));
        }
    }

    #[test]
    fn only_the_content_of_the_file_is_accepted_however_it_is_read() {
        let entries = (0..100).map(|it| format!("- url: https://e.org/{it}\n"));
        let entries: String = entries.collect();
        let whole = format!("base_url: https://e.org/\nmapping:\n{entries}");
        assert!(Cut::of(whole.as_bytes()).pieces().len() > 5);
        cut_texts::each(&whole, assert_accepts_only);
    }

    #[test]
    fn text_that_moved_over_a_border_is_not_accepted() {
        let entries = (0..100).map(|it| format!("- url: https://e.org/{it}\n"));
        let entries: Vec<_> = entries.collect();
        let whole = format!("mapping:\n{}", entries.concat());
        let cut = Cut::of(whole.as_bytes());
        let swapped = entries.iter().rev().cloned().collect::<String>();
        let swapped = format!("mapping:\n{swapped}");
        assert_eq!(swapped.len(), whole.len());
        assert!(!is_content(&cut, swapped.as_bytes(), 100));
    }
}
