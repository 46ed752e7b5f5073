//! The expressions of conditions, each compiled once, however many rules have it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::exchange::read::configuration::occurrences::Occurrences;
use crate::exchange::read::configuration::pattern::{Letters, Pattern};

/// The `User-Agent` of Firefox, Chrome, Edge and Safari.
const BROWSERS: [&str; 4] = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 \
     Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 \
     Safari/537.36 Edg/131.0.0.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 \
     Safari/605.1.15",
];

/// The `User-Agent` of programs, of which one sends none.
const PROGRAMS: [&str; 10] = [
    "",
    "curl/8.5.0",
    "Wget/1.21.4",
    "Java/17.0.13",
    "Apache-Jena-ARQ/5.2.0",
    "python-requests/2.32.3",
    "rdflib-7.1.1 (https://rdflib.github.io/; eikeon@eikeon.com)",
    "Go-http-client/1.1",
    "node",
    "Protege/5.6.4",
];

/// All expressions of conditions, by their text and whether they ignore case.
#[derive(Default)]
pub(crate) struct Matchers {
    known: HashMap<(String, bool), Rc<Matcher>>,
}

/// The expression of a condition.
pub(crate) struct Matcher {
    pub(crate) number: usize,
    pattern: Pattern,
    /// Whether it matches the `User-Agent` of browsers, and not of programs.
    pub(crate) is_for_browsers: bool,
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
            let letters = match is_folded {
                true => Letters::Folded,
                false => Letters::Exact,
            };
            let pattern = match expression.starts_with('!') {
                true => Pattern::Unknown(None),
                false => Pattern::parse(expression, letters),
            };
            Rc::new(Matcher {
                number,
                is_for_browsers: is_for_browsers(&pattern),
                pattern,
                occurrences: Occurrences::of(expression),
                compared: RefCell::default(),
            })
        });
        Rc::clone(matcher)
    }
}

/// Returns whether an expression matches the `User-Agent` of browsers, and not of programs.
fn is_for_browsers(pattern: &Pattern) -> bool {
    let Pattern::Known(known) = pattern else {
        return false;
    };
    let matches = |agent: &&str| known.groups(agent.as_bytes()).is_some();
    BROWSERS.iter().all(matches) && !PROGRAMS.iter().any(matches)
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
