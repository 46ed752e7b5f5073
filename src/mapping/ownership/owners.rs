//! Owners: who may change which entries, according to a file next to a table.
//!
//! The file is read as strictly as a table, and names people as the Git host does. It grants only
//! what is written in it, so unreadable parts grant nothing.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;

use crate::mapping::cutting::text;
use crate::mapping::parse::{Located, Node, Reader, SeenKeys, Stop};
use crate::mapping::value::{Diagnostic, Position, Problems, Rule, SourceFile};

/// The authors who act for each owner, and the admins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Owners {
    admins: Vec<String>,
    /// By the owner's name, as entries write it.
    authors: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Clone, Copy)]
enum OwnersKey {
    Admins,
    Owners,
}

const OWNERS_KEYS: &[(&str, OwnersKey)] =
    &[("admins", OwnersKey::Admins), ("owners", OwnersKey::Owners)];

impl Owners {
    /// Reads an owners file: what can be read of it, and every problem.
    pub fn read(file: &SourceFile) -> (Self, Vec<Diagnostic>) {
        let mut owners = Self::default();
        let text = match text::decode(file) {
            Ok(text) => text,
            Err(problem) => return (owners, vec![problem]),
        };
        if let Err(found) = text::check(&file.path, text) {
            return (owners, found);
        }
        let mut problems = Problems::default();
        let mut reader = Reader::yaml(&file.path, text, &mut problems);
        // The reader has reported a syntax error, and there is nothing more to read.
        let (Ok(()) | Err(_)) = owners.fill(&mut reader);
        (owners, problems.into_reported())
    }

    /// Returns whether it names no admin and no owner, like a template.
    pub fn is_empty(&self) -> bool {
        self.admins.is_empty() && self.authors.is_empty()
    }

    /// Returns whether an author may change every entry, and the file itself.
    pub(crate) fn is_admin(&self, author: &str) -> bool {
        names(&self.admins, author)
    }

    /// Returns whether an author may change the entries of an owner; without one, only admins may.
    pub(crate) fn acts_for(&self, author: &str, owner: Option<&str>) -> bool {
        let authors = owner.and_then(|owner| self.authors.get(owner));
        self.is_admin(author) || authors.is_some_and(|authors| names(authors, author))
    }

    /// Returns those who may change the entries of an owner: its authors, then the admins.
    pub(crate) fn people_of(&self, owner: Option<&str>) -> Vec<&str> {
        let authors = owner.and_then(|owner| self.authors.get(owner));
        let mut people: Vec<_> = authors.into_iter().flatten().map(String::as_str).collect();
        for admin in &self.admins {
            if !people.contains(&admin.as_str()) {
                people.push(admin);
            }
        }
        people
    }

    fn fill(&mut self, reader: &mut Reader<'_, '_>) -> Result<(), Stop> {
        let Some(Located { value, position }) = reader.root()? else {
            reader.problem_with_hint(
                Rule::FileEmpty,
                Position::START,
                "the file is empty",
                "an owners file has \"admins:\" and \"owners:\"",
            );
            return Ok(());
        };
        if !matches!(value, Node::Mapping) {
            let message = format!(
                "an owners file must be a map of keys, found {}",
                value.noun()
            );
            reader.problem_with_hint(
                Rule::ValueWrongType,
                position,
                message,
                "it has \"admins:\" and \"owners:\"",
            );
            reader.skip(&value)?;
            return reader.finish();
        }
        let mut seen = SeenKeys::default();
        while let Some(key) = reader.key(OWNERS_KEYS, &mut seen)? {
            match key.value {
                OwnersKey::Admins => self.admins = people(reader, "admins")?,
                OwnersKey::Owners => {
                    if reader.map("owners")? {
                        self.fill_authors(reader)?;
                    }
                }
            }
        }
        reader.finish()
    }

    fn fill_authors(&mut self, reader: &mut Reader<'_, '_>) -> Result<(), Stop> {
        let mut lines = BTreeMap::<String, u32>::new();
        while let Some(Located { value, position }) = reader.node()? {
            let Node::Scalar { text: owner, .. } = value else {
                let message = format!("an owner must be a string, found {}", value.noun());
                reader.problem(Rule::KeyNotAWord, position, message);
                reader.skip(&value)?;
                // Its value.
                if let Some(node) = reader.node()? {
                    reader.skip(&node.value)?;
                }
                continue;
            };
            let authors = people(reader, &owner)?;
            match lines.entry(owner.clone().into_owned()) {
                Slot::Vacant(free) => {
                    free.insert(position.line);
                    self.authors.insert(owner.into_owned(), authors);
                }
                Slot::Occupied(first) => reader.problem_with_hint(
                    Rule::KeyTwice,
                    position,
                    format!("the owner {owner:?} appears twice"),
                    format!("it is already on line {}: keep one", first.get()),
                ),
            }
        }
        Ok(())
    }
}

