//! The precedence of environment variables and the command line.
//!
//! A variable is often set for one command, or for a whole machine, and may then conflict with
//! flags. Invariants: a flag overrides each variable that conflicts with it; a variable that only
//! has a meaning together with a missing flag counts as unset; two variables that conflict are an
//! error, because the intended one is unknown. Requirements that must not be dropped silently, like
//! half of a certificate and its key, are not declared to clap.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Error};

/// The names of variables.
type VariableNames = BTreeSet<String>;

/// The beginnings of switch values that mean no (clap's `BoolishValueParser`).
const NO: [&str; 6] = ["n", "no", "f", "false", "off", "0"];

/// Variables whose empty value is one: an author that a Git host does not name must not disable the
/// check of owners.
const MAY_BE_EMPTY: [&str; 1] = ["WAYPOST_AUTHOR"];

/// Makes an argument's variable behave as users expect: help names it without its value, and an
/// empty one, as in templates of deployments, is treated as unset, like a switch that is off.
pub(crate) fn plain(arg: Arg) -> Arg {
    let name = arg.get_env().and_then(|name| name.to_str());
    let may_be_empty = name.is_some_and(|name| MAY_BE_EMPTY.contains(&name));
    let value = arg.get_env().and_then(std::env::var_os);
    let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
    let says_no = |it: &str| {
        (it.is_empty() && !may_be_empty) || (is_switch && NO.contains(&&*it.to_lowercase()))
    };
    let arg = arg.hide_env_values(true);
    match value
        .as_ref()
        .and_then(|it| it.to_str())
        .is_some_and(says_no)
    {
        true => arg.env(None::<&'static str>),
        false => arg,
    }
}

/// Parses a command line by its definition, to all arguments of which [`plain`] was applied.
///
/// # Errors
///
/// If the command line, or the variables that apply, are not valid together.
pub(crate) fn parse(definition: &Command, line: &[OsString]) -> Result<ArgMatches, Error> {
    let call = Call { definition, line };
    match definition.clone().try_get_matches_from(line) {
        Err(error) if is_about_others(&error) => call.with(&call.applicable()),
        result => result,
    }
}

/// Returns a note for each argument in an error that comes from a variable, with its name.
pub(crate) fn blamed(definition: &Command, line: &[OsString], error: &Error) -> Vec<String> {
    // Only a built argument can be displayed.
    let mut definition = definition.clone();
    definition.build();
    let call = Call {
        definition: &definition,
        line,
    };
    let named: BTreeSet<_> = [ContextKind::InvalidArg, ContextKind::PriorArg]
        .into_iter()
        .flat_map(|kind| strings(error, kind))
        .collect();
    let on_line = call.on_line();
    let report = |arg: &Arg| {
        let applies = named.contains(&arg.to_string()) && !on_line.contains(arg.get_id().as_str());
        let name = set_by(arg).filter(|_| applies)?;
        Some(format!("{arg} comes from the variable {name}"))
    };
    call.arguments().filter_map(report).collect()
}

/// One call of the program.
struct Call<'a> {
    definition: &'a Command,
    line: &'a [OsString],
}

impl Call<'_> {
    /// Returns all arguments of the called subcommand.
    fn arguments(&self) -> impl Iterator<Item = &Arg> {
        let verb = self.line.get(1);
        let verb = verb.and_then(|name| self.definition.find_subcommand(name));
        verb.into_iter().flat_map(Command::get_arguments)
    }

    /// Returns the ids of the arguments on the command line.
    fn on_line(&self) -> VariableNames {
        let definition = &self.definition.clone().ignore_errors(true);
        let line = self.line;
        let lenient = Call { definition, line };
        let matches = lenient.with(&VariableNames::new());
        let verb = matches.as_ref().ok().and_then(ArgMatches::subcommand);
        let ids = verb.into_iter().flat_map(|(_, verb)| {
            let ids = verb.ids().map(clap::Id::as_str);
            ids.filter(|id| verb.value_source(id) == Some(ValueSource::CommandLine))
        });
        ids.map(str::to_owned).collect()
    }

    /// Returns the variables that apply together with the command line: those that do not conflict
    /// with it, and need no further argument.
    fn applicable(&self) -> VariableNames {
        let mut left: Vec<_> = self.arguments().filter_map(set_by).collect();
        left.retain(|name| !self.conflicts(name));
        let mut used = VariableNames::new();
        // A variable that needs another argument may come before it.
        loop {
            let before = used.len();
            left.retain(|name| {
                let mut more = used.clone();
                more.insert(name.clone());
                let needs_more = self.lacking(&more) > self.lacking(&used);
                if !needs_more {
                    used = more;
                }
                needs_more
            });
            if used.len() == before {
                return used;
            }
        }
    }

    /// Returns whether a variable conflicts with the command line.
    fn conflicts(&self, name: &str) -> bool {
        let with = self.with(&VariableNames::from([name.to_owned()]));
        with.is_err_and(|error| error.kind() == ErrorKind::ArgumentConflict)
    }

    /// Returns how many required arguments the command line and these variables lack.
    fn lacking(&self, names: &VariableNames) -> usize {
        match self.with(names) {
            Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => {
                strings(&error, ContextKind::InvalidArg).len()
            }
            _ => 0,
        }
    }

    /// Parses the command line as if no other variables were set.
    fn with(&self, names: &VariableNames) -> Result<ArgMatches, Error> {
        let only = |arg: Arg| match set_by(&arg) {
            Some(name) if !names.contains(&name) => arg.env(None::<&'static str>),
            _ => arg,
        };
        let definition = self.definition.clone();
        let definition = definition.mut_subcommands(|verb| verb.mut_args(only));
        definition.try_get_matches_from(self.line)
    }
}

/// Returns the texts of one kind in an error.
fn strings(error: &Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(one)) => vec![one.clone()],
        Some(ContextValue::Strings(all)) => all.clone(),
        _ => Vec::new(),
    }
}

/// Returns the variable of an argument, if it is set.
fn set_by(arg: &Arg) -> Option<String> {
    let name = arg
        .get_env()
        .filter(|name| std::env::var_os(name).is_some())?;
    Some(name.to_string_lossy().into_owned())
}

/// Returns whether an error is about a combination of arguments.
fn is_about_others(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ArgumentConflict | ErrorKind::MissingRequiredArgument
    )
}
