//! From edits and a table to one change of its files: a pure function, so that a writer that lost a
//! race for the table can decide again on its current state.
//!
//! Invariants: an edit is made completely or refused, and a refused one changes nothing; the code
//! of an entry whose target changes is written out, so that it stays; only the edited entries
//! change.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::candidate::{Candidate, candidate};
use super::content::EntryContent;
use super::entry_edit::EntryEdit;
use super::new_page::NewPages;
use super::proof::{EditProof, prove};
use super::refusal::EditRefusal;
use super::search::search;
use super::text;
use crate::mapping::{Diagnostic, Place, SoundTable, Table, Timestamp};
use crate::registry::decide::{Base, ProvedTable};
use crate::registry::text::TextFile;

/// The decision on some edits.
#[derive(Debug)]
pub struct EditDecision {
    /// The table before.
    pub before: Arc<Table>,
    /// The outcome of each edit, in order.
    pub outcomes: Vec<Result<EditedEntry, EditRefusal>>,
    /// The files that change, with their new text: none if nothing changes.
    pub changed: Vec<TextFile>,
    /// The table with these files: none if nothing changes.
    pub proved: Option<ProvedTable>,
    /// The warnings that the edits cause.
    pub warnings: Vec<Diagnostic>,
}

/// An entry with the values of an edit, once the files are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedEntry {
    /// The base URL of its site.
    pub site: String,
    /// Its short link.
    pub short_url: String,
    /// Its place in the table before.
    pub place: Place,
    /// Its content.
    pub content: Box<EntryContent>,
    /// Whether that changes its text.
    pub is_changed: bool,
    /// The trailers of a commit that state that its codes are intended to lead elsewhere.
    pub trailers: BTreeSet<String>,
}

/// Edits entries of a table that was compiled from these files, so that it has at most `max_bytes`
/// in total.
pub fn edit_entries(
    files: &[TextFile],
    compiled: &SoundTable,
    edits: &[EntryEdit],
    max_bytes: u64,
    now: Timestamp,
) -> EditDecision {
    let base = Base::new(files, compiled, now);
    let mut outcomes: Vec<_> = edits.iter().map(|_| None).collect();
    let mut candidates = candidates(base.table(), edits, now, &mut outcomes);
    let edited = text::edited(&base, &candidates.iter().collect::<Vec<_>>());
    for (number, refusal) in edited.refused {
        outcomes[number] = Some(Err(refusal));
    }
    for candidate in &candidates {
        if edited.unchanged.contains(&candidate.number) {
            outcomes[candidate.number] = Some(Ok(EditedEntry::unchanged(candidate)));
        }
    }
    candidates.retain(|it| outcomes[it.number].is_none());
    let found = search(candidates.len(), |part| {
        let candidates: Vec<_> = part.iter().map(|it| &candidates[*it]).collect();
        let written = text::edited(&base, &candidates).changed;
        let proof = prove(&base, &written, &candidates, max_bytes, now)?;
        Ok((written, proof))
    });
    for (position, refusal) in found.refused {
        outcomes[candidates[position].number] = Some(Err(refusal));
    }
    let (mut changed, mut proved, mut warnings) = (Vec::new(), None, Vec::new());
    if let Some((positions, (written, proof))) = found.accepted {
        let EditProof {
            table,
            warnings: caused,
            mut trailers,
        } = proof;
        let has_several_sites = base.table().sites().len() > 1;
        for position in positions {
            let candidate = &candidates[position];
            let mut trailers = trailers.remove(&candidate.number).unwrap_or_default();
            trailers.extend(candidate.retargeted(has_several_sites));
            outcomes[candidate.number] = Some(Ok(EditedEntry::changed(candidate, trailers)));
        }
        (changed, proved, warnings) = (written, Some(table), caused);
    }
    let outcomes = outcomes.into_iter();
    EditDecision {
        before: Arc::clone(&compiled.table),
        outcomes: outcomes
            .map(|outcome| outcome.unwrap_or(Err(EditRefusal::Undecided)))
            .collect(),
        changed,
        proved,
        warnings,
    }
}

