//! The configuration files of a directory tree, as one text with continuous line numbers.

use std::collections::HashSet;

/// A tree of directories, some of which have a configuration file.
#[derive(Debug, Default)]
pub struct ConfigurationTree {
    files: Vec<ConfigurationFile>,
    /// The paths of all other files, below the root.
    pub others: HashSet<String>,
    /// The paths of all directories, below the root.
    pub folders: HashSet<String>,
    lines: usize,
}

/// The configuration file of a directory.
#[derive(Debug)]
pub(crate) struct ConfigurationFile {
    /// How messages name it.
    name: String,
    /// The path of its directory, below the root.
    pub(crate) directory: String,
    /// The number of its first line in the tree, from 1.
    pub(crate) first_line: usize,
    pub(crate) bytes: Vec<u8>,
}

impl ConfigurationTree {
    /// Adds the configuration file of a directory, whose path is below the root.
    pub fn add(&mut self, name: String, directory: String, bytes: Vec<u8>) {
        let first_line = self.lines + 1;
        self.lines += bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
        self.files.push(ConfigurationFile {
            name,
            directory,
            first_line,
            bytes,
        });
    }

    pub(crate) fn files(&self) -> &[ConfigurationFile] {
        &self.files
    }

    /// Returns the name of the file that has this line of the tree, and the line's number in it.
    pub fn place(&self, line: usize) -> String {
        let after = self.files.partition_point(|it| it.first_line <= line);
        match after.checked_sub(1).map(|it| &self.files[it]) {
            Some(file) => format!("{}:{}", file.name, line + 1 - file.first_line),
            None => line.to_string(),
        }
    }
}
