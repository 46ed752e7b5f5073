//! The earlier state of a table, so that less of it has to be read.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use git2::Oid;

use super::file_record::FileRecord;
use super::fingerprint::Fingerprint;
use crate::mapping::{Cut, FirstReading, KnownFiles, KnownPieces, Table};
use crate::source::files::inspect::Stamp;

/// The earlier state of a table.
#[derive(Clone, Copy, Default)]
pub struct Earlier<'a> {
    /// An earlier version, the text of whose pieces need not be read again. Without one, all text
    /// is read.
    pub table: Option<&'a Table>,
    /// An earlier reading: files unchanged since need not be read again.
    pub reading: Option<&'a Fingerprint>,
    /// Without an earlier version, compiles the files while they are read, instead of returning
    /// their text.
    pub first: Option<&'a FirstReading>,
    /// Whether a file on disk with unchanged metadata is taken as unchanged. A file of a commit is
    /// identified by its content.
    pub trusts_times: bool,
}

/// The known files, by their paths.
pub(crate) struct KnownStates<'a> {
    pieces: Option<KnownFiles<'a>>,
    states: HashMap<&'a Path, &'a FileRecord>,
    read_at: SystemTime,
}

impl<'a> KnownStates<'a> {
    pub(crate) fn of(earlier: Earlier<'a>) -> Self {
        let reading = earlier.reading.filter(|_| earlier.trusts_times);
        Self {
            pieces: earlier.table.map(KnownFiles::of),
            states: (reading.into_iter().flat_map(Fingerprint::states))
                .map(|state| (&*state.path, state))
                .collect(),
            read_at: reading.map_or(SystemTime::UNIX_EPOCH, Fingerprint::read_at),
        }
    }

    /// Returns the known pieces of the file at a path.
    pub(crate) fn pieces(&self, path: &str) -> KnownPieces {
        let known = self.pieces.as_ref();
        known.map(|known| known.pieces(path)).unwrap_or_default()
    }