/// Returns the edits that change an entry, and gives the others their outcomes.
fn candidates<'t>(
    table: &'t Table,
    edits: &'t [EntryEdit],
    now: Timestamp,
    outcomes: &mut [Option<Result<EditedEntry, EditRefusal>>],
) -> Vec<Candidate<'t>> {
    let mut edited = HashSet::new();
    let mut candidates = Vec::new();
    let pages = NewPages::of(edits, table);
    for (number, edit) in edits.iter().enumerate() {
        match candidate(table, number, edit, now) {
            Err(refusal) => outcomes[number] = Some(Err(refusal)),
            Ok(it) if !edited.insert(it.entry.place()) => {
                let place = it.entry.place();
                outcomes[number] = Some(Err(EditRefusal::Repeated { place }));
            }
            Ok(it) if it.keys.is_empty() => {
                outcomes[number] = Some(Ok(EditedEntry::unchanged(&it)));
            }
            Ok(it) => match pages.other(edit, it.entry) {
                Some(place) => outcomes[number] = Some(Err(EditRefusal::SamePage { place })),
                None => candidates.push(it),
            },
        }
    }
    candidates
}

impl EditedEntry {
    fn unchanged(candidate: &Candidate<'_>) -> Self {
        Self {
            is_changed: false,
            ..Self::changed(candidate, BTreeSet::new())
        }
    }

