//! Trees with some entries changed or added (the format is that of `git cat-file tree`).
//!
//! The bytes around the entries are copied, so a large directory costs little more than its hash.
//! Pure.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::ops::Range;

use git2::Oid;
use memchr::memchr;

/// The length of an id in a tree.
pub(super) const ID: usize = 20;

/// The mode of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryMode {
    File,
    Executable,
    Directory,
}

/// An entry of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TreeItem<'t> {
    /// The mode; `None` if it is neither a file nor a directory.
    pub(crate) mode: Option<EntryMode>,
    pub(crate) name: &'t [u8],
    pub(crate) id: Oid,
}

/// An entry that a tree is to have.
#[derive(Debug)]
pub(super) struct ChangedItem<'c> {
    pub(super) mode: EntryMode,
    pub(super) name: &'c [u8],
    pub(super) id: Oid,
}

/// Returns the entry of that name.
pub(super) fn find<'t>(tree: &'t [u8], name: &[u8]) -> Option<TreeItem<'t>> {
    let mut items = items(tree).map(|(_, item)| item);
    items.find(|item| item.name == name)
}

/// Returns a tree with these entries, replacing those with the same names.
pub(super) fn with(tree: &[u8], mut changes: Vec<ChangedItem<'_>>) -> Vec<u8> {
    changes.sort_by(|a, b| order((a.name, a.mode), (b.name, b.mode)));
    let names: HashSet<_> = changes.iter().map(|change| change.name).collect();
    let mut changes = changes.iter().peekable();
    let mut changed = Vec::with_capacity(tree.len() + 64);
    // The start of the part that is not yet copied.
    let mut from = 0;
    for (range, item) in items(tree) {
        let mode = item.mode.unwrap_or(EntryMode::File);
        let before = |change: &&ChangedItem<'_>| {
            order((change.name, change.mode), (item.name, mode)) == Ordering::Less
        };
        while let Some(change) = changes.next_if(before) {
            changed.extend_from_slice(&tree[from..range.start]);
            from = range.start;
            change.write(&mut changed);
        }
        if names.contains(item.name) {
            changed.extend_from_slice(&tree[from..range.start]);
            from = range.end;
        }
    }
    changed.extend_from_slice(&tree[from..]);
    changes.for_each(|change| change.write(&mut changed));
    changed
}

impl ChangedItem<'_> {
    fn write(&self, tree: &mut Vec<u8>) {
        tree.extend_from_slice(match self.mode {
            EntryMode::File => b"100644 ",
            EntryMode::Executable => b"100755 ",
            EntryMode::Directory => b"40000 ",
        });
        tree.extend_from_slice(self.name);
        tree.push(0);
        tree.extend_from_slice(self.id.as_bytes());
    }
}

/// Compares entries: directories are sorted as if their names ended in a slash.
fn order(one: (&[u8], EntryMode), other: (&[u8], EntryMode)) -> Ordering {
    let key = |(name, mode)| {
        let slash = (mode == EntryMode::Directory).then_some(b'/');
        <[u8]>::iter(name).copied().chain(slash)
    };
    key(one).cmp(key(other))
}

/// Yields the entries with their places, up to the end or the first that is malformed.
pub(super) fn items(tree: &[u8]) -> impl Iterator<Item = (Range<usize>, TreeItem<'_>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &tree[at..];
        let space = memchr(b' ', rest)?;
        let nul = space + memchr(0, &rest[space..])?;
        let id = rest.get(nul + 1..nul + 1 + ID)?;
        let item = TreeItem {
            mode: mode(&rest[..space]),
            name: &rest[space + 1..nul],
            id: Oid::from_bytes(id).ok()?,
        };
        let start = at;
        at += nul + 1 + ID;
        Some((start..at, item))
    })
}

