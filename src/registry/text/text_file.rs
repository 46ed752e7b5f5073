//! A file of a table as a writer knows it: where it was cut, and the parts of its text, of which most
//! are where they were stored.

use std::fs::File;
use std::io::{self, Write as _};
use std::ops::Range;
use std::sync::Arc;

use super::stored_text::StoredText;
use crate::mapping::{Cut, CutCheck, FileText, KnownPieces, SourceFile, TableFile};
use crate::source::{StoredFile, was_written};

/// A file of a table.
#[derive(Debug, Clone)]
pub struct TextFile {
    /// The path that diagnostics show.
    pub path: Arc<str>,
    cut: Arc<Cut>,
    /// Its text, in order.
    parts: Vec<TextPart>,
}

/// A part of the text of a file.
#[derive(Debug, Clone)]
enum TextPart {
    /// Some bytes of a stored text.
    Stored(Arc<dyn StoredText>, Range<usize>),
    /// New text.
    New(Arc<str>),
}

impl TextPart {
    fn len(&self) -> usize {
        match self {
            Self::Stored(_, range) => range.len(),
            Self::New(text) => text.len(),
        }
    }

    /// Returns some of its bytes.
    fn slice(&self, range: Range<usize>) -> Self {
        match self {
            Self::Stored(text, own) => Self::Stored(
                Arc::clone(text),
                own.start + range.start..own.start + range.end,
            ),
            // Parts are replaced at the borders of characters.
            Self::New(text) => Self::New(text.get(range).unwrap_or_default().into()),
        }
    }
}

/// Files are the same if they have the same content.
impl PartialEq for TextFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.cut.hash() == other.cut.hash()
    }
}

impl From<SourceFile> for TextFile {
    fn from(file: SourceFile) -> Self {
        let cut = Arc::new(Cut::of(&file.bytes));
        Self::stored(file.path, cut, Arc::new(file.bytes))
    }
}

impl From<StoredFile> for TextFile {
    fn from(file: StoredFile) -> Self {
        let path = file.path().to_string_lossy().into();
        Self::stored(path, Arc::clone(file.cut()), Arc::new(file))
    }
}

impl TextFile {
    /// Returns the file at a path as it was cut, with its text.
    pub(crate) fn stored(path: Arc<str>, cut: Arc<Cut>, text: Arc<dyn StoredText>) -> Self {
        let size = usize::try_from(cut.size()).unwrap_or(usize::MAX);
        let parts = vec![TextPart::Stored(text, 0..size)];
        Self { path, cut, parts }
    }

    /// Returns the file without its text.
    pub(super) fn without_text(&self) -> TableFile {
        TableFile::known(Arc::clone(&self.path), Arc::clone(&self.cut))
    }

    /// Returns where the file was cut.
    pub fn cut(&self) -> &Arc<Cut> {
        &self.cut
    }

    /// Returns its size in bytes.
    pub fn size(&self) -> u64 {
        self.cut.size()
    }

