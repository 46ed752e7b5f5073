//! Tables in real Git checkouts: which revision they have.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};

use waypost::source::{FileSource, FilesError, Reading, Revision};

use crate::git::git;

const MAX: u64 = 1 << 20;

/// A directory with a checkout `links`, made by the `git` program.
struct Fixture {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl Fixture {
    /// A checkout without a commit.
    fn unborn() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let fixture = Self { _dir: dir, root };
        fs::create_dir(fixture.at("links")).unwrap();
        fixture.git("init --quiet");
        fixture
    }

    /// A checkout with one commit, of `mapping.yaml`.
    fn committed() -> Self {
        let fixture = Self::unborn();
        fixture.write("links/mapping.yaml", "one");
        fixture.git("add .");
        fixture.git("commit --quiet -m one");
        fixture
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    /// Runs git in the checkout, with arguments that hold no spaces.
    fn git(&self, arguments: &str) -> String {
        self.git_in("links", arguments)
    }

    fn git_in(&self, directory: &str, arguments: &str) -> String {
        git(&self.at(directory), arguments)
    }

    fn head(&self) -> String {
        self.git("rev-parse HEAD")
    }

    fn source(&self, paths: &[&str]) -> FileSource {
        FileSource::new(paths.iter().map(|path| self.at(path)).collect(), MAX)
    }

    fn read(&self, paths: &[&str]) -> Reading {
        let reading = self.source(paths).read().unwrap();
        assert!(reading.warnings.is_empty(), "{:?}", reading.warnings);
        reading
    }

    /// Returns the revision of a table as it is displayed.
    fn revision(&self, path: &str) -> String {
        self.read(&[path]).revision.to_string()
    }

    fn is_content(&self, paths: &[&str]) -> bool {
        let Reading { revision, .. } = self.read(paths);
        revision.to_string() == format!("sha256:{}", revision.hash())
    }
}

#[test]
fn a_committed_table_is_its_commit() {
    let fixture = Fixture::committed();
    let reading = fixture.read(&["links/mapping.yaml"]);
    assert_eq!(reading.files[0].bytes, b"one");
    assert_eq!(reading.revision.to_string(), fixture.head());
    assert_eq!(reading.revision.time().unwrap().unix(), 1_700_000_001);
    assert_eq!(fixture.revision("links"), fixture.head());
}

#[test]
fn other_bytes_are_dirty() {
    let fixture = Fixture::committed();
    fixture.write("links/mapping.yaml", "two");
    let dirty = fixture.head() + "+dirty";
    assert_eq!(fixture.revision("links/mapping.yaml"), dirty);
    fixture.git("add .");
    assert_eq!(fixture.revision("links"), dirty);
    fixture.git("reset --quiet --hard");
    assert_eq!(fixture.revision("links"), fixture.head());
}

#[test]
fn a_commit_of_the_same_bytes_is_another_revision() {
    let fixture = Fixture::committed();
    let source = fixture.source(&["links"]);
    let before = source.read().unwrap();
    fixture.git("commit --quiet --allow-empty -m two");
    assert!(source.may_differ_from(&before.fingerprint, &source.inspect()));
    let after = source.read().unwrap();
    assert_eq!(after.revision.to_string(), fixture.head());
    assert_ne!(after.revision, before.revision);
    assert_eq!(after.revision.hash(), before.revision.hash());
}

#[test]
fn a_pull_that_has_not_moved_the_branch_yet_is_dirty_and_then_clean() {
    let fixture = Fixture::committed();
    let old = fixture.head();
    fixture.write("links/mapping.yaml", "two");
    fixture.git("commit --quiet -a -m two");
    let new = fixture.head();
    // As a merge does it: first files and index, then the branch.
    fixture.git(&format!("update-ref HEAD {old}"));
    assert_eq!(fixture.revision("links"), format!("{old}+dirty"));
    fixture.git(&format!("update-ref HEAD {new}"));
    assert_eq!(fixture.revision("links"), new);
}

#[test]
fn more_or_fewer_files_than_committed_are_dirty() {
    let fixture = Fixture::committed();
    fixture.write("links/more.yaml", "more");
    let dirty = fixture.head() + "+dirty";
    assert_eq!(fixture.revision("links"), dirty);
    assert_eq!(fixture.revision("links/mapping.yaml"), fixture.head());

    fixture.git("add .");
    fixture.git("commit --quiet -m more");
    assert_eq!(fixture.revision("links"), fixture.head());
    fs::remove_file(fixture.at("links/more.yaml")).unwrap();
    assert_eq!(fixture.revision("links"), fixture.head() + "+dirty");
}

#[test]
fn files_beside_the_table_do_not_make_it_dirty() {
    let fixture = Fixture::committed();
    fixture.write("links/README.md", "new");
    fixture.write("links/.mapping.yaml", "new");
    fixture.write("links/sub/other.yaml", "new");
    assert_eq!(fixture.revision("links"), fixture.head());
}

#[test]
fn a_table_the_commit_does_not_know_is_named_by_its_content() {
    let fixture = Fixture::committed();
    fixture.write("links/other/new.yaml", "new");
    assert!(fixture.is_content(&["links/other/new.yaml"]));
    assert!(fixture.is_content(&["links/other"]));
    fixture.write("links/.gitignore", "other");
    assert!(fixture.is_content(&["links/other"]));
    // Together with one that it knows, it is a change of that.
    let both = fixture
        .read(&["links/mapping.yaml", "links/other"])
        .revision;
    assert_eq!(both.to_string(), fixture.head() + "+dirty");
}

#[test]
fn a_checkout_without_commits_is_named_by_its_content() {
    let fixture = Fixture::unborn();
    fixture.write("links/mapping.yaml", "one");
    assert!(fixture.is_content(&["links"]));
}

#[test]
fn files_of_several_places_are_named_by_their_content() {
    let fixture = Fixture::committed();
    fixture.git_in(".", "clone --quiet links second");
    fixture.write("outside.yaml", "out");
    assert!(fixture.is_content(&["links/mapping.yaml", "second/mapping.yaml"]));
    assert!(fixture.is_content(&["links/mapping.yaml", "outside.yaml"]));
    assert!(fixture.is_content(&["outside.yaml"]));
}

#[test]
fn a_worktree_and_a_detached_head_have_their_own_commit() {
    let fixture = Fixture::committed();
    let old = fixture.head();
    fixture.git("worktree add --quiet --detach ../tree");
    fixture.write("links/mapping.yaml", "two");
    fixture.git("commit --quiet -a -m two");
    assert_eq!(fixture.revision("tree"), old);
    assert_eq!(fixture.revision("links"), fixture.head());
    fixture.git("worktree remove --force ../tree");
}

#[test]
fn a_submodule_has_its_own_commit() {
    let fixture = Fixture::committed();
    fs::create_dir(fixture.at("outer")).unwrap();
    fixture.git_in("outer", "init --quiet");
    fixture.git_in("outer", "submodule --quiet add ../links links");
    assert_eq!(fixture.revision("outer/links"), fixture.head());
}

#[test]
fn a_subdirectory_and_packed_refs_are_found() {
    let fixture = Fixture::unborn();
    fixture.write("links/tables/eu/a.yaml", "a");
    fixture.write("links/tables/eu/b.yml", "b");
    fixture.git("add .");
    fixture.git("commit --quiet -m tables");
    fixture.git("gc --quiet");
    assert_eq!(fixture.revision("links/tables/eu"), fixture.head());
    let source = FileSource::new(vec![fixture.at("links/tables/../tables/./eu")], MAX);
    assert_eq!(source.read().unwrap().revision.to_string(), fixture.head());
}

#[test]
fn a_link_from_outside_leads_to_the_commit() {
    let fixture = Fixture::committed();
    symlink("links/mapping.yaml", fixture.at("mapping.yaml")).unwrap();
    symlink("links", fixture.at("current")).unwrap();
    assert_eq!(fixture.revision("mapping.yaml"), fixture.head());
    assert_eq!(fixture.revision("current"), fixture.head());
}

#[test]
fn a_link_inside_must_be_committed_as_well() {
    let fixture = Fixture::committed();
    fixture.write("links/other.yaml", "one");
    symlink("mapping.yaml", fixture.at("links/live")).unwrap();
    assert_eq!(fixture.revision("links/live"), fixture.head() + "+dirty");
    fixture.git("add .");
    fixture.git("commit --quiet -m link");
    assert_eq!(fixture.revision("links/live"), fixture.head());
    // The same bytes, but through a different path.
    fs::remove_file(fixture.at("links/live")).unwrap();
    symlink("other.yaml", fixture.at("links/live")).unwrap();
    assert_eq!(fixture.revision("links/live"), fixture.head() + "+dirty");
}

#[test]
fn bytes_that_git_converted_are_dirty() {
    let fixture = Fixture::unborn();
    fixture.write("links/mapping.yaml", "one\n");
    fixture.write("links/.gitattributes", "*.yaml text eol=crlf");
    fixture.git("add .");
    fixture.git("commit --quiet -m one");
    assert_eq!(fixture.revision("links"), fixture.head());
    fs::remove_file(fixture.at("links/mapping.yaml")).unwrap();
    fixture.git("checkout --quiet .");
    assert_eq!(fixture.git("status --porcelain"), "");
    assert_eq!(fixture.revision("links"), fixture.head() + "+dirty");
}

#[test]
fn a_file_in_a_bare_repository_is_named_by_its_content() {
    let fixture = Fixture::committed();
    fixture.git_in(".", "clone --quiet --bare links bare");
    fixture.write("bare/mapping.yaml", "one");
    assert!(fixture.is_content(&["bare/mapping.yaml"]));
}

#[test]
fn a_checkout_of_another_user_is_read_with_a_warning_that_names_the_fix() {
    let fixture = Fixture::committed();
    // Only root may give a directory away; nobody else can set up this fixture.
    if chown(fixture.at("links"), Some(4321), None).is_err() {
        return;
    }
    let reading = fixture.source(&["links"]).read().unwrap();
    assert_eq!(reading.files[0].bytes, b"one");
    assert_eq!(reading.revision.commit(), None);
    let [warning] = &reading.warnings[..] else {
        panic!("{:?}", reading.warnings)
    };
    let fix = format!(
        "git config --global --add safe.directory {}",
        fixture.at("links").display()
    );
    assert!(warning.ends_with(&fix), "{warning}");
}

#[test]
fn a_broken_repository_does_not_keep_the_table_from_being_read() {
    let fixture = Fixture::committed();
    let head = fixture.head();
    let object = format!("links/.git/objects/{}/{}", &head[..2], &head[2..]);
    fs::remove_file(fixture.at(&object)).unwrap();
    let reading = fixture.source(&["links"]).read().unwrap();
    assert_eq!(reading.revision.commit(), None);
    assert_eq!(reading.warnings.len(), 1, "{:?}", reading.warnings);

    fixture.write("links/.git/config", "[core\nrepositoryformatversion = 77");
    let reading = fixture.source(&["links"]).read().unwrap();
    assert_eq!(reading.warnings.len(), 1, "{:?}", reading.warnings);
}

#[test]
fn a_table_never_mixes_files_of_two_commits() {
    let fixture = Fixture::unborn();
    let commit = |text: &str| {
        for name in ["a", "b", "c", "d"] {
            fixture.write(&format!("links/{name}.yaml"), text);
        }
        fixture.git("add .");
        fixture.git(&format!("commit --quiet -m {text}"));
        fixture.git(&format!("tag {text}"));
    };
    commit("old");
    commit("new");
    let source = fixture.source(&["links"]);
    let switching = std::thread::scope(|threads| {
        let switcher = threads.spawn(|| {
            for tag in ["old", "new"].repeat(10) {
                fixture.git(&format!("checkout --quiet --detach {tag}"));
            }
        });
        let mut readings = 0;
        while !switcher.is_finished() {
            let Reading {
                files, revision, ..
            } = match source.read() {
                Ok(reading) => reading,
                Err(error) => panic!("{error}"),
            };
            assert!(
                files.iter().all(|file| file.bytes == files[0].bytes),
                "{files:?}"
            );
            if !revision.is_dirty() {
                let text = str::from_utf8(&files[0].bytes).unwrap();
                assert_eq!(
                    revision.commit().unwrap().to_string(),
                    fixture.git(&format!("rev-parse {text}"))
                );
            }
            readings += 1;
        }
        readings
    });
    assert!(switching > 0);
    let revision = source.read().unwrap().revision;
    assert!(!revision.is_dirty());
    assert_eq!(
        revision.commit().unwrap().to_string(),
        fixture.git("rev-parse new")
    );
}

#[test]
fn a_pair_of_paths_is_read_in_the_order_given() {
    let fixture = Fixture::unborn();
    fixture.write("z.yaml", "z");
    fixture.write("d/b.yml", "b");
    fixture.write("d/a.yaml", "a");
    let texts = |reading: Reading| -> Vec<_> {
        (reading.files.into_iter())
            .map(|file| String::from_utf8(file.bytes).unwrap())
            .collect()
    };
    assert_eq!(texts(fixture.read(&["z.yaml", "d"])), ["z", "a", "b"]);
    assert_eq!(texts(fixture.read(&["d", "z.yaml"])), ["a", "b", "z"]);
    assert_eq!(texts(fixture.read(&[])), [""; 0]);
}

#[test]
fn where_a_table_lies_does_not_change_its_content_hash() {
    let fixture = Fixture::unborn();
    fixture.write("here/mapping.yaml", "text");
    fixture.write("there/mapping.yaml", "text");
    fixture.write("there/other.yaml", "text");
    let hash = |path: &str| fixture.read(&[path]).revision.hash().to_owned();
    assert_eq!(hash("here"), hash("there/mapping.yaml"));
    assert_ne!(hash("there/other.yaml"), hash("there/mapping.yaml"));
}

#[test]
fn errors_reach_the_caller_with_their_place() {
    let fixture = Fixture::unborn();
    let error = fixture.source(&["links"]).read_once().unwrap_err();
    assert!(matches!(&error, FilesError::NoYaml { path } if *path == fixture.at("links")));
    let missing = Path::new("no/such/mapping.yaml").to_owned();
    let error = FileSource::new(vec![missing], MAX).read_once().unwrap_err();
    assert_eq!(
        error.to_string(),
        "no table at no/such/mapping.yaml: name a YAML file or a directory of YAML files"
    );
}

#[test]
fn revisions_can_be_kept_and_compared() {
    let fixture = Fixture::committed();
    let revision: Revision = fixture.read(&["links"]).revision;
    assert_eq!(revision.clone(), fixture.read(&["links"]).revision);
    assert_eq!(revision.short(), fixture.head()[..12]);
}