/// Reads a mode as Git does: as an octal number, since old programs wrote leading zeros and other
/// permissions.
fn mode(digits: &[u8]) -> Option<EntryMode> {
    let digits = str::from_utf8(digits).ok()?;
    if !digits.starts_with(|digit: char| digit.is_ascii_digit()) {
        return None;
    }
    let mode = u32::from_str_radix(digits, 8).ok()?;
    match mode & 0o170_000 {
        0o040_000 => Some(EntryMode::Directory),
        0o100_000 if mode & 0o100 != 0 => Some(EntryMode::Executable),
        0o100_000 => Some(EntryMode::File),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> Oid {
        Oid::from_str(&digit.to_string().repeat(40)).unwrap()
    }

    fn change(name: &str, mode: EntryMode) -> ChangedItem<'_> {
        let (name, id) = (name.as_bytes(), id('c'));
        ChangedItem { mode, name, id }
    }

    #[test]
    fn modes_are_numbers_however_they_are_written() {
        for (digits, expected) in [
            ("40000", Some(EntryMode::Directory)),
            ("040000", Some(EntryMode::Directory)),
            ("100644", Some(EntryMode::File)),
            ("100664", Some(EntryMode::File)),
            ("0100755", Some(EntryMode::Executable)),
            ("100775", Some(EntryMode::Executable)),
            ("120000", None),
            ("160000", None),
            ("+40000", None),
            ("4x", None),
            ("", None),
        ] {
            assert_eq!(mode(digits.as_bytes()), expected, "{digits}");
        }
    }

    #[test]
    fn a_directory_of_an_old_program_keeps_its_place() {
        let mut old = Vec::new();
        for entry in ["100644 a.b", "040000 a", "100644 b"] {
            old.extend_from_slice(entry.as_bytes());
            old.push(0);
            old.extend_from_slice(id('d').as_bytes());
        }
        let new = with(&old, vec![change("a-x", EntryMode::File)]);
        assert_eq!(names(&new), ["a-x", "a.b", "a", "b"]);
    }

    fn names(tree: &[u8]) -> Vec<&str> {
        let items = items(tree);
        items
            .map(|(_, item)| str::from_utf8(item.name).unwrap())
            .collect()
    }

    #[test]
    fn entries_are_in_the_order_of_git() {
        use EntryMode::{Directory, Executable, File};
        let of = |all: &[(&'static str, EntryMode)]| {
            let changes = all.iter().map(|(name, mode)| change(name, *mode));
            changes.collect::<Vec<_>>()
        };
        let first = with(
            b"",
            of(&[
                ("a", Directory),
                ("a.b", File),
                ("a0", File),
                ("z", Executable),
            ]),
        );
        // "a/" is after "a.b".
        assert_eq!(names(&first), ["a.b", "a", "a0", "z"]);
        let second = with(
            &first,
            of(&[("a", Directory), ("a-", File), ("b", File), ("zz", File)]),
        );
        assert_eq!(names(&second), ["a-", "a.b", "a", "a0", "b", "z", "zz"]);
        assert_eq!(find(&second, b"z").unwrap().mode, Some(Executable));
        // A file replaces a directory of the same name.
        let third = with(&second, of(&[("a", File)]));
        assert_eq!(names(&third), ["a", "a-", "a.b", "a0", "b", "z", "zz"]);
    }

    #[test]
    fn the_result_is_that_of_git() {
        let directory = tempfile::tempdir().unwrap();
        let repository = git2::Repository::init_bare(directory.path()).unwrap();
        let blob = repository.blob(b"text").unwrap();
        let mut builder = repository.treebuilder(None).unwrap();
        for number in 0..300 {
            let mode = [0o100_644, 0o100_755][number % 2];
            builder
                .insert(format!("{}.yaml", number * 7), blob, mode)
                .unwrap();
        }
        let odb = repository.odb().unwrap();
        let before = odb.read(builder.write().unwrap()).unwrap().data().to_vec();
        let new = repository.blob(b"new").unwrap();
        let changed = ["0.yaml", "1.yaml", "28.yaml", "9999.yaml"];
        let changes = changed.map(|name| ChangedItem {
            mode: EntryMode::File,
            name: name.as_bytes(),
            id: new,
        });
        for name in changed {
            builder.insert(name, new, 0o100_644).unwrap();
        }
        let expected = odb.read(builder.write().unwrap()).unwrap().data().to_vec();
        assert_eq!(with(&before, changes.into()), expected);
    }
}
