//! Redacting secrets in texts: in input of a person, and in messages of Git or a remote.
//!
//! A remote may echo what it received, in any encoding that is usual in its protocol: a Basic
//! authentication header in base64, an address with percent-encoding, a message in JSON. So a
//! secret is searched for in the text as it is, in the text with its escapes decoded layer by
//! layer, and in any base64 or hexadecimal there. Addresses are hidden up to their `@` whether or
//! not their secret is known.
//!
//! Left out: a remote that intends to show a secret can disguise it in endless ways.

use std::fmt;
use std::iter::successors;
use std::ops::Range;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};
use zeroize::Zeroizing;

use super::encodings::{Escapes, View, is_in_run, runs};

/// The replacement for a secret.
pub(crate) const HIDDEN: &str = "***";

/// The maximum number of characters kept of someone's message.
const MAX_SAID: usize = 4_000;

/// The shortest secret that is searched for across white space, in bytes.
const MIN_PARTED: usize = 8;

/// The characters that end the path of an address.
const AFTER_PATH: [char; 2] = ['?', '#'];

/// An `@` in percent-encoding.
const ENCODED_AT: &str = "%40";

/// The number of layers of escapes that are decoded.
const LAYERS: usize = 3;

/// The secrets to redact.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<Zeroizing<String>>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({HIDDEN})")
    }
}

/// Redacts the secrets of all addresses in a text, known or not, and each of `typed`: texts that a
/// person may have typed as an address.
pub fn redact(text: &str, typed: &[String]) -> String {
    Secrets::new(typed.iter().cloned()).hide(text)
}

impl Secrets {
    pub(crate) fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let secrets = secrets.into_iter().filter(|it| !it.is_empty());
        let mut all: Vec<_> = secrets.map(Zeroizing::new).collect();
        all.sort_unstable_by(|a, b| a.as_str().cmp(b));
        all.dedup();
        Self(all)
    }

    /// Adds further secrets.
    pub(crate) fn with(self, others: impl IntoIterator<Item = String>) -> Self {
        let own = self.0.iter().map(|secret| secret.to_string());
        Self::new(own.chain(others))
    }

    /// Redacts these secrets, and those of all addresses, in a text, even where white space splits
    /// them.
    pub(crate) fn hide(&self, text: &str) -> String {
        let shown = self.hide_whole(text);
        let mut hidden = Vec::new();
        // A short one may be the end of a word and the beginning of the next.
        let long = self.0.iter().filter(|it| it.len() >= MIN_PARTED);
        Self(long.cloned().collect()).find(&View::of(&shown).without_space(), &mut hidden);
        replace(&shown, hidden)
    }

    /// Redacts the secrets in one piece.
    fn hide_whole(&self, text: &str) -> String {
        let mut hidden = addresses(text);
        let plain = View::of(text);
        self.find(&plain, &mut hidden);
        for escapes in Escapes::ALL {
            let layers = successors(plain.unescaped(escapes), |view| view.unescaped(escapes));
            for view in layers.take(LAYERS) {
                self.find(&view, &mut hidden);
            }
        }
        replace(text, hidden)
    }

    fn find(&self, view: &View, hidden: &mut Vec<Range<usize>>) {
        for secret in &self.0 {
            view.find(secret.as_bytes(), hidden);
        }
        for run in runs(view.bytes()) {
            let bytes = &view.bytes()[run.clone()];
            if (self.0.iter()).any(|secret| is_in_run(secret.as_bytes(), bytes)) {
                hidden.push(view.source(run));
            }
        }
    }

    /// Returns a message on one line, without terminal control characters and without secrets. A
    /// long message is cut.
    pub(crate) fn readable(&self, said: &str) -> String {
        // In this order: invisible characters may split a secret, and a cut may leave half of one.
        let words: Vec<&str> = said.split_whitespace().collect();
        let line: String = words
            .join(" ")
            .chars()
            .filter(|c| !c.is_control() && c.general_category() != GeneralCategory::Format)
            .collect();
        self.hide(&line).chars().take(MAX_SAID).collect()
    }
}

/// Returns the part of a typed address that may be shown: nothing up to its last `@`, no query and
/// no fragment.
pub(crate) fn masked(address: &str) -> String {
    let end = last_at(address).map_or(0, |at| at.end);
    let (hidden, rest) = address.split_at(end);
    let shown = rest.split(AFTER_PATH).next().unwrap_or_default();
    let more = match rest[shown.len()..].chars().next() {
        Some(mark) => format!("{mark}{HIDDEN}"),
        None => String::new(),
    };
    match hidden {
        "" => format!("{shown}{more}"),
        _ => format!("{HIDDEN}@{shown}{more}"),
    }
}

