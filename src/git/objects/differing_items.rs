//! The entries in which two versions of a tree differ.
//!
//! A tree of thousands of entries differs in one of them from the version before: the others are only
//! compared, byte by byte. Pure.

use memchr::memchr;

use super::tree::{ID, TreeItem, items};

/// An entry of a tree, in two versions of that.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DifferingItem<'t> {
    pub(crate) old: TreeItem<'t>,
    pub(crate) new: TreeItem<'t>,
}

/// Returns the entries in which two versions of a tree differ; `None` if they have other names, or one
/// is malformed.
pub(crate) fn differing_items<'t>(
    mut old: &'t [u8],
    mut new: &'t [u8],
) -> Option<Vec<DifferingItem<'t>>> {
    let mut differing = Vec::new();
    while let Some(nul) = memchr(0, new) {
        let length = nul + 1 + ID;
        if new.len() >= length && old.starts_with(&new[..length]) {
            (old, new) = (&old[length..], &new[length..]);
            continue;
        }
        let (old_range, old_item) = items(old).next()?;
        let (new_range, new_item) = items(new).next()?;
        if old_item.name != new_item.name {
            return None;
        }
        differing.push(DifferingItem {
            old: old_item,
            new: new_item,
        });
        (old, new) = (&old[old_range.end..], &new[new_range.end..]);
    }
    (old.is_empty() && new.is_empty()).then_some(differing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(items: &[(&str, u8)]) -> Vec<u8> {
        let items = items.iter().flat_map(|(head, id)| {
            let head = head.bytes().chain([0]);
            head.chain([*id; ID])
        });
        items.collect()
    }

    fn names(old: &[u8], new: &[u8]) -> Option<Vec<String>> {
        let found = differing_items(old, new)?;
        let names = found.iter().map(|it| {
            assert_eq!(it.old.name, it.new.name);
            assert_ne!(it.old, it.new);
            String::from_utf8(it.new.name.to_vec()).unwrap()
        });
        Some(names.collect())
    }

    #[test]
    fn finds_entries_of_another_content_or_mode() {
        // An id may have any bytes, as those of a name.
        let old = tree(&[("100644 a", 0), ("100644 b", b' '), ("40000 c", 1)]);
        for (new, expected) in [
            (
                tree(&[("100644 a", 0), ("100644 b", b' '), ("40000 c", 1)]),
                vec![],
            ),
            (
                tree(&[("100644 a", 7), ("100644 b", b' '), ("40000 c", 1)]),
                vec!["a"],
            ),
            (
                tree(&[("120000 a", 0), ("40000 b", 7), ("100755 c", 1)]),
                vec!["a", "b", "c"],
            ),
        ] {
            assert_eq!(names(&old, &new).unwrap(), expected);
            assert_eq!(names(&new, &old).unwrap(), expected);
        }
    }

    #[test]
    fn finds_nothing_where_the_names_differ() {
        let old = tree(&[("100644 a", 0), ("100644 b", 1)]);
        for new in [
            tree(&[]),
            tree(&[("100644 a", 0)]),
            tree(&[("100644 b", 1)]),
            tree(&[("100644 a", 0), ("100644 bb", 1)]),
            tree(&[("100644 a", 0), ("100644 b", 1), ("100644 c", 1)]),
            old[..old.len() - 1].to_vec(),
            [&old[..], b"x"].concat(),
        ] {
            assert_eq!(names(&old, &new), None, "{new:?}");
            assert_eq!(names(&new, &old), None, "{new:?}");
        }
    }
}
