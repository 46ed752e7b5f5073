//! The file of hosts that share one allowance.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use serde_yaml::Location;

use crate::cli::terminal::Error;
use crate::frontier::{AliasName, Host};

/// Reads the members of each alias; a host is a member of one at most.
pub(crate) fn read(path: &Path) -> Result<Vec<(Host, AliasName)>, Error> {
    let shown = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    parse(&text).map_err(|error| {
        Error::Usage(error.context(format!("{shown} is not a file of host aliases")))
    })
}

fn parse(text: &str) -> anyhow::Result<Vec<(Host, AliasName)>> {
    let written: BTreeMap<String, Vec<String>> =
        serde_yaml::from_str(text).map_err(|error| anyhow!("{}", problem(error.location())))?;
    let mut members = BTreeMap::<Host, AliasName>::new();
    for (alias, hosts) in written {
        let alias = AliasName::parse(&alias)?;
        for host in hosts {
            match members.entry(Host::parse(&host)?) {
                Entry::Vacant(free) => {
                    free.insert(alias.clone());
                }
                Entry::Occupied(taken) if *taken.get() == alias => {}
                Entry::Occupied(taken) => {
                    let other = taken.get();
                    return Err(anyhow!("{host} belongs to both {other} and {alias}"));
                }
            }
        }
    }
    Ok(members.into_iter().collect())
}

/// Describes what is wrong in the file's own terms; those of its reader are for programmers.
fn problem(location: Option<Location>) -> String {
    let place = location.map(|it| format!("line {}, column {}: ", it.line(), it.column()));
    let place = place.unwrap_or_default();
    format!("{place}write `ALIAS: [HOST, HOST:PORT, …]` in YAML, each alias once")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_one_alias() {
        let members = parse("wiki: [en.example, de.example:8080]\nother: [x.example]").unwrap();
        let shown = members
            .iter()
            .map(|(host, alias)| format!("{host} {alias}"));
        let expected = ["de.example:8080 wiki", "en.example wiki", "x.example other"];
        assert_eq!(Vec::from_iter(shown), expected);
        for (text, message) in [
            ("a: [x.example]\nb: [X.example]", "belongs to both a and b"),
            ("a.example: [x.example]", "is not an alias"),
            ("a: [x/y]", "is not a host"),
            ("a: x", "line 1, column 4: write `ALIAS: ["),
            ("a: [x", "line 1, column 4: write"),
            ("a: [x.example]\na: [y.example]", "line 2, column 1: write"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
