//! Suggestions for codes that do not exist, in small sites and in large ones.

use waypost::mapping::{SourceFile, Table, Timestamp, compile};

const NOW: Timestamp = Timestamp::from_unix(1_795_305_600);

/// Returns a table with some codes, and as many others.
fn table(codes: &[&str], others: usize) -> Table {
    let mut text = "base_url: https://short.code/\nmapping:\n".to_owned();
    for (number, code) in codes.iter().enumerate() {
        text += &format!("- {{url: 'https://e.example/{number}', short-code: '{code}'}}\n");
    }
    for number in 0..others {
        text += &format!("- {{url: 'https://o.example/{number}', short-code: other.{number:x}}}\n");
    }
    let file = SourceFile {
        path: "t.yaml".into(),
        bytes: text.into(),
    };
    compile(&[file]).table.unwrap()
}

fn suggested(table: &Table, path: &str) -> Vec<String> {
    let found = table.sites()[0].suggestions(path, 5, NOW);
    found.into_iter().map(String::from).collect()
}

#[test]
fn a_small_site_is_searched_entirely() {
    let table = table(&["gnu-home", "Straße/Plan", "annual-report"], 10);
    for (path, expected) in [
        ("/gnu-home2", vec!["gnu-home"]),
        ("/GNU_Hmoe", vec!["gnu-home"]),
        ("/stra%C3%9Fe/plam", vec!["Straße/Plan"]),
        ("/annual", vec!["annual-report"]),
        ("/an", vec![]),
        ("/something-else", vec![]),
    ] {
        assert_eq!(suggested(&table, path), expected, "{path}");
    }
}

#[test]
fn in_a_large_site_a_single_typo_is_found() {
    let long = "a-code-that-is-longer-than-people-type";
    let table = table(&["gnu-home", "FSF", "été/1", long], 2001);
    for (path, expected) in [
        ("/gnu-hom", vec!["gnu-home"]),
        ("/gnu-homme", vec!["gnu-home"]),
        ("/gnu-hoem", vec!["gnu-home"]),
        ("/gnu_home", vec!["gnu-home"]),
        ("/GNU-HOME", vec!["gnu-home"]),
        ("/fsf", vec!["FSF"]),
        ("/%C3%A9t%C3%A9/2", vec!["été/1"]),
        ("/t%C3%A9/1", vec![]),
        ("/%C3%A9%C3%A9t/1", vec!["été/1"]),
        ("/gnu_hmoe", vec![]),
    ] {
        assert_eq!(suggested(&table, path), expected, "{path}");
    }
    // Of a long text, only what takes few look-ups.
    for (typed, is_found) in [
        (long.replace("code", "coode"), true),
        (long.replace("code", "ocde"), true),
        (long.to_uppercase(), true),
        (long.replace("code", "cide"), false),
    ] {
        let expected: &[&str] = if is_found { &[long] } else { &[] };
        assert_eq!(suggested(&table, &format!("/{typed}")), expected, "{typed}");
    }
}
