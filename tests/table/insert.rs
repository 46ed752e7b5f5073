//! Inserting entries, which leaves everything else as it was, byte for byte.

#![allow(clippy::unwrap_used)]

use proptest::collection::vec;
use proptest::prelude::*;
use waypost::edit::{NewEntry, OwnCode};
use waypost::mapping::{ChangeKind, Code, Outline, SourceFile, Target, compare, compile};

fn file(text: &str) -> SourceFile {
    SourceFile {
        path: "t.yaml".into(),
        bytes: text.into(),
    }
}

fn entry(code: &str) -> NewEntry {
    let url = Target::parse("https://new.example/").unwrap();
    NewEntry::new(url, OwnCode::Custom(Code::custom(code).unwrap()))
}

/// Inserts entries into a document; returns its text, or why that is not possible.
fn insert(text: &str, entries: &[NewEntry]) -> Result<String, String> {
    let file = file(text);
    let outline = Outline::of(&file).map_err(|problems| problems[0].to_string())?;
    let entries: Vec<_> = entries.iter().collect();
    let inserted = waypost::edit::insert(&outline, &entries);
    inserted.map_err(|obstacle| obstacle.in_file(&file.path).to_string())
}

fn inserted(text: &str, codes: &[&str]) -> String {
    let entries: Vec<_> = codes.iter().map(|code| entry(code)).collect();
    insert(text, &entries).unwrap()
}

fn obstacle(text: &str) -> String {
    insert(text, &[entry("m")]).unwrap_err()
}

/// A list whose entries have these codes, each with the lines above it.
fn list(entries: &[(&str, &str)]) -> String {
    let lines = entries
        .iter()
        .map(|(above, code)| format!("{above}- url: https://e.org/{code}\n  short-code: {code}\n"));
    format!("mapping:\n{}", lines.collect::<String>())
}

const NEW: &str = "- url: https://new.example/\n  short-code: ";

#[test]
fn a_sorted_section_stays_sorted() {
    let old = list(&[("", "b"), ("# c\n", "c")]);
    for (code, next) in [
        ("a", "- url: https://e.org/b"),
        ("bb", "# c\n"),
        ("d", ""),
        ("B", "- url: https://e.org/b"),
    ] {
        let at = old.find(next).filter(|_| !next.is_empty());
        let (before, after) = old.split_at(at.unwrap_or(old.len()));
        let new = format!("{before}{NEW}{code}\n{after}");
        assert_eq!(inserted(&old, &[code]), new);
    }
}

#[test]
fn an_unsorted_section_gets_it_at_its_end() {
    let old = list(&[("", "b"), ("", "a")]);
    assert_eq!(inserted(&old, &["aa"]), format!("{old}{NEW}aa\n"));
}

#[test]
fn the_last_section_gets_it() {
    let first = list(&[("", "b"), ("", "n")]);
    let heading = "\n# More.\n\n";
    let old = format!("{first}{heading}{}", &list(&[("# c\n", "c")])[9..]);
    let (before, after) = old.split_at(old.find("# c\n").unwrap());
    assert_eq!(inserted(&old, &["a"]), format!("{before}{NEW}a\n{after}"));
    assert_eq!(inserted(&old, &["m"]), format!("{old}{NEW}m\n"));
}

