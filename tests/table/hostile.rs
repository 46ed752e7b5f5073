//! Hostile tables: small files that make careless parsers slow, large or wrong.
//!
//! Each ends with a diagnostic. That it ends at all, soon and in little memory, is what these
//! tests would not survive otherwise.

#![allow(clippy::unwrap_used)]

use waypost::mapping::{Diagnostic, Rule, SourceFile, compile};

fn problems(text: impl Into<Vec<u8>>) -> Vec<Diagnostic> {
    let compilation = compile(&[SourceFile {
        path: "t.yaml".into(),
        bytes: text.into(),
    }]);
    assert!(compilation.table.is_none());
    compilation.diagnostics
}

fn first(text: impl Into<Vec<u8>>) -> String {
    problems(text)[0]
        .to_string()
        .lines()
        .next()
        .unwrap()
        .to_owned()
}

#[test]
fn billion_laughs_fall_with_their_anchors() {
    let mut text = "a: &a [lol, lol]\n".to_owned();
    for (new, old) in ('b'..='z').zip('a'..) {
        text += &format!("{new}: &{new} [{}*{old}]\n", format!("*{old}, ").repeat(8));
    }
    assert_eq!(first(&*text), "t.yaml:1:1: error: unknown key \"a\"");
    let report = problems(text);
    assert!(
        report
            .iter()
            .any(|d| d.message == "anchors (&z) are not allowed in a table")
    );
}

#[test]
fn a_large_scalar_under_many_aliases_is_read_once() {
    let mut text = "base_url: https://short.code/\nmapping:\n- url: &u https://e.org/".to_owned();
    text += &"a".repeat(1 << 20);
    text += &"\n- url: *u".repeat(2000);
    let report = problems(text);
    assert_eq!(report[0].message, "anchors (&u) are not allowed in a table");
    // The rest is counted, not listed: no contributor reads two thousand lines.
    assert!(report.len() < 1100, "{}", report.len());
    assert!(
        report
            .iter()
            .any(|d| d.message == "1000 further problems of the rule yaml-alias in this file")
    );
}

#[test]
fn deep_nesting_ends_early() {
    for open in ["{a: ", "[", "- ", "? ", "a:\n "] {
        let text = open.repeat((400 << 10) / open.len());
        let report = problems(text);
        assert!(report.len() < 50, "{open:?} {}", report.len());
        assert!(report.iter().any(Diagnostic::is_error));
    }
    assert_eq!(
        problems("{a: ".repeat(100_000)).last().unwrap().message,
        "lists and maps are nested more than 16 levels deep"
    );
}

#[test]
fn many_conflicts_are_found_in_one_pass() {
    let text = "<<<<<<< ours\n=======\n>>>>>>> theirs\n".repeat(100_000);
    assert_eq!(problems(text).len(), 1000);
}

#[test]
fn many_entries_with_one_code_are_reported_up_to_a_bound() {
    let mut text = "base_url: https://short.code/\nmapping:\n".to_owned();
    for n in 0..20_000 {
        text += &format!("- url: https://example.org/{n}\n  short-code: same\n");
    }
    let report = problems(text);
    assert_eq!(report.len(), 1001);
    assert_eq!(report[999].place.position.line, 3 + 2 * 1000 + 1);
    let rest = "18999 further problems of the rule code-taken in this file";
    assert_eq!(report[1000].message, rest);
}

#[test]
fn many_codes_of_one_target_or_of_none_are_sorted_out_in_one_pass() {
    for url in ["", "url: https://example.org/\n  "] {
        let mut text = "base_url: https://short.code/\nmapping:\n".to_owned();
        for n in 0..100_000 {
            text += &format!("- {url}short-code: c{n}\n  retired: true\n");
        }
        let compilation = compile(&[SourceFile {
            path: "t.yaml".into(),
            bytes: text.into(),
        }]);
        assert_eq!(compilation.table.unwrap().len(), 100_000);
        assert_eq!(compilation.diagnostics, []);
    }
}

#[test]
fn a_problem_after_many_of_another_kind_is_reported() {
    let mut text = "base_url: https://short.code/\nmapping:\n".to_owned();
    for n in 0..2_000 {
        text += &format!("- url: https://example.org\n  short-code: c{n}\n");
    }
    text += "- url: ftp://example.org/\n";
    let report = problems(text);
    assert_eq!(report.iter().filter(|it| it.is_error()).count(), 1);
    assert_eq!(report.last().unwrap().rule, Rule::UrlSchemeUnsupported);
}

#[test]
fn a_long_chain_of_short_links_is_followed_to_a_bound() {
    let mut text = "base_url: https://short.code/\nmapping:\n".to_owned();
    for n in 0..2_000 {
        text += &format!("- url: https://short.code/c{}\n  short-code: c{n}\n", n + 1);
    }
    text += "- url: https://short.code/c0\n  short-code: c2000\n";
    assert_eq!(problems(text).len(), 1_001);
}
