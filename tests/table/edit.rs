//! Formatting: examples as data, and what must hold of any table.
//!
//! Each file under `tests/edit/format` is formatted and compared with the text next to it; each
//! under `tests/edit/refused` cannot be, or no entry can be inserted into it, for the reason next
//! to it. `WAYPOST_REWRITE=1 cargo test` writes those texts anew.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use waypost::edit::{Layout, NewEntry, OwnCode, format, insert};
use waypost::mapping::{Code, Compilation, Entry, Outline, SourceFile, Target, compile};

use super::reported::reported;

fn file(text: &str) -> SourceFile {
    SourceFile {
        path: "t.yaml".into(),
        bytes: text.into(),
    }
}

fn formatted(text: &str) -> Result<String, String> {
    let report = |problems: Vec<_>| problems.iter().map(reported).collect();
    format(&file(text)).map_err(report)
}

/// Inserts an entry into a document.
fn extended(text: &str) -> Result<String, String> {
    let url = Target::parse("https://new.example/").unwrap();
    let entry = NewEntry::new(url, OwnCode::Custom(Code::custom("new").unwrap()));
    let file = file(text);
    let outline =
        Outline::of(&file).map_err(|problems| problems.iter().map(reported).collect::<String>())?;
    let inserted = insert(&outline, &[&entry]);
    inserted.map_err(|obstacle| reported(&obstacle.in_file(&file.path)))
}

fn tables(folder: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|it| it.extension().unwrap() == "yaml")
        .collect();
    files.sort();
    assert!(files.len() > 5, "{folder}");
    files
}

/// Compares with the text next to a file.
fn compare(path: &Path, text: &str) {
    let beside = PathBuf::from(format!("{}.expected", path.display()));
    if std::env::var_os("WAYPOST_REWRITE").is_some() {
        fs::write(&beside, text).unwrap();
    }
    let expected = fs::read_to_string(&beside).unwrap_or_default();
    assert_eq!(text, expected, "{path:?}");
}

#[test]
fn documents_are_formatted_as_expected() {
    for path in tables("tests/edit/format") {
        let text = fs::read_to_string(&path).unwrap();
        let after = formatted(&text).unwrap();
        compare(&path, &after);
        assert_eq!(formatted(&after).unwrap(), after, "{path:?}");
        assert_eq!(meaning(&text), meaning(&after), "{path:?}");
    }
}

#[test]
fn what_cannot_be_split_is_refused() {
    for path in tables("tests/edit/refused") {
        let text = fs::read_to_string(&path).unwrap();
        let refused = formatted(&text).and_then(|_| extended(&text));
        compare(&path, &refused.unwrap_err());
    }
}

/// Returns all that a table says about an entry except its position.
fn says(entry: Entry<'_>) -> String {
    format!(
        "{:?} {:?} {:?} {} {:?} {:?} {:?} {:?} {:?} {:?}",
        entry.target(),
        entry.status(),
        entry.forward(),
        entry.cache_max_age(),
        entry.title(),
        entry.owner(),
        entry.tags().collect::<Vec<_>>(),
        entry.archive(),
        entry.aliases().collect::<Vec<_>>(),
        entry.gone_from(),
    )
}

/// Returns what a table means: what each code of each site leads to, and its tests.
fn meaning_of(compilation: &Compilation) -> Option<(BTreeMap<String, String>, String)> {
    let sites = compilation.table.as_ref()?.sites();
    let entries = sites.iter().flat_map(|site| site.entries());
    let codes = entries.map(|entry| (entry.short_url(), says(entry)));
    // A test of the table means the same on whatever line it is.
    let tests = compilation.expectations.iter();
    let tests = tests.map(|test| format!("{test:?}").replace(&format!("{:?}", test.place()), ""));
    Some((codes.collect(), tests.collect()))
}

fn meaning(text: &str) -> Option<(BTreeMap<String, String>, String)> {
    let site = file("base_url: https://short.code/\nmapping: []\n");
    let files = [file(text), site];
    let alone = !text.contains("base_url:");
    meaning_of(&compile(&files[..1 + usize::from(alone)]))
}

/// Formats the files of a table, as far as they can be.
fn format_all(files: &[SourceFile]) -> (Vec<SourceFile>, usize) {
    let (mut after, mut count) = (files.to_vec(), 0);
    for file in &mut after {
        if let Ok(text) = format(file) {
            file.bytes = text.into_bytes();
            assert_eq!(
                format(file).unwrap().as_bytes(),
                file.bytes,
                "{}",
                file.path
            );
            count += 1;
        }
    }
    (after, count)
}

