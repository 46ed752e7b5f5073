//! The file of hosts that share one allowance.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use granit_parser::{Event, Marker, Parser, StrInput};

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
    let written = written(text).map_err(|place| anyhow!("{}", problem(&place)))?;
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

/// Describes an error in the file's own terms, because those of the parser are for programmers.
fn problem(place: &Marker) -> String {
    // The parser counts columns from 0.
    let (line, column) = (place.line().max(1), place.col() + 1);
    format!(
        "line {line}, column {column}: write `ALIAS: [HOST, HOST:PORT, …]` in YAML, each alias once"
    )
}

/// Reads a map of lists of texts, or nothing; anything else is an error at its place.
fn written(text: &str) -> Result<BTreeMap<String, Vec<String>>, Marker> {
    let mut nodes = YamlNodes(Parser::new_from_str(text));
    let mut written = BTreeMap::new();
    match nodes.next()? {
        (Event::StreamEnd, _) => return Ok(written),
        (Event::MappingStart(..), _) => {}
        (_, place) => return Err(place),
    }
    while let Some((alias, place)) = nodes.text_before(&Event::MappingEnd)? {
        let hosts = nodes.texts()?;
        if written.insert(alias, hosts).is_some() {
            return Err(place);
        }
    }
    match nodes.next()? {
        (Event::StreamEnd, _) => Ok(written),
        (_, place) => Err(place),
    }
}

/// The nodes of a text in YAML; the place of a syntax error.
struct YamlNodes<'t>(Parser<'t, StrInput<'t>>);

impl<'t> YamlNodes<'t> {
    /// Returns the beginning of the next node, or the end of a node or of the text.
    fn next(&mut self) -> Result<(Event<'t>, Marker), Marker> {
        loop {
            match self.0.next_event() {
                Some(Ok((
                    Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd,
                    _,
                ))) => {}
                Some(Ok((event, span))) => return Ok((event, span.start)),
                Some(Err(error)) => return Err(*error.marker()),
                None => return Ok((Event::StreamEnd, Marker::default())),
            }
        }
    }

    /// Returns the next node as a text, with its place; `None` at the end of its collection.
    fn text_before(&mut self, end: &Event<'_>) -> Result<Option<(String, Marker)>, Marker> {
        match self.next()? {
            (Event::Scalar(text, ..), place) => Ok(Some((text.into_owned(), place))),
            (event, _) if event == *end => Ok(None),
            (_, place) => Err(place),
        }
    }

    /// Returns the next node as a list of texts.
    fn texts(&mut self) -> Result<Vec<String>, Marker> {
        match self.next()? {
            (Event::SequenceStart(..), _) => {}
            (_, place) => return Err(place),
        }
        let mut texts = Vec::new();
        while let Some((text, _)) = self.text_before(&Event::SequenceEnd)? {
            texts.push(text);
        }
        Ok(texts)
    }
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
        assert!(parse("# none yet\n").unwrap().is_empty());
        for (text, message) in [
            ("a: [x.example]\nb: [X.example]", "belongs to both a and b"),
            ("a.example: [x.example]", "is not an alias"),
            ("a: [x/y]", "is not a host"),
            ("a: x", "line 1, column 4: write `ALIAS: ["),
            ("a: [x", "line 1, column 4: write"),
            ("a: [x.example]\na: [y.example]", "line 2, column 1: write"),
            (
                "a: [x.example]\n---\nb: [y.example]",
                "line 3, column 1: write",
            ),
            ("a: [x.example, [y.example]]", "line 1, column 16: write"),
            ("a: {x.example: y.example}", "line 1, column 4: write"),
            ("- a", "line 1, column 1: write"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
