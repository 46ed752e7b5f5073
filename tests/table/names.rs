//! Names of links: which entry a person means by a code or a short link, and what is suggested.

use waypost::mapping::{SourceFile, Table, compile};

fn table(texts: &[&str]) -> Table {
    let files = texts.iter().enumerate().map(|(number, text)| SourceFile {
        path: number.to_string().into(),
        bytes: (*text).into(),
    });
    compile(&files.collect::<Vec<_>>()).table.unwrap()
}

const SITE: &str = "\
base_url: https://short.code/go/
mapping:
- url: https://framasoft.org/
- {url: https://gnu.org/, short-code: gnu-home, aliases: [gnu, été]}
- {short-code: old, retired: true}
- {url: https://below.example/, short-code: docs, forward: path}
";

#[test]
fn a_name_is_a_code_an_alias_or_a_short_link() {
    let table = table(&[SITE]);
    for (name, code) in [
        ("gnu-home", "gnu-home"),
        ("gnu", "gnu-home"),
        ("t0P0JMya", "t0P0JMya"),
        ("old", "old"),
        ("e\u{301}te\u{301}", "gnu-home"),
        ("https://short.code/go/gnu", "gnu-home"),
        ("HTTP://Short.Code./go/%C3%A9t%C3%A9?utm=1#top", "gnu-home"),
        ("short.code/go/gnu", "gnu-home"),
    ] {
        let found = table.named(name);
        let codes: Vec<_> = found.iter().map(|entry| entry.code()).collect();
        assert_eq!(codes, [code], "{name}");
    }
}

#[test]
fn a_name_is_never_repaired() {
    let table = table(&[SITE]);
    for name in [
        "",
        "gnu-home+",
        "gnu-home/",
        "gnu-home.",
        "GNU-home",
        "docs/x",
        "t0P0JMy",
        "https://short.code/gnu-home",
        "https://short.code:8080/go/gnu-home",
        "https://other.code/go/gnu-home",
        "https://gnu.org/",
    ] {
        assert!(table.named(name).is_empty(), "{name}");
    }
}

#[test]
fn several_sites_may_have_the_same_code() {
    let other = "base_url: https://other.code/\nmapping:\n\
                 - {url: https://other.example/, short-code: gnu}\n";
    let table = table(&[SITE, other]);
    let links = |name| -> Vec<_> {
        let found = table.named(name).into_iter();
        found.map(|entry| entry.short_url()).collect()
    };
    let [first, second] = ["https://short.code/go/gnu-home", "https://other.code/gnu"];
    assert_eq!(links("gnu"), [first, second]);
    assert_eq!(links("https://other.code/gnu"), [second]);
    assert_eq!(links("short.code/go/gnu"), [first]);
    assert_eq!(table.similar("gna", 1), ["https://short.code/go/gnu"]);
    assert_eq!(table.similar("https://other.code/gna", 5), [second]);
    // The nearest come first, whichever site they are of.
    let other = "base_url: https://other.code/\nmapping:\n\
                 - {url: https://other.example/, short-code: gnu-homf}\n";
    let table = self::table(&[SITE, other]);
    assert_eq!(
        table.similar("gnu-homff", 2),
        ["https://other.code/gnu-homf", first]
    );
}

#[test]
fn what_is_similar_need_not_be_live() {
    let table = table(&[SITE]);
    assert_eq!(table.similar("olf", 5), ["old"]);
    assert_eq!(
        table.similar("https://short.code/go/gnu-hom", 1),
        ["gnu-home"]
    );
    assert_eq!(table.similar("HTTPS://gnu.org", 5), ["gnu-home"]);
    assert!(table.similar("https://elsewhere.example/gnu", 5).is_empty());
}