    fn changed(candidate: &Candidate<'_>, trailers: BTreeSet<String>) -> Self {
        Self {
            site: candidate.site().to_owned(),
            short_url: candidate.entry.short_url(),
            place: candidate.entry.place(),
            content: Box::new(candidate.content.clone()),
            is_changed: true,
            trailers,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::*;
    use crate::mapping::{Code, Forward, SourceFile, Status, Target};
    use crate::registry::decide::MayShadow;
    use crate::registry::edits::{EditRight, EntryValue, ExpectedContent};
    use crate::registry::text::compile_text;

    fn target(text: &str) -> Option<Target<'static>> {
        Target::parse(text).map(Target::into_owned).ok()
    }

    fn url(text: &str) -> EntryValue {
        EntryValue::Url(target(text).unwrap())
    }

    fn file(path: &str, text: &str) -> TextFile {
        SourceFile::new(path.into(), text.into()).into()
    }

    fn edit(code: &str, values: Vec<EntryValue>) -> EntryEdit {
        EntryEdit {
            site: Some("https://s.code/".to_owned()),
            link: code.to_owned(),
            right: EditRight::Any,
            expected: ExpectedContent::Any,
            values,
            may_shadow: MayShadow::None,
            may_lose_aliases: true,
            may_share_target: false,
        }
    }

    fn decide(files: &[TextFile], edits: &[EntryEdit]) -> EditDecision {
        let compiled = compile_text(files, None).unwrap().into_sound().unwrap();
        edit_entries(files, &compiled, edits, 1 << 20, Timestamp::MIN)
    }

    /// Returns why each edit is refused, if it is.
    fn refusals(decision: &EditDecision) -> Vec<String> {
        let reported = |outcome: &Result<EditedEntry, EditRefusal>| match outcome {
            Ok(_) => String::new(),
            Err(refusal) => refusal.to_string(),
        };
        decision.outcomes.iter().map(reported).collect()
    }

    fn text(decision: &EditDecision) -> String {
        text_of(&decision.changed[0])
    }

    fn text_of(file: &TextFile) -> String {
        String::from_utf8(file.whole().unwrap().bytes).unwrap()
    }

    const TABLE: &str = "\
base_url: https://s.code/
mapping:
- url: https://a.example/ # c
- {url: https://b.example/, short-code: b, aliases: [bb]}
- url: https://c.example/
  short-code: c
  retired: true
";

    #[test]
    fn a_page_that_must_be_new_is_no_other_entrys() {
        let files = [
            file("t.yaml", TABLE),
            file(
                "u.yaml",
                "base_url: https://u.code/\nmapping:\n- url: https://x.example/p#there\n",
            ),
        ];
        let edits = [
            "https://x.example/p",
            "https://y.example/#here",
            "https://b.example/#b",
        ];
        let edits = edits.map(|url| {
            let value = EntryValue::UrlOfNewPage(target(url).unwrap());
            edit("b", vec![value])
        });
        let refused = edits.each_ref().map(|edit| {
            let decision = decide(&files, std::slice::from_ref(edit));
            refusals(&decision).remove(0)
        });
        // A fragment leads to the same page, and the entry's own page is not another entry's.
        let expected = ["the entry at u.yaml:3:3 leads to the same page", "", ""];
        assert_eq!(refused, expected);
    }

    #[test]
    fn a_link_gets_no_target_of_another_live_link() {
        let files = [file("t.yaml", TABLE)];
        let to = |code: &str, target: &str| edit(code, vec![url(target)]);
        let registered = "ERR-000-02-00: URL already registered";
        let edits = [
            to("b", "https://a.example/"),
            to("b", "https://c.example/"),
            to("b", "https://b.example/"),
            EntryEdit {
                may_share_target: true,
                ..to("b", "https://a.example/")
            },
        ];
        // The target of a retired link is free, and keeping the current target is not a change.
        let refused = edits.map(|edit| refusals(&decide(&files, &[edit])).remove(0));
        assert_eq!(refused, [registered, "", "", ""]);
        // Of two edits to the same target, the first is made.
        let more = format!("{TABLE}- {{url: https://d.example/, short-code: d}}\n");
        let files = [file("t.yaml", &more)];
        let both = ["b", "d"].map(|code| to(code, "https://new.example/"));
        assert_eq!(refusals(&decide(&files, &both)), ["", registered]);
    }

    #[test]
    fn an_entry_that_is_there_twice_is_edited_in_both_places() {
        let more = format!("{TABLE}- title: t\n  url: https://d.example/ # d\n");
        let again = "base_url: https://s.code/\nmapping:\n- {url: https://d.example/, title: t}\n\
                     - url: https://c.example/\n  retired: true\n  short-code: c\n";
        let files = [file("t.yaml", &more), file("u.yaml", again)];
        let compiled = compile_text(&files, None).unwrap().into_sound().unwrap();
        let derived = compiled.table.sites()[0].leading_to("https://d.example/")[0]
            .code()
            .into_owned();
        let edits = [
            edit(&derived, vec![url("https://new.example/")]),
            edit("c", vec![EntryValue::TakenDown]),
        ];
        let decision = decide(&files, &edits);
        assert_eq!(refusals(&decision), ["", ""]);
        let expected = [
            more.replace(
                "https://d.example/ # d",
                &format!("https://new.example/ # d\n  short-code: {derived}"),
            )
            .replace("url: https://c.example/\n  short", "short"),
            format!(
                "base_url: https://s.code/\nmapping:\n\
                 - {{url: \"https://new.example/\", short-code: {derived}, title: t}}\n\
                 - retired: true\n  short-code: c\n"
            ),
        ];
        let changed = decision.changed.iter();
        let texts = changed.map(text_of);
        assert_eq!(texts.collect::<Vec<_>>(), expected);
        // If one of the places cannot be changed, neither is.
        let again = again.replace(
            "{url: https://d.example/, title: t}",
            "? url\n  : https://d.example/\n  title: t",
        );
        let files = [file("t.yaml", &more), file("u.yaml", &again)];
        let decision = decide(&files, &edits);
        assert_eq!(refusals(&decision), ["the entry cannot be changed", ""]);
    }

    #[test]
    fn a_code_stays_when_its_target_changes() {
        let files = [file("t.yaml", TABLE)];
        let compiled = compile_text(&files, None).unwrap().into_sound().unwrap();
        let derived = compiled.table.sites()[0].leading_to("https://a.example/")[0]
            .code()
            .into_owned();
        let decision = decide(
            &files,
            &[
                edit(&derived, vec![url("https://a.example/new")]),
                edit("bb", vec![url("https://b.example/new")]),
            ],
        );
        assert_eq!(refusals(&decision), ["", ""]);
        let expected = TABLE
            .replace(
                "https://a.example/ # c\n",
                &format!("https://a.example/new # c\n  short-code: {derived}\n"),
            )
            .replace("https://b.example/", "\"https://b.example/new\"");
        assert_eq!(text(&decision), expected);
        let trailers = decision.changed_entries().flat_map(|it| &it.trailers);
        let stated = [&*derived, "b", "bb"].map(|code| format!("Waypost-Allow: retarget {code}"));
        assert_eq!(Vec::from_iter(trailers), stated.each_ref());
        let proved = decision.proved.as_ref().unwrap();
        assert_eq!(proved.files, decision.changed);
    }

    #[test]
    fn items_are_added_to_a_list_without_rewriting_it() {
        let more = |codes: &[&str]| {
            let codes = codes.iter().flat_map(|code| Code::custom(code));
            EntryValue::MoreAliases(codes.collect())
        };
        for (list, expected) in [
            ("[ 'a1', a2 ] # c", "[ 'a1', a2, a3, \"no\" ] # c"),
            (
                "\n  - \"a1\" # c\n  -   a2 # d",
                "\n  - \"a1\" # c\n  -   a2 # d\n  -   a3\n  -   \"no\"",
            ),
        ] {
            let written = |list: &str| {
                format!(
                    "base_url: https://s.code/\nmapping:\n- url: https://a.example/\n  short-code: a\n  \
                     aliases: {list}\n  title: t\n"
                )
            };
            let files = [file("t.yaml", &written(list))];
            let decision = decide(&files, &[edit("a1", vec![more(&["a3", "no"])])]);
            assert_eq!(refusals(&decision), [""]);
            assert_eq!(text(&decision), written(expected));
        }
    }

    #[test]
    fn an_entry_that_is_not_as_expected_is_not_edited() {
        let files = [file("t.yaml", TABLE)];
        let table = compile_text(&files, None).unwrap().table.unwrap();
        let site = &table.sites()[0];
        let retired = EntryContent::of(site.lookup("c").unwrap());
        let archive = || EntryValue::Archive(target("https://x.example/"));
        let decision = decide(
            &files,
            &[
                EntryEdit {
                    expected: ExpectedContent::Content(Box::new(retired)),
                    ..edit("b", vec![archive()])
                },
                edit("d", vec![archive()]),
                edit("c", vec![url("https://new.example/")]),
                edit("b", vec![url("https://s.code/c")]),
                edit("b", vec![url("https://b.example/")]),
                edit("bb", vec![archive()]),
                EntryEdit {
                    site: Some("https://other.code/".to_owned()),
                    ..edit("b", vec![archive()])
                },
            ],
        );
        assert_eq!(
            refusals(&decision),
            [
                "the entry at t.yaml:4:3 has changed in the meantime",
                "the table has no link \"d\"",
                "the entry is retired, and its code is never given to another target",
                "the URL is a short link of this table",
                "",
                "the entry at t.yaml:4:3 is edited twice",
                "the table has no site \"https://other.code/\", only https://s.code/",
            ]
        );
        // Values that the entry already has are not a change.
        assert!(decision.changed.is_empty() && decision.changed_entries().next().is_none());
    }

    #[test]
    fn an_edit_that_breaks_the_table_keeps_no_other_from_being_made() {
        let text = format!(
            "{TABLE}- ? url\n  : https://d.example/\n- url: https://e.example/\n  short-code: e\n  \
             forward: path\n- url: https://f.example/\n  short-code: f\n\
             tests:\n- from: /b\n  to: https://b.example/\n"
        );
        let files = [file("t.yaml", &text)];
        let table = compile_text(&files, None).unwrap().table.unwrap();
        let explicit = table.sites()[0].leading_to("https://d.example/")[0].code();
        let alias = |code: &str| EntryValue::Aliases(vec![Code::custom(code).unwrap()]);
        let mut edits = [
            edit("b", vec![url("https://b.example/new")]),
            edit("c", vec![EntryValue::Title(Some("t".to_owned()))]),
            edit(&explicit, vec![url("https://new.example/")]),
            edit("e", vec![alias("c")]),
            edit("f", vec![alias("e/sub")]),
        ];
        let decision = decide(&files, &edits);
        let refused = refusals(&decision);
        assert_eq!(
            refused[..4],
            [
                "the table would have errors",
                "",
                "the entry cannot be changed",
                "the code \"c\" is taken by the entry at t.yaml:5:3"
            ]
        );
        assert!(refused[4].starts_with("the code \"e/sub\" would change where \"e/sub\" leads"));
        let changed: Vec<_> = decision.changed_entries().collect();
        assert_eq!(changed.len(), 1);
        assert!(
            super::tests::text(&decision).contains("short-code: c\n  title: t\n  retired: true\n")
        );
        edits[4].may_shadow = MayShadow::Any;
        let decision = decide(&files, &edits);
        let shadowing = decision.outcomes[4].as_ref().unwrap();
        assert_eq!(
            shadowing.trailers.first().unwrap(),
            "Waypost-Allow: retarget e/sub"
        );
    }

    #[test]
    fn entries_of_all_files_and_sites_are_edited() {
        let files = [
            file("a.yaml", TABLE),
            file(
                "b.yaml",
                "base_url: https://t.code/\nmapping:\n- {url: https://b.example/, short-code: b}\n",
            ),
            file(
                "c.yaml",
                "base_url: https://s.code/\nmapping:\n- url: https://d.example/\n  short-code: d",
            ),
        ];
        let title = || vec![EntryValue::Title(Some("t".to_owned()))];
        let other = EntryEdit {
            site: Some("https://t.code/".to_owned()),
            ..edit("b", vec![url("https://new.example/")])
        };
        let decision = decide(&files, &[edit("d", title()), other]);
        assert_eq!(refusals(&decision), ["", ""]);
        let paths: Vec<_> = decision.changed.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, ["b.yaml", "c.yaml"]);
        assert!(text_of(&decision.changed[1]).ends_with("\n  short-code: d\n  title: t"));
        let stated = &decision.outcomes[1].as_ref().unwrap().trailers;
        assert_eq!(
            stated.first().unwrap(),
            "Waypost-Allow: retarget https://t.code/b"
        );
    }

    fn any_value() -> impl Strategy<Value = EntryValue> {
        let url = || prop::option::weighted(0.8, "https://[n-p]\\.example/[a-z#,']{0,3}");
        let parsed = |url: Option<String>| url.and_then(|url| target(&url));
        let text = || prop::option::of("[a-z#: '\"]{1,5}");
        prop_oneof![
            url().prop_map(move |url| parsed(url).map_or(EntryValue::TakenDown, EntryValue::Url)),
            url().prop_map(move |url| EntryValue::Archive(parsed(url))),
            text().prop_map(EntryValue::Title),
            text().prop_map(EntryValue::Owner),
            vec("[a-z#,]{1,3}", 0..3).prop_map(EntryValue::Tags),
            vec("[p-z]{1,2}|[0-9]", 0..3).prop_map(|codes| {
                EntryValue::Aliases(
                    codes
                        .iter()
                        .filter_map(|it| Code::custom(it).ok())
                        .collect(),
                )
            }),
            vec("[p-z]{1,2}", 0..3).prop_map(|codes| {
                EntryValue::MoreAliases(codes.iter().flat_map(|it| Code::custom(it)).collect())
            }),
            prop::option::of(0..100_u32).prop_map(EntryValue::CacheMaxAge),
            select(vec![
                Forward::None,
                Forward::Path,
                Forward::Query,
                Forward::All
            ])
            .prop_map(|it| EntryValue::Forward(Some(it))),
            select(vec!["2020-01-01", "2030-01-01"])
                .prop_map(|it| EntryValue::RetiredBy(it.parse().unwrap())),
            Just(EntryValue::Retired(None)),
            Just(EntryValue::Live),
            prop::option::of(select(vec![301, 302, 308]))
                .prop_map(|it| EntryValue::Status(it.and_then(Status::from_code))),
            select(vec![None, Some("2030-01-01"), Some("2031-05-06T07:08:09Z")])
                .prop_map(|it| EntryValue::Expires(it.and_then(|it| it.parse().ok()))),
        ]
    }

    /// Returns the key of a value.
    fn key(value: &EntryValue) -> String {
        let text = format!("{value:?}");
        let name = text.split('(').next().unwrap();
        match name {
            "Live" | "RetiredBy" => "Retired".to_owned(),
            // It changes several keys.
            "TakenDown" | "Url" | "Archive" | "Title" => "Url".to_owned(),
            name => name.trim_start_matches("More").to_owned(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn the_decision_is_exactly_what_was_requested(
            edits in vec((0..6_usize, vec(any_value(), 1..4)), 1..4),
            forms in vec(select(vec![
                "- url: URL\n", "- url: URL # c\n  short-code: CODE\n  aliases: [CODE-2]\n",
                "- {url: URL, title: 't'}\n", "- title: >-\n    a\n\n  url: 'URL'\n  tags:\n  - a\n",
                "\n# about it\n- short-code: CODE\n  retired: true\n",
            ]), 6),
        ) {
            let numbered = forms.iter().zip('a'..);
            let entries: String = numbered.map(|(form, name)| {
                form.replace("URL", &format!("https://{name}.example/")).replace("CODE", &name.to_string())
            }).collect();
            let files = [file("t.yaml", &format!("base_url: https://s.code/\nmapping:\n{entries}"))];
            let compiled = compile_text(&files, None).unwrap().into_sound().unwrap();
            let mut before: Vec<_> = compiled.table.sites()[0].entries().collect();
            before.sort_by_key(|entry| entry.place());
            let edits: Vec<_> = edits.into_iter().map(|(number, mut values)| {
                values.sort_by_key(key);
                values.dedup_by_key(|value| key(value));
                edit(&before[number].code(), values)
            }).collect();
            let decision = edit_entries(&files, &compiled, &edits, 1 << 20, Timestamp::MIN);
            let now = decision.proved.as_ref().map_or(&compiled.table, |proved| &proved.table.table);
            for entry in before {
                let mut expected = EntryContent::of(entry);
                for (edit, outcome) in edits.iter().zip(&decision.outcomes) {
                    if edit.link == entry.code() && outcome.is_ok() {
                        edit.values.iter().for_each(|value| { value.give(&mut expected); });
                    }
                }
                let found = now.sites()[0].lookup(&entry.code());
                prop_assert!(found.is_some_and(|found| expected.is_that_of(found)), "{:?}", decision);
            }
        }
    }

    #[test]
    fn most_edits_are_possible() {
        // Ensures that the property above is not only tested on refusals.
        let files = [file("t.yaml", TABLE)];
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let mut made = 0;
        for _ in 0..64 {
            let tree = (any_value(), any::<Index>()).new_tree(&mut runner).unwrap();
            let (value, code) = proptest::strategy::ValueTree::current(&tree);
            let code = *code.get(&["b", "c"]);
            let decision = decide(&files, &[edit(code, vec![value])]);
            made += usize::from(decision.outcomes[0].is_ok());
        }
        assert!(made > 40, "{made}");
    }
}
