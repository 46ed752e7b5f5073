//! Suggestions: the codes that a mistyped one may be intended for.
//!
//! The work for one request is bounded for any size of the table: a small site is searched
//! entirely; in a large one, only codes a single typo away are looked up.

use std::borrow::Cow;

use super::path::Decoded;
use crate::mapping::packed::Site;
use crate::mapping::value::Timestamp;

/// The maximum number of codes of a site that is searched entirely.
const SMALL: usize = 2000;

/// The maximum length of compared text: no code worth retyping is longer.
const MAX_CHARS: usize = 64;

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
        self.nearest(wanted).filter(live).take(limit).collect()
    }

    /// Returns the codes that resemble a text, nearest first, whether or not their entries are live.
    pub(super) fn nearest(&self, wanted: &str) -> impl Iterator<Item = Cow<'_, str>> {
        let wanted = wanted.trim_end_matches(['+', '/']);
        let length = wanted.chars().count();
        let mut found = match length {
            1..=MAX_CHARS if self.code_count() <= SMALL => self.resembling(wanted),
            1..=MAX_CHARS => self.one_slip_away(wanted),
            _ => Vec::new(),
        };
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|(_, code)| code)
    }

    fn resembling(&self, wanted: &str) -> Vec<(usize, Cow<'_, str>)> {
        let folded = wanted.to_lowercase();
        let length = folded.chars().count();
        let tolerated = 1 + length / 4;
        self.codes()
            .filter_map(|code| {
                let other = code.to_lowercase();
                let extends = length >= 3 && other.starts_with(&folded);
                if !extends && other.chars().count().abs_diff(length) > tolerated {
                    return None;
                }
                let distance = strsim::damerau_levenshtein(&folded, &other);
                // A partly typed code is the weakest resemblance, but the one people need most.
                (distance <= tolerated || extends).then_some((distance, code))
            })
            .collect()
    }

    fn one_slip_away(&self, wanted: &str) -> Vec<(usize, Cow<'_, str>)> {
        let chars: Vec<char> = wanted.chars().collect();
        let mut codes: Vec<(usize, Cow<'_, str>)> = [wanted.to_lowercase(), wanted.to_uppercase()]
            .into_iter()
            .filter(|text| self.lookup(text).is_some())
            .map(|text| (0, Cow::Owned(text)))
            .collect();
        for at in 0..=chars.len() {
            let (head, tail) = chars.split_at(at);
            let mut try_with = |middle: &[char], rest: &[char]| {
                let text: String = head.iter().chain(middle).chain(rest).collect();
                if self.lookup(&text).is_some() {
                    codes.push((1, Cow::Owned(text)));
                }
            };
            if let [first, rest @ ..] = tail {
                try_with(&[], rest);
                if let [second, rest @ ..] = rest {
                    try_with(&[*second, *first], rest);
                }
            }
            for slip in ALPHABET.chars() {
                try_with(&[slip], tail);
                if let [_, rest @ ..] = tail {
                    try_with(&[slip], rest);
                }
            }
        }
        codes
    }
}