    /// Returns the state of the file at a path if it is unchanged and need not be read: all its
    /// pieces are known and, if needed, the identity of its content in Git.
    ///
    /// As in Git (`Documentation/technical/racy-git.txt`), a file that was changed just before it
    /// was read may have changed again with the same metadata.
    pub(crate) fn unchanged(
        &self,
        path: &Path,
        stamp: &Stamp,
        pieces: &KnownPieces,
        needs_blob: bool,
    ) -> Option<(Arc<Cut>, Option<Oid>)> {
        let state = self.states.get(path).filter(|it| it.stamp == *stamp)?;
        let cut = state.cut.as_ref().filter(|cut| cut.is_known(pieces))?;
        let is_sure = !stamp.is_racy(self.read_at) && (state.blob.is_some() || !needs_blob);
        is_sure.then(|| (Arc::clone(cut), state.blob))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::PathBuf;
    use std::time::Duration;

    use super::super::fingerprint::ReadingState;
    use super::super::pass::Pass;
    use super::*;
    use crate::mapping::{FileText, SourceFile, TextNeeded, compile_after, compile_read};
    use crate::source::files::inspect::{Inspection, Listing};

    const HOUR: Duration = Duration::from_secs(3_600);

    fn entries(count: usize) -> String {
        let entries = (0..count).map(|it| format!("- url: https://e.org/{it:04}\n"));
        entries.collect()
    }

    fn text() -> String {
        format!("base_url: https://s.code/\nmapping:\n{}", entries(500))
    }

    /// A table in a directory, with its first version.
    struct Fixture {
        dir: tempfile::TempDir,
        table: Table,
    }

    impl Fixture {
        fn new(names: &[&str]) -> Self {
            let dir = tempfile::tempdir().unwrap();
            for name in names {
                let text = text().replace("e.org", &format!("{name}.org"));
                fs::write(dir.path().join(format!("{name}.yaml")), text).unwrap();
            }
            let files = read(&dir, Earlier::default()).0.files;
            let files: Vec<_> = files.into_iter().filter_map(|it| it.into_whole()).collect();
            let table = compile_after(&files, None).table.unwrap();
            Self { dir, table }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.dir.path().join(name)
        }

        fn earlier<'a>(&'a self, reading: Option<&'a Fingerprint>) -> Earlier<'a> {
            Earlier {
                table: Some(&self.table),
                reading,
                first: None,
                trusts_times: true,
            }
        }

        /// Returns the fingerprint of a reading that began some time from now.
        fn reading(&self, after: Duration) -> Fingerprint {
            let (pass, listing) = read(&self.dir, self.earlier(None));
            let paths = [self.dir.path().to_owned()];
            let trails = Inspection::of(&paths).trails;
            let state = ReadingState {
                listing,
                files: pass.states,
                head: None,
                trails,
            };
            Fingerprint::new(state, SystemTime::now() + after)
        }

        /// Returns whether each file was read, given an earlier reading.
        fn was_read(&self, reading: &Fingerprint) -> Vec<bool> {
            let (pass, _) = read(&self.dir, self.earlier(Some(reading)));
            let files = pass.files.iter();
            files
                .map(|file| !matches!(file.text, FileText::Nothing))
                .collect()
        }
    }

    fn read(dir: &tempfile::TempDir, earlier: Earlier<'_>) -> (Pass, Listing) {
        let paths = [dir.path().to_owned()];
        let seen = Inspection::of(&paths);
        let pass = Pass::read(&paths, &seen, 1 << 20, earlier).unwrap();
        (pass, seen.listing)
    }

    #[test]
    fn only_files_that_look_different_are_read() {
        let fixture = Fixture::new(&["a", "b", "c"]);
        let reading = fixture.reading(HOUR);
        assert_eq!(fixture.was_read(&reading), [false; 3]);

        // With the same size and the same modification time.
        let path = fixture.path("b.yaml");
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        let changed = text().replace("e.org/0100", "b.org/9100");
        fs::write(&path, changed.replace("e.org", "b.org")).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(modified).unwrap();
        assert_eq!(fixture.was_read(&reading), [false, true, false]);
    }

    #[test]
    fn a_file_that_was_changed_just_before_it_was_read_is_read_again() {
        let fixture = Fixture::new(&["a", "b"]);
        assert_eq!(fixture.was_read(&fixture.reading(HOUR)), [false; 2]);
        assert_eq!(
            fixture.was_read(&fixture.reading(Duration::ZERO)),
            [true; 2]
        );
    }

    #[test]
    fn all_files_are_read_if_their_times_are_not_trusted() {
        let fixture = Fixture::new(&["a", "b"]);
        let reading = fixture.reading(HOUR);
        let earlier = Earlier {
            trusts_times: false,
            ..fixture.earlier(Some(&reading))
        };
        let (pass, _) = read(&fixture.dir, earlier);
        let mut files = pass.files.iter();
        assert!(files.all(|file| matches!(file.text, FileText::Pieces(_))));
    }

    #[test]
    fn a_file_is_read_unless_all_its_pieces_are_in_the_earlier_version() {
        let mut fixture = Fixture::new(&["a", "b"]);
        let reading = fixture.reading(HOUR);
        let other = SourceFile::new(
            fixture.path("b.yaml").to_string_lossy().into(),
            text().into(),
        );
        fixture.table = compile_after(&[other], None).table.unwrap();
        assert_eq!(fixture.was_read(&reading), [true, true]);
    }

    #[test]
    fn a_changed_file_is_read_as_it_is() {
        // The text of a small table in one file is always read.
        let fixture = Fixture::new(&["e", "z"]);
        let source = |name: &str, text: String| {
            SourceFile::new(fixture.path(name).to_string_lossy().into(), text.into())
        };
        let other = source("z.yaml", text().replace("e.org", "z.org"));
        let whole = text();
        for changed in [
            whole.clone(),
            whole.clone() + "- url: https://x.org/\n",
            whole.clone() + "- url: https://x.org/",
            whole.trim_end().to_owned(),
            // Of the same length.
            whole.replace("/0250\n", "/x250\n"),
            whole[..whole.len() / 2].to_owned(),
            whole[..60].to_owned(),
            whole.replace('\n', "\r\n"),
            whole.replace("mapping:\n", "mapping: \n"),
            whole.replacen(
                "- url: https://e.org/0000\n",
                "- {url: 'https://e.org/0000'}\n",
                1,
            ),
            format!("base_url: https://s.code/\nmapping: [{{url: 'https://e.org/1'}}]\n# {whole}"),
            whole.replace("- url: https://e.org/0007", "- ur1: https://e.org/0007"),
            whole.clone() + "tests:\n- from: /a\n  to: nothing\n",
            String::new(),
        ] {
            fs::write(fixture.path("e.yaml"), &changed).unwrap();
            let (pass, _) = read(&fixture.dir, fixture.earlier(None));
            assert!(pass.steady);
            let file = &pass.files[0];
            let whole = Cut::of(changed.as_bytes());
            assert_eq!(file.cut.with_gaps_of(&whole), whole);
            let files = [source("e.yaml", changed), other.clone()];
            let expected = compile_after(&files, None);
            match compile_read(&pass.files, Some(&fixture.table)) {
                Ok(compiled) => {
                    assert_eq!(compiled.diagnostics, expected.diagnostics);
                    let links = |table: Option<Table>| table.map(|table| table.len());
                    assert_eq!(links(compiled.table), links(expected.table));
                }
                // The text of the other file is never read.
                Err(TextNeeded) => assert!(pass.files[1].as_whole().is_none()),
            }
        }
    }
}
