//! The intake of many links into a table: each is taken, already known, or refused.
//!
//! Published links must not break, so a link keeps its code even if other codes lead to its target.
//! Links without a code wait until all others have theirs, so that their codes do not depend on
//! their position among the others. A link is known if the table answers as it says. A retired or expired
//! link makes a target known only to links that are gone, too, and a link is not known if it is gone but
//! its code is not: both are reported. Invariant: the taken links can be
//! inserted together, because no code is assigned twice.

mod forwarding;
mod known;
mod waiting;

use std::collections::{HashMap, HashSet};

use self::forwarding::{LinkUrls, check_without_url};
use crate::edit::{NewEntry, OwnCode};
use crate::exchange::read::ImportedLink;
use crate::mapping::{
    Code, Defaults, Retired, Site, Table, Target, Timestamp, WrittenDate, WrittenRetirement,
};
use crate::registry::decide::{RegistrationRefusal, check_reach, check_texts, choice};

/// The links taken so far.
pub(super) struct SiteIntake<'t> {
    table: &'t Table,
    site: &'t Site,
    /// The defaults of the document that receives the links.
    defaults: Defaults,
    now: Timestamp,
    entries: Vec<NewEntry>,
    /// The line of each entry.
    lines: Vec<usize>,
    /// The links without a code of their own, with their lines.
    waiting: Vec<(usize, NewEntry)>,
    /// The codes of taken links as they are compared, each with its line and its target.
    codes: HashMap<String, Holding>,
    known: usize,
}

/// The taken link that has a code.
#[derive(Debug, Clone, Copy)]
struct Holding {
    line: usize,
    /// The entry; none if it waits for its own code.
    entry: Option<usize>,
    /// Whether the link is retired or expired.
    is_gone: bool,
}

impl<'t> SiteIntake<'t> {
    /// Starts an intake for a document of a site with these defaults.
    pub(super) fn new(
        table: &'t Table,
        site: &'t Site,
        defaults: Defaults,
        now: Timestamp,
    ) -> Self {
        Self {
            table,
            site,
            defaults,
            now,
            entries: Vec::new(),
            lines: Vec::new(),
            waiting: Vec::new(),
            codes: HashMap::new(),
            known: 0,
        }
    }

