//! Variables that are probably misspelt: their names resemble one that the program reads.
//!
//! Other names are left alone: Kubernetes sets `WAYPOST_PORT` for a service named waypost, and
//! scripts have their own variables.

use std::collections::BTreeSet;

use clap::Command;

use crate::git::SECRET_VARIABLES;

const PREFIX: &str = "WAYPOST_";

/// Returns a note for each of these names of variables that resembles a known one.
pub(crate) fn misspelt(definition: &Command, set: impl Iterator<Item = String>) -> Vec<String> {
    let verbs = definition.get_subcommands();
    let flags = verbs.flat_map(Command::get_arguments);
    let variables = flags.filter_map(|flag| flag.get_env()?.to_str().map(str::to_owned));
    // Secrets have no flag, and each variable of one also names a file with the suffix `_FILE`.
    let secrets = SECRET_VARIABLES
        .into_iter()
        .flat_map(|name| [name.to_owned(), format!("{name}_FILE")]);
    let known: BTreeSet<String> = variables.chain(secrets).collect();
    let unknown = set.filter(|name| {
        let upper = name.to_ascii_uppercase();
        upper.starts_with("WAYPOST") && !known.contains(name)
    });
    unknown
        .filter_map(|name| {
            let suggestion = nearest(&name, &known)?;
            Some(format!(
                "the variable {name} is not read: did you mean {suggestion}?"
            ))
        })
        .collect()
}

/// Returns the known name that differs from another one by a typing error.
fn nearest<'k>(name: &str, known: &'k BTreeSet<String>) -> Option<&'k String> {
    let spelling = name.to_ascii_uppercase().replace('-', "_");
    let distances = known.iter().map(|known| {
        let distance = strsim::damerau_levenshtein(&spelling, known);
        (distance, known)
    });
    let (distance, nearest) = distances.min()?;
    let length = nearest.len() - PREFIX.len();
    // In a short name, two typing errors make another word.
    (distance <= 1 + usize::from(length > 6)).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(names: &[&str]) -> Vec<String> {
        let flag = |name: &'static str| clap::Arg::new(name).long(name).env(name);
        let serve = Command::new("serve")
            .arg(flag("WAYPOST_LISTEN"))
            .arg(flag("WAYPOST_REPO"))
            .arg(flag("WAYPOST_WAIT"));
        let definition = Command::new("waypost").subcommand(serve);
        misspelt(&definition, names.iter().map(|name| (*name).to_owned()))
    }

    #[test]
    fn suggests_the_intended_variable() {
        assert_eq!(
            notes(&[
                "WAYPOST_LISTN",
                "WAYPOST_HOOK_SECRT_FILE",
                "waypost_repo",
                "WAYPOSTREPO"
            ]),
            [
                "the variable WAYPOST_LISTN is not read: did you mean WAYPOST_LISTEN?",
                "the variable WAYPOST_HOOK_SECRT_FILE is not read: did you mean WAYPOST_HOOK_SECRET_FILE?",
                "the variable waypost_repo is not read: did you mean WAYPOST_REPO?",
                "the variable WAYPOSTREPO is not read: did you mean WAYPOST_REPO?",
            ]
        );
    }

    #[test]
    fn names_of_others_and_known_ones_are_fine() {
        for name in [
            "WAYPOST_LISTEN",
            "WAYPOST_GIT_PASSWORD_FILE",
            "WAYPOST_PORT",
            "WAYPOST_SERVICE_HOST",
            "WAYPOST_PORT_8080_TCP_ADDR",
            "WAYPOST_VERSION",
            "WAYPOST_IMAGE",
            "WAYPOST",
            "LISTEN",
        ] {
            assert_eq!(notes(&[name]), [""; 0], "{name}");
        }
    }
}
