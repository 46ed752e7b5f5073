//! Resolving, as properties: what holds for every request there can be.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use waypost::mapping::{Outcome, Request, SourceFile, Table, Timestamp, Via, compile};

const TABLE: &str = "
base_url: https://short.code/s/
mapping:
- url: https://example.org/
- url: https://example.org/3
- url: https://example.org/29
- url: https://example.org/docs/
  short-code: docs
  forward: path
- url: https://example.org/docs/old/?v=1&p=
  short-code: docs/old
  forward: path
- url: https://example.org/search?x=y#top
  short-code: search
  forward: query
- url: https://example.org/all/
  short-code: all
  forward: path-and-query
  aliases: [été, 日本/東京]
- number: 12345
  url: https://example.org/number
  expires: 2026-12-01T00:00:00Z
- short-code: gone
  retired: true
";

/// 2026-11-30T23:59:50Z, ten seconds before the number expires.
const NOW: Timestamp = Timestamp::from_unix(1_796_083_190);

fn table() -> Table {
    table_of(TABLE)
}

fn table_of(text: &str) -> Table {
    let compilation = compile(&[SourceFile {
        path: "t.yaml".into(),
        bytes: text.into(),
    }]);
    compilation.table.unwrap()
}

fn get<'t>(table: &'t Table, path: &str, query: Option<&str>) -> Outcome<'t> {
    let host = Some("short.code");
    let accept = None;
    table.resolve(
        &Request {
            host,
            path,
            query,
            accept,
        },
        NOW,
    )
}

fn location(table: &Table, path: &str, query: Option<&str>) -> Option<String> {
    match get(table, path, query) {
        Outcome::Redirect(redirect) => Some(redirect.location.into()),
        _ => None,
    }
}

#[test]
fn a_redirect_is_never_cached_past_the_end_of_its_entry() {
    let table = table();
    for (now, max_age) in [(NOW, 10), (Timestamp::from_unix(0), 60)] {
        let request = Request {
            host: None,
            path: "/s/3d7",
            query: None,
            accept: None,
        };
        let Outcome::Redirect(redirect) = table.resolve(&request, now) else {
            panic!("not a redirect");
        };
        assert_eq!(redirect.max_age, max_age);
    }
    let after = Timestamp::from_unix(NOW.unix() + 10);
    let request = Request {
        host: None,
        path: "/s/3d7",
        query: None,
        accept: None,
    };
    assert!(matches!(table.resolve(&request, after), Outcome::Gone(_)));
}

#[test]
fn a_repaired_code_is_not_cached() {
    let table = table();
    let Outcome::Redirect(redirect) = get(&table, "/s/search).", None) else {
        panic!("not a redirect");
    };
    assert_eq!((redirect.via, redirect.max_age), (Via::Repair, 0));
}

#[test]
fn the_longest_forwarding_prefix_wins() {
    let table = table();
    assert_eq!(
        location(&table, "/s/docs/old/a/b", None).unwrap(),
        "https://example.org/docs/old/?v=1&p=a/b"
    );
    assert_eq!(
        location(&table, "/s/docs/older/a", None).unwrap(),
        "https://example.org/docs/older/a"
    );
    assert_eq!(
        location(
            &table,
            "/s/%E6%97%A5%E6%9C%AC/%E6%9D%B1%E4%BA%AC/x%20y",
            Some("z")
        )
        .unwrap(),
        "https://example.org/all/x%20y?z"
    );
}

