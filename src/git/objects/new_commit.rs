//! A commit of changed files on another commit, with all objects that it adds.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use git2::{ObjectType, Odb, Oid, Repository, Signature};

use super::object::{NewObject, id_of};
use super::pack::{place_in, write_thin};
use super::tree::{self, ChangedItem, EntryMode};
use super::whole_pack::WholePack;
use crate::git::commit_id::CommitId;
use crate::git::in_parallel;
use crate::git::packs::{AddedObject, PackError, StoredPack, add_objects};

/// The maximum size of the objects that are compressed in memory together, in bytes.
pub(crate) const MAX_WHOLE: usize = 128 << 20;

/// A file for a new commit.
#[derive(Debug)]
pub(crate) struct FileChange<'f> {
    /// The path from the repository's top.
    pub(crate) path: &'f str,
    /// The new content.
    pub(crate) bytes: Vec<u8>,
    /// The content in the commit before, if known.
    pub(crate) before: Option<&'f [u8]>,
}

/// A commit, with the trees and files that its parent lacks. It is in no repository yet.
pub(crate) struct NewCommit {
    /// The commit first, then trees, then files.
    objects: Vec<NewObject>,
}

impl NewCommit {
    /// Creates a commit of files, which keep their modes, on a tip.
    ///
    /// # Errors
    ///
    /// If the tip cannot be read.
    pub(crate) fn new(
        repository: &Repository,
        tip: CommitId,
        changes: Vec<FileChange<'_>>,
        [author, committer]: [&Signature<'_>; 2],
        message: &str,
    ) -> Result<Self, git2::Error> {
        let before = repository.find_commit(tip.0)?.tree_id();
        let ids = in_parallel(&changes, |change| id_of(ObjectType::Blob, &change.bytes));
        let mut top = ChangedDirectory::default();
        for (change, id) in changes.into_iter().zip(ids) {
            top.add(change.path, id, change);
        }
        let odb = repository.odb()?;
        let mut made = MadeObjects {
            odb: &odb,
            trees: Vec::new(),
            files: Vec::new(),
        };
        let tree = made.write(top, Some(before))?;
        let text = format!(
            "tree {tree}\nparent {tip}\nauthor {}\ncommitter {}\n\n{message}",
            written(author),
            written(committer),
        );
        let commit = NewObject::new(ObjectType::Commit, text.into_bytes(), None);
        let mut objects = vec![commit];
        objects.extend(made.trees);
        objects.extend(made.files);
        Ok(Self { objects })
    }

    /// Returns the id of the commit.
    pub(crate) fn id(&self) -> CommitId {
        self.objects[0].id.into()
    }

    /// Returns all objects as a pack for a repository that has the tip: small, if little changed.
    ///
    /// # Errors
    ///
    /// If there are more objects than a pack can have.
    pub(crate) fn thin_pack(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        write_thin(&self.objects, &mut bytes)?;
        Ok(bytes)
    }

    /// Converts it into a pack in which each object is whole, for a repository that keeps a pack of at
    /// least so many objects as it is.
    ///
    /// # Errors
    ///
    /// The commit itself, if it has fewer, or they are too large together.
    pub(crate) fn into_whole_pack(self, least: usize) -> Result<WholePack, Self> {
        let size: usize = self.objects.iter().map(|object| object.bytes.len()).sum();
        match self.objects.len() < least || size > MAX_WHOLE {
            true => Err(self),
            false => Ok(WholePack::new(self.objects)),
        }
    }

    /// Writes all objects to a bare repository of our own, where they appear in one step.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub(crate) fn store(&self, repository: &Path) -> io::Result<StoredPack> {
        let (packs, aside) = place_in(repository);
        let objects = self.objects.iter().map(|object| AddedObject {
            id: object.id,
            kind: object.kind,
            bytes: &object.bytes,
            delta: (object.delta.as_ref()).map(|delta| (delta.base, &*delta.bytes)),
        });
        let objects: Vec<_> = objects.collect();
        add_objects(&objects, &packs, &aside).map_err(|error| match error {
            PackError::Io(error) => error,
            error => io::Error::other(error),
        })
    }
}

