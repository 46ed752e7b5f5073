//! Drafts: entries that a table allows, before their files are written.

use super::refusal::Refusal;
use super::request::{Destination, Wish};
use super::{choice, placement};
use crate::edit::NewEntry;
use crate::mapping::{Code, Site, Table, Target, Timestamp};

/// An entry that may be written.
pub(crate) struct Draft<'t> {
    /// The site to which it is added.
    pub(crate) site: &'t Site,
    /// Its target.
    pub(crate) target: Target<'static>,
    pub(crate) entry: NewEntry,
    pub(crate) code: Code,
    /// The path of the file to which it is added.
    pub(crate) path: String,
    /// Whether that file is new.
    pub(super) is_new_file: bool,
}

impl<'t> Draft<'t> {
    /// Drafts the entry for a wish, with the [target](target_of) of the wish; `highest` is the
    /// highest existing number of a site.
    ///
    /// # Errors
    ///
    /// Returns the first reason for refusal: whether the target has a link is checked first, then
    /// codes, then the file.
    pub(crate) fn of(
        wish: &Wish,
        target: Target<'_>,
        table: &'t Table,
        highest: impl FnOnce(&'t Site) -> Option<u64>,
        now: Timestamp,
    ) -> Result<Self, Refusal> {
        if table.covers(&target) {
            return Err(Refusal::OwnLink);
        }
        let site = placement::site(table, wish.site.as_deref(), &wish.destination)?;
        if let Some(holder) = choice::registered(site, &target, now) {
            return Err(Refusal::AlreadyRegistered(holder));
        }
        let own = choice::own_code(site, &wish.code, &target, highest, now)?;
        let target = target.into_owned();
        let mut entry = NewEntry::new(target.clone(), own);
        let code = entry.own_code(site.scheme()).into_owned();
        entry.aliases = choice::aliases(site, wish, &code, now)?;
        let entry = NewEntry {
            title: wish.title.clone(),
            owner: wish.owner.clone(),
            tags: wish.tags.clone(),
            status: wish.status,
            forward: wish.forward,
            expires: wish.expires.clone(),
            ..entry
        };
        let (path, is_new_file) = match &wish.destination {
            Destination::Document(name) => (
                placement::document(site, name.as_deref())?.to_owned(),
                false,
            ),
            Destination::Fragment(directory) => {
                let name = placement::fragment_name(code.as_str());
                let name = name.ok_or_else(|| Refusal::NameTooLong {
                    code: code.to_string(),
                })?;
                let path = match directory.trim_end_matches('/') {
                    "" => name,
                    directory => format!("{directory}/{name}"),
                };
                (path, true)
            }
        };
        Ok(Self {
            site,
            target,
            entry,
            code,
            path,
            is_new_file,
        })
    }

    /// Returns all codes of the entry, its own first.
    pub(crate) fn codes(&self) -> impl Iterator<Item = &Code> {
        std::iter::once(&self.code).chain(&self.entry.aliases)
    }
}

/// Returns the target of a wish, checked without regard to the table.
///
/// # Errors
///
/// If the wish is refused for any table.
pub(super) fn target_of(wish: &Wish) -> Result<Target<'_>, Refusal> {
    let target = Target::parse(&wish.url)?;
    check_texts(wish.title.as_deref(), wish.owner.as_deref(), &wish.tags)?;
    match &wish.expires {
        Some(text) if Timestamp::parse_end(text).is_none() => {
            Err(Refusal::Expires { text: text.clone() })
        }
        _ => Ok(target),
    }
}

/// Checks the human-readable texts of a new entry.
pub(crate) fn check_texts(
    title: Option<&str>,
    owner: Option<&str>,
    tags: &[String],
) -> Result<(), Refusal> {
    let title = title.map(|it| ("title", it)).into_iter();
    let owner = owner.map(|it| ("owner", it)).into_iter();
    let tags = tags.iter().map(|it| ("tag", &**it));
    for (what, text) in title.chain(owner).chain(tags) {
        if let Some(character) = text.chars().find(|c| c.is_control()) {
            return Err(Refusal::ControlCharacter { what, character });
        }
    }
    Ok(())
}
