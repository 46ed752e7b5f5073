//! Permanence: a published short link is a promise.
//!
//! Breaking it is an error: a code is gone or leads elsewhere, or a new code changes where a path
//! leads (`shadow_breach`), or the case of letters counts again (`case_breach`). To change a link, retire the entry, which keeps the code taken, or
//! state that the code is intended to lead elsewhere. A retired entry stays retired or returns; its
//! code is never given to another target.
//!
//! Each code is a separate promise, even if an entry has several. `promises` computes the promises
//! of a history of tables.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::broken::{Broken, Former, Link, Origin};
use super::case_breach;
use super::gap::Gap;
use super::shadow_breach;
use super::statement::{Statement, Statements};
use super::takedown::is_taken_down;
use crate::mapping::compare::compared::{Destination, Lost, SitePair};
use crate::mapping::packed::{Entry, Site, Table};
use crate::mapping::value::{Diagnostic, Rule};

/// The ways to break a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breach {
    /// The code no longer exists.
    Gone,
    /// It leads elsewhere.
    Elsewhere,
    /// Requests that name the media type of a variant lead elsewhere.
    VariantsElsewhere,
    /// The paths below it lead elsewhere, or nowhere.
    BelowElsewhere,
    /// It was retired without a target and now has one, which may differ from its former one.
    Filled,
    /// It was retired, and now it or the paths below it have another target.
    Regiven,
}

impl Breach {
    /// Returns how the current entry of a code breaks its promise, if it does.
    pub(crate) fn of(
        was: Option<Destination<'_>>,
        is_retired: bool,
        now: Option<Entry<'_>>,
    ) -> Option<Self> {
        let Some(now) = now else {
            return Some(Self::Gone);
        };
        // A retired entry may drop its target.
        let now = Destination::of(now)?;
        let Some(was) = was else {
            return Some(Self::Filled);
        };
        let breach = match was.lost_in(&now)? {
            Lost::Target(_) => Self::Elsewhere,
            Lost::TargetFor(..) => Self::VariantsElsewhere,
            Lost::Paths(_) | Lost::PathsFor(..) => Self::BelowElsewhere,
        };
        Some(if is_retired { Self::Regiven } else { breach })
    }

    /// Returns the rule that it breaks.
    fn rule(self) -> Rule {
        match self {
            Self::Gone => Rule::PublishedCodeGone,
            Self::Elsewhere | Self::VariantsElsewhere | Self::BelowElsewhere => {
                Rule::PublishedCodeRetargeted
            }
            Self::Filled => Rule::RetiredCodeRefilled,
            Self::Regiven => Rule::RetiredCodeRetargeted,
        }
    }

    /// Returns whether a statement of intent permits it.
    pub(in crate::mapping::compare) fn can_be_intended(self) -> bool {
        matches!(
            self,
            Self::Elsewhere | Self::VariantsElsewhere | Self::BelowElsewhere | Self::Filled
        )
    }
}

/// Returns the promises of an old table that a new one breaks without a statement, in the order in
/// which the old one was written. Links shadowed by new codes follow.
pub fn breaches(old: &Table, origin: &Origin, new: &Table, stated: &Statements) -> Vec<Broken> {
    let of_pair =
        |_: &Site, pair: &SitePair<'_>| pair.old_entries().map(|it| it.number()).collect();
    let none = &HashSet::new();
    let mut broken = report((old, origin), new, none, of_pair, |entry, code, now| {
        let breach = Breach::of(Destination::of(entry), entry.is_retired(), now)?;
        let site = now.map_or(entry.site(), |now| now.site());
        let is_intended = breach.can_be_intended() && !stated.waiting(site, code).is_empty();
        (!is_intended).then_some(breach)
    });
    broken.extend(shadow_breach::breaches(old, origin, new, stated));
    broken.extend(case_breach::breaches(old, origin, new));
    broken
}

