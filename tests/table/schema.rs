//! The published JSON Schema of tables, compared with what the reader accepts and refuses.
//!
//! A schema sees structure: types, keys, enumerations, ranges, the beginnings of URLs. It sees
//! neither meaning nor spelling: no loop, no duplicate key, no leading zero. Which errors are
//! structural is known from the messages next to the tables; each of them is looked at alone, so
//! that one that is missed is not hidden by another. A line of a table that ends in [`UNSEEN`]
//! holds an error that is gone once others have read the line.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Map, Value, json};

/// Marks a line whose error cannot be seen in what is left of it in JSON.
const UNSEEN: &str = "# no schema sees it";

/// What a message about structure says.
const STRUCTURAL: &[&str] = &[
    "unknown key ",
    "the key \"mapping\" is missing",
    "the key \"url\" is missing",
    ", found ",
    " has no value",
    " must be one of ",
    " must be a whole number",
    " must be at most ",
    " must be a date or a date-time",
    " must be \"true\" or a date",
    ", not both",
    " needs both ",
    " must be a path from the host's root",
    "a short code needs at least one character",
    "the path of a base URL must end in a slash",
    "unknown paths cannot be appended to a URL",
    "a base URL cannot have a query or a fragment",
    "a short code can have at most 255 bytes",
    "a URL can have at most 8192 bytes",
    "the URL is not absolute",
    "the URL has the scheme ",
    "the URL's scheme is not followed by exactly two slashes",
];

#[test]
fn the_schema_accepts_every_table_that_loads() {
    let schema = Schema::published();
    let tables = documents("tests/tables/ok");
    assert!(tables.len() > 10, "{tables:?}");
    for path in tables {
        let document = read(&path).unwrap_or_else(|| panic!("{path:?} is no YAML to others"));
        assert_eq!(schema.refusal(&document), None, "{path:?}");
    }
}

#[test]
fn the_schema_refuses_every_error_of_structure() {
    let schema = Schema::published();
    let mut missed = Vec::new();
    let mut seen = BTreeSet::new();
    for path in documents("tests/tables/err") {
        let Some(document) = read(&path) else {
            continue;
        };
        let text = fs::read_to_string(&path).unwrap();
        for (line, message) in errors(&path) {
            let Some(form) = STRUCTURAL.iter().find(|form| message.contains(*form)) else {
                continue;
            };
            seen.insert(form);
            let part = part_at(&document, &text, line);
            let written = text.lines().nth(line - 1).unwrap();
            if schema.refusal(&part).is_some() == written.ends_with(UNSEEN) {
                missed.push(format!("{path:?}:{line}: {message}: {part}"));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    let unseen: Vec<_> = STRUCTURAL
        .iter()
        .filter(|form| !seen.contains(form))
        .collect();
    assert!(unseen.is_empty(), "no table has them: {unseen:?}");
}

struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    fn published() -> Self {
        let mut schemas = Schemas::new();
        let index = Compiler::new()
            .compile("docs/mapping.schema.json", &mut schemas)
            .unwrap();
        Self { schemas, index }
    }

    /// Returns why a document is refused, or nothing if it is accepted.
    fn refusal(&self, document: &Value) -> Option<String> {
        let verdict = self.schemas.validate(document, self.index);
        verdict.err().map(|error| error.to_string())
    }
}

/// Returns the files under a folder of tables.
fn documents(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(documents(path.to_str().unwrap()));
        } else if path
            .extension()
            .is_some_and(|it| it == "yaml" || it == "yml")
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns a document as editors see it, or nothing if it is no YAML.
fn read(path: &Path) -> Option<Value> {
    let text = fs::read_to_string(path).ok()?;
    serde_yaml::from_str(&text).ok()
}

/// Returns the lines and messages of a document's errors, from the text next to its table.
fn errors(path: &Path) -> Vec<(usize, String)> {
    let own = PathBuf::from(format!("{}.expected", path.display()));
    let of_folder = PathBuf::from(format!("{}.expected", path.parent().unwrap().display()));
    let expected = fs::read_to_string(own).or_else(|_| fs::read_to_string(of_folder));
    let name = format!("{}:", path.file_name().unwrap().to_str().unwrap());
    let error = |report: &str| {
        let (place, message) = report.strip_prefix(&name)?.split_once(": error: ")?;
        let line = place.split(':').next()?.parse().ok()?;
        Some((line, message.to_owned()))
    };
    expected.unwrap().lines().filter_map(error).collect()
}

/// Returns a document that holds only the key of a line, and of its list only the item there.
fn part_at(document: &Value, text: &str, line: usize) -> Value {
    let Some(keys) = document.as_object() else {
        return document.clone();
    };
    let lines: Vec<_> = text.lines().take(line).collect();
    let is_key = |line: &&str| line.starts_with(|first: char| first.is_ascii_alphabetic());
    let at = lines.iter().rposition(is_key).unwrap();
    let key = lines[at].split(':').next().unwrap();
    let item = lines[at..]
        .iter()
        .filter(|line| line.starts_with('-'))
        .count();
    let value = match &keys[key] {
        Value::Array(items) if item > 0 => json!([items[item - 1]]),
        value => value.clone(),
    };
    let mut part = Map::new();
    if keys.contains_key("mapping") {
        part.insert("mapping".to_owned(), json!([]));
    }
    part.insert(key.to_owned(), value);
    part.into()
}
