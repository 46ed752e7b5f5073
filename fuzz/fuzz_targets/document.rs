//! Arbitrary bytes as the one or two files of a table: compiling them never panics, and what it
//! reports about them is true.

#![no_main]

use std::borrow::Cow;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use url::Url;
use waypost_fuzz::mapping::{
    Diagnostic, Entry, Outcome, Request, SourceFile, Table, Timestamp, compile,
};

fuzz_target!(|bytes: &[u8]| {
    // A NUL, which YAML cannot contain, separates two files; so a seed is simply a table's file.
    let files: Vec<SourceFile> = bytes
        .splitn(2, |byte| *byte == 0)
        .zip(["a.yaml", "b.yaml"])
        .map(|(bytes, path)| SourceFile {
            path: Arc::from(path),
            bytes: bytes.to_vec(),
        })
        .collect();

    let first = compile(&files);
    let has_error = first.diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(
        first.table.is_none(),
        has_error,
        "an error, and nothing else, keeps a table from being loaded: {:?}",
        first.diagnostics
    );
    for diagnostic in &first.diagnostics {
        assert_tells_a_place(diagnostic, &files);
        assert_is_one_line(&diagnostic.message);
    }
    if let Some(table) = &first.table {
        let entries = table.sites().iter().flat_map(|site| site.entries());
        for entry in entries.take(50) {
            assert_is_reached(table, entry);
        }
    }
    let again = compile(&files);
    assert_eq!(
        first.diagnostics, again.diagnostics,
        "compiling is repeatable"
    );
});

/// Fails if the position is not in one of the files; one past the end of a line is still in it.
fn assert_tells_a_place(diagnostic: &Diagnostic, files: &[SourceFile]) {
    let place = &diagnostic.place;
    let file = files.iter().find(|file| file.path == place.file);
    let file = file.unwrap_or_else(|| panic!("no such file: {diagnostic}"));
    let text = String::from_utf8_lossy(&file.bytes).replace("\r\n", "\n");
    let (line, column) = (place.position.line, place.position.column);
    assert!(line >= 1 && column >= 1, "counted from 1: {diagnostic}");
    // A lone carriage return ends a line to YAML, but to few other readers: either may apply.
    let holds = |breaks: &[char]| {
        let written = text.split(breaks).nth(line as usize - 1);
        written.is_some_and(|written| column as usize <= written.chars().count() + 1)
    };
    assert!(
        holds(&['\n']) || holds(&['\n', '\r']),
        "no such place: {diagnostic}"
    );
}

/// Fails if a message could garble a terminal or a log.
fn assert_is_one_line(message: &str) {
    assert!(
        !message.is_empty() && !message.contains(char::is_control),
        "not one plain line: {message:?}"
    );
}

/// Fails if an entry's short link, and each alias, does not lead to that entry.
fn assert_is_reached(table: &Table, entry: Entry<'_>) {
    for code in entry.aliases().map(Cow::Borrowed).chain([entry.code()]) {
        let short = entry.site().short_url(&code);
        let url = Url::parse(&short).unwrap_or_else(|error| panic!("{short}: {error}"));
        let request = Request {
            host: url.host_str(),
            path: url.path(),
            query: None,
            accept: None,
        };
        let reached = match table.resolve(&request, Timestamp::from_unix(1_800_000_000)) {
            Outcome::Redirect(redirect) => redirect.entry.place() == entry.place(),
            Outcome::Gone(gone) => gone.place() == entry.place(),
            _ => false,
        };
        assert!(
            reached,
            "{short} does not lead to the entry at {}",
            entry.place()
        );
    }
}
