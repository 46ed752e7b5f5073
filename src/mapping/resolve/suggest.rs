//! Suggestions: the codes that resemble a mistyped one.
//!
//! The work for one request is bounded for any size of the table: a small site is searched
//! entirely; in a large one, only codes a single typo away are looked up. That takes a tenth of a
//! millisecond, or a third where both the codes and the text are long.

use std::borrow::Cow;

use super::path::Decoded;
use super::resemblance::Resemblance;
use crate::mapping::packed::Site;
use crate::mapping::value::Timestamp;

/// The maximum number of codes of a site that is searched entirely.
const SMALL: usize = 2000;

/// The maximum length in bytes of a text for which all typos are looked up: longer codes of a large
/// site are hardly ever typed.
const MAX_TYPED: usize = 24;

/// Characters that may have been left out or mistyped in a code.
const ALPHABET: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./~";

impl Site {
    /// Returns up to `limit` codes of live entries that resemble a raw request path, nearest
    /// first.
    pub fn suggestions(&self, path: &str, limit: usize, now: Timestamp) -> Vec<Cow<'_, str>> {
        let rest = path.strip_prefix(self.base_url().path());
        let rest = rest.unwrap_or_else(|| path.trim_start_matches('/'));
        let decoded = Decoded::new(rest);
        let wanted = decoded.as_ref().map_or("", Decoded::as_str);
        let live = |code: &Cow<'_, str>| self.lookup(code).is_some_and(|entry| !entry.is_gone(now));
        let nearest = self.nearest(wanted).into_iter().map(|(_, code)| code);
        nearest.filter(live).take(limit).collect()
    }

    /// Returns the codes that resemble a text, each with its distance, nearest first, whether or not
    /// their entries are live.
    pub(super) fn nearest(&self, wanted: &str) -> Vec<(usize, Cow<'_, str>)> {
        let wanted = wanted.trim_end_matches(['+', '/']);
        let mut found = match Resemblance::to(wanted) {
            Some(resemblance) if self.code_count() <= SMALL => self.resembling(&resemblance),
            Some(_) => self.one_typo_away(wanted),
            None => Vec::new(),
        };
        found.sort_unstable();
        found.dedup();
        found
    }

    fn resembling(&self, wanted: &Resemblance) -> Vec<(usize, Cow<'_, str>)> {
        let tolerated = 1 + wanted.length() / 4;
        let length = wanted.length();
        let codes = self.codes().filter_map(|code| {
            if let Some(typos) = wanted.typos(&code, tolerated) {
                return Some((typos, code));
            }
            // A partly typed code is the weakest resemblance, but the most useful one.
            let is_beginning = length >= 3 && wanted.begins(&code);
            is_beginning.then(|| (code.chars().count().abs_diff(length), code))
        });
        codes.collect()
    }

    fn one_typo_away(&self, wanted: &str) -> Vec<(usize, Cow<'_, str>)> {
        let mut codes = Vec::new();
        let mut text = String::with_capacity(wanted.len() + 1);
        let mut try_with = |distance: usize, parts: [&str; 4]| {
            text.clear();
            text.extend(parts);
            if self.lookup(&text).is_some() {
                codes.push((distance, Cow::Owned(text.clone())));
            }
        };
        for folded in [wanted.to_lowercase(), wanted.to_uppercase()] {
            try_with(0, [&folded, "", "", ""]);
        }
        let alphabet = match wanted.len() {
            0..=MAX_TYPED => ALPHABET,
            _ => "",
        };
        let places = wanted.char_indices().map(|(place, _)| place);
        for place in places.chain([wanted.len()]) {
            let (head, tail) = wanted.split_at(place);
            let (first, rest) = split_first(tail);
            let (second, after) = split_first(rest);
            if !first.is_empty() {
                try_with(1, [head, rest, "", ""]);
            }
            if !second.is_empty() {
                try_with(1, [head, second, first, after]);
            }
            for at in 0..alphabet.len() {
                let typed = &alphabet[at..=at];
                try_with(1, [head, typed, tail, ""]);
                if !first.is_empty() {
                    try_with(1, [head, typed, rest, ""]);
                }
            }
        }
        codes
    }
}

/// Splits a text after its first character, if it has any.
fn split_first(text: &str) -> (&str, &str) {
    text.split_at(text.chars().next().map_or(0, char::len_utf8))
}