/// Requests made of what codes, attacks and encodings are made of.
fn paths() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("/s/".to_owned()),
        Just("docs/".to_owned()),
        Just("docs/old".to_owned()),
        Just("all/".to_owned()),
        Just("search".to_owned()),
        Just("3d7".to_owned()),
        Just("gone".to_owned()),
        Just("pVmgO/W4".to_owned()),
        Just("qE3XwWW".to_owned()),
        Just("%E6%97%A5%E6%9C%AC/%E6%9D%B1%E4%BA%AC/".to_owned()),
        Just("//evil.example".to_owned()),
        Just("..".to_owned()),
        Just("%2e%2E".to_owned()),
        Just("%5c".to_owned()),
        Just("%0d%0aSet-Cookie:x".to_owned()),
        Just("@evil.example".to_owned()),
        Just("\\".to_owned()),
        "[/.+%a-z0-9]{0,4}",
        "\\PC{0,3}",
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| format!("/s/{}", pieces.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig {
        max_global_rejects: 16_384,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_request_leaves_the_target_or_splits_a_header(path in paths(), query in proptest::option::of("\\PC{0,20}")) {
        let Some(location) = location(&table(), &path, query.as_deref()) else {
            return Err(TestCaseError::reject("no redirect"));
        };
        prop_assert!(location.starts_with("https://example.org/"), "{location}");
        prop_assert!(location.bytes().all(|b| b.is_ascii_graphic()), "{location}");
        let url = url::Url::parse(&location).unwrap();
        prop_assert_eq!(url.host_str(), Some("example.org"));
    }

    #[test]
    fn a_forwarded_path_keeps_its_bytes_or_is_not_found(rest in "[!-~&&[^?#]]{1,30}") {
        let got = location(&table(), &format!("/s/all/{rest}"), None);
        if let Some(location) = got {
            prop_assert_eq!(location, format!("https://example.org/all/{rest}"));
        } else {
            let once = percent_encoding::percent_decode_str(&rest).decode_utf8();
            let dots = |text: &str| {
                let mut segments = text.split(['/', '\\']);
                segments.any(|segment| [".", ".."].contains(&segment.split(';').next().unwrap()))
            };
            let refused = once.map_or(true, |once| {
                let twice = percent_encoding::percent_decode_str(&once).decode_utf8_lossy();
                dots(&once) || dots(&twice) || once.chars().any(char::is_control)
            });
            prop_assert!(refused, "{}", rest);
        }
    }

    #[test]
    fn a_forwarded_query_keeps_its_bytes(query in "[!-~&&[^#]]{1,30}") {
        let got = location(&table(), "/s/search", Some(&query));
        prop_assert_eq!(got.unwrap(), format!("https://example.org/search?x=y&{query}#top"));
    }

    #[test]
    fn in_any_case_an_exact_code_comes_first(
        codes in proptest::collection::vec("[a-cA-C]{1,2}(/[a-cA-C])?", 1..12),
        numbers in proptest::collection::btree_set(10_u64..13, 0..3),
        path in "[a-cA-C]{1,2}(/[a-cA-C]){0,2}/?",
    ) {
        let mut chosen: Vec<String> = Vec::new();
        for code in codes {
            if chosen.iter().all(|other| !other.eq_ignore_ascii_case(&code)) {
                chosen.push(code);
            }
        }
        // A number has a letter as its code.
        let digits = |number: u64| char::from(b'a' + u8::try_from(number - 10).unwrap()).to_string();
        let numbers: Vec<_> = numbers.into_iter().filter(|it| !chosen.contains(&digits(*it))).collect();
        let custom = chosen.iter().enumerate().map(|(at, code)| {
            format!("- url: https://e.org/{at}/\n  short-code: {code}\n  forward: path\n")
        });
        let numbered = numbers.iter().map(|it| format!("- url: https://n.org/{it}\n  number: {it}\n"));
        let entries: String = custom.chain(numbered).collect();
        let table = table_of(&format!("base_url: https://short.code/\ncase: fold\nmapping:\n{entries}"));

        let url = |at: usize, rest: &str| format!("https://e.org/{at}/{rest}");
        let leads = |text: &str, rest: &str| {
            let exact = chosen.iter().position(|code| code == text).map(|at| url(at, rest));
            let number = numbers.iter().find(|it| rest.is_empty() && digits(**it) == text);
            let other = chosen.iter().position(|code| code.eq_ignore_ascii_case(text));
            let number = number.map(|it| format!("https://n.org/{it}"));
            exact.or(number).or_else(|| Some(url(other?, rest)))
        };
        let own = path.strip_suffix('/').unwrap_or(&path);
        let prefixes = path.rmatch_indices('/').filter(|(slash, _)| *slash < own.len());
        // A number that a prefix spells takes no paths below it.
        let is_numbers = |prefix: &str| numbers.iter().any(|it| digits(*it) == prefix);
        let mut prefixes = prefixes.map(|(slash, _)| (&path[..slash], &path[slash + 1..]));
        let below = || prefixes.find_map(|(prefix, rest)| match is_numbers(prefix) {
            true => None,
            false => leads(prefix, rest),
        });
        let expected = leads(own, "").or_else(below);
        prop_assert_eq!(location(&table, &format!("/{path}"), None), expected);
    }

    #[test]
    fn any_text_has_an_outcome(host in proptest::option::of("\\PC{0,12}"), path: String, query: Option<String>) {
        let table = table();
        let request = Request { host: host.as_deref(), path: &path, query: query.as_deref(), accept: None };
        let _total = table.resolve(&request, NOW);
        for site in table.sites() {
            prop_assert!(site.suggestions(&path, 5, NOW).len() <= 5);
        }
    }
}
