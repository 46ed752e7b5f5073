//! Proposals: changes to entries that their author may not make.
//!
//! An entry may be changed by those who act for its owner, which includes giving it to another
//! owner, and by admins; one without an owner by admins alone. A new entry may have no owner, or one
//! for whom its author acts.
//!
//! The former state and owner of an entry are looked up in two tables: the one where the line of
//! work branched off, which its author chooses, and the one that the proposal would change now. A
//! change must be permitted by both, and what the second already has is not a change.

use std::collections::HashSet;
use std::ptr;
use std::sync::Arc;

use super::owners::Owners;
use crate::mapping::compare::{Gap, SitePair, is_news, shadowed};
use crate::mapping::packed::{Entry, Site, Table};
use crate::mapping::value::{Diagnostic, Place, Position, Rule};

/// The maximum number of people that a hint names.
const MAX_PEOPLE: usize = 5;

/// The versions of a table that a proposal is about.
#[derive(Debug, Clone, Copy)]
pub struct Proposal<'t> {
    /// The table where the line of work branched off, if there was one.
    pub before: Option<&'t Table>,
    /// The table that the proposal is to change, as it is now, if there is one.
    pub current: Option<&'t Table>,
    /// The proposed table.
    pub after: &'t Table,
}

/// The author of a proposal, and the file that grants permissions.
#[derive(Debug, Clone, Copy)]
pub struct Author<'o> {
    /// The name of the account; empty if it is not known.
    pub name: &'o str,
    /// Who may change what.
    pub owners: &'o Owners,
}

/// A site in the versions of a table.
struct Versions<'t> {
    /// Before and after.
    pair: SitePair<'t>,
    /// None if there is no table now; the second, if the table has no such site.
    current: Option<Option<&'t Site>>,
}