/// Reports promises known to be broken, where an old table has them, as [`breaches`] does; the
/// links that were taken down since are given.
pub fn report_known(
    old: &Table,
    origin: &Origin,
    new: &Table,
    known: &HashMap<Link, Breach>,
    taken_down: &HashSet<Link>,
) -> Vec<Broken> {
    let with_known = |site: &Site, _: &SitePair<'_>| {
        let address = site.address();
        let here = known.keys().filter(|link| link.address == address);
        let entries = here.filter_map(|link| site.lookup(&link.code));
        let numbers: BTreeSet<_> = entries.map(|entry| entry.number()).collect();
        numbers.into_iter().collect()
    };
    report(
        (old, origin),
        new,
        taken_down,
        with_known,
        |entry, code, _| known.get(&Link::new(entry.site(), code)).copied(),
    )
}

/// Reports how codes of an old table are broken in a new one, if they are, decided from the old
/// entry, the code and the new entry; `choose` returns the numbers of the old entries to look at.
fn report(
    (old, origin): (&Table, &Origin),
    new: &Table,
    taken_down: &HashSet<Link>,
    choose: impl Fn(&Site, &SitePair<'_>) -> Vec<u32>,
    decide: impl Fn(Entry<'_>, &str, Option<Entry<'_>>) -> Option<Breach>,
) -> Vec<Broken> {
    let mut broken = Vec::new();
    for site in old.sites() {
        let pair = SitePair::of(Some(site), new.counterpart(site));
        let mut breaches = Vec::new();
        for number in choose(site, &pair) {
            let entry = site.entry(number);
            let is_taken_down = is_taken_down(entry, new, taken_down);
            for code in pair.old.codes(entry) {
                let new = pair.new.lookup_in_any_case(&code);
                if let Some(breach) = decide(entry, &code, new) {
                    breaches.push(BrokenCode {
                        breach,
                        code,
                        old: entry,
                        is_taken_down,
                        new,
                    });
                }
            }
        }
        if breaches.is_empty() {
            continue;
        }
        breaches.sort_by_key(|it| it.old.written());
        let is_gone = breaches.iter().any(|it| it.breach == Breach::Gone);
        let gap = is_gone.then(|| Gap::new(&pair.old, &pair.new, new));
        let has_several_sites = old.sites().len().max(new.sites().len()) > 1;
        broken.extend(breaches.iter().map(|it| Broken {
            link: Link::new(site, &it.code),
            diagnostic: it.reported(origin, gap.as_ref(), has_several_sites),
        }));
    }
    broken
}

/// A code whose promise is broken, between two tables.
struct BrokenCode<'t> {
    breach: Breach,
    code: Cow<'t, str>,
    old: Entry<'t>,
    is_taken_down: bool,
    new: Option<Entry<'t>>,
}

impl<'t> BrokenCode<'t> {
    fn reported(
        &self,
        origin: &Origin,
        gap: Option<&Gap<'_, 't>>,
        has_several_sites: bool,
    ) -> Diagnostic {
        let Self { code, old, .. } = self;
        let state = || Statement::trailer(old.site(), code, has_several_sites);
        let successor = gap
            .and_then(|gap| gap.successor(*old))
            .filter(|_| self.new.is_none() && !self.is_taken_down);
        let (message, way_out) = match (self.breach, successor) {
            (Breach::Gone, Some(successor)) => (
                format!("the published code {code:?} is gone"),
                format!(
                    "the same target now has the code {:?}: add {code:?} to its \"aliases\"",
                    successor.code()
                ),
            ),
            (Breach::Gone, None) => (
                format!("the published code {code:?} is gone"),
                "restore it, with \"retired: true\" if it should no longer work".to_owned(),
            ),
            (
                breach @ (Breach::Elsewhere | Breach::VariantsElsewhere | Breach::BelowElsewhere),
                _,
            ) => (
                match breach {
                    Breach::Elsewhere => format!("the published code {code:?} leads elsewhere"),
                    Breach::VariantsElsewhere => {
                        format!("variants of the published code {code:?} lead elsewhere")
                    }
                    _ => format!("paths below the published code {code:?} lead elsewhere"),
                },
                format!(
                    "use another code for the new target, or declare the change in the commit \
                     message: {}",
                    state()
                ),
            ),
            (Breach::Filled, _) => (
                format!("the code {code:?} that was retired without a target gets one"),
                format!(
                    "use another code; or if this is its former target, declare that in the \
                     commit message: {}",
                    state()
                ),
            ),
            (Breach::Regiven, _) => (
                format!("the retired code {code:?} gets another target"),
                "use another code".to_owned(),
            ),
        };
        let place = match (self.new, gap) {
            (None, Some(gap)) if self.is_taken_down => gap.former_place(*old),
            (None, Some(gap)) => gap.place(*old),
            (new, _) => new.unwrap_or(*old).place(),
        };
        let former = Former::new(*old, origin, self.is_taken_down);
        let former = match self.lost().filter(|_| !self.is_taken_down) {
            Some(lost) => former.with_lost(&lost),
            None => former,
        };
        let hint = format!("{former}; {way_out}");
        Diagnostic::new(self.breach.rule(), place, message).with_hint(hint)
    }

