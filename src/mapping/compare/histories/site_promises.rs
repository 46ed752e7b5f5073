//! The promises of one site.

use std::collections::HashMap;

use super::neighbourhood::Neighbourhood;
use super::promise::Promise;
use crate::mapping::compare::breaches::Breach;
use crate::mapping::packed::Entry;

/// The promises of one site, by code.
#[derive(Debug, Clone, Default)]
pub(super) struct SitePromises {
    pub(super) first: HashMap<Box<str>, Promise>,
    /// Other promises for the same codes from other lines of work, which the first has not
    /// superseded.
    pub(super) rivals: HashMap<Box<str>, Vec<Promise>>,
}

impl SitePromises {
    /// Adds a promise of another line of work.
    pub(super) fn add(&mut self, code: &str, promise: Promise) {
        let Some(first) = self.first.get_mut(code) else {
            self.first.insert(code.into(), promise);
            return;
        };
        let rivals = self.rivals.get_mut(code).into_iter().flatten();
        for known in std::iter::once(&mut *first).chain(rivals) {
            if known.goal == promise.goal {
                return known.unite(&promise);
            } else if known.supersedes(&promise) {
                return;
            }
        }
        let mut rivals = self.rivals.remove(code).unwrap_or_default();
        rivals.retain(|known| !promise.supersedes(known));
        if promise.supersedes(first) {
            *first = promise;
        } else {
            rivals.push(promise);
        }
        if !rivals.is_empty() {
            self.rivals.insert(code.into(), rivals);
        }
    }

    /// Compares an entry with the promises of its code; returns how it breaks those that it does
    /// not keep.
    pub(super) fn publish(
        &mut self,
        code: &str,
        entry: Entry<'_>,
        near: &mut Neighbourhood,
    ) -> Vec<Breach> {
        let Some(first) = self.first.get_mut(code) else {
            self.first.insert(code.into(), Promise::new(entry));
            near.insert(code);
            return Vec::new();
        };
        first.is_current = true;
        let mut breaches = Vec::new();
        let rivals = self.rivals.get_mut(code).into_iter().flatten();
        for promise in std::iter::once(first).chain(rivals) {
            match promise.breach(Some(entry)) {
                Some(breach) => breaches.push(breach),
                None => promise.keep(entry),
            }
        }
        breaches
    }

    /// Records that a table which was published had no code; `published` is the last that had it.
    pub(super) fn leave(&mut self, code: &str, published: usize) {
        let rivals = self.rivals.get_mut(code).into_iter().flatten();
        for promise in self.first.get_mut(code).into_iter().chain(rivals) {
            promise.leave(published);
        }
    }

    /// Does that for all codes.
    pub(super) fn leave_all(&mut self, published: usize) {
        let rivals = self.rivals.values_mut().flatten();
        for promise in self.first.values_mut().chain(rivals) {
            promise.leave(published);
        }
    }

    /// Moves all promises of a code to an entry.
    pub(super) fn settle(&mut self, code: &str, entry: Entry<'_>) {
        let rivals = self.rivals.remove(code).unwrap_or_default();
        if let Some(promise) = self.first.get_mut(code) {
            promise.left.push(promise.goal.clone());
            promise.left.extend(rivals.into_iter().map(|it| it.goal));
            promise.keep(entry);
        }
    }
}