/// The changed files of a directory, and of those in it.
#[derive(Default)]
struct ChangedDirectory<'f> {
    directories: BTreeMap<&'f str, Self>,
    /// With the ids of their new content.
    files: BTreeMap<&'f str, (Oid, FileChange<'f>)>,
}

impl<'f> ChangedDirectory<'f> {
    fn add(&mut self, path: &'f str, id: Oid, change: FileChange<'f>) {
        match path.split_once('/') {
            Some((first, rest)) => {
                let directory = self.directories.entry(first).or_default();
                directory.add(rest, id, change);
            }
            None => drop(self.files.insert(path, (id, change))),
        }
    }
}

/// The objects made so far.
struct MadeObjects<'r> {
    odb: &'r Odb<'r>,
    trees: Vec<NewObject>,
    files: Vec<NewObject>,
}

impl MadeObjects<'_> {
    /// Creates the tree of a directory, from its former tree if there is one, and returns its id.
    fn write(
        &mut self,
        directory: ChangedDirectory<'_>,
        before: Option<Oid>,
    ) -> Result<Oid, git2::Error> {
        let object = match before {
            Some(id) => Some(self.odb.read(id)?),
            None => None,
        };
        let old = object.as_ref().map_or(&[][..], |object| object.data());
        let mut changes = Vec::new();
        for (name, directory) in directory.directories {
            let name = name.as_bytes();
            let there = tree::find(old, name);
            if there.is_some_and(|it| it.mode != Some(EntryMode::Directory)) {
                let message = "a directory is to take the place of something else";
                return Err(git2::Error::from_str(message));
            }
            changes.push(ChangedItem {
                mode: EntryMode::Directory,
                id: self.write(directory, there.map(|it| it.id))?,
                name,
            });
        }
        for (name, (id, change)) in directory.files {
            let name = name.as_bytes();
            let there = tree::find(old, name);
            let before = there.and_then(|it| Some((it.id, change.before?)));
            let file = NewObject::with_id(id, ObjectType::Blob, change.bytes, before);
            let is_executable = there.is_some_and(|it| it.mode == Some(EntryMode::Executable));
            changes.push(ChangedItem {
                mode: match is_executable {
                    true => EntryMode::Executable,
                    false => EntryMode::File,
                },
                id,
                name,
            });
            self.files.push(file);
        }
        let before = before.map(|id| (id, old));
        let tree = NewObject::new(ObjectType::Tree, tree::with(old, changes), before);
        let id = tree.id;
        self.trees.push(tree);
        Ok(id)
    }
}

