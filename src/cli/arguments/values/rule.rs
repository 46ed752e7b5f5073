//! Arguments that name rules.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};

use crate::mapping::Rule;

/// A parser of values that name rules, which completions list.
#[derive(Clone)]
pub(crate) struct RuleParser<V> {
    parse: fn(&str) -> Result<V, String>,
    names: Vec<&'static str>,
}

impl RuleParser<Rule> {
    /// Accepts any rule.
    pub(crate) fn any() -> Self {
        Self::new(named)
    }
}

impl<V> RuleParser<V> {
    /// Accepts the rules that `parse` accepts.
    pub(crate) fn new(parse: fn(&str) -> Result<V, String>) -> Self {
        let names = Rule::ALL.iter().map(|rule| rule.name());
        Self {
            parse,
            names: names.filter(|name| parse(name).is_ok()).collect(),
        }
    }

    /// Accepts another word as well.
    pub(crate) fn or(mut self, word: &'static str) -> Self {
        self.names.insert(0, word);
        self
    }
}

impl<V: Clone + Send + Sync + 'static> TypedValueParser for RuleParser<V> {
    type Value = V;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<V, Error> {
        TypedValueParser::parse_ref(&self.parse, command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().map(PossibleValue::new)))
    }
}

/// Returns the rule with a name given by the user.
pub(crate) fn named(name: &str) -> Result<Rule, String> {
    Rule::from_name(name).ok_or_else(|| match Rule::nearest(name) {
        Some(rule) => format!("there is no such rule, did you mean '{rule}'?"),
        None => "there is no such rule, 'waypost explain' lists all".to_owned(),
    })
}