    /// Returns some of its bytes; `None` if they are not there any more.
    pub fn read(&self, range: Range<usize>) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(range.len());
        for part in self.parts_of(range) {
            match part {
                TextPart::Stored(text, range) => bytes.extend(text.read(range)?),
                TextPart::New(text) => bytes.extend_from_slice(text.as_bytes()),
            }
        }
        Some(bytes)
    }

    /// Returns some of its text; `None` if it is not there any more.
    pub(crate) fn read_text(&self, range: Range<usize>) -> Option<String> {
        String::from_utf8(self.read(range)?).ok()
    }

    /// Returns the whole file; `None` if its text is not there any more.
    pub fn whole(&self) -> Option<SourceFile> {
        let bytes = self.read(0..usize::try_from(self.size()).ok()?)?;
        Some(SourceFile::new(Arc::clone(&self.path), bytes))
    }

    /// Returns the whole file, after checking that it has the content; `None` if its text is not there
    /// any more.
    pub(crate) fn checked(&self) -> Option<SourceFile> {
        let file = self.whole()?;
        let mut check = CutCheck::new(&self.cut);
        check.push(&file.bytes);
        check.finish().then_some(file)
    }

    /// Writes it to an empty file, mostly by copying from where its text is, and reads that again to
    /// check that it has the content.
    ///
    /// # Errors
    ///
    /// If its text is not there any more, or cannot be written.
    pub(crate) fn write_to(&self, file: &mut File) -> io::Result<()> {
        for part in &self.parts {
            match part {
                TextPart::Stored(text, range) => text.copy_to(range.clone(), file)?,
                TextPart::New(text) => file.write_all(text.as_bytes())?,
            }
        }
        match was_written(file, &self.cut)? {
            true => Ok(()),
            false => Err(io::Error::other("the written text is not the intended one")),
        }
    }

    /// Returns whether its text can still be read.
    pub(crate) fn is_there(&self) -> bool {
        self.parts.iter().all(|part| match part {
            TextPart::Stored(text, _) => text.read(0..0).is_some(),
            TextPart::New(_) => true,
        })
    }

    /// Keeps its text where it is, even if another one takes its place.
    ///
    /// # Errors
    ///
    /// If it is not there any more.
    pub(crate) fn hold(&self) -> io::Result<()> {
        self.parts.iter().try_for_each(|part| match part {
            TextPart::Stored(text, _) => text.hold(),
            TextPart::New(_) => Ok(()),
        })
    }

    /// Returns whether its text is certain to be where it was read.
    pub(crate) fn is_current(&self) -> bool {
        self.parts.iter().all(|part| match part {
            TextPart::Stored(text, _) => text.is_current(),
            TextPart::New(_) => false,
        })
    }

    /// Returns the file with parts of it replaced, which are in order and do not overlap; `None` if its
    /// text is not there any more.
    pub(crate) fn replaced(&self, replaced: Vec<(Range<usize>, String)>) -> Option<Self> {
        let cut = self.cut.replaced(&replaced, &|range| self.read_text(range));
        let mut parts = Vec::new();
        let mut from = 0;
        for (range, text) in replaced {
            parts.extend(self.parts_of(from..range.start));
            parts.push(TextPart::New(text.into()));
            from = range.end;
        }
        parts.extend(self.parts_of(from..usize::try_from(self.size()).ok()?));
        match cut {
            Some(cut) => Some(Self {
                path: Arc::clone(&self.path),
                cut: Arc::new(cut),
                parts,
            }),
            None => {
                let mut changed = self.clone();
                changed.parts = parts;
                let size = changed.parts.iter().map(TextPart::len).sum();
                let bytes = changed.read(0..size)?;
                Some(SourceFile::new(changed.path, bytes).into())
            }
        }
    }

    /// Returns what is needed to compile the file if some of its pieces are known; `None` if its text is
    /// not there any more.
    pub(super) fn to_compile(&self, known: &KnownPieces) -> Option<TableFile> {
        if self.cut.is_known(known) {
            return Some(TableFile::known(
                Arc::clone(&self.path),
                Arc::clone(&self.cut),
            ));
        }
        let pieces = self.cut.pieces();
        if known.is_empty() || pieces.is_empty() {
            return self.to_compile_whole();
        }
        let texts = pieces.iter().map(|piece| match known.contains(&piece.id) {
            true => Some(None),
            // What is not UTF-8 is reported after all of the file was read.
            false => {
                let text = String::from_utf8(self.read(piece.range())?);
                Some(text.ok().map(String::into_boxed_str))
            }
        });
        Some(TableFile {
            path: Arc::clone(&self.path),
            cut: Arc::clone(&self.cut),
            text: FileText::Pieces(texts.collect::<Option<_>>()?),
        })
    }

    /// Returns what is needed to compile the file if nothing is known.
    pub(super) fn to_compile_whole(&self) -> Option<TableFile> {
        Some(TableFile {
            path: Arc::clone(&self.path),
            cut: Arc::clone(&self.cut),
            text: FileText::Whole(self.whole()?),
        })
    }

    /// Returns the parts of some of its bytes.
    fn parts_of(&self, range: Range<usize>) -> impl Iterator<Item = TextPart> + use<'_> {
        let mut at = 0;
        self.parts.iter().filter_map(move |part| {
            let start = at;
            at += part.len();
            let (from, to) = (range.start.max(start), range.end.min(at));
            (from < to).then(|| part.slice(from - start..to - start))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::source;

    #[test]
    fn a_text_that_is_not_the_intended_one_is_not_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.yaml");
        fs::write(&path, "mapping: []\n").unwrap();
        let cut = Arc::new(Cut::of(b"tests: []\n"));
        let text = |text: &str| Arc::new(text.as_bytes().to_vec());
        let good = TextFile::stored("t.yaml".into(), Arc::clone(&cut), text("tests: []\n"));
        let bad = TextFile::stored("t.yaml".into(), cut, text("tests: {}\n"));
        assert!(bad.whole().is_some() && bad.checked().is_none());
        assert_eq!(good.checked().unwrap().bytes, b"tests: []\n");
        let write = |file: &TextFile| source::replace_with(&path, |to| file.write_to(to));
        assert!(write(&bad).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"mapping: []\n");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        write(&good).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"tests: []\n");
        let new = path.with_file_name("new.yaml");
        let create = |file: &TextFile| source::create_with(&new, |to| file.write_to(to));
        assert!(create(&bad).is_err() && !new.exists());
        create(&good).unwrap();
        assert_eq!(fs::read(&new).unwrap(), b"tests: []\n");
    }
}