impl Author<'_> {
    /// Returns the error for a change of the owners file by this author, unless an admin made it.
    pub fn refused_change_of(&self, owners_file: &Arc<str>) -> Option<Diagnostic> {
        if self.owners.is_admin(self.name) {
            return None;
        }
        let place = Place::new(owners_file, Position::START);
        let message = format!("{}: only an admin may change this file", self.described());
        let error = Diagnostic::new(Rule::OwnerFileChanged, place, message);
        Some(error.with_hint(self.hint(None)))
    }

    /// Returns the errors for the changes of a proposal that this author may not make.
    pub fn refused_changes(&self, proposal: &Proposal<'_>) -> Vec<Diagnostic> {
        let Proposal { before, after, .. } = *proposal;
        let mut refused = Vec::new();
        for site in before.map_or(&[][..], Table::sites) {
            self.check_changed(&Versions::of(site, proposal), after, &mut refused);
        }
        for site in after.sites() {
            self.check_added(&Versions::of(site, proposal), &mut refused);
        }
        self.check_shadowed(proposal, &mut refused);
        refused
    }

    /// Checks entries that are changed or gone.
    fn check_changed(&self, versions: &Versions<'_>, after: &Table, refused: &mut Vec<Diagnostic>) {
        let mut gap = None;
        let mut found = Vec::new();
        for old in versions.pair.old_entries() {
            let codes = || versions.pair.old.codes(old);
            let new = codes().find_map(|code| versions.pair.new.lookup(&code));
            if new.is_some_and(|new| new.says_the_same_as(old))
                || codes().all(|code| versions.is_current(&code))
            {
                continue;
            }
            let current = codes().filter_map(|code| versions.current(&code));
            let mut owners = [old].into_iter().chain(current).map(|it| it.owner());
            let Some(owner) = owners.find(|owner| !self.owners.acts_for(self.name, *owner)) else {
                continue;
            };
            let gap =
                gap.get_or_insert_with(|| Gap::new(&versions.pair.old, &versions.pair.new, after));
            let (place, change) = match new {
                None => (gap.place(old), "remove it".to_owned()),
                Some(new) if new.owner() == old.owner() => (new.place(), "change it".to_owned()),
                Some(new) => match new.owner() {
                    Some(other) => (new.place(), format!("give it to {other:?}")),
                    None => (new.place(), "take away its owner".to_owned()),
                },
            };
            let message = format!(
                "{}: {}",
                describe_entry(&old.code(), owner),
                self.may_not(&change)
            );
            let error = Diagnostic::new(Rule::OwnerEntryChanged, place, message);
            found.push((old, error.with_hint(self.hint(owner))));
        }
        refused.extend(as_written(found));
    }

    /// Checks entries with new codes.
    fn check_added(&self, versions: &Versions<'_>, refused: &mut Vec<Diagnostic>) {
        let mut found = Vec::new();
        for new in versions.pair.new_entries() {
            if let Some(error) = self.refused_code(versions, new) {
                found.push((new, error));
                continue;
            }
            let Some(code) = versions.pair.new.codes(new).next() else {
                continue;
            };
            let Some(owner) = new.owner() else { continue };
            if versions.pair.old.lookup(&code).is_some()
                || versions.is_current(&code)
                || self.owners.acts_for(self.name, Some(owner))
            {
                continue;
            }
            let message = format!(
                "{code:?} is a new entry of {owner:?}: {}",
                self.may_not("add it")
            );
            let error = Diagnostic::new(Rule::OwnerEntryAdded, new.place(), message);
            let hint = format!("{}, or leave out \"owner\"", self.hint(Some(owner)));
            found.push((new, error.with_hint(hint)));
        }
        refused.extend(as_written(found));
    }

    /// Returns the error for a code of an entry that another entry has taken since.
    fn refused_code(&self, versions: &Versions<'_>, new: Entry<'_>) -> Option<Diagnostic> {
        let mut codes = versions.pair.new.codes(new);
        codes.find_map(|code| {
            let current = versions.current(&code)?;
            let owner = current.owner();
            if versions.pair.old.lookup(&code).is_some()
                || current.says_the_same_as(new)
                || self.owners.acts_for(self.name, owner)
            {
                return None;
            }
            let message = format!(
                "{}: {}",
                describe_entry(&code, owner),
                self.may_not("change it")
            );
            let error = Diagnostic::new(Rule::OwnerEntryChanged, new.place(), message);
            Some(error.with_hint(self.hint(owner)))
        })
    }

    /// Checks new codes that take over published paths of entries.
    fn check_shadowed(&self, proposal: &Proposal<'_>, refused: &mut Vec<Diagnostic>) {
        let Proposal {
            before,
            current,
            after,
        } = *proposal;
        let is_other = |table: &&Table| before.is_none_or(|before| !ptr::eq(before, *table));
        let published = before.into_iter().chain(current.filter(is_other));
        let mut reported = HashSet::new();
        for found in published.flat_map(|published| shadowed(published, after)) {
            let (owner, site) = (found.old.owner(), found.site.unwrap_or(found.new.site()));
            let before = before.and_then(|before| before.counterpart(site));
            let current = current.and_then(|current| current.counterpart(site));
            // Entries that were removed since are not part of the proposal.
            let is_proposed = match found.site {
                Some(_) => before.is_none() && current.is_none(),
                None => {
                    let current = current.and_then(|current| current.lookup(&found.code));
                    before.is_none_or(|site| is_news(site, found.new, &found.code))
                        && !current.is_some_and(|it| it.says_the_same_as(found.new))
                }
            };
            if !is_proposed
                || self.owners.acts_for(self.name, owner)
                || !reported.insert((found.code.clone(), found.path.clone()))
            {
                continue;
            }
            let newcomer = match found.site {
                Some(site) => format!("the site {}", site.base_url().as_str()),
                None => format!("the code {:?}", found.code),
            };
            let change = format!("take over its path {:?} by {newcomer}", found.path);
            let message = format!(
                "{}: {}",
                describe_entry(&found.old.code(), owner),
                self.may_not(&change)
            );
            let error = Diagnostic::new(Rule::OwnerEntryChanged, found.new.place(), message);
            refused.push(error.with_hint(self.hint(owner)));
        }
    }

    fn may_not(&self, change: &str) -> String {
        match self.name {
            "" => format!("an unknown author may not {change}"),
            name => format!("{name:?} may not {change}"),
        }
    }

    fn described(&self) -> String {
        match self.name {
            "" => "the author is not known".to_owned(),
            name => format!("{name:?} is no admin"),
        }
    }

    /// Returns the hint that names the people responsible for the entries of an owner.
    fn hint(&self, owner: Option<&str>) -> String {
        let people = self.owners.people_of(owner);
        match people.len() {
            0 => "nobody may: the owners file names no admin".to_owned(),
            1..=MAX_PEOPLE => format!("ask {} to propose it", people.join(" or ")),
            _ => format!(
                "ask one of {} or others to propose it",
                people[..MAX_PEOPLE].join(", ")
            ),
        }
    }
}

