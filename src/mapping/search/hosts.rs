//! Targets that contain a word in their host, or across its end; each host is searched once.

use super::bits::Bits;
use super::fold::folded;
use super::word::{Word, with_unicode_host};
use crate::mapping::packed::Hosts;
use crate::mapping::value::target;

/// The hosts because of which a target may contain a word that is not completely in the rest of it.
pub(super) struct HostsWithWord<'w> {
    word: &'w str,
    /// Those that have the word.
    whole: Bits,
    /// Those that end with a part of the word, for words that can be divided.
    ends: Bits,
    /// Where the word may be divided: after each slash in it.
    divisions: Vec<usize>,
    is_empty: bool,
}

impl<'w> HostsWithWord<'w> {
    /// Finds the hosts; `has_punycode` is whether any may have another form.
    pub(super) fn new(hosts: &Hosts, word: &'w Word, has_punycode: bool) -> Self {
        let text = word.text();
        let slashes = text.match_indices('/').map(|(at, _)| at + 1);
        let divisions: Vec<_> = slashes.filter(|at| *at < text.len()).collect();
        let mut found = Self {
            word: text,
            whole: Bits::none(hosts.iter().len()),
            ends: Bits::none(hosts.iter().len()),
            divisions,
            is_empty: true,
        };
        for (number, start) in (0..).zip(hosts.iter()) {
            found.look_at(number, start, word);
            let (scheme, host) = target::divided(start);
            if has_punycode && let Some(host) = with_unicode_host(host) {
                found.look_at(number, &format!("{scheme}{}", folded(&host)), word);
            }
        }
        found
    }

    fn look_at(&mut self, number: u32, start: &str, word: &Word) {
        let ends = |at: &usize| start.ends_with(&self.word[..*at]);
        if word.is_in(start) {
            self.whole.insert(number);
        } else if self.divisions.iter().any(ends) {
            self.ends.insert(number);
        } else {
            return;
        }
        self.is_empty = false;
    }

    /// Returns whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Returns whether a target that begins with a host may have the word, but not in the rest alone.
    pub(super) fn begins(&self, host: u32, rest: &str) -> bool {
        self.whole.contains(host)
            || self.ends.contains(host)
                && (self.divisions.iter()).any(|at| begins_with(rest, &self.word[*at..]))
    }
}

/// Returns whether a text begins with another, which is in lower case.
pub(super) fn begins_with(text: &str, start: &str) -> bool {
    let own = text.as_bytes().get(..start.len());
    own.is_some_and(|own| own.eq_ignore_ascii_case(start.as_bytes()))
}