    /// Returns where it led, and no longer does.
    fn lost(&self) -> Option<Lost<'t>> {
        Destination::of(self.old)?.lost_in(&Destination::of(self.new?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::compile;
    use crate::mapping::value::SourceFile;

    fn table(files: &[(&str, &str)]) -> Table {
        let file = |(path, text): &(&str, &str)| SourceFile {
            path: (*path).into(),
            bytes: text.as_bytes().into(),
        };
        let files: Vec<_> = files.iter().map(file).collect();
        let compilation = compile(&files);
        compilation
            .table
            .unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics))
    }

    fn site(entries: &str) -> Table {
        let text = format!("base_url: https://short.code/\nmapping:\n{entries}");
        table(&[("t.yaml", &text)])
    }

    fn origin() -> Origin {
        Origin {
            commit: "COMMIT".to_owned(),
            day: "DAY".to_owned(),
        }
    }

    fn between(old: &Table, new: &Table, stated: &[&str]) -> Vec<Diagnostic> {
        let stated = stated.iter().map(|it| Statement::retarget(it)).collect();
        let broken = breaches(old, &origin(), new, &stated);
        broken.into_iter().map(|it| it.diagnostic).collect()
    }

    /// Returns only the messages.
    fn reported(old: &str, new: &str, stated: &[&str]) -> Vec<String> {
        let reported = between(&site(old), &site(new), stated);
        reported.into_iter().map(|it| it.message).collect()
    }

    fn places(old: &Table, new: &Table) -> Vec<String> {
        let reported = between(old, new, &[]);
        reported.iter().map(|it| it.place.to_string()).collect()
    }

    const A: &str = "- url: https://a.example/\n  short-code: x\n";
    const B: &str = "- url: https://b.example/\n  short-code: x\n";
    const DROPPED: &str = "- short-code: x\n  retired: true\n";
    const OTHER: &str = "- url: https://other.example/\n";

    #[test]
    fn a_code_that_is_gone_is_an_error_whatever_is_stated() {
        let gone = ["the published code \"x\" is gone"];
        assert_eq!(reported(A, OTHER, &[]), gone);
        assert_eq!(reported(A, OTHER, &["x"]), gone);
        assert_eq!(reported(DROPPED, OTHER, &["x"]), gone);
        let renamed = "- url: https://a.example/\n  short-code: y\n";
        assert_eq!(reported(A, renamed, &[]), gone);
        let with_alias = "- url: https://a.example/\n  short-code: y\n  aliases: [x]\n";
        assert!(reported(A, with_alias, &[]).is_empty());
        assert_eq!(reported(with_alias, renamed, &[]), gone);
    }

    #[test]
    fn a_code_may_lead_elsewhere_only_if_that_is_stated() {
        let elsewhere = ["the published code \"x\" leads elsewhere"];
        assert_eq!(reported(A, B, &[]), elsewhere);
        assert_eq!(reported(A, B, &["y"]), elsewhere);
        assert!(reported(A, B, &["x"]).is_empty());
        assert!(reported(A, B, &["https://short.code/x"]).is_empty());
        assert_eq!(reported(A, B, &["https://other.code/x"]), elsewhere);
    }