fn read(path: &Path) -> SourceFile {
    SourceFile {
        path: path.to_str().unwrap().into(),
        bytes: fs::read(path).unwrap(),
    }
}

#[test]
fn every_table_that_there_is_keeps_its_meaning() {
    let mut all = 0;
    for folder in ["tests/tables/ok", "tests/data"] {
        for path in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            let is_yaml = |path: &PathBuf| path.extension().is_some_and(|it| it == "yaml");
            let mut paths = vec![path.clone()];
            if path.is_dir() {
                let inside = fs::read_dir(&path).unwrap().map(|it| it.unwrap().path());
                paths = inside.collect();
            }
            paths.retain(is_yaml);
            paths.sort();
            let files: Vec<_> = paths.iter().map(|path| read(path)).collect();
            let before = compile(&files);
            if before.table.is_none() {
                continue;
            }
            let (after, count) = format_all(&files);
            assert_eq!(
                meaning_of(&before),
                meaning_of(&compile(&after)),
                "{path:?}"
            );
            all += count;
        }
    }
    assert!(all > 250, "{all}");
}

/// The lines of one entry, and those above it.
fn entry() -> impl Strategy<Value = (String, String)> {
    let code = prop_oneof![
        "[a-d]{1,2}",
        "[A-Dé]{1,2}/[0-9]",
        "[0-9]{1,3}",
        "0x[0-9a-f]|no|yes|null|~|1e[1-9]|[1-9]:30",
    ];
    let code = prop_oneof![
        4 => (code, "|'|\"").prop_map(|(code, quote)| format!("short-code: {quote}{code}{quote}")),
        1 => (0..200u8).prop_map(|number| format!("number: {number}")),
        2 => Just(String::new()),
    ];
    let url = (
        "https://|HTTPS://",
        "(e|E|é)\\.org",
        "(:443)?(/[a-c']{0,3}){0,2}([?#]x)?",
    );
    let url = (url, "|\"").prop_map(|((scheme, host, rest), quote)| {
        format!("url: {quote}{scheme}{host}{rest}{quote}")
    });
    let more = prop_oneof![
        Just("status: 301".to_owned()),
        Just("title: 12:30".to_owned()),
        Just("retired: 2030-01-01".to_owned()),
        Just("tags: [ a, on, 'b' ]".to_owned()),
        Just("tags:\n- 2026-11-21\n- b # c".to_owned()),
        Just("title: two\n  lines".to_owned()),
        Just("# inside".to_owned()),
        Just("title: \"#\n\n  - url: x\"".to_owned()),
        Just("owner: ~ # nobody".to_owned()),
        Just("\n# after".to_owned()),
    ];
    let above = prop_oneof![
        5 => Just(""), 2 => Just("\n"), 1 => Just("\n\n"), 3 => Just("# above\n"), 1 => Just("\n# above\n# twice\n"),
        1 => Just("# heading\n\n"),
        1 => Just("    # deep\n"), 1 => Just("# above\n    # deep\n"), 1 => Just("\n# heading\n \n# above\n"),
    ];
    (code, url, proptest::option::of(more), above, any::<bool>()).prop_map(
        |(code, url, more, above, url_first)| {
            let mut keys = vec![url, code];
            if !url_first {
                keys.reverse();
            }
            keys.extend(more);
            keys.retain(|key| !key.is_empty());
            (above.to_owned(), keys.join("\n"))
        },
    )
}

/// A document whose codes may clash.
fn document() -> impl Strategy<Value = String> {
    let head = "(---\n)?base_url: https://short\\.code/\n(# x\n\n)?(code-scheme: crc64-xz\n)?";
    let tail = prop_oneof![
        Just(""),
        Just("# end\n"),
        Just("\n"),
        Just("\n# end\n\ntests:\n- from: /a\n  to: https://e.org/a\n"),
    ];
    let form = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (head, vec(entry(), 0..7), tail, form).prop_map(|(head, entries, tail, form)| {
        let (is_deep, is_crlf, is_open, is_marked) = form;
        let indent = if is_deep { "  " } else { "" };
        let mut text = head
            + if entries.is_empty() {
                "mapping: []\n"
            } else {
                "mapping:\n"
            };
        for (above, keys) in entries {
            for line in above.lines() {
                // A comment may begin in the first column too.
                text += &format!(
                    "{}{line}\n",
                    if line.contains("twice") { "" } else { indent }
                );
            }
            let keys = keys.replace('\n', &format!("\n{indent}  "));
            text += &format!("{indent}- {keys}\n");
        }
        text += tail;
        if is_open {
            text.truncate(text.trim_end().len());
        }
        if is_crlf {
            text = text.replace('\n', "\r\n");
        }
        if is_marked {
            format!("\u{feff}{text}")
        } else {
            text
        }
    })
}

