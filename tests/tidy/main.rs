//! Holds the rules that the compiler does not know: which layer may import which, that files and
//! folders import downward, how files open and are named, that the commands and files which documents name
//! exist, that the cases of property tests are found, and that pages have all their texts.
//!
//! `.ci/complete-site` checks the documents themselves, and `tests/e2e/run` the end-to-end scripts.

mod commands;
mod imports;
mod layers;
mod paths;
mod style;
mod texts;

use std::fs;
use std::path::PathBuf;

/// Fails with all that was found, one a line.
#[track_caller]
fn none(found: &[String]) {
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Returns the files under a directory, relative to the repository; none if it does not exist.
fn files_under(dir: &str) -> Vec<String> {
    let Ok(items) = fs::read_dir(root().join(dir)) else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for item in items {
        let item = item.expect("the directory can be read");
        let path = format!("{dir}/{}", item.file_name().to_string_lossy());
        match item.path().is_dir() {
            true => files.extend(files_under(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}

/// Returns the source files of the crate, with their text.
fn sources() -> Vec<(String, String)> {
    let files = files_under("src").into_iter();
    let files = files.filter(|file| file.ends_with(".rs"));
    let files: Vec<_> = files.map(|file| (file.clone(), read(&file))).collect();
    assert!(files.len() > 100, "the sources are not where they were");
    files
}