impl<'t> Versions<'t> {
    /// Returns the versions of the site with the address of another one.
    fn of(site: &Site, proposal: &Proposal<'t>) -> Self {
        let like = |table: &'t Table| table.counterpart(site);
        Self {
            pair: SitePair::of(proposal.before.and_then(like), like(proposal.after)),
            current: proposal.current.map(like),
        }
    }

    /// Returns the present entry of a code.
    fn current(&self, code: &str) -> Option<Entry<'t>> {
        self.current??.lookup(code)
    }

    /// Returns whether the proposal leaves a code as it is now.
    fn is_current(&self, code: &str) -> bool {
        if self.current.is_none() {
            return false;
        }
        match (self.current(code), self.pair.new.lookup(code)) {
            (None, None) => true,
            (Some(current), Some(after)) => after.says_the_same_as(current),
            _ => false,
        }
    }
}

/// Returns errors in the order in which their entries are written: how they are stored depends on earlier
/// versions.
fn as_written(mut errors: Vec<(Entry<'_>, Diagnostic)>) -> impl Iterator<Item = Diagnostic> {
    errors.sort_by_key(|(entry, _)| entry.written());
    errors.into_iter().map(|(_, error)| error)
}

fn describe_entry(code: &str, owner: Option<&str>) -> String {
    match owner {
        Some(owner) => format!("{code:?} is an entry of {owner:?}"),
        None => format!("{code:?} is an entry without an owner"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;
    use crate::mapping::compile::random_edits::{a_file, an_edit, apply, source};
    use crate::mapping::value::SourceFile;
    use crate::mapping::{compile, compile_after};

    const OWNERS: &str = "\
admins: [root]
owners:
  library: [alice]
  it: [bob]
  press: [alice, bob]
";

    /// An entry of the library, one without an owner, and one of the press.
    const TABLE: &str = "\
- url: https://a.example/
  short-code: a
  owner: library
- url: https://n.example/
  short-code: n
- url: https://p.example/docs/
  short-code: p
  forward: path
  aliases: [pp]
  owner: press
";

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.into(),
            bytes: text.into(),
        }
    }

    fn site(entries: &str) -> Table {
        let text = format!("base_url: https://short.code/\nmapping:\n{entries}");
        let compilation = compile(&[file("t.yaml", &text)]);
        compilation
            .table
            .unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics))
    }

    /// Returns the messages for a proposal of each author, with the place.
    fn refused_of(
        before: Option<&str>,
        current: Option<&str>,
        after: &str,
        name: &str,
    ) -> Vec<String> {
        let (owners, problems) = Owners::read(&file("owners.yaml", OWNERS));
        assert!(problems.is_empty());
        let (before, current, after) = (before.map(site), current.map(site), site(after));
        let author = Author {
            name,
            owners: &owners,
        };
        let refused = author.refused_changes(&Proposal {
            before: before.as_ref(),
            current: current.as_ref(),
            after: &after,
        });
        let shown = refused
            .iter()
            .map(|it| format!("{} {}", it.place.position.line, it.message));
        shown.collect()
    }

    fn refused(after: &str, name: &str) -> Vec<String> {
        refused_of(Some(TABLE), Some(TABLE), after, name)
    }

    /// Checks which of alice, bob, root and an unknown author may make a change.
    #[track_caller]
    fn may(after: &str, expected: [bool; 4]) {
        let may = ["alice", "bob", "root", ""].map(|name| refused(after, name).is_empty());
        assert_eq!(may, expected, "{after}");
    }

    #[test]
    fn entries_are_changed_by_those_who_act_for_their_owner() {
        may(TABLE, [true; 4]);
        for change in [
            TABLE.replace("a.example", "b.example"),
            TABLE.replace("  owner: library", "  title: A\n  owner: library"),
            TABLE.replace("  owner: library", "  retired: true\n  owner: library"),
            TABLE.replace("  owner: library", "  aliases: [x]\n  owner: library"),
            TABLE.replace("  owner: library", "  owner: it"),
            TABLE.replace("  owner: library\n", ""),
        ] {
            may(&change, [true, false, true, false]);
        }
        may(
            &TABLE.replace("p.example", "q.example"),
            [true, true, true, false],
        );
        for change in [
            TABLE.replace("n.example", "q.example"),
            TABLE.replace("  short-code: n\n", "  short-code: n\n  owner: library\n"),
        ] {
            may(&change, [false, false, true, false]);
        }
    }

    #[test]
    fn moving_entries_changes_none() {
        let first = TABLE.find("- url: https://n").unwrap();
        may(
            &format!("{}{}", &TABLE[first..], &TABLE[..first]),
            [true; 4],
        );
    }

    #[test]
    fn a_refusal_names_the_owner() {
        let gone = TABLE.replacen(
            "- url: https://a.example/\n  short-code: a\n  owner: library\n",
            "",
            1,
        );
        assert_eq!(
            refused(&gone, "bob"),
            ["3 \"a\" is an entry of \"library\": \"bob\" may not remove it"]
        );
        let given = TABLE.replace("owner: library", "owner: it");
        assert_eq!(
            refused(&given, "bob"),
            ["3 \"a\" is an entry of \"library\": \"bob\" may not give it to \"it\""]
        );
        assert_eq!(
            refused(&TABLE.replace("n.example", "q.example"), ""),
            ["6 \"n\" is an entry without an owner: an unknown author may not change it"]
        );
    }

    #[test]
    fn entries_are_added_without_an_owner_or_for_ones_own() {
        let add =
            |owner: &str| format!("{TABLE}- url: https://x.example/\n  short-code: x\n{owner}");
        may(&add(""), [true; 4]);
        may(&add("  owner: library\n"), [true, false, true, false]);
        may(&add("  owner: nobody\n"), [false, false, true, false]);
        // Also if nothing was published before.
        let added = |name| refused_of(None, None, TABLE, name).len();
        assert_eq!(["alice", "bob", "root", ""].map(added), [0, 1, 0, 2]);
        // A new code for an entry of one's own is not yet a way to add one of another owner.
        let both = TABLE.replace(
            "code: a\n  owner: library",
            "code: x\n  aliases: [a]\n  owner: it",
        );
        may(&both, [false, false, true, false]);
    }

    #[test]
    fn codes_are_not_taken_from_entries_of_others() {
        let taken = TABLE.replace("aliases: [pp]", "aliases: [pp, a]");
        let taken = taken.replace("short-code: a\n", "short-code: b\n");
        may(&taken, [true, false, true, false]);
        let below = format!("{TABLE}- url: https://x.example/\n  short-code: a.\n");
        may(&below, [true, false, true, false]);
        let below = format!("{TABLE}- url: https://x.example/\n  short-code: p/x\n");
        may(&below, [true, true, true, false]);
    }

    #[test]
    fn an_old_base_gives_no_rights() {
        // Where the line of work branched off, the entry was still one of IT.
        let before = TABLE.replace("owner: library", "owner: it");
        let after = before.replace("a.example", "b.example");
        let refused = |name| refused_of(Some(&before), Some(TABLE), &after, name).len();
        assert_eq!(["alice", "bob", "root"].map(refused), [1, 1, 0]);
        // What the current table already has is not a change.
        let refused = |after: &str| refused_of(Some(&before), Some(TABLE), after, "");
        assert_eq!(refused(TABLE), [""; 0]);
        assert_eq!(refused(&before), [""; 0]);
        let gone = "- url: https://n.example/\n  short-code: n\n";
        assert_eq!(refused_of(Some(TABLE), Some(gone), gone, ""), [""; 0]);
        // Without a table now, nothing is.
        assert_eq!(refused_of(Some(TABLE), None, gone, "").len(), 2);
    }

    #[test]
    fn an_old_base_gives_no_codes() {
        // The codes were free where the line of work branched off.
        let before = "- url: https://n.example/\n  short-code: n\n";
        let x = "- url: https://x.example/\n  short-code: x\n";
        for own in ["  owner: it\n", ""] {
            for (code, other) in [("a", "a"), ("x\n  aliases: [a]", "a"), ("pp", "pp")] {
                let after = format!(
                    "{before}{}{own}",
                    x.replace("code: x", &format!("code: {code}"))
                );
                let refused = |name| refused_of(Some(before), Some(TABLE), &after, name);
                let owner = if other == "a" { "library" } else { "press" };
                let message =
                    format!("5 {other:?} is an entry of {owner:?}: \"mallory\" may not change it");
                assert_eq!(refused("mallory"), [message], "{after}");
                assert_eq!(refused("root"), [""; 0]);
                assert_eq!(refused("bob").is_empty(), other == "pp", "{after}");
            }
        }
        // What was merged since is not a change.
        let merged = format!("{TABLE}{x}");
        let after = format!("{before}{x}");
        assert_eq!(refused_of(Some(before), Some(&merged), &after, ""), [""; 0]);
    }

    #[test]
    fn an_old_base_gives_no_paths() {
        // The entry whose paths are forwarded was added since.
        let before = "- url: https://n.example/\n  short-code: n\n";
        let after = format!("{before}- url: https://x.example/\n  short-code: p/x\n");
        let refused = |name| refused_of(Some(before), Some(TABLE), &after, name).len();
        assert_eq!(["alice", "root", "mallory"].map(refused), [0, 0, 1]);
        // What both tables have is reported once.
        let after = format!("{TABLE}- url: https://x.example/\n  short-code: p/x\n");
        let moved_on = format!("{TABLE}- url: https://y.example/\n  short-code: y\n");
        let refused = refused_of(Some(TABLE), Some(&moved_on), &after, "mallory");
        assert_eq!(refused.len(), 1, "{refused:?}");
        // A code that was removed since is not a new one.
        let old = format!("{TABLE}- url: https://x.example/\n  short-code: p/x\n");
        assert_eq!(refused_of(Some(&old), Some(TABLE), &old, ""), [""; 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_refused_does_not_depend_on_pieces(
            files in prop::collection::vec(a_file(60), 1..3),
            edits in prop::collection::vec((any::<Index>(), an_edit()), 2..5),
        ) {
            let (owners, _) = Owners::read(&file("owners.yaml", OWNERS));
            let author = Author { name: "alice", owners: &owners };
            let mut files: Vec<_> = files.into_iter().enumerate().collect();
            let (mut pieced, mut whole) = (Vec::new(), Vec::new());
            for (at, edit) in edits {
                let sources = source(&files);
                apply(edit, at, &mut files);
                if let Some(table) = compile_after(&sources, pieced.last()).table {
                    pieced.push(table);
                    whole.extend(compile(&sources).table);
                }
            }
            let refused = |tables: &[Table]| {
                let mut refused = Vec::new();
                for after in tables {
                    let before = tables.first();
                    for current in [before, tables.last(), None] {
                        let proposal = Proposal { before, current, after };
                        refused.push(author.refused_changes(&proposal));
                    }
                }
                refused
            };
            prop_assert_eq!(refused(&pieced), refused(&whole));
        }
    }

    #[test]
    fn hints_name_a_few_people() {
        let (owners, _) =
            Owners::read(&file("o", "admins: [r, s]\nowners: {x: [a, b, c, d, r]}\n"));
        let author = Author {
            name: "m",
            owners: &owners,
        };
        assert_eq!(author.hint(None), "ask r or s to propose it");
        assert_eq!(
            author.hint(Some("x")),
            "ask one of a, b, c, d, r or others to propose it"
        );
        let none = Owners::default();
        let author = Author {
            owners: &none,
            ..author
        };
        assert_eq!(
            author.hint(None),
            "nobody may: the owners file names no admin"
        );
    }

    #[test]
    fn the_file_is_changed_by_admins() {
        let (owners, _) = Owners::read(&file("o", OWNERS));
        let changed = |name| {
            Author {
                name,
                owners: &owners,
            }
            .refused_change_of(&"o".into())
        };
        assert!(changed("root").is_none());
        let message = changed("alice").unwrap().message;
        assert_eq!(
            message,
            "\"alice\" is no admin: only an admin may change this file"
        );
    }
}
