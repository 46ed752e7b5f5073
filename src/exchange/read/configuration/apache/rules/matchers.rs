//! The expressions of conditions, each compiled once, however many rules have it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::exchange::read::configuration::occurrences::Occurrences;
use crate::exchange::read::configuration::pattern::Pattern;

/// All expressions of conditions, by their text and whether they ignore case.
#[derive(Default)]
pub(crate) struct Matchers {
    known: HashMap<(String, bool), Rc<Matcher>>,
}

/// The expression of a condition.
pub(crate) struct Matcher {
    pub(crate) number: usize,
    pattern: Pattern,
    /// What it looks for.
    pub(crate) occurrences: Occurrences,
    /// Whether it matches each value with which it was compared: the same few are requested for all
    /// paths.
    compared: RefCell<HashMap<String, bool>>,
}

impl Matchers {
    /// Returns the matcher of an expression without a `!` before it.
    pub(crate) fn matcher(&mut self, expression: &str, is_folded: bool) -> Rc<Matcher> {
        let number = self.known.len();
        let key = (expression.to_owned(), is_folded);
        let matcher = self.known.entry(key).or_insert_with(|| {
            // Only a condition has had its `!` removed.
            let pattern = match expression.starts_with('!') {
                true => Pattern::Unknown(None),
                false => Pattern::parse(expression, is_folded),
            };
            Rc::new(Matcher {
                number,
                pattern,
                occurrences: Occurrences::of(expression),
                compared: RefCell::default(),
            })
        });
        Rc::clone(matcher)
    }
}

impl Matcher {
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self.pattern, Pattern::Unknown(_))
    }

    /// Returns whether it matches a value.
    pub(crate) fn matches(&self, value: &str) -> bool {
        if let Some(known) = self.compared.borrow().get(value) {
            return *known;
        }
        let is_matched = match &self.pattern {
            Pattern::Known(known) => known.groups(value.as_bytes()).is_some(),
            Pattern::Unknown(_) => false,
        };
        let mut compared = self.compared.borrow_mut();
        compared.insert(value.to_owned(), is_matched);
        is_matched
    }
}
