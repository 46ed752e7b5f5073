//! The targets of entries in written order, in which hosts are numbers.
//!
//! In memory, a target is the number of its beginning, in ASCII characters, followed by the rest;
//! zero marks a target whose beginning has no number.

use std::ops::Range;
use std::sync::Arc;

use memchr::memchr;

use super::arena::{Arena, Cursor, Shift, Text};
use super::hosts::Hosts;
use super::moves::Moves;
use super::target_parts::TargetParts;
use crate::mapping::value::target;

/// The number of bits of a digit, and the bit that marks that another digit follows.
const DIGIT_BITS: u32 = 6;
const MORE: u8 = 1 << DIGIT_BITS;

/// How many beginnings may have numbers, besides one for every second target.
const MIN_HOSTS: usize = if cfg!(any(test, fuzzing)) { 8 } else { 4096 };

/// How many beginnings are copied for some more targets, before they are looked up afterwards.
const MAX_COPIED_HOSTS: usize = if cfg!(any(test, fuzzing)) { 8 } else { 1 << 16 };

/// How many bytes of text there must be for each copied beginning: reading them takes longer than a copy.
const BYTES_A_COPIED_HOST: usize = 8;

/// The number of digits of the greatest number.
const MAX_DIGITS: usize = 6;

/// Targets, each identified by its place.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    texts: Arena,
    hosts: Arc<Hosts>,
}

impl Targets {
    /// Returns no targets, but knows the beginnings of others.
    pub(crate) fn with_hosts(hosts: Arc<Hosts>) -> Self {
        Self {
            texts: Arena::default(),
            hosts,
        }
    }

    /// Returns no targets, but knows the beginnings of others, unless these are so many that it would take
    /// too long to add some, compared to reading `bytes` of text.
    pub(crate) fn with_hosts_of(others: &Self, bytes: usize) -> Self {
        match others.hosts.iter().len() > MAX_COPIED_HOSTS.min(bytes / BYTES_A_COPIED_HOST) {
            true => Self::default(),
            false => Self::with_hosts(others.shared_hosts()),
        }
    }

    /// Returns how many beginnings have numbers.
    #[cfg(test)]
    pub(crate) fn host_count(&self) -> usize {
        self.hosts.iter().len()
    }

    /// Returns the beginnings that have numbers, which are shared.
    pub(crate) fn shared_hosts(&self) -> Arc<Hosts> {
        Arc::clone(&self.hosts)
    }

    /// Returns whether each beginning that has a number in others has the same one here.
    pub(crate) fn has_numbers_of(&self, others: &Self) -> bool {
        Arc::ptr_eq(&self.hosts, &others.hosts) || self.hosts.extends(&others.hosts)
    }

    /// Takes the beginnings that have numbers, so that others may get some.
    pub(crate) fn take_hosts(&mut self) -> Arc<Hosts> {
        std::mem::take(&mut self.hosts)
    }