/// Returns the possible secrets of a typed text, if it is intended as an address: the part before
/// its last `@`, its query and its fragment.
pub fn secrets_in_address(address: &str) -> Vec<String> {
    let before = last_at(address).map(|at| &address[..at.start]);
    let query = address.split_once('?').map(|(_, query)| query);
    let fragment = address.split_once('#').map(|(_, fragment)| fragment);
    [before, query, fragment]
        .into_iter()
        .flatten()
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the position of the last `@` of an address, even a percent-encoded one.
fn last_at(address: &str) -> Option<Range<usize>> {
    let plain = address.rfind(is_at);
    let plain = plain.map(|at| at..at + char_len(address, at));
    let encoded = address.rfind(ENCODED_AT);
    let encoded = encoded.map(|at| at..at + ENCODED_AT.len());
    plain.into_iter().chain(encoded).max_by_key(|at| at.end)
}

/// Returns whether a login may be in an address.
pub(crate) fn may_hold_login(address: &str) -> bool {
    last_at(address).is_some()
}

/// Returns whether a character is an `@`, or looks like one.
pub(crate) fn is_at(c: char) -> bool {
    matches!(c, '@' | '\u{FE6B}' | '\u{FF20}')
}

/// Returns the positions of possible secrets of addresses in a text: before an `@`.
fn addresses(text: &str) -> Vec<Range<usize>> {
    let mut hidden = Vec::new();
    let mut start = 0;
    for word in text.split(char::is_whitespace) {
        if let Some(range) = address(word) {
            hidden.push(start + range.start..start + range.end);
        }
        // White space of more than one byte is skipped by its length, so positions stay exact.
        start += word.len();
        start += text[start..].chars().next().map_or(0, char::len_utf8);
    }
    hidden
}

/// Returns the position of the secret in a word that may be an address.
fn address(word: &str) -> Option<Range<usize>> {
    let Some(scheme) = word.find("://") else {
        let at = word.rfind(is_at)?;
        let before = &word[..at];
        let after = &word[at + char_len(word, at)..];
        // `user@host:path` is an account, and `user@host` without a path is an email address.
        let is_login = before.contains([':', '/', '\\', '：', '／'])
            || after
                .find(['/', '\\'])
                .is_some_and(|slash| !after[..slash].contains(':'));
        return is_login.then_some(0..at);
    };
    if let Some(at) = word[..scheme].rfind(is_at) {
        // A login before a scheme: `user:password@https://host`.
        return Some(0..at);
    }
    let begin = scheme + "://".len();
    let rest = &word[begin..];
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()));
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let end = match authority.rsplit_once(':') {
        _ if authority.contains(is_at) => authority.rfind(is_at)?,
        // The apparent end of the host is inside a password.
        Some((_, port)) if !is_port(port) => authority.len() + path.rfind(is_at)?,
        _ => return None,
    };
    Some(begin..begin + end)
}

fn char_len(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(0, char::len_utf8)
}

