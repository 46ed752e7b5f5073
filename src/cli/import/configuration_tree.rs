//! Reading the configuration files of a directory tree.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use crate::exchange::read::ConfigurationTree;

/// The name of the configuration file of a directory.
const FILE_NAME: &str = ".htaccess";

/// The maximum number of directories above a file, which a link that leads upwards would exceed.
const MOST_DEPTH: usize = 64;

/// Reads a tree, in which at most `most_bytes` may be configuration. Links are followed, as Apache
/// follows them with `FollowSymLinks`.
pub(super) fn read_tree(root: &Path, most_bytes: u64) -> anyhow::Result<ConfigurationTree> {
    let mut tree = ConfigurationTree::default();
    let mut left = most_bytes;
    let mut open = vec![(String::new(), 0)];
    while let Some((directory, depth)) = open.pop() {
        let path = root.join(&directory);
        anyhow::ensure!(
            depth < MOST_DEPTH,
            "{}: more than {MOST_DEPTH} directories are nested",
            path.display()
        );
        let context = || format!("cannot read {}", path.display());
        let mut entries: Vec<_> = fs::read_dir(&path)
            .and_then(Iterator::collect)
            .with_context(context)?;
        entries.sort_by_key(|it: &fs::DirEntry| std::cmp::Reverse(it.file_name()));
        for entry in entries {
            let (Ok(name), Ok(kind)) =
                (entry.file_name().into_string(), fs::metadata(entry.path()))
            else {
                continue;
            };
            let below = match directory.as_str() {
                "" => name.clone(),
                _ => format!("{directory}/{name}"),
            };
            if kind.is_dir() && name != ".git" {
                tree.folders.insert(below.clone());
                open.push((below, depth + 1));
            } else if name == FILE_NAME {
                let bytes = fs::read(entry.path())
                    .with_context(|| format!("cannot read {}", entry.path().display()))?;
                left = left.checked_sub(bytes.len() as u64).with_context(|| {
                    format!("{} has more than {most_bytes} bytes", root.display())
                })?;
                // As Apache reads it: neither other encodings nor other line breaks are converted.
                let name = entry.path().display().to_string();
                tree.add(name, directory.clone(), bytes);
            } else {
                tree.others.insert(below);
            }
        }
    }
    tree.folders.insert(String::new());
    Ok(tree)
}
