//! Paths lead to files that exist: those of saved cases to the source of their property test, and those in
//! documents.

use std::fs;

use super::{files_under, none, read, root};

fn is_of_a_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '.' | '-')
}

/// Returns the paths of source files that a text names.
fn source_paths(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("src/").map(|(at, _)| &text[at..]);
    let paths = starts.map(|rest| {
        let end = rest.find(|c| !is_of_a_path(c)).unwrap_or(rest.len());
        rest[..end].trim_end_matches('.')
    });
    paths.filter(|path| path.ends_with(".rs"))
}

/// Returns the texts in code style.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns whether a text is a path of more than one part.
fn is_path(text: &str) -> bool {
    text.trim_end_matches('/').contains('/')
        && !text.starts_with('/')
        && text.chars().all(is_of_a_path)
}

/// proptest looks for the cases of a file by its path, and finds none after a move.
#[test]
fn the_cases_of_each_property_test_are_found() {
    let sources = files_under("src");
    let tests = files_under("tests");
    let is_source = |name: &str| sources.contains(&format!("src/{name}.rs"));
    // Each test program is a folder, whose name is not in the path of its cases.
    let is_test = |name: &str| {
        let file = format!("{name}.rs");
        let mut inside = tests.iter().filter_map(|test| test.strip_prefix("tests/"));
        inside.any(|test| test.split_once('/').is_some_and(|(_, rest)| *rest == file))
    };
    let mut lost = Vec::new();
    for (directory, is_there) in [
        ("proptest-regressions/", &is_source as &dyn Fn(&str) -> bool),
        ("tests/proptest-regressions/", &is_test),
    ] {
        let cases = files_under(directory.trim_end_matches('/'));
        assert!(!cases.is_empty(), "the cases are not where they were");
        let names = cases.iter().map(|path| {
            let name = path.strip_prefix(directory).unwrap_or(path);
            (path, name.strip_suffix(".txt").unwrap_or(name))
        });
        let without = names.filter(|(_, name)| !is_there(name));
        lost.extend(without.map(|(path, _)| format!("{path}: no source file has this path")));
    }
    none(&lost);
}

#[test]
fn documents_name_files_that_exist() {
    let documents = files_under("docs")
        .into_iter()
        .chain(["CONTRIBUTING.md".to_owned()]);
    let mut lost = Vec::new();
    for document in documents.filter(|path| path.ends_with(".md")) {
        let text = read(&document);
        let missing = source_paths(&text).filter(|path| !root().join(path).exists());
        lost.extend(missing.map(|path| format!("{document}: there is no {path}")));
    }
    none(&lost);
}

/// The page names most of them by the folder of their layer, or of `src`.
#[test]
fn the_page_on_the_architecture_names_files_that_exist() {
    let folders = fs::read_dir(root().join("src")).expect("the sources can be read");
    let folders = folders.map(|folder| folder.expect("the sources can be read").path());
    let parents: Vec<_> = [root(), root().join("src")]
        .into_iter()
        .chain(folders)
        .collect();
    let page = read("docs/architecture.md");
    let named: Vec<_> = spans(&page).filter(|span| is_path(span)).collect();
    assert!(named.len() > 20, "the page does not name files as it did");
    let missing = named
        .iter()
        .filter(|path| !parents.iter().any(|it| it.join(path).exists()));
    none(&Vec::from_iter(missing.map(|path| {
        format!("docs/architecture.md: there is no {path}")
    })));
}

#[test]
fn paths_are_found_in_a_text() {
    let text = "In `src/a/b.rs`, and src/c_d.rs. Not src/ or src/e.";
    let found: Vec<_> = source_paths(text).collect();
    assert_eq!(found, ["src/a/b.rs", "src/c_d.rs"]);
    let named: Vec<_> = spans("The `a/b.rs` of `c`, `d/` and `git e/f`.")
        .filter(|span| is_path(span))
        .collect();
    assert_eq!(named, ["a/b.rs"]);
}
