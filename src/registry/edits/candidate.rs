//! Candidates: edits whose entry exists and has the expected content, and their changes.

use super::content::EntryContent;
use super::content_change::ContentChange;
use super::entry_edit::{EditRight, EntryEdit};
use super::refusal::EditRefusal;
use super::value::EntryValue;
use crate::edit::KeyEdit;
use crate::mapping::{Entry, Retired, Statement, Table, Timestamp};
use crate::registry::decide::check_texts;

/// An edit that changes an entry.
pub(super) struct Candidate<'t> {
    /// Its number among the edits.
    pub(super) number: usize,
    pub(super) edit: &'t EntryEdit,
    pub(super) entry: Entry<'t>,
    /// The new content of the entry.
    pub(super) content: EntryContent,
    pub(super) keys: Vec<KeyEdit>,
}

/// The maximum number of similar codes in a refusal.
const SUGGESTIONS: usize = 5;

/// Finds the entry of an edit, and its changes.
pub(super) fn candidate<'t>(
    table: &'t Table,
    number: usize,
    edit: &'t EntryEdit,
    now: Timestamp,
) -> Result<Candidate<'t>, EditRefusal> {
    let entry = find(table, edit)?;
    if let EditRight::OwnedBy(owner) = &edit.right
        && entry.owner() != Some(owner)
    {
        return Err(EditRefusal::NotOwned);
    }
    let before = EntryContent::of(entry);
    let mut content = before.clone();
    let mut keys = Vec::new();
    for value in &edit.values {
        keys.extend(value.give(&mut content));
    }
    for value in &edit.values {
        match value {
            EntryValue::Title(title) => check_texts(title.as_deref(), None, &[])?,
            EntryValue::Owner(owner) => check_texts(None, owner.as_deref(), &[])?,
            EntryValue::Tags(tags) => check_texts(None, None, tags)?,
            _ => {}
        }
    }
    let change = ContentChange {
        table,
        entry,
        before: &before,
        after: &content,
        now,
    };
    change.check(edit)?;
    if content.target.is_none() {
        // Without a target, the date does not matter.
        content.retired = Some(Retired::Always);
    }
    Ok(Candidate {
        number,
        edit,
        entry,
        content,
        keys,
    })
}

/// Finds the entry of an edit.
fn find<'t>(table: &'t Table, edit: &EntryEdit) -> Result<Entry<'t>, EditRefusal> {
    let mut found = table.named(&edit.link);
    if let Some(name) = &edit.site {
        let site = table.site_named(name)?;
        found.retain(|entry| entry.site().base_url() == site.base_url());
    }
    match found[..] {
        [] => Err(EditRefusal::NoSuchLink {
            link: edit.link.clone(),
            similar: table.similar(&edit.link, SUGGESTIONS),
        }),
        [entry] => Ok(entry),
        _ => Err(EditRefusal::SeveralSites {
            code: edit.link.clone(),
            links: found.iter().map(Entry::short_url).collect(),
        }),
    }
}

