//! Additions: entries that a table allows, before its files are changed.

use std::borrow::Cow;
use std::sync::Arc;

use super::reach::check_reach;
use super::refusal::{ControlCharacter, RegistrationRefusal};
use super::request::{Destination, RegistrationRequest};
use super::{choice, placement};
use crate::edit::NewEntry;
use crate::mapping::{Code, OwnedVariant, Site, Table, Target, Timestamp};

/// An entry to be added to a table.
pub(crate) struct Addition<'t> {
    /// The site to which it is added.
    pub(crate) site: &'t Site,
    pub(crate) entry: NewEntry,
    /// The path of the file to which it is added.
    pub(crate) path: Arc<str>,
    /// Whether that file is new.
    pub(crate) is_new_file: bool,
}

impl<'t> Addition<'t> {
    /// Makes the entry for a request, with the [target](target_of) of the request; `highest` is
    /// the highest existing number of a site.
    ///
    /// # Errors
    ///
    /// Returns the first reason for refusal: whether the target has a link is checked first, then
    /// codes, then the file.
    pub(crate) fn of(
        request: &RegistrationRequest,
        target: Target<'_>,
        table: &'t Table,
        highest: impl FnOnce(&'t Site) -> Option<u64>,
        now: Timestamp,
    ) -> Result<Self, RegistrationRefusal> {
        if table.covers(&target) {
            return Err(RegistrationRefusal::OwnLink { key: "url" });
        }
        let below = request.below.as_deref().map(Target::parse).transpose()?;
        if below.as_ref().is_some_and(|below| table.covers(below)) {
            return Err(RegistrationRefusal::OwnLink { key: "below" });
        }
        if request.variants.iter().any(|it| leads_back(it, table)) {
            return Err(RegistrationRefusal::OwnLink { key: "variants" });
        }
        if (request.expires.as_ref()).is_some_and(|date| date.end() <= now) {
            return Err(RegistrationRefusal::Expired);
        }
        let site = placement::site(table, request.site.as_deref(), &request.destination)?;
        if let Some(holder) = choice::registered(site, &target, now) {
            return Err(RegistrationRefusal::AlreadyRegistered(holder));
        }
        let own = choice::own_code(site, &request.code, &target, highest, now)?;
        let mut entry = NewEntry::new(target.into_owned(), own);
        let code = entry.own_code(site.scheme()).into_owned();
        entry.aliases = choice::aliases(site, request, &code, now)?;
        for code in entry.aliases.iter().chain([&code]) {
            check_reach(table, site, code.as_str())?;
        }
        let entry = NewEntry {
            title: request.title.clone(),
            owner: request.owner.clone(),
            tags: request.tags.clone(),
            status: request.status,
            forward: request.forward,
            below: below.map(Target::into_owned),
            expires: request.expires.clone(),
            variants: request.variants.clone(),
            ..entry
        };
        let (path, is_new_file) = match &request.destination {
            Destination::Document(name) => {
                (placement::document(site, name.as_deref())?.into(), false)
            }
            Destination::Fragment(directory) => {
                let name = placement::fragment_name(code.as_str());
                let name = name.ok_or_else(|| RegistrationRefusal::NameTooLong {
                    code: code.to_string(),
                })?;
                let path = match directory.trim_end_matches('/') {
                    "" => name,
                    directory => format!("{directory}/{name}"),
                };
                (path.into(), true)
            }
        };
        Ok(Self {
            site,
            entry,
            path,
            is_new_file,
        })
    }

    /// Returns whether a URL of the entry is under a site of the table.
    pub(crate) fn leads_back(&self, table: &Table) -> bool {
        let NewEntry {
            url,
            below,
            variants,
            ..
        } = &self.entry;
        let mut own = url.iter().chain(below);
        own.any(|url| table.covers(url)) || variants.iter().any(|it| leads_back(it, table))
    }

    /// Returns the own code of the entry.
    pub(crate) fn code(&self) -> Cow<'_, Code> {
        self.entry.own_code(self.site.scheme())
    }

    /// Returns all codes of the entry, its own first.
    pub(crate) fn codes(&self) -> impl Iterator<Item = Cow<'_, Code>> {
        let aliases = self.entry.aliases.iter().map(Cow::Borrowed);
        std::iter::once(self.code()).chain(aliases)
    }
}

/// Returns whether a URL of a variant is under a site of the table.
fn leads_back(variant: &OwnedVariant, table: &Table) -> bool {
    table.covers(&variant.target) || variant.below.iter().any(|it| table.covers(it))
}

/// Returns the target of a request, checked without regard to the table.
///
/// # Errors
///
/// If the request is refused for any table.
pub(super) fn target_of(request: &RegistrationRequest) -> Result<Target<'_>, RegistrationRefusal> {
    let target = Target::parse(&request.url)?;
    check_texts(
        request.title.as_deref(),
        request.owner.as_deref(),
        &request.tags,
    )?;
    Ok(target)
}

/// Checks the human-readable texts of an entry.
pub(crate) fn check_texts(
    title: Option<&str>,
    owner: Option<&str>,
    tags: &[String],
) -> Result<(), ControlCharacter> {
    let title = title.map(|it| ("title", it)).into_iter();
    let owner = owner.map(|it| ("owner", it)).into_iter();
    let tags = tags.iter().map(|it| ("tag", &**it));
    for (what, text) in title.chain(owner).chain(tags) {
        if let Some(character) = text.chars().find(|c| c.is_control()) {
            return Err(ControlCharacter { what, character });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{SourceFile, compile};
    use crate::registry::decide::RequestedCode;

    /// Returns why a request is refused.
    fn refusal(request: &RegistrationRequest) -> String {
        let file = |path: &str, text: &str| SourceFile {
            path: path.into(),
            bytes: text.into(),
        };
        let files = [
            file("a.yaml", "base_url: https://s.code/\nmapping: []\n"),
            file("b.yaml", "base_url: https://s.code/go/\nmapping: []\n"),
        ];
        let table = compile(&files).table.unwrap();
        let request = RegistrationRequest {
            url: "https://e.org/".to_owned(),
            site: Some("https://s.code/".to_owned()),
            ..request.clone()
        };
        let target = target_of(&request).unwrap();
        let now = Timestamp::parse_start("2026-11-22").unwrap();
        let addition = Addition::of(&request, target, &table, |_| None, now);
        addition.err().map_or_else(String::new, |it| it.to_string())
    }

    #[test]
    fn a_link_that_would_not_work_is_refused() {
        let unreachable =
            "the code \"go/x\" cannot be reached: the site https://s.code/go/ answers its path";
        let coded = |code: &str| RegistrationRequest {
            code: RequestedCode::Custom(code.to_owned()),
            ..RegistrationRequest::default()
        };
        assert_eq!(refusal(&coded("go/x")), unreachable);
        assert_eq!(refusal(&coded("gone/x")), "");
        let alias = RegistrationRequest {
            aliases: vec!["go/x".to_owned()],
            ..coded("x")
        };
        assert_eq!(refusal(&alias), unreachable);
        for (date, expected) in [
            ("2026-11-21", "the link would have expired already"),
            ("2026-11-22", ""),
        ] {
            let dated = RegistrationRequest {
                expires: date.parse().ok(),
                ..coded("x")
            };
            assert_eq!(refusal(&dated), expected, "{date}");
        }
    }
}