#[test]
fn many_are_inserted_at_once() {
    let old = list(&[("", "b"), ("", "d")]);
    let new = inserted(&old, &["f", "c", "a", "e"]);
    let codes: Vec<_> = new
        .lines()
        .filter_map(|line| line.split_once("short-code: "))
        .map(|(_, code)| code)
        .collect();
    assert_eq!(codes, ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(insert(&old, &[]).unwrap(), old);
}

#[test]
fn it_is_written_as_its_neighbour_is() {
    assert_eq!(
        inserted(
            "\u{feff}mapping:\r\n  -   url: https://e.org/\r\n      short-code: a",
            &["b"]
        ),
        "\u{feff}mapping:\r\n  -   url: https://e.org/\r\n      short-code: a\r\n  -   url: https://new.example/\r\n      short-code: b"
    );
    let spaced = list(&[("", "a"), ("\n", "c")]);
    let (before, after) = spaced.split_at(spaced.find("\n- url: https://e.org/c").unwrap());
    assert_eq!(
        inserted(&spaced, &["b"]),
        format!("{before}\n{NEW}b\n{after}")
    );
    assert_eq!(
        inserted(&spaced, &["A"]),
        spaced.replacen("- url", &format!("{NEW}A\n\n- url"), 1)
    );
}

#[test]
fn new_lines_end_like_those_of_the_neighbour() {
    let old = "mapping:\n- url: https://a.org/\n  short-code: a\n- url: https://c.org/\r\n  short-code: c\r\n";
    let line = |code: &str, end: &str| {
        format!("- url: https://new.example/{end}  short-code: {code}{end}")
    };
    let new = old.replace("- url: https://c", &(line("b", "\n") + "- url: https://c"))
        + &line("d", "\r\n");
    assert_eq!(inserted(old, &["b", "d"]), new);
}

#[test]
fn an_empty_list_becomes_one_in_block_form() {
    for (old, new) in [
        ("mapping: []\n", "mapping:\n{}\n"),
        ("mapping: []", "mapping:\n{}"),
        (
            "mapping:   [ ] # none\r\ntests: []\r\n",
            "mapping: # none\r\n{}\r\ntests: []\r\n",
        ),
        ("  \"mapping\": []\n", "  \"mapping\":\n{}\n"),
    ] {
        let is_deep = old.starts_with(' ');
        let mut lines = format!("{NEW}m");
        if is_deep {
            lines = format!("  {}", lines.replace('\n', "\n  "));
        }
        if old.contains('\r') {
            lines = lines.replace('\n', "\r\n");
        }
        assert_eq!(inserted(old, &["m"]), new.replace("{}", &lines));
    }
}

#[test]
fn only_the_neighbours_count() {
    let braces = "- {url: https://e.org/z, short-code: z\n  } # z\n";
    let old = list(&[("", "b"), ("", "c")]) + braces;
    assert_eq!(
        inserted(&old, &["d"]),
        old.replace("- {", &format!("{NEW}d\n- {{"))
    );
    assert_eq!(inserted(&old, &["zz"]), format!("{old}{NEW}zz\n"));
    // Whatever follows a text in its own lines may be a part of it.
    let text = "- short-code: d\n  url: https://e.org/d\n  title: |+\n    # text\n\n# e\n\n";
    let old = list(&[("", "b")]) + text;
    let (before, after) = old.split_at(old.find("# e\n").unwrap());
    assert_eq!(inserted(&old, &["e"]), format!("{before}{NEW}e\n{after}"));
}

#[test]
fn what_cannot_be_extended_is_reported() {
    for (text, problem) in [
        (
            "{mapping: []}\n",
            "1:1: error: nothing can be inserted into a document in braces",
        ),
        (
            "mapping: [{url: https://e.org/}]\n",
            "1:10: error: nothing can be inserted into a list in brackets",
        ),
        (
            "mapping:\n  []\n",
            "2:3: error: the empty list is not on the line of its key",
        ),
        (
            "mapping: [\n]\n",
            "1:10: error: the empty list is not on the line of its key",
        ),
        (
            "mapping:\n-\n  url: https://e.org/\n",
            "3:3: error: no entry can be inserted next to one that begins below its dash",
        ),
        (
            "mapping:\n- short-code: a\n  url: https://e.org/\n  title: |\n    a",
            "2:3: error: no entry can be inserted after a text that ends without a line break",
        ),
        (
            "mapping:\r- url: https://e.org/\r",
            "1:9: error: a carriage return without a line feed keeps lines from being inserted",
        ),
        ("mapping: no\n", "1:10: error: \"mapping\" must be a list"),
    ] {
        let report = obstacle(text);
        assert!(report.starts_with(&format!("t.yaml:{problem}")), "{report}");
    }
}

/// The lines of an entry of that code and that number, and the lines above it.
fn written(number: usize) -> impl Strategy<Value = (String, String)> {
    let code = prop_oneof![
        "[a-e]{1,2}",
        "[A-Dé]/[0-9]",
        "\"?1e[0-9]\"?",
        Just(String::new())
    ];
    let more = prop_oneof![
        5 => Just(""),
        1 => Just("\ntitle: a # b"),
        1 => Just("\n# inside"),
        1 => Just("\n\n# after"),
        1 => Just("\ntags:\n- a\n- 'b'"),
        1 => Just("\ntitle: two\n  lines"),
        1 => Just("\ntitle: |+\n  text\n\n"),
        1 => Just("\ntitle: >\n  # text\n  more"),
        1 => Just("\ntitle: \"#\n\n  - url: x\""),
    ];
    let above = prop_oneof![
        6 => Just(""), 3 => Just("\n"), 2 => Just("# above\n"), 1 => Just("# heading\n\n"),
        1 => Just("\n# heading\n\n# above\n"), 1 => Just("    # deep\n"), 1 => Just("# above\n    # deep\n"),
    ];
    (code, more, above, any::<bool>()).prop_map(move |(code, more, above, in_braces)| {
        let url = format!("url: https://e.org/{number}");
        let code = match &*code {
            "" => String::new(),
            code if in_braces => format!(", short-code: {code}"),
            code => format!("\nshort-code: {code}"),
        };
        let keys = match in_braces && more.is_empty() {
            true => format!("{{{url}{} }}", code.replace('\n', ", ")),
            false => format!("{url}{}{more}", code.replace(", ", "\n")),
        };
        (above.to_owned(), keys)
    })
}

fn document() -> impl Strategy<Value = String> {
    let head = "(---\n)?base_url: https://short\\.code/\n(# x\n\n)?(code-scheme: crc64-xz\n)?";
    let tail = prop_oneof![
        Just(""),
        Just("# end\n"),
        Just("\n"),
        Just("\n# end\n\ntests:\n- from: /a\n  # deep\n  to: https://e.org/a\n"),
    ];
    let entries: Vec<_> = (0..5).map(written).collect();
    let form = (0..6_usize, "|  ", " {1,3}", any::<[bool; 3]>());
    (head, entries, tail, form).prop_map(|(head, entries, tail, form)| {
        let (count, margin, gap, [is_crlf, is_open, is_marked]) = form;
        let mut text = head
            + if count == 0 {
                "mapping: [] # none\n"
            } else {
                "mapping:\n"
            };
        for (above, keys) in &entries[..count.min(5)] {
            let inner = format!("\n{margin} {gap}");
            for line in above.lines() {
                text += &format!("{margin}{line}\n");
            }
            text += &format!("{margin}-{gap}{}\n", keys.replace('\n', &inner));
        }
        text += tail;
        if is_open {
            text.truncate(text.trim_end().len());
        }
        if is_crlf {
            text = text.replace('\n', "\r\n");
        }
        match is_marked {
            true => format!("\u{feff}{text}"),
            false => text,
        }
    })
}

/// Returns what was put into a text, if that is all that happened to it.
fn put_in(old: &str, new: &str) -> Option<String> {
    let is_same = |(a, b): &(u8, u8)| a == b;
    let same = old.bytes().zip(new.bytes()).take_while(is_same).count();
    let rest = old.len() - same;
    let end = new.len().checked_sub(rest)?;
    // What was put in may begin like what follows it.
    new.ends_with(&old[old.len() - rest..])
        .then(|| String::from_utf8_lossy(&new.as_bytes()[same..end]).into_owned())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn an_insertion_changes_one_place_and_adds_one_link(
        text in document(),
        code in proptest::option::of("[a-e]{1,3}|[A-D]/[0-9]|no|é"),
    ) {
        let url = Target::parse("https://new.example/").unwrap();
        let code = code.map_or(OwnCode::Auto, |code| OwnCode::Custom(Code::custom(&code).unwrap()));
        let old = compile(&[file(&text)]);
        let Some(before) = &old.table else {
            return Err(TestCaseError::reject("the table has errors"));
        };
        let site = &before.sites()[0];
        let entry = NewEntry::new(url, code);
        let own = entry.own_code(site.scheme()).into_owned();
        prop_assume!(site.lookup(own.as_str()).is_none());
        let Ok(after) = insert(&text, &[entry]) else {
            // The only refusal that occurs for these documents.
            let is_open = !text.ends_with('\n');
            prop_assert!(is_open && text.contains("title: "), "{}", text);
            return Err(TestCaseError::reject("nothing can be inserted"));
        };
        // Of an empty list, the brackets go.
        let base = text.replace("mapping: [] #", "mapping: #");
        prop_assert!(put_in(&base, &after).is_some_and(|it| it.contains("new.example")), "{}\n->\n{}", text, after);
        prop_assert_eq!(text.contains('\r'), after.contains('\r'));
        prop_assert_eq!(after.replace("\r\n", "").contains('\r'), false);
        prop_assert_eq!(text.ends_with('\n'), after.ends_with('\n'));
        let new = compile(&[file(&after)]);
        prop_assert!(new.table.is_some(), "{}\n->\n{}{:?}", text, after, new.diagnostics);
        let changes = compare(before, new.table.as_ref().unwrap());
        let report: Vec<_> = changes.iter().map(|it| (it.kind, it.code.as_ref())).collect();
        prop_assert_eq!(report, [(ChangeKind::Added, own.as_str())], "{}\n->\n{}", text, after);
    }

    #[test]
    fn many_at_once_are_the_same_links(text in document(), codes in vec("[f-z]{1,2}|[0-9]{1,2}", 0..6)) {
        let before = compile(&[file(&text)]);
        let mut codes = codes;
        codes.sort();
        codes.dedup();
        let entries: Vec<_> = codes.iter().rev().map(|code| entry(code)).collect();
        let (Some(before), Ok(after)) = (before.table, insert(&text, &entries)) else {
            return Err(TestCaseError::reject("nothing can be inserted"));
        };
        let now = compile(&[file(&after)]);
        let changes = compare(&before, now.table.as_ref().unwrap()).len();
        prop_assert_eq!(changes, codes.len(), "{}\n->\n{}", text, after);
    }
}