impl Candidate<'_> {
    /// Returns the base URL of its site.
    pub(super) fn site(&self) -> &str {
        self.entry.site().base_url().as_str()
    }

    /// Returns the trailers that state that its codes are intended to lead elsewhere, if they do.
    pub(super) fn retargeted(&self, has_several_sites: bool) -> Vec<String> {
        let (before, after) = (EntryContent::of(self.entry), &self.content);
        let is_kept = match (before.destination(), after.destination()) {
            (Some(before), Some(after)) => before.lost_in(&after).is_none(),
            (None, Some(_)) => false,
            (_, None) => true,
        };
        if is_kept {
            return Vec::new();
        }
        // New codes were not published before.
        let trailer = |code| Statement::trailer(self.entry.site(), code, has_several_sites);
        before.codes().map(trailer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry_edit::ExpectedContent;
    use super::*;
    use crate::mapping::{Code, Scheme, SourceFile, Status, Target, WrittenRetirement, compile};
    use crate::registry::decide::MayShadow;

    const TABLE: &str = "\
base_url: https://s.code/
mapping:
- {url: https://a.example/, short-code: a, aliases: [aa, ab]}
- {url: https://b.example/, short-code: b, retired: 2030-01-01}
- {url: https://c.example/, short-code: c, retired: true, expires: 2020-12-31}
- {short-code: d, retired: 2021-01-01}
";

    /// Returns the keys that an edit changes, with their values, or why it is refused.
    fn given(link: &str, values: Vec<EntryValue>) -> Result<String, String> {
        decided(&edit(link, values))
    }

    fn edit(link: &str, values: Vec<EntryValue>) -> EntryEdit {
        EntryEdit {
            site: None,
            link: link.to_owned(),
            right: EditRight::Any,
            expected: ExpectedContent::Any,
            values,
            may_shadow: MayShadow::None,
            may_lose_aliases: false,
            may_share_target: false,
        }
    }

    fn decided(edit: &EntryEdit) -> Result<String, String> {
        let other = "base_url: https://t.code/\nmapping:\n\
                     - {url: https://t.example/, short-code: both}\n";
        let taken_down = Scheme::Sha256.code("https://gone.example/");
        let both = format!(
            "{TABLE}- {{url: https://e.example/, short-code: both}}\n\
             - {{short-code: {taken_down}, retired: true}}\n\
             - {{url: https://g.example/, short-code: go/old}}\n"
        );
        let file = |path: &str, text: &str| SourceFile {
            path: path.into(),
            bytes: text.into(),
        };
        let below = "base_url: https://s.code/go/\nmapping: []\n";
        let files = [
            file("s.yaml", &both),
            file("t.yaml", other),
            file("u.yaml", below),
        ];
        let table = compile(&files).table.unwrap();
        let now = Timestamp::parse_start("2026-11-22").unwrap();
        let candidate = candidate(&table, 0, edit, now).map_err(|refusal| refusal.to_string())?;
        let keys = candidate.keys.iter().map(|edit| match &edit.value {
            Some(value) => format!("{}: {value:?}", edit.key),
            None => format!("no {}", edit.key),
        });
        Ok(keys.collect::<Vec<_>>().join(", "))
    }

    fn codes(texts: &[&str]) -> Vec<Code> {
        let codes = texts.iter().map(|text| Code::custom(text).unwrap());
        codes.collect()
    }

    #[test]
    fn aliases_are_added_to_those_that_are_there() {
        let more = |texts| given("aa", vec![EntryValue::MoreAliases(codes(texts))]);
        let all = r#"aliases: Texts(["aa", "ab", "ac"])"#;
        assert_eq!(more(&["ac", "aa", "a"]).unwrap(), all);
        assert_eq!(more(&["aa", "a"]).unwrap(), "");
    }

    #[test]
    fn aliases_are_lost_only_if_that_is_allowed() {
        let only = |texts| given("a", vec![EntryValue::Aliases(codes(texts))]);
        let lost = only(&["ab", "ac"]).unwrap_err();
        assert!(
            lost.starts_with("the alias \"aa\" would be removed"),
            "{lost}"
        );
        let lost = only(&[]).unwrap_err();
        assert!(
            lost.starts_with("the aliases \"aa\", \"ab\" would"),
            "{lost}"
        );
        let allowed = EntryEdit {
            may_lose_aliases: true,
            ..edit("a", vec![EntryValue::Aliases(Vec::new())])
        };
        assert_eq!(decided(&allowed).unwrap(), "no aliases");
        assert!(only(&["ab", "aa", "ac"]).is_ok());
    }

    #[test]
    fn an_alias_that_is_taken_or_under_another_site_is_refused() {
        let more = |code| given("a", vec![EntryValue::MoreAliases(codes(&[code]))]);
        let refused =
            "the code \"go/x\" cannot be reached: the site https://s.code/go/ answers its path";
        assert_eq!(more("go/x").unwrap_err(), refused);
        assert!(more("gone/x").is_ok());
        let taken = "the code \"b\" is taken by the entry at s.yaml:4:3";
        assert_eq!(more("b").unwrap_err(), taken);
        // An existing one does not prevent other changes.
        let title = vec![EntryValue::Title(Some("t".to_owned()))];
        assert!(given("go/old", title).is_ok());
    }

    #[test]
    fn texts_have_no_control_characters() {
        let title = EntryValue::Title(Some("a\u{1b}".to_owned()));
        let refused = "the title contains the control character '\\u{1b}'";
        assert_eq!(given("a", vec![title]).unwrap_err(), refused);
        let tags = EntryValue::Tags(vec!["t".to_owned(), "\n".to_owned()]);
        assert!(given("a", vec![tags]).is_err());
    }

    #[test]
    fn what_may_be_a_default_is_written_in_any_case() {
        let status = |it| given("a", vec![EntryValue::Status(it)]).unwrap();
        assert_eq!(status(Some(Status::Found)), r#"status: Word("302")"#);
        assert_eq!(status(None), "no status");
    }

    #[test]
    fn an_entry_is_retired_at_the_latest_on_a_day() {
        let by = |link, date: &str| {
            let value = EntryValue::RetiredBy(date.parse().unwrap());
            given(link, vec![value]).unwrap()
        };
        let today = r#"retired: Word("2026-11-22")"#;
        assert_eq!(by("a", "2026-11-22"), today);
        assert_eq!(by("b", "2026-11-22"), today);
        for link in ["c", "d"] {
            assert_eq!(by(link, "2026-11-22"), "");
        }
    }

    #[test]
    fn a_target_is_dropped_only_by_retired_entries() {
        let dropped = |on: Option<&str>| {
            let on = on.map(|on| WrittenRetirement::From(on.parse().unwrap()));
            let values = vec![EntryValue::Retired(on), EntryValue::TakenDown];
            given("a", values)
        };
        let refused = "an entry can drop its target only once it is retired";
        assert_eq!(dropped(None).unwrap_err(), refused);
        assert_eq!(dropped(Some("2030-01-01")).unwrap_err(), refused);
        let made =
            r#"retired: Word("2026-11-22"), no url, no below, no variants, no archive, no title"#;
        assert_eq!(dropped(Some("2026-11-22")).unwrap(), made);
    }

    #[test]
    fn an_entry_without_a_target_gets_no_archived_copy() {
        let copy = Target::parse("https://a.example/").unwrap().into_owned();
        let archive = || EntryValue::Archive(Some(copy.clone()));
        let refused =
            "the entry at s.yaml:6:3 has dropped its target, so it cannot have an archived copy";
        assert_eq!(given("d", vec![archive()]).unwrap_err(), refused);
        let values = vec![archive(), EntryValue::TakenDown];
        assert!(given("d", values).is_ok());
        assert!(given("b", vec![archive()]).is_ok());
    }

    #[test]
    fn a_link_that_would_not_work_is_not_restored() {
        let live = |link| given(link, vec![EntryValue::Live]);
        assert_eq!(live("a").unwrap(), "");
        assert_eq!(live("b").unwrap(), "no retired");
        let expired =
            "the entry at s.yaml:5:3 expired at 2021-01-01T00:00:00Z, so its link would not work";
        assert_eq!(live("c").unwrap_err(), expired);
        let dropped = "the entry at s.yaml:6:3 has no target to return to";
        assert_eq!(live("d").unwrap_err(), dropped);
        let values = vec![EntryValue::Expires(None), EntryValue::Live];
        assert_eq!(given("c", values).unwrap(), "no expires, no retired");
    }

    #[test]
    fn what_was_taken_down_does_not_come_back() {
        let target = |text| EntryValue::Url(Target::parse(text).unwrap().into_owned());
        let to = |link, text| given(link, vec![target(text)]).unwrap_err();
        let retired = "the entry is retired, and its code is never given to another target";
        assert_eq!(to("d", "https://new.example/"), retired);
        assert_eq!(to("a", "https://gone.example/"), "the URL was taken down");
    }

    #[test]
    fn a_code_of_several_sites_names_none() {
        let title = || vec![EntryValue::Title(Some("t".to_owned()))];
        let several =
            "several sites have the code \"both\": https://s.code/both, https://t.code/both";
        assert_eq!(given("both", title()).unwrap_err(), several);
        assert!(given("https://t.code/both", title()).is_ok());
    }
}
