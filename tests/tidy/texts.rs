//! The texts of pages: every key that is used has a text, and every text is used.

use std::collections::BTreeSet;

use super::{files_under, none, read};

/// What takes keys, and how many.
const TAKING: [(&str, usize); 4] = [
    ("frame.text(\"", 1),
    ("frame.sentence(\"", 1),
    ("frame.counted(\"", 2),
    ("language.text(\"", 1),
];

/// Returns the keys of a file of texts.
fn keys(texts: &str) -> BTreeSet<&str> {
    let messages = texts.lines().filter(|line| !line.starts_with('#'));
    let keys = messages.filter_map(|line| line.split_once(" = "));
    keys.map(|(key, _)| key).collect()
}

/// Returns the keys that a template or a source asks for, which have no text.
fn missing(file: &str, keys: &BTreeSet<&str>) -> Vec<String> {
    let asked = TAKING.iter().flat_map(|(taking, count)| {
        let calls = file.split(taking).skip(1);
        calls.flat_map(move |call| call.split('"').step_by(2).take(*count))
    });
    let unknown = asked.filter(|key| !keys.contains(key));
    unknown.map(|key| format!("{key} has no text")).collect()
}

/// Returns the keys that no file has in quotes.
fn unused(files: &[String], keys: &BTreeSet<&str>) -> Vec<String> {
    let lines = files.iter().flat_map(|file| file.lines());
    let parts: BTreeSet<_> = lines.flat_map(|line| line.split('"')).collect();
    let unused = keys.iter().filter(|key| !parts.contains(*key));
    unused.map(|key| format!("{key} is not used")).collect()
}

#[test]
fn every_text_of_a_page_is_there_and_used() {
    let texts = read("templates/messages/en.ftl");
    let keys = keys(&texts);
    assert!(keys.len() > 50, "the texts are not where they were");
    let files = ["templates", "src/html", "src/exchange", "src/server"].map(files_under);
    let files = files.concat();
    let files = files.iter().filter(|file| !file.ends_with(".ftl"));
    let files: Vec<_> = files.map(|file| read(file)).collect();
    let mut found = unused(&files, &keys);
    found.extend(files.iter().flat_map(|file| missing(file, &keys)));
    none(&found);
}

#[test]
fn texts_that_are_missing_or_unused_are_found() {
    let keys = keys("# a = b\na-b = x\nc = y\n");
    let file = "{{ frame.text(\"a-b\") }}{{ frame.counted(\"c\", \"d\", 1) }}".to_owned();
    assert_eq!(missing(&file, &keys), ["d has no text"]);
    assert_eq!(unused(&["\"a-b\" c".to_owned()], &keys), ["c is not used"]);
}