/// Reads a list of people.
fn people(reader: &mut Reader<'_, '_>, key: &str) -> Result<Vec<String>, Stop> {
    let mut people = Vec::new();
    for Located { value, position } in reader.texts(key)? {
        match value.strip_prefix('@') {
            Some(name) => reader.problem_with_hint(
                Rule::ValueUnknown,
                position,
                format!("{value:?} is not the name of an account"),
                format!("write it without the \"@\": {name}"),
            ),
            None if value.is_empty() => {
                reader.problem(Rule::ValueMissing, position, "a name is empty");
            }
            None => people.push(value.into_owned()),
        }
    }
    Ok(people)
}

/// Returns whether a list names an author. Git hosts ignore case in the names of accounts.
fn names(people: &[String], author: &str) -> bool {
    people.iter().any(|name| name.eq_ignore_ascii_case(author))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Owners, Vec<String>) {
        let file = SourceFile {
            path: "owners.yaml".into(),
            bytes: text.into(),
        };
        let (owners, found) = Owners::read(&file);
        let shown = found.iter().map(|it| format!("{} {}", it.rule, it));
        (owners, shown.collect())
    }

    #[test]
    fn people_act_for_their_owners_and_admins_for_all() {
        let (owners, problems) =
            read("admins: [root]\nowners:\n  library: [alice, Bob]\n  IT department: [alice]\n");
        assert!(problems.is_empty(), "{problems:?}");
        for (author, owner, acts) in [
            ("alice", Some("library"), true),
            ("bob", Some("library"), true),
            ("bob", Some("IT department"), false),
            ("alice", Some("it department"), false),
            ("alice", None, false),
            ("alice", Some("nobody"), false),
            ("ROOT", Some("nobody"), true),
            ("root", None, true),
            ("library", Some("library"), false),
            ("", Some("library"), false),
            ("", None, false),
        ] {
            assert_eq!(owners.acts_for(author, owner), acts, "{author} {owner:?}");
        }
        assert_eq!(owners.people_of(Some("library")), ["alice", "Bob", "root"]);
        assert_eq!(owners.people_of(None), ["root"]);
    }

    #[test]
    fn an_empty_list_permits_nothing() {
        let (owners, problems) = read("admins: []\nowners: {a: []}\n");
        assert!(problems.is_empty(), "{problems:?}");
        assert!(!owners.acts_for("a", Some("a")) && !owners.is_admin("a"));
        assert!(!owners.is_empty());
        assert!(read("admins: []\nowners: {}\n").0.is_empty());
    }

    #[test]
    fn problems_have_places_and_the_rest_counts() {
        for (text, problem) in [
            ("", "file-empty owners.yaml:1:1: error: the file is empty"),
            (
                "[a]\n",
                "value-wrong-type owners.yaml:1:1: error: an owners file must be a map",
            ),
            (
                "admins: [b]\nadmin: [c]\n",
                "key-unknown owners.yaml:2:1: error: unknown key",
            ),
            (
                "admins: [b]\nadmins: [c]\n",
                "key-twice owners.yaml:2:1: error: the key",
            ),
            (
                "admins: c\n",
                "value-wrong-type owners.yaml:1:9: error: \"admins\" must be a list",
            ),
            (
                "admins:\n",
                "value-wrong-type owners.yaml:1:7: error: \"admins\" must be a list",
            ),
            (
                "admins: [\"@c\"]\n",
                "value-unknown owners.yaml:1:10: error: \"@c\" is not the name",
            ),
            (
                "admins: ['']\n",
                "value-missing owners.yaml:1:10: error: a name is empty",
            ),
            (
                "owners: [c]\n",
                "value-wrong-type owners.yaml:1:9: error: \"owners\" must be a map",
            ),
            (
                "owners:\n  x: [b]\n  x: [c]\n",
                "key-twice owners.yaml:3:3: error: the owner \"x\"",
            ),
            (
                "owners:\n  x: c\n",
                "value-wrong-type owners.yaml:2:6: error: \"x\" must be a list",
            ),
            (
                "owners:\n  ? [c]\n  : [c]\n",
                "key-not-a-word owners.yaml:2:5: error: an owner must be",
            ),
            (
                "admins: &a [b]\nowners: {x: *a}\n",
                "yaml-anchor owners.yaml:1:9: error",
            ),
            (
                "admins: [b]\n---\nadmins: [c]\n",
                "yaml-second-document owners.yaml:2:1: error",
            ),
            ("admins: [b\n", "yaml-unclosed owners.yaml"),
        ] {
            let (owners, problems) = read(text);
            let first = problems.first().map(String::as_str).unwrap_or_default();
            assert!(first.starts_with(problem), "{text:?}: {problems:#?}");
            assert!(
                !owners.is_admin("c") && !owners.acts_for("c", Some("x")),
                "{text:?}"
            );
        }
        let (owners, problems) = read("admins: [b]\nadmin: [c]\nowners: {x: [d]}\n");
        assert_eq!(problems.len(), 1);
        assert!(owners.is_admin("b") && owners.acts_for("d", Some("x")));
    }
}
