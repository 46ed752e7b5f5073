//! The version of a table.
//!
//! A commit identifies it best, because anyone can look it up; a hash of the content always works.
//! `checkout.rs` finds the commit; this is only the type for it.

use std::fmt;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::git::{CommitId, SHORT, hex};
use crate::mapping::{TableFile, Timestamp};

/// The version of a table's source: a commit if there is one, otherwise a hash of the content.
///
/// Displayed as `COMMIT`, `COMMIT+dirty` or `sha256:HEX`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    commit: Option<CommitId>,
    dirty: bool,
    hash: String,
    time: Option<Timestamp>,
}

impl Revision {
    /// Creates the revision of a table that equals a commit.
    ///
    /// `time` is the commit's.
    pub fn clean(commit: CommitId, time: Timestamp, hash: String) -> Self {
        Self {
            commit: Some(commit),
            dirty: false,
            hash,
            time: Some(time),
        }
    }

    /// Creates the revision of a table that differs from the commit it is based on.
    ///
    /// `time` is when its newest file was changed.
    pub fn dirty(commit: CommitId, time: Option<Timestamp>, hash: String) -> Self {
        Self {
            commit: Some(commit),
            dirty: true,
            hash,
            time,
        }
    }

    /// Creates the revision of a table without a known commit.
    ///
    /// `time` is when its newest file was changed.
    pub fn content(time: Option<Timestamp>, hash: String) -> Self {
        Self {
            commit: None,
            dirty: false,
            hash,
            time,
        }
    }

    /// Returns the commit that the table equals or, if [dirty](Self::is_dirty), is based on.
    pub fn commit(&self) -> Option<CommitId> {
        self.commit
    }

    /// Returns whether the table differs from its commit.
    pub fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// Returns the SHA-256 of the names of the table's files and of the [hashes](crate::mapping::Cut::hash)
    /// of their contents, in hexadecimal.
    ///
    /// Two tables have the same one if, and only if, they have the same names and contents.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the commit's time or, if there is none or it is dirty, when a file last changed.
    pub fn time(&self) -> Option<Timestamp> {
        self.time
    }

    /// Returns a form for people: as displayed, but with 12 hexadecimal digits.
    pub fn short(&self) -> String {
        self.written(SHORT)
    }

    fn written(&self, digits: usize) -> String {
        let cut = |hex: &str| hex.get(..digits).unwrap_or(hex).to_owned();
        match self.commit.map(|commit| commit.to_string()) {
            Some(commit) if self.dirty => cut(&commit) + "+dirty",
            Some(commit) => cut(&commit),
            None => format!("sha256:{}", cut(&self.hash)),
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written(usize::MAX))
    }
}

/// Returns the SHA-256 over the names and contents of files, in hexadecimal.
///
/// The hashed text is a line for each file, in the form of `sha256sum` (GNU coreutils), with the hash of
/// the content, which is that of the parts into which it was cut, and the name. Only the last part of each
/// path counts: the location of a table does not affect its revision.
pub(crate) fn content_hash(files: &[TableFile]) -> String {
    let mut lines = String::new();
    for TableFile { path, cut, .. } in files {
        let name = Path::new(&**path)
            .file_name()
            .map_or_else(|| (&**path).into(), |name| name.to_string_lossy());
        // A name with a line break is escaped, and the line marked, so that each file stays one
        // line.
        let escaped = (name.replace('\\', "\\\\"))
            .replace('\n', "\\n")
            .replace('\r', "\\r");
        let mark = if escaped == name { "" } else { "\\" };
        lines += &format!("{mark}{}  {escaped}\n", hex(cut.hash()));
    }
    hex(&Sha256::digest(lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::SourceFile;

    fn file(path: &str, bytes: &str) -> TableFile {
        TableFile::whole(SourceFile::new(path.into(), bytes.into()))
    }

    #[test]
    fn is_written_for_machines_and_for_people() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        let commit: CommitId = id.parse().unwrap();
        let hash = content_hash(&[]);
        let time = Timestamp::from_unix(0);

        let clean = Revision::clean(commit, time, hash.clone());
        assert_eq!(clean.to_string(), id);
        assert_eq!(clean.short(), "0123456789ab");
        let dirty = Revision::dirty(commit, None, hash.clone());
        assert_eq!(dirty.to_string(), format!("{id}+dirty"));
        assert_eq!(dirty.short(), "0123456789ab+dirty");
        let content = Revision::content(None, hash.clone());
        assert_eq!(content.to_string(), format!("sha256:{hash}"));
        assert_eq!(content.short(), "sha256:e3b0c44298fc");
    }

    #[test]
    fn hash_is_of_the_hashes_of_parts_and_of_names() {
        let part = |text: &str| Sha256::digest(text).to_vec();
        let parts = |texts: &[&str]| {
            let hashes: Vec<u8> = texts.iter().flat_map(|text| part(text)).collect();
            hex(&Sha256::digest(hashes))
        };
        let list = "- url: https://e.org/\n";
        let text = format!("base_url: https://e.org/\nmapping:\n{list}tests: []\n");
        let one = parts(&["base_url: https://e.org/\nmapping:\n", list, "tests: []\n"]);
        let other = parts(&["a: 1\n", ""]);
        let lines = format!("{one}  a.yaml\n\\{other}  b\\nc\\\\.yml\n");
        assert_eq!(
            content_hash(&[
                file("/srv/links/a.yaml", &text),
                file("b\nc\\.yml", "a: 1\n")
            ]),
            hex(&Sha256::digest(lines))
        );
    }

    #[test]
    fn hash_distinguishes_names_and_borders() {
        let tables = [
            vec![],
            vec![file("a", "")],
            vec![file("a", "b")],
            vec![file("ab", "")],
            vec![file("b", "a")],
            vec![file("a", ""), file("b", "")],
            vec![file("b", ""), file("a", "")],
            vec![file("a\nb", "")],
            vec![file("a\\nb", "")],
        ];
        let mut hashes: Vec<_> = tables.iter().map(|files| content_hash(files)).collect();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), tables.len());
    }
}