    /// Returns the site that receives the links.
    pub(super) fn site(&self) -> &'t Site {
        self.site
    }

    /// Takes a link from that line, unless it is known already.
    ///
    /// # Errors
    ///
    /// Returns why the link cannot be taken.
    pub(super) fn take(
        &mut self,
        line: usize,
        link: ImportedLink,
    ) -> Result<(), RegistrationRefusal> {
        let target = |text: &str| Target::parse(text).map(Target::into_owned);
        let url = link.url.as_deref().map(target).transpose()?;
        let archive = link.archive.as_deref().map(target).transpose()?;
        let below = link.below.as_deref().map(target).transpose()?;
        check_texts(link.title.as_deref(), link.owner.as_deref(), &link.tags)?;
        let urls = LinkUrls {
            url: url.as_ref(),
            below: below.as_ref(),
            variants: &link.variants,
        };
        urls.check_forward(link.forward, self.defaults.forward)?;
        let own = match (&link.code, link.number) {
            (Some(text), _) => Some(Code::custom(text)?),
            (None, Some(number)) => Some(Code::number(number)?),
            (None, None) => None,
        };
        if url.is_none() && (link.retired.is_none() || own.is_none()) {
            return Err(RegistrationRefusal::NoUrl);
        }
        check_without_url(&link)?;
        let aliases = link.aliases.iter().map(|text| Code::custom(text));
        let aliases: Vec<_> = aliases.collect::<Result<_, _>>()?;
        let codes = || own.iter().chain(&aliases);
        if let Some(url) = &url {
            self.check_elsewhere(url, codes())?;
        }
        let is_gone = is_gone(link.retired.as_ref(), link.expires.as_ref(), self.now);
        if own.is_some()
            && codes().all(|code| self.answers_already(code, [&url, &below], &link, is_gone))
        {
            self.known += 1;
            return Ok(());
        }
        self.check_codes(codes())?;
        let taken_down = |url| choice::taken_down(self.site, url, self.now);
        if let Some(holder) = (own.as_ref()).and(url.as_ref()).and_then(taken_down) {
            return Err(RegistrationRefusal::AlreadyRegistered(holder));
        }
        let entry = own.is_some().then_some(self.entries.len());
        let holding = Holding {
            line,
            entry,
            is_gone,
        };
        let held: Vec<_> = codes().map(|code| self.compared_form(code)).collect();
        self.codes
            .extend(held.into_iter().map(|code| (code, holding)));
        let code = self.own_code(own, link.number, url.as_ref());
        let entry = NewEntry {
            archive,
            below,
            ..new_entry(code, url, aliases, link)
        };
        match holding.entry {
            Some(_) => {
                self.entries.push(entry);
                self.lines.push(line);
            }
            None => self.waiting.push((line, entry)),
        }
        Ok(())
    }

    /// Checks that the codes of an entry differ, are free, and can be reached.
    fn check_codes<'c>(
        &self,
        codes: impl Iterator<Item = &'c Code>,
    ) -> Result<(), RegistrationRefusal> {
        let mut seen = HashSet::new();
        for code in codes {
            check_reach(self.table, self.site, code.as_str())?;
            self.check_free(code)?;
            if !seen.insert(self.compared_form(code)) {
                let code = code.to_string();
                return Err(RegistrationRefusal::CodeRepeated { code });
            }
        }
        Ok(())
    }

    /// Checks that a URL is not a short link of the table. A published link may lead to another
    /// one, but not to itself.
    fn check_elsewhere<'c>(
        &self,
        url: &Target<'_>,
        mut codes: impl Iterator<Item = &'c Code>,
    ) -> Result<(), RegistrationRefusal> {
        if !self.table.covers(url) {
            return Ok(());
        }
        let rest = |url: &str| url.split_once("://").map(|(_, rest)| rest.to_owned());
        let page = url.as_str().split(['?', '#']).next().and_then(rest);
        let Some(first) = codes.next() else {
            return Err(RegistrationRefusal::OwnLink { key: "url" });
        };
        let mut links = [first].into_iter().chain(codes);
        match links.any(|code| rest(&self.site.short_url(code.as_str())) == page) {
            true => Err(RegistrationRefusal::OwnLink { key: "url" }),
            false => Ok(()),
        }
    }

    fn is_free(&self, code: &Code) -> bool {
        self.site.lookup_in_any_case(code.as_str()).is_none()
            && !self.codes.contains_key(&self.compared_form(code))
    }

    fn compared_form(&self, code: &Code) -> String {
        self.site.compared_form(code.as_str()).into_owned()
    }

    fn check_free(&self, code: &Code) -> Result<(), RegistrationRefusal> {
        choice::free(self.site, code.clone(), self.now)?;
        match self.codes.get(&self.compared_form(code)) {
            Some(Holding { line, .. }) => Err(RegistrationRefusal::CodeTakenByLine {
                code: code.to_string(),
                line: *line,
            }),
            None => Ok(()),
        }
    }

    /// Returns how a code is written: not at all if the target derives it.
    fn own_code(
        &self,
        own: Option<Code>,
        number: Option<u64>,
        url: Option<&Target<'_>>,
    ) -> OwnCode {
        let Some(code) = own else {
            return OwnCode::Auto;
        };
        let derived = url.map(|url| self.site.scheme().code(url.as_str()));
        match number {
            _ if derived.as_ref() == Some(&code) => OwnCode::Auto,
            Some(number) if Code::number(number).as_ref() == Ok(&code) => {
                OwnCode::Number(code, number)
            }
            _ => OwnCode::Custom(code),
        }
    }
}

/// Returns whether a link with these dates is gone.
fn is_gone(
    retired: Option<&WrittenRetirement>,
    expires: Option<&WrittenDate>,
    now: Timestamp,
) -> bool {
    let is_retired = retired.is_some_and(|retired| match retired.meaning() {
        Retired::Always => true,
        Retired::From(start) => start <= now,
    });
    is_retired || expires.is_some_and(|expires| expires.end() <= now)
}

