//! Pages whatever a path or an entry holds: it is shown as text, and never becomes a part of the
//! page.
//!
//! A page's skeleton is what is left of it without texts and attribute values. It must be the same
//! for every path and every title as it is for harmless ones, and what is shown must read back as
//! what was intended.

use proptest::prelude::*;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::support::{Reply, Running};

const HTML: &str = "Accept: text/html\r\n";
const JSON: &str = "Accept: application/json\r\n";

/// Characters that mean something to HTML, JSON, a header or a terminal, among others.
const SPECIAL: &str =
    "[<>&\"'`=/\\\\{}%;\u{0}\n\r\t \u{1b}\u{85}\u{2028}\u{202e}\u{feff}a-c]{0,24}";

fn running(table: &str) -> (Runtime, Running) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let server = runtime.block_on(Running::start(table));
    (runtime, server)
}

/// What people write into an entry.
#[derive(Debug, Clone)]
struct Words {
    title: String,
    owner: String,
    tags: Vec<String>,
}

/// Returns a table with a live and a retired entry of each, `live0`, `gone0` and so on.
fn table(all: &[Words]) -> String {
    let mut table = "base_url: https://short.code/\nmapping:\n".to_owned();
    for (index, words) in all.iter().enumerate() {
        for (code, retired) in [("live", ""), ("gone", ", retired: true")] {
            // JSON is YAML, but for the characters that only JSON holds unescaped.
            let title = json!(words.title);
            let (owner, tags) = (json!(words.owner), json!(words.tags));
            table += &format!(
                "- {{url: 'https://e.example/{code}{index}', short-code: {code}{index}, \
                 title: {title}, owner: {owner}, tags: {tags}{retired}}}\n"
            );
        }
    }
    table
}

/// Returns a page without its texts and the values of its attributes, and then its texts, read as
/// a browser would.
fn taken_apart(page: &str) -> (String, Vec<String>) {
    let (mut skeleton, mut texts) = (String::new(), Vec::new());
    let mut rest = page;
    while let Some(open) = rest.find('<') {
        texts.push(unescaped(&rest[..open]));
        let close = rest[open..].find('>').expect("a tag ends") + open;
        let tag = &rest[open..=close];
        for (index, part) in tag.split('"').enumerate() {
            match index % 2 {
                0 => skeleton.push_str(part),
                _ => skeleton.push_str("\"\""),
            }
        }
        rest = &rest[close + 1..];
    }
    texts.push(unescaped(rest));
    (skeleton, texts)
}

fn unescaped(text: &str) -> String {
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        let (number, rest) = part.split_once(';').expect("an escape ends");
        let number = number.strip_prefix('#').expect("ours are numbers");
        plain.push(char::from_u32(number.parse().unwrap()).unwrap());
        plain.push_str(rest);
    }
    plain
}

fn skeleton(reply: &Reply) -> String {
    taken_apart(&reply.text()).0
}

fn shows(reply: &Reply, text: &str) -> bool {
    let (_, texts) = taken_apart(&reply.text());
    texts.iter().any(|shown| shown.contains(text))
}

#[test]
fn no_path_becomes_a_part_of_a_page() {
    let (runtime, server) = running("base_url: https://short.code/\nmapping: []\n");
    let ask = |path: &str, accept| runtime.block_on(server.ask("GET", path, accept));
    let harmless = skeleton(&ask("/harmless", HTML));
    assert!(harmless.contains("<h1></h1>"), "{harmless}");
    // What some bytes get that no client may send raw.
    let refused = ask("/`", HTML).undated();
    assert_eq!(refused.0[0], "HTTP/1.1 400 Bad Request");
    assert_eq!(refused.1, b"");
    let others = [JSON, ""].map(|accept| (accept, ask("/harmless", accept).undated()));

    let bytes = proptest::collection::vec(any::<u8>(), 0..60);
    proptest!(ProptestConfig::with_cases(300), |(bytes in bytes, text in SPECIAL, all in any::<bool>())| {
        for raw in [&bytes[..], text.as_bytes()] {
            // Raw where a client can send it so, else encoded; or all of it encoded.
            let path: String = raw
                .iter()
                .map(|byte| match byte {
                    b'!'..=b'~' if !all && !b"?#".contains(byte) => char::from(*byte).to_string(),
                    _ => format!("%{byte:02x}"),
                })
                .collect();
            let path = format!("/{path}~");
            let page = ask(&path, HTML);
            if page.undated() == refused {
                continue;
            }
            prop_assert_eq!(page.status_line(), "HTTP/1.1 404 Not Found");
            prop_assert_eq!(skeleton(&page), harmless.clone(), "{}", path);
            let (_, texts) = taken_apart(&page.text());
            let controls = |text: &String| text.trim().chars().any(|c| c.is_control() && c != '\n');
            prop_assert!(!texts.iter().any(controls), "{page}");
            // Nothing of it reaches the head, nor what is no page.
            for (accept, harmless) in &others {
                prop_assert_eq!(&ask(&path, accept).undated(), harmless, "{}", path);
            }
        }
    });
}

#[test]
fn no_property_of_an_entry_becomes_a_part_of_a_page() {
    let word = || "word".to_owned();
    let harmless = Words {
        title: word(),
        owner: word(),
        tags: vec![word()],
    };
    let (runtime, server) = running(&table(&[harmless]));
    let ask = |path: &str, accept| runtime.block_on(server.ask("GET", path, accept));
    let preview = skeleton(&ask("/live0+", HTML));
    let gone = skeleton(&ask("/gone0", HTML));

    let text = prop_oneof![any::<String>(), SPECIAL.prop_map(String::from)];
    // An empty text is none, and space around one is not kept.
    let text = text.prop_map(|text| format!("x{text}x"));
    let tags = proptest::collection::vec(text.clone(), 1..4);
    let words =
        (text.clone(), text, tags).prop_map(|(title, owner, tags)| Words { title, owner, tags });
    let many = proptest::collection::vec(words, 1..40);
    proptest!(ProptestConfig::with_cases(8), |(all in many)| {
        server.replace_table(&table(&all));
        let loaded = runtime.block_on(server.reload());
        prop_assert_eq!(loaded.status_line(), "HTTP/1.1 200 OK", "{}", loaded);
        for (index, words) in all.iter().enumerate() {
            let page = ask(&format!("/live{index}+"), HTML);
            // The harmless entry has one tag.
            let further = "<li><a href=\"\"><bdi></bdi></a></li>".repeat(words.tags.len() - 1);
            prop_assert_eq!(skeleton(&page).replacen(&further, "", 1), preview.clone());
            for text in [&words.title, &words.owner].into_iter().chain(&words.tags) {
                prop_assert!(shows(&page, text), "{text:?}: {page}");
            }
            let report = ask(&format!("/live{index}+"), JSON).json();
            prop_assert_eq!(&report["title"], &json!(words.title));
            prop_assert_eq!(&report["tags"], &json!(words.tags));

            let page = ask(&format!("/gone{index}"), HTML);
            prop_assert_eq!(skeleton(&page), gone.clone());
            for text in [&words.title, &words.owner] {
                prop_assert!(shows(&page, text), "{text:?}: {page}");
            }
            let report = ask(&format!("/gone{index}"), JSON).json();
            prop_assert_eq!(&report["owner"], &json!(words.owner));
        }
    });
}