    #[test]
    fn each_code_of_an_entry_is_a_promise() {
        let [a, b] = [A, B].map(|it| format!("{it}  aliases: [y]\n"));
        let all = ["x", "y"].map(|code| format!("the published code {code:?} leads elsewhere"));
        assert_eq!(reported(&a, &b, &[]), all);
        assert_eq!(reported(&a, &b, &["x"]), all[1..]);
        assert!(reported(&a, &b, &["x", "y"]).is_empty());
    }

    #[test]
    fn retiring_is_the_way_out() {
        let retired = format!("{A}  retired: true\n");
        assert!(reported(A, &retired, &[]).is_empty());
        assert!(reported(A, DROPPED, &[]).is_empty());
        assert!(reported(&retired, A, &[]).is_empty());
        assert!(reported(&retired, DROPPED, &[]).is_empty());
    }

    #[test]
    fn retiring_does_not_hide_another_target() {
        let other = format!("{B}  retired: true\n");
        let elsewhere = ["the published code \"x\" leads elsewhere"];
        assert_eq!(reported(A, &other, &[]), elsewhere);
        assert!(reported(A, &other, &["x"]).is_empty());
    }

    #[test]
    fn a_retired_code_is_never_given_to_another_target() {
        let retired = format!("{A}  retired: true\n");
        let given = ["the retired code \"x\" gets another target"];
        assert_eq!(reported(&retired, B, &[]), given);
        assert_eq!(reported(&retired, B, &["x"]), given);
        assert_eq!(
            reported(&retired, &format!("{B}  retired: true\n"), &[]),
            given
        );
        // The date has not come yet, but was announced.
        let to_come = format!("{A}  retired: 2999-01-01\n");
        assert_eq!(reported(&to_come, B, &["x"]), given);
    }

    #[test]
    fn a_code_without_a_target_returns_only_if_that_is_stated() {
        let given = ["the code \"x\" that was retired without a target gets one"];
        assert_eq!(reported(DROPPED, A, &[]), given);
        assert_eq!(
            reported(DROPPED, &format!("{A}  retired: true\n"), &[]),
            given
        );
        assert!(reported(DROPPED, A, &["x"]).is_empty());
    }

    #[test]
    fn another_scheme_takes_every_auto_code_away() {
        let crc = "- url: https://other.example/\ncode-scheme: crc64-xz\n";
        let reported = between(&site(OTHER), &site(crc), &[]);
        assert_eq!(reported.len(), 1, "{reported:?}");
        assert_eq!(reported[0].rule, Rule::PublishedCodeGone, "{reported:?}");
        let hint = reported[0].hint.as_deref().unwrap();
        assert!(hint.contains("to its \"aliases\""), "{hint}");
    }

    #[test]
    fn hints_say_what_was_where_and_the_way_out() {
        let reported = |old: &str, new: &str| -> Vec<_> {
            let reported = between(&site(old), &site(new), &[]);
            reported.into_iter().filter_map(|it| it.hint).collect()
        };
        let was = "it led to https://a.example/ (COMMIT:t.yaml:3, DAY)";
        let restore = "restore it, with \"retired: true\" if it should no longer work";
        let state = "declare the change in the commit message: Waypost-Allow: retarget x";
        let new_code = "use another code for the new target";
        assert_eq!(reported(A, OTHER), [format!("{was}; {restore}")]);
        assert_eq!(reported(A, B), [format!("{was}; {new_code}, or {state}")]);
        let alias = "the same target now has the code \"vv3kmKRb\": add \"x\" to its \"aliases\"";
        assert_eq!(
            reported(A, "- url: https://a.example/\n"),
            [format!("{was}; {alias}")]
        );
        let dropped = "it was retired (COMMIT:t.yaml:3, DAY)";
        assert_eq!(reported(DROPPED, OTHER), [format!("{dropped}; {restore}")]);
    }