/// Writes a signature as a commit has it.
fn written(signature: &Signature<'_>) -> String {
    let when = signature.when();
    let minutes = when.offset_minutes().unsigned_abs();
    format!(
        "{} <{}> {} {}{:02}{:02}",
        String::from_utf8_lossy(signature.name_bytes()),
        String::from_utf8_lossy(signature.email_bytes()),
        when.seconds(),
        when.sign(),
        minutes / 60,
        minutes % 60,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::fs;

    use git2::build::TreeUpdateBuilder;
    use git2::{FileMode, Time};

    use crate::git::is_damage;
    use crate::git::packs::pack_names;

    fn repository() -> (tempfile::TempDir, Repository) {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::init_bare(directory.path()).unwrap();
        (directory, repository)
    }

    fn signature() -> Signature<'static> {
        Signature::new("A. Uthor", "a@example.org", &Time::new(1_700_000_000, -90)).unwrap()
    }

    /// Commits these files to a repository as libgit2 does.
    fn first(repository: &Repository, files: &[(&str, &str)]) -> CommitId {
        let mut update = TreeUpdateBuilder::new();
        for (path, text) in files {
            let mode = match path.ends_with("sh") {
                true => FileMode::BlobExecutable,
                false => FileMode::Blob,
            };
            update.upsert(*path, repository.blob(text.as_bytes()).unwrap(), mode);
        }
        let empty = repository.treebuilder(None).unwrap().write().unwrap();
        let empty = repository.find_tree(empty).unwrap();
        let tree = update.create_updated(repository, &empty).unwrap();
        let tree = repository.find_tree(tree).unwrap();
        let commit = repository.commit(None, &signature(), &signature(), "First\n", &tree, &[]);
        commit.unwrap().into()
    }

    /// Returns a commit that changes the text of `l.yaml`.
    fn changed(repository: &Repository, tip: CommitId, text: &str, before: &str) -> NewCommit {
        let change = FileChange {
            path: "l.yaml",
            bytes: text.into(),
            before: Some(before.as_bytes()),
        };
        let signatures = [&signature(), &signature()];
        NewCommit::new(repository, tip, vec![change], signatures, "").unwrap()
    }

    fn lines(count: usize) -> String {
        (0..count).map(|line| format!("line {line}\n")).collect()
    }

    #[test]
    fn the_commit_is_the_one_that_libgit2_makes() {
        let (_directory, repository) = repository();
        let long = lines(5_000);
        let files = [
            ("a.yaml", "a\n"),
            ("run.sh", "b\n"),
            ("t/l.yaml", &long),
            ("t/m/n", "n\n"),
        ];
        let tip = first(&repository, &files);
        let longer = long.replace("line 7\n", "line 7\nmore\n") + "end\n";
        let changed = [
            ("run.sh", "c\n", None),
            ("t/l.yaml", &*longer, Some(&*long)),
            ("t/new/o.yaml", "o\n", None),
        ];
        let changes = changed.map(|(path, bytes, before)| FileChange {
            path,
            bytes: bytes.into(),
            before: before.map(str::as_bytes),
        });
        let signatures = [&signature(), &signature()];
        let made =
            NewCommit::new(&repository, tip, changes.into(), signatures, "Second\n").unwrap();
        let thin = made.thin_pack().unwrap();
        assert!(thin.len() < 1_000, "{}", thin.len());
        made.store(repository.path()).unwrap();

        let again = Repository::open(repository.path()).unwrap();
        let commit = again.find_commit(made.id().0).unwrap();
        let mut update = TreeUpdateBuilder::new();
        for (path, text, _) in changed {
            let mode = match path {
                "run.sh" => FileMode::BlobExecutable,
                _ => FileMode::Blob,
            };
            update.upsert(path, again.blob(text.as_bytes()).unwrap(), mode);
        }
        let parent = again.find_commit(tip.0).unwrap();
        let expected = update
            .create_updated(&again, &parent.tree().unwrap())
            .unwrap();
        assert_eq!(commit.tree_id(), expected);
        let tree = again.find_tree(expected).unwrap();
        let id = again.commit(
            None,
            &signature(),
            &signature(),
            "Second\n",
            &tree,
            &[&parent],
        );
        assert_eq!(commit.id(), id.unwrap());
    }

    #[test]
    fn a_whole_pack_has_each_object_once() {
        let (_directory, repository) = repository();
        let tip = first(&repository, &[("a", "a\n")]);
        let texts: Vec<_> = (0..40).map(|n| (format!("{n}"), lines(n / 2))).collect();
        let changes = texts.iter().map(|(path, text)| FileChange {
            path,
            bytes: text.clone().into(),
            before: None,
        });
        let signatures = [&signature(), &signature()];
        let made = NewCommit::new(&repository, tip, changes.collect(), signatures, "").unwrap();
        let id = made.id();
        let made = made.into_whole_pack(43).err().unwrap();
        let whole = made.into_whole_pack(42).ok().unwrap();
        whole.send(repository.path(), |_| ()).unwrap();
        let again = Repository::open(repository.path()).unwrap();
        let tree = again.find_commit(id.0).unwrap().tree().unwrap();
        for (path, text) in &texts {
            let blob = again.find_blob(tree.get_name(path).unwrap().id()).unwrap();
            assert_eq!(blob.content(), text.as_bytes());
        }
        let packs = repository.path().join("objects/pack");
        let names = pack_names(&packs).unwrap();
        let index = fs::read(packs.join(format!("{}.idx", names[0]))).unwrap();
        let count = u32::from_be_bytes(index[8 + 255 * 4..][..4].try_into().unwrap());
        assert_eq!(count, 22);
    }

    #[test]
    fn a_pack_has_all_that_its_deltas_refer_to() {
        let (_directory, repository) = repository();
        let mut text = lines(20_000);
        let mut tip = first(&repository, &[("l.yaml", &text)]);
        let packs = repository.path().join("objects/pack");
        for number in 0..4 {
            let before = text.clone();
            text = text.replace(&format!("line 1{number}000\n"), "changed\n") + "end\n";
            let made = changed(&repository, tip, &text, &before);
            // The first version is not in a pack, and is compressed; then there is one pack.
            let older: Vec<_> = fs::read_dir(&packs)
                .unwrap()
                .map(|it| it.unwrap().path())
                .collect();
            made.store(repository.path()).unwrap();
            for path in older {
                fs::remove_file(path).unwrap();
            }
            let again = Repository::open(repository.path()).unwrap();
            tip = made.id();
            let blob = Oid::hash_object(ObjectType::Blob, text.as_bytes()).unwrap();
            assert_eq!(again.find_blob(blob).unwrap().content(), text.as_bytes());
            // The commit before went with its pack, and is not read.
            let names = fs::read_dir(&packs).unwrap();
            assert_eq!(names.count(), 2);
        }
    }

    #[test]
    fn no_delta_is_made_from_one_of_many_packs() {
        let (_directory, repository) = repository();
        let before = lines(20_000);
        let tip = first(&repository, &[("l.yaml", &before)]);
        let packs = repository.path().join("objects/pack");
        let names = || fs::read_dir(&packs).unwrap().map(|it| it.unwrap().path());
        let store = |tip, text: &str, before: &str| {
            let known: Vec<_> = names().collect();
            let made = changed(&repository, tip, text, before);
            made.store(repository.path()).unwrap();
            let index = names().find(|it| !known.contains(it) && it.extension().unwrap() == "idx");
            // The last entry of its first table is the number of objects.
            let index = fs::read(index.unwrap()).unwrap();
            let count = u32::from_be_bytes(index[8 + 255 * 4..][..4].try_into().unwrap());
            (made.id(), count)
        };
        let second = format!("{before}second\n");
        let (tip, count) = store(tip, &second, &before);
        assert_eq!(count, 3);
        let third = format!("{second}third\n");
        let (tip, count) = store(tip, &third, &second);
        assert_eq!(count, 4, "and the version before");
        for path in names().collect::<Vec<_>>() {
            let extension = path.extension().unwrap().to_str().unwrap();
            for number in 0..32 {
                let name = format!("pack-{number}-{}", path.file_stem().unwrap().display());
                fs::hard_link(&path, packs.join(format!("{name}.{extension}"))).unwrap();
            }
        }
        let (_, count) = store(tip, &format!("{third}fourth\n"), &third);
        assert_eq!(count, 3);
    }

    #[test]
    fn what_cannot_be_stored_leaves_nothing() {
        let (_directory, repository) = repository();
        let tip = first(&repository, &[("a.yaml", "a\n")]);
        let change = FileChange {
            path: "a.yaml",
            bytes: b"b\n".into(),
            before: None,
        };
        let signatures = [&signature(), &signature()];
        let made = NewCommit::new(&repository, tip, vec![change], signatures, "").unwrap();
        let packs = repository.path().join("objects/pack");
        let names = || fs::read_dir(&packs).unwrap().map(|it| it.unwrap().path());
        made.store(repository.path()).unwrap();
        let stored: Vec<_> = names().collect();
        stored
            .iter()
            .for_each(|path| fs::remove_file(path).unwrap());
        // A directory is where the pack would be.
        let pack = stored.iter().find(|it| it.extension().unwrap() == "pack");
        fs::create_dir_all(pack.unwrap().join("x")).unwrap();
        made.store(repository.path()).unwrap_err();
        assert_eq!(names().count(), 1);
        fs::remove_dir_all(pack.unwrap()).unwrap();
        // And where its index would be.
        let index = stored.iter().find(|it| it.extension().unwrap() == "idx");
        fs::create_dir_all(index.unwrap().join("x")).unwrap();
        made.store(repository.path()).unwrap_err();
        assert_eq!(names().count(), 1);
    }

    #[test]
    fn a_tip_that_is_not_there_is_damage() {
        let (_directory, repository) = repository();
        let tip = "1".repeat(40).parse().unwrap();
        let signatures = [&signature(), &signature()];
        let made = NewCommit::new(&repository, tip, Vec::new(), signatures, "");
        assert!(is_damage(&made.err().unwrap()));
    }
}