fn unquoted(line: &str) -> String {
    line.replace(['"', '\''], "")
}

/// Returns the lines of a document, sorted, with URLs in canonical form and without quotes.
fn lines(text: &str) -> Vec<String> {
    let canonical = |line: &str| match line.split_once("url: ") {
        Some((before, url)) => {
            let url = Target::parse(url).map_or(url.to_owned(), Target::into_string);
            format!("{before}url: {url}")
        }
        None => line.to_owned(),
    };
    let mut lines: Vec<_> = text
        .lines()
        .map(|line| canonical(&unquoted(line)))
        .collect();
    lines.sort();
    lines
}

/// Returns the comments of each entry, and what those of its own lines are.
fn comments(layout: &Layout<'_>) -> Vec<(String, Vec<String>)> {
    let entries = layout.sections.iter().flat_map(|section| &section.entries);
    let mut comments: Vec<_> = entries
        .map(|entry| {
            let own = entry.body.lines().filter(|line| line.contains('#'));
            let all = entry
                .comments
                .lines()
                .chain(own.filter(|line| !line.contains("url:")));
            (entry.code.to_string(), all.map(unquoted).collect())
        })
        .collect();
    comments.sort();
    comments
}

#[test]
fn a_url_on_two_lines_moves_the_tests_below_it() {
    let text = "base_url: https://short.code/\nmapping:\n- short-code: a\n  url: https://E.org/'\n   b\n\
                tests:\n- from: /a\n  to: https://e.org/'%20b\n";
    let after = formatted(text).unwrap();
    assert_eq!(after.lines().count() + 1, text.lines().count(), "{after}");
    assert!(meaning(text).is_some());
    assert_eq!(meaning(text), meaning(&after));
}

proptest! {
    #![proptest_config(ProptestConfig {
        max_global_rejects: 16_384,
        ..ProptestConfig::with_cases(1024)
    })]

    #[test]
    fn formatting_keeps_what_a_table_means(text in document()) {
        let before = meaning(&text);
        let after = match formatted(&text) {
            Ok(after) => after,
            Err(problems) => {
                prop_assert!(before.is_none(), "{}\n{}", text, problems);
                return Err(TestCaseError::reject("the document has no canonical form"));
            }
        };
        prop_assert_eq!(before, meaning(&after), "{}\n->\n{}", text, after);
        prop_assert_eq!(formatted(&after).unwrap(), after.clone());
        prop_assert_eq!(lines(&text), lines(&after));
        let (old, new) = (file(&text), file(&after));
        let (old, new) = (Layout::read(&old).unwrap(), Layout::read(&new).unwrap());
        prop_assert_eq!(comments(&old), comments(&new), "{}\n->\n{}", text, after);
        for section in &new.sections {
            prop_assert!(section.entries.is_sorted_by_key(|entry| &entry.code));
        }
    }

    #[test]
    fn whatever_can_be_split_is_put_together_again(
        mut text in document(),
        edits in vec((any::<prop::sample::Index>(), any::<bool>(), "[a:#'\"\\[{|>\n\r\t ?-]{1,2}"), 0..3),
    ) {
        for (at, replaces, with) in edits {
            let at = at.index(text.len());
            if text.is_char_boundary(at) && text.is_char_boundary(at + 1) {
                text.replace_range(at..at + usize::from(replaces), &with);
            }
        }
        let file = file(&text);
        let Ok(layout) = Layout::read(&file) else {
            return Err(TestCaseError::reject("the document cannot be taken apart"));
        };
        prop_assert_eq!(layout.to_string(), text.clone());
        let after = formatted(&text).unwrap();
        prop_assert_eq!(meaning(&text), meaning(&after), "{}\n->\n{}", text, after);
        prop_assert_eq!(formatted(&after).unwrap(), after);
    }
}
