//! `--allow` and `--deny`: rules that are ignored, and warnings that are treated as errors.
//!
//! A rule that is named prevails over `warnings`. An error cannot be allowed: the table would still
//! not be loaded.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, FromArgMatches};

use crate::cli::arguments::rule::{RuleParser, named};
use crate::mapping::{Diagnostic, Rule, Severity};

const ALLOW: &str = "allow";
const DENY: &str = "deny";

/// The word for all warnings.
const WARNINGS: &str = "warnings";

/// The rules that are ignored, and those that make a check fail.
#[derive(Debug, Clone, Default)]
pub(crate) struct Levels {
    allowed: Vec<Rule>,
    denied: Vec<Rule>,
    denies_warnings: bool,
}

impl Levels {
    /// Returns levels that make a command fail for some rules.
    pub(crate) fn denying(rules: Vec<Rule>) -> Self {
        Self {
            denied: rules,
            ..Self::default()
        }
    }

    /// Returns whether a diagnostic is omitted.
    pub(crate) fn allow(&self, diagnostic: &Diagnostic) -> bool {
        self.allowed.contains(&diagnostic.rule)
    }

    /// Returns whether a diagnostic makes the check fail.
    pub(crate) fn refuse(&self, diagnostic: &Diagnostic) -> bool {
        diagnostic.is_error() || self.denies_warnings || self.denied.contains(&diagnostic.rule)
    }
}

/// A value of `--deny`.
#[derive(Debug, Clone, Copy)]
enum Denied {
    Warnings,
    Rule(Rule),
}

fn denied(name: &str) -> Result<Denied, String> {
    match name {
        WARNINGS => Ok(Denied::Warnings),
        _ => named(name).map(Denied::Rule),
    }
}

fn allowed(name: &str) -> Result<Rule, String> {
    let rule = named(name)?;
    match rule.severity() {
        Severity::Warning => Ok(rule),
        Severity::Error => Err("it is an error, and only warnings can be allowed".to_owned()),
    }
}

/// The flags are defined by hand because their values must fit together, whether they come from the
/// command line or from variables.
impl clap::Args for Levels {
    fn augment_args(command: Command) -> Command {
        let list = |name: &'static str| {
            Arg::new(name)
                .long(name)
                .value_name("RULE")
                .value_delimiter(',')
                .hide_possible_values(true)
                .action(ArgAction::Append)
        };
        command
            .arg(
                list(ALLOW)
                    .env("WAYPOST_ALLOW")
                    .value_parser(RuleParser::new(allowed))
                    .help("A warning to ignore; may be repeated")
                    .long_help(
                        "A warning to ignore; may be repeated\n\n\
                         `waypost explain` lists the rules. An error cannot be allowed.",
                    ),
            )
            .arg(
                list(DENY)
                    .env("WAYPOST_DENY")
                    .value_parser(RuleParser::new(denied).or(WARNINGS))
                    .help("A warning that makes the check fail, or `warnings` for all; may be repeated")
                    .long_help(
                        "A warning that makes the check fail, or `warnings` for all; may be repeated\n\n\
                         With `--deny warnings --allow RULE`, RULE is allowed.",
                    ),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Levels {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut levels = Self::default();
        levels.allowed.extend(values::<Rule>(matches, ALLOW));
        for denied in values(matches, DENY) {
            match denied {
                Denied::Warnings => levels.denies_warnings = true,
                Denied::Rule(rule) => levels.denied.push(rule),
            }
        }
        let Some(both) = levels.allowed.iter().find(|it| levels.denied.contains(it)) else {
            return Ok(levels);
        };
        // A flag prevails over the variable of the other.
        let is_flag = |name| matches.value_source(name) == Some(ValueSource::CommandLine);
        match (is_flag(ALLOW), is_flag(DENY)) {
            (true, false) => levels.denied.retain(|rule| !levels.allowed.contains(rule)),
            (false, true) => levels.allowed.retain(|rule| !levels.denied.contains(rule)),
            _ => {
                let names = match is_flag(ALLOW) {
                    true => "'--allow' and '--deny'",
                    false => "the variables WAYPOST_ALLOW and WAYPOST_DENY",
                };
                let message = format!("the rule '{both}' is given to both {names}\n");
                return Err(Error::raw(ErrorKind::ArgumentConflict, message));
            }
        }
        Ok(levels)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn values<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, name: &str) -> Vec<T> {
    let values = matches.get_many::<T>(name);
    values.into_iter().flatten().cloned().collect()
}