    #[test]
    fn no_target_of_what_was_taken_down_is_named() {
        let hints = |found: Vec<Broken>| -> Vec<String> {
            found
                .into_iter()
                .filter_map(|it| it.diagnostic.hint)
                .collect()
        };
        let taken_down = "it has been taken down (COMMIT:t.yaml:3, DAY); restore it, with \
                          \"retired: true\" if it should no longer work";
        // With a new base URL in the same change; another entry may have the target.
        let same = "- url: https://a.example/\n  short-code: y\n";
        let text = format!("base_url: https://other.code/\nmapping:\n{DROPPED}{same}");
        let new = table(&[("t.yaml", &text)]);
        let found = breaches(&site(A), &origin(), &new, &Statements::default());
        assert_eq!(hints(found), [taken_down]);
        // In a commit between the two tables.
        let (old, new) = (site(A), site(&format!("{OTHER}{same}")));
        let link = Link::new(&old.sites()[0], "x");
        let known = HashMap::from([(link.clone(), Breach::Gone)]);
        let found = report_known(&old, &origin(), &new, &known, &HashSet::from([link]));
        assert_eq!(found[0].diagnostic.place.position.line, 1);
        assert_eq!(hints(found), [taken_down]);
    }

    #[test]
    fn of_several_sites_a_statement_names_the_link() {
        let other = ("u.yaml", "base_url: https://other.code/\nmapping: []\n");
        let both = |entries: &str| {
            let text = format!("base_url: https://short.code/go/\nmapping:\n{entries}");
            table(&[("t.yaml", &text), other])
        };
        let reported = between(&both(A), &both(B), &[]);
        let hint = reported[0].hint.as_deref().unwrap();
        let line = "Waypost-Allow: retarget https://short.code/go/x";
        assert!(hint.ends_with(line), "{hint}");
        assert!(between(&both(A), &both(B), &["https://short.code/go/x"]).is_empty());
        // Scheme and port do not affect what a request means.
        let moved = both(B);
        let text = format!("base_url: http://short.code:8080/go/\nmapping:\n{A}");
        assert_eq!(between(&table(&[("t.yaml", &text)]), &moved, &[]).len(), 1);
    }

    #[test]
    fn what_is_gone_is_reported_next_to_its_former_neighbour() {
        let entry = |code: &str| format!("- url: https://{code}.example/\n  short-code: {code}\n");
        let [a, b, c, d] = ["a", "b", "c", "d"].map(entry);
        let all = site(&format!("{a}{b}{c}{d}"));
        // The next entry that is left, wherever it is now.
        assert_eq!(places(&all, &site(&format!("{a}{c}{d}"))), ["t.yaml:5:3"]);
        assert_eq!(places(&all, &site(&format!("{d}{a}"))), ["t.yaml:3:3"; 2]);
        // There is none after it.
        assert_eq!(places(&all, &site(&format!("{b}{a}"))), ["t.yaml:3:3"; 2]);
        // Another code of the same entry, or an entry with its target.
        let alias = a.replace(": a\n", ": a\n  aliases: [x]\n");
        assert_eq!(
            places(&site(&format!("{alias}{b}")), &site(&format!("{b}{a}"))),
            ["t.yaml:5:3"]
        );
        let renamed = a.replace(": a\n", ": y\n");
        assert_eq!(
            places(&site(&format!("{a}{b}")), &site(&format!("{b}{renamed}"))),
            ["t.yaml:5:3"]
        );
        // No entry is left: its file, otherwise the first.
        let head = "base_url: https://short.code/\nmapping: []\n";
        let [t, u] = ["t.yaml", "u.yaml"].map(|path| (path, head));
        assert_eq!(places(&site(&a), &table(&[u, t])), ["t.yaml:1:1"]);
        assert_eq!(places(&site(&a), &table(&[u])), ["u.yaml:1:1"]);
    }

    #[test]
    fn a_site_that_is_renamed_takes_all_its_codes_away() {
        let moved = format!("base_url: https://other.code/\nmapping:\n{A}");
        assert_eq!(
            places(&site(A), &table(&[("t.yaml", &moved)])),
            ["t.yaml:1:1"]
        );
    }
}