/// Returns the entry of a link, whose codes and URLs were read.
fn new_entry(
    code: OwnCode,
    url: Option<Target<'static>>,
    aliases: Vec<Code>,
    link: ImportedLink,
) -> NewEntry {
    NewEntry {
        code,
        url,
        aliases,
        title: link.title,
        owner: link.owner,
        tags: link.tags,
        status: link.status,
        forward: link.forward,
        cache_max_age: link.cache_max_age,
        expires: link.expires,
        retired: link.retired,
        variants: link.variants,
        archive: None,
        below: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Forward, SourceFile, Status, compile};

    fn link(code: &str, url: &str) -> ImportedLink {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        ImportedLink {
            code: some(code),
            url: some(url),
            ..ImportedLink::default()
        }
    }

    /// Takes links into a site with these entries; returns the text of each new entry, and the
    /// refusals.
    fn taken(entries: &str, links: Vec<ImportedLink>) -> (Vec<String>, Vec<String>, usize) {
        let text = format!("base_url: https://s.code/\n{entries}");
        let file = SourceFile {
            path: "t.yaml".into(),
            bytes: text.into_bytes(),
        };
        let table = compile(&[file]).table.unwrap();
        let now = Timestamp::from_unix(1_700_000_000);
        let defaults = Defaults::default();
        let mut intake = SiteIntake::new(&table, &table.sites()[0], defaults, now);
        let mut refused = Vec::new();
        for (link, line) in links.into_iter().zip(1..) {
            if let Err(refusal) = intake.take(line, link) {
                refused.push(format!("{line}: {refusal}"));
            }
        }
        let batch = intake.finish().unwrap();
        let late = batch.refused.iter();
        refused.extend(late.map(|(line, refusal)| format!("{line}: {refusal}")));
        let entries = batch.entries.iter().map(|entry| {
            let code = entry.own_code(table.sites()[0].scheme()).to_string();
            match entry.code {
                OwnCode::Auto => format!("{code} (derived)"),
                OwnCode::Custom(_) => code,
                OwnCode::Number(_, number) => format!("{code} ({number})"),
            }
        });
        (entries.collect(), refused, batch.known)
    }

    #[test]
    fn codes_are_kept() {
        let (entries, refused, known) = taken(
            "mapping:\n- {url: 'https://e.org/', short-code: a, aliases: [b]}\n",
            vec![
                link("b", "https://e.org"),
                link("c", "https://e.org/"),
                link("t0P0JMya", "https://framasoft.org/"),
                link("c", "https://e.org/"),
                link("a", "https://f.org/"),
                link("c", "https://f.org/"),
                link("d+", "https://f.org/"),
                link("metrics", "https://f.org/"),
                link("d", "f.org"),
                link("d", ""),
            ],
        );
        assert_eq!(entries, ["c", "t0P0JMya (derived)"]);
        assert_eq!(known, 2);
        assert_eq!(
            refused[0],
            "5: the code \"a\" is taken by the entry at t.yaml:3:3"
        );
        assert_eq!(refused[1], "6: the code \"c\" is taken by line 2");
        assert_eq!(refused[2], "7: '+' is not allowed in a short code");
        assert_eq!(refused[4], "9: the URL is not absolute");
        assert_eq!(refused[5], "10: there is no URL");
    }

    #[test]
    fn a_code_below_another_site_is_refused() {
        let file = |path: &str, base_url: &str| SourceFile {
            path: path.into(),
            bytes: format!("base_url: {base_url}\nmapping: []\n").into_bytes(),
        };
        let files = [
            file("a.yaml", "https://s.code/"),
            file("b.yaml", "https://s.code/go/"),
        ];
        let table = compile(&files).table.unwrap();
        let now = Timestamp::from_unix(1_700_000_000);
        let mut intake = SiteIntake::new(&table, &table.sites()[0], Defaults::default(), now);
        let alias = ImportedLink {
            aliases: vec!["go/x".to_owned()],
            ..link("a", "https://e.org/")
        };
        for (link, expected) in [
            (link("go/x", "https://e.org/"), Some("go/x")),
            (alias, Some("go/x")),
            (link("gone/x", "https://e.org/"), None),
        ] {
            let refused = intake.take(1, link).err().map(|it| it.to_string());
            let expected = expected.map(|code| {
                format!(
                    "the code {code:?} cannot be reached: the site https://s.code/go/ answers its \
                     path"
                )
            });
            assert_eq!(refused, expected);
        }
    }

    #[test]
    fn texts_are_checked_as_those_of_a_request() {
        let bell = ImportedLink {
            title: Some("a\u{7}".to_owned()),
            ..link("a", "https://e.org/")
        };
        let line_feed = ImportedLink {
            tags: vec!["b\n".to_owned()],
            ..link("b", "https://e.org/")
        };
        let (entries, refused, _) = taken("mapping: []\n", vec![bell, line_feed]);
        assert_eq!(entries, [""; 0]);
        assert_eq!(
            refused[0],
            "1: the title contains the control character '\\u{7}'"
        );
        assert_eq!(
            refused[1],
            "2: the tag contains the control character '\\n'"
        );
    }

    #[test]
    fn what_has_no_code_waits_for_what_has() {
        let (entries, refused, known) = taken(
            "mapping: []\n",
            vec![
                link("", "https://framasoft.org/"),
                link("", "https://e.org/"),
                link("e", "https://e.org/"),
                link("t0P0JMya", "https://f.org/"),
                link("", "https://framasoft.org/"),
            ],
        );
        assert_eq!(refused, [""; 0]);
        assert_eq!(entries, ["e", "t0P0JMya", "t0P0JMyb"]);
        assert_eq!(known, 2);
    }

    #[test]
    fn what_is_gone_stays_gone() {
        let table = "mapping:\n\
             - {url: 'https://gone.org/', short-code: gone, retired: true}\n\
             - {url: 'https://past.org/', short-code: past, expires: 1970-01-01}\n\
             - {short-code: KiuH6GHM, retired: true}\n";
        let links = vec![
            link("gone", "https://gone.org/"),
            link("", "https://gone.org/"),
            link("", "https://past.org/"),
            link("", "https://taken.org/"),
            link("x", "https://taken.org/"),
        ];
        let retired = |link: &ImportedLink| ImportedLink {
            retired: Some(WrittenRetirement::Always),
            ..link.clone()
        };
        let (entries, refused, known) = taken(table, links.clone());
        assert_eq!((entries, known), (Vec::new(), 0));
        let registered = "ERR-000-02-00: URL already registered";
        assert_eq!(
            refused,
            [
                "1: the code \"gone\" is taken by the entry at t.yaml:3:3",
                &format!("5: {registered}"),
                &format!("2: {registered}"),
                &format!("3: {registered}"),
                &format!("4: {registered}"),
            ]
        );
        // Links that are gone add nothing new.
        let (entries, refused, known) = taken(table, links[..4].iter().map(retired).collect());
        assert_eq!((entries, refused, known), (Vec::new(), Vec::new(), 4));
        // The same holds for links of the same file, in any order.
        let taken_down = ImportedLink {
            url: None,
            ..retired(&link("KiuH6GHM", ""))
        };
        let (entries, refused, known) = taken(
            "mapping: []\n",
            vec![
                link("", "https://gone.org/"),
                link("", "https://taken.org/"),
                retired(&links[0]),
                taken_down,
                links[0].clone(),
                link("", "https://live.org/"),
                retired(&link("a", "https://live.org/")),
                link("b", "https://live.org/"),
            ],
        );
        assert_eq!(entries, ["gone", "KiuH6GHM", "a", "b"]);
        assert_eq!(known, 1);
        assert_eq!(refused[0], "5: the code \"gone\" is taken by line 3");
        let late = [
            "1: the URL is that of line 3",
            "2: the URL is that of line 4",
        ];
        assert!(
            refused[1..]
                .iter()
                .zip(late)
                .all(|(reported, it)| reported.starts_with(it))
        );
        assert_eq!(refused.len(), 3);
    }

    #[test]
    fn a_link_that_answers_otherwise_is_not_known() {
        let table = "mapping:\n\
             - {url: 'https://e.org/', short-code: a}\n\
             - {url: 'https://e.org/b/', short-code: b, forward: path, status: 308}\n";
        let a = || link("a", "https://e.org/");
        let b = || link("b", "https://e.org/b/");
        let links = || {
            vec![
                a(),
                b(),
                ImportedLink {
                    forward: Some(Forward::Path),
                    status: Some(Status::PermanentRedirect),
                    ..b()
                },
                ImportedLink {
                    retired: Some(WrittenRetirement::Always),
                    ..a()
                },
                ImportedLink {
                    expires: "2999-01-01".parse().ok(),
                    ..a()
                },
                ImportedLink {
                    forward: Some(Forward::Path),
                    ..a()
                },
                ImportedLink {
                    status: Some(Status::PermanentRedirect),
                    ..a()
                },
            ]
        };
        let (_, refused, known) = taken(table, links());
        assert_eq!(known, 3);
        let lines = |refused: &[String]| {
            refused
                .iter()
                .map(|it| it[..1].to_owned())
                .collect::<String>()
        };
        assert_eq!(lines(&refused), "4567");
        // The same holds for links of the same file.
        let (added, refused, known) = taken("mapping: []\n", links());
        assert_eq!((added.len(), known), (2, 0));
        assert_eq!(lines(&refused), "34567");
    }

    #[test]
    fn targets_of_one_hash_are_distinguished() {
        let urls = [
            "https://example.com/22889216",
            "https://example.com/30923436",
        ];
        let (entries, _, _) = taken("mapping: []\n", urls.map(|url| link("", url)).to_vec());
        assert_eq!(entries, ["Vn5xl3T3 (derived)", "Vn5xl3T4"]);
    }

    #[test]
    fn numbers_go_on() {
        let number = ImportedLink {
            number: Some(7),
            ..link("", "https://e.org/7")
        };
        let links = vec![
            link("", "https://e.org/"),
            number,
            link("9", "https://e.org/9"),
        ];
        let (entries, _, _) = taken("defaults: {new: number}\nmapping: []\n", links);
        assert_eq!(entries, ["7 (7)", "9", "8 (8)"]);
    }

    #[test]
    fn codes_that_differ_in_case_are_the_same_where_case_does_not_count() {
        let links = || {
            vec![
                link("GNU", "https://gnu.org/"),
                link("gnu", "https://gnu.org/"),
                link("Gnu", "https://other.org/"),
                link("New", "https://new.org/"),
                link("NEW", "https://new.org/"),
                link("new", "https://other.org/"),
            ]
        };
        let entries = "mapping:\n- url: https://gnu.org/\n  short-code: GNU\n";
        let (added, refused, known) = taken(&format!("case: fold\n{entries}"), links());
        assert_eq!(added, ["New"]);
        assert_eq!(known, 3);
        assert_eq!(refused.len(), 2, "{refused:?}");
        assert!(refused[0].starts_with("3: ") && refused[1].starts_with("6: "));
        let (added, refused, known) = taken(entries, links());
        assert_eq!(added, ["gnu", "Gnu", "New", "NEW", "new"]);
        assert_eq!((refused.len(), known), (0, 1));
    }

    #[test]
    fn aliases_are_codes_too() {
        let with = |aliases: &[&str], link: ImportedLink| ImportedLink {
            aliases: aliases.iter().map(|text| (*text).to_owned()).collect(),
            ..link
        };
        let (entries, refused, known) = taken(
            "mapping:\n- {url: 'https://e.org/', short-code: a, aliases: [b]}\n",
            vec![
                with(&["b"], link("a", "https://e.org/")),
                with(&["c"], link("a", "https://e.org/")),
                with(&["d", "d"], link("x", "https://e.org/")),
                with(&["f"], link("", "https://f.org/")),
                with(&["f"], link("g", "https://g.org/")),
            ],
        );
        assert_eq!((entries.len(), known), (1, 1));
        assert_eq!(refused.len(), 3, "{refused:?}");
        assert_eq!(refused[2], "5: the code \"f\" is taken by line 4");
    }
}