    /// Reserves room for targets, in bytes, if there is that much.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        // If not, the room that is actually needed may still be available.
        let (Ok(()) | Err(_)) = self.texts.try_reserve(bytes);
    }

    /// Stores a target in canonical form, or an empty text.
    pub(crate) fn store(&mut self, target: &str) -> Text {
        let length = start_length(target);
        let (start, rest) = target.split_at(length);
        let number = match length {
            0 => None,
            _ => self
                .hosts
                .find(start)
                .or_else(|| Arc::make_mut(&mut self.hosts).meet(start)),
        };
        match number {
            Some(number) => self.store_after(number + 1, rest),
            None => self.store_after(0, target::pack(target)),
        }
    }

    /// Stores all targets of others; returns where they are here.
    pub(crate) fn store_all(&mut self, others: &Self) -> Moves {
        let mut moves = Moves::default();
        let mut numbers = vec![None; others.hosts.iter().len()];
        let mut target = String::new();
        for (at, number, rest) in others.iter() {
            let place = match number {
                Some(number) => {
                    let own = numbers[number as usize].get_or_insert_with(|| {
                        let start = others.hosts.get(number);
                        let known = self.hosts.find(start);
                        known.unwrap_or_else(|| Arc::make_mut(&mut self.hosts).add(start))
                    });
                    self.store_after(*own + 1, rest)
                }
                None => {
                    let (scheme, rest) = target::unpack(rest);
                    target.clear();
                    // A target that is empty in memory is missing.
                    if !rest.is_empty() {
                        target.push_str(scheme);
                        target.push_str(rest);
                    }
                    self.store(&target)
                }
            };
            moves.push(at, place);
        }
        moves.push(others.end(), self.end());
        moves
    }

    fn store_after(&mut self, number: u32, rest: &str) -> Text {
        let mut digits = [0; MAX_DIGITS];
        self.texts.store_parts(digits_of(number, &mut digits), rest)
    }

    /// Returns a target; its parts are meaningless for an entry that has none.
    #[inline]
    pub(crate) fn get(&self, text: Text) -> TargetParts<'_> {
        let (number, rest) = Self::divided(self.texts.get(text));
        match number {
            None => {
                let (scheme, rest) = target::unpack(rest);
                TargetParts::new(scheme, rest)
            }
            Some(number) => TargetParts::new(self.hosts.get(number), rest),
        }
    }

    /// Returns the place of each target in the order of storing, the number of its beginning, and the
    /// rest; without a number, the rest is the whole target without `https://`.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Text, Option<u32>, &str)> {
        self.texts.iter().map(|(at, text)| {
            let (number, rest) = Self::divided(text);
            (at, number, rest)
        })
    }

    /// Returns the number of the beginning of a text in memory, and the rest, as [`iter`](Self::iter)
    /// does.
    pub(crate) fn divided(text: &str) -> (Option<u32>, &str) {
        if let Some(rest) = text.strip_prefix('\0') {
            return (None, rest);
        }
        let bytes = text.as_bytes();
        let mut number = u32::from(bytes[0] & (MORE - 1));
        let mut length = 1;
        while bytes[length - 1] >= MORE {
            let digit = u32::from(bytes[length] & (MORE - 1));
            number |= digit << (DIGIT_BITS as usize * length);
            length += 1;
        }
        (number.checked_sub(1), &text[length..])
    }

    /// Returns the beginnings that have numbers.
    pub(crate) fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// Returns the texts in memory, in which targets have numbers for their beginnings.
    pub(crate) fn texts(&self) -> &Arena {
        &self.texts
    }

    /// Returns a cursor at the first target.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        self.texts.cursor()
    }

    /// Returns the place of the next target.
    pub(crate) fn end(&self) -> Text {
        self.texts.end()
    }

    /// Appends some targets of others that have the same numbers for beginnings, as
    /// [`Arena::copy`] does.
    pub(crate) fn copy(&mut self, other: &Self, places: Range<Text>) -> Shift {
        self.texts.copy(&other.texts, places)
    }

    /// Appends all of others that have the same numbers for beginnings, and perhaps more; returns the
    /// distance by which they moved.
    pub(crate) fn append(&mut self, other: Self) -> u32 {
        self.hosts = other.hosts;
        self.texts.append(other.texts)
    }

    /// Prepares the targets for being shared, and releases the memory that was reserved for more.
    pub(crate) fn complete(&mut self) {
        self.texts.complete();
        if let Some(hosts) = Arc::get_mut(&mut self.hosts) {
            hosts.shrink();
        }
    }

    /// Returns whether so many beginnings have numbers that most of them are of former versions, given the
    /// number of targets: a beginning gets a number when a second target has it.
    pub(crate) fn has_former_hosts(&self, targets: usize) -> bool {
        self.hosts.iter().len() > MIN_HOSTS + targets / 2
    }

    /// Returns the memory in use, in bytes; what is shared counts for each that shares it.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.texts.heap_bytes() + self.hosts.heap_bytes()
    }
}

/// Returns the length of the part of a target that others may share: up to the slash after the host.
fn start_length(target: &str) -> usize {
    let (scheme, rest) = target::divided(target);
    memchr(b'/', rest.as_bytes()).map_or(0, |slash| scheme.len() + slash + 1)
}

/// Writes a number in digits.
fn digits_of(mut number: u32, digits: &mut [u8; MAX_DIGITS]) -> &str {
    let mut length = 0;
    loop {
        // Six bits fit.
        let digit = (number & u32::from(MORE - 1)) as u8;
        number >>= DIGIT_BITS;
        digits[length] = if number > 0 { digit | MORE } else { digit };
        length += 1;
        if number == 0 {
            break;
        }
    }
    str::from_utf8(&digits[..length]).expect("digits are ASCII characters")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_what_was_stored() {
        let mut targets = Targets::default();
        let mut expected = Vec::new();
        for round in 0..3 {
            for host in 0..10_000 {
                for target in [
                    format!("https://{host}.org/{round}"),
                    format!("http://{host}.org:8080/"),
                ] {
                    expected.push((targets.store(&target), target));
                }
            }
            for target in [
                "",
                "https://a.org/?https://b.org/",
                "http://[::1]:80/#/",
                "https://xn--mnchen-3ya.example/%C3%BC",
            ] {
                expected.push((targets.store(target), target.to_owned()));
            }
        }
        targets.complete();
        for (at, target) in &expected {
            let parts = targets.get(*at);
            match target.is_empty() {
                true => assert_eq!(parts.parts().1, ""),
                false => assert_eq!(parts.to_string(), *target),
            }
        }
        let places = targets.iter().map(|(at, ..)| at);
        assert!(places.eq(expected.iter().map(|(at, _)| *at)));
        assert!(targets.hosts().iter().len() > 15_000);
        let bytes: usize = expected.iter().map(|(_, target)| target.len()).sum();
        assert!(targets.texts.len() < bytes * 2 / 3);
    }

    #[test]
    fn numbers_have_as_few_digits_as_possible() {
        for (number, length) in [
            (0, 1),
            (63, 1),
            (64, 2),
            (4095, 2),
            (4096, 3),
            (u32::MAX, 6),
        ] {
            let mut digits = [0; MAX_DIGITS];
            let digits = digits_of(number, &mut digits);
            assert_eq!(digits.len(), length);
            assert_eq!(Targets::divided(digits), (number.checked_sub(1), ""));
        }
    }
}