/// Replaces ranges of a text by [`HIDDEN`].
fn replace(text: &str, mut hidden: Vec<Range<usize>>) -> String {
    hidden.retain(|range| !range.is_empty());
    hidden.sort_unstable_by_key(|range| (range.start, range.end));
    let mut shown = String::with_capacity(text.len());
    let mut done = 0;
    for range in hidden {
        let start = floor(text, range.start.max(done));
        let end = ceiling(text, range.end);
        if end <= done {
            continue;
        }
        if start > done || !shown.ends_with(HIDDEN) {
            shown += &text[done..start];
            shown += HIDDEN;
        }
        done = end;
    }
    shown + &text[done..]
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceiling(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hide(text: &str, secrets: &[&str]) -> String {
        Secrets::new(secrets.iter().map(|it| (*it).to_owned())).hide(text)
    }

    #[test]
    fn hides_urls_and_secrets_in_the_output_of_git() {
        for (text, shown) in [
            (
                "no 'https://a:b@h/r' and hunter2; see ssh://h/x",
                "no 'https://***@h/r' and ***; see ssh://h/x",
            ),
            ("https://a:b/c@h/r", "https://***@h/r"),
            ("https://a:b@h/@org/r", "https://***@h/@org/r"),
            ("https://h:80/@org/r?a@b", "https://h:80/@org/r?a@b"),
            ("a:b@https://h/r", "***@https://h/r"),
            ("found 'oauth2:b@h/x'", "found ***@h/x'"),
            ("--repo=https:/u:b@h/x", "***@h/x"),
            (r"https:\\u:b@h\x", r"***@h\x"),
            ("ghp_b@h.example/x", "***@h.example/x"),
            ("u：b＠h／x", "***＠h／x"),
            (
                "git@h.example:a/b and a@b.example",
                "git@h.example:a/b and a@b.example",
            ),
        ] {
            assert_eq!(hide(text, &["hunter2", ""]), shown, "{text}");
        }
    }

    #[test]
    fn hides_every_encoding_of_a_secret() {
        let secret = r#"p/w "é"+1"#;
        for text in [
            r#"p/w "é"+1"#,
            "p%2Fw%20%22%C3%A9%22%2B1",
            "p%2fw+%22%c3%a9%22%2b1",
            "p%252fw%2520%2522%25c3%25a9%2522%252b1",
            r#"p\/w \"\u00e9\"+1"#,
            r#"p/w &quot;&#xe9;&quot;+1"#,
            "702f772022c3a9222b31",
        ] {
            assert_eq!(hide(&format!("a {text} b"), &[secret]), "a *** b", "{text}");
        }
        // `user:hunter2?>~` in base64, as it is, URL-safe and escaped.
        for text in [
            "dXNlcjpodW50ZXIyPz5+",
            "dXNlcjpodW50ZXIyPz5-",
            "dXNlcjpodW50ZXIyPz5%2B",
            r"Basic dXNlcjpodW50ZXIyPz5\u002b",
        ] {
            let shown = hide(text, &["hunter2?>~"]);
            assert_eq!(shown.trim_start_matches("Basic "), HIDDEN, "{text}");
        }
    }

    #[test]
    fn keeps_texts_readable_whatever_the_secret() {
        assert_eq!(
            hide("a path at /a/b, and data", &["a"]),
            "*** path at /***/b, and data"
        );
        assert_eq!(hide("nothing to hide", &[""]), "nothing to hide");
        assert_eq!(hide("abcdabcd abcd", &["abcd"]), "*** ***");
    }

    #[test]
    fn parts_of_secrets_survive_neither_control_characters_nor_the_cut() {
        let secrets = Secrets::new(["hunter2".to_owned()]);
        assert_eq!(secrets.readable("is\n hun\u{1b}ter2"), "is ***");
        // A soft hyphen, a zero-width space, an override of the direction of writing.
        let said = "is hun\u{ad}t\u{200b}er\u{202e}2";
        assert_eq!(secrets.readable(said), "is ***");
        let long = format!("{} hunter2", "x".repeat(MAX_SAID - 4));
        assert_eq!(
            secrets.readable(&long),
            format!("{} ***", "x".repeat(MAX_SAID - 4))
        );
    }

    #[test]
    fn white_space_parts_no_secret() {
        let secrets = Secrets::new(["0123456789abcdefghijklmnop".to_owned(), "short".to_owned()]);
        // `user:` and the secret in base64, in two lines.
        for said in [
            "is: 0123456789\nabcdefghijklmnop",
            "is: dXNlcjowMTIzNDU2Nzg5YWJj\nZGVmZ2hpamtsbW5vcA==",
        ] {
            let shown = secrets.readable(said);
            assert_eq!(shown.trim_end_matches('='), "is: ***", "{said}");
        }
        assert_eq!(secrets.readable("his hortensia"), "his hortensia");
    }

    #[test]
    fn masks_what_was_typed_as_an_address() {
        for (typed, shown) in [
            ("oauth2:b@h/x", "***@h/x"),
            ("b＠h/x?token=b", "***@h/x?***"),
            ("https://h/x#b", "https://h/x#***"),
            ("https%3A%2F%2Fu%3Ab%40h%2Fx", "***@h%2Fx"),
            ("links.git", "links.git"),
        ] {
            assert_eq!(masked(typed), shown);
        }
    }

    #[test]
    fn hides_what_may_be_secret_in_a_typed_address() {
        for typed in [
            "https://h.example/r?private_token=hunter2",
            "https://h.example/r#hunter2",
            "https://u:hunter2%40h.example/r",
            "https%3A%2F%2Fu%3Ahunter2%40h.example",
            "u:hunter2@h.example",
        ] {
            let text = format!("error: unexpected argument '{typed}' found");
            let shown = redact(&text, &secrets_in_address(typed));
            assert!(!shown.contains("hunter2"), "{shown}");
            assert!(shown.contains("found"), "{shown}");
        }
    }
}
