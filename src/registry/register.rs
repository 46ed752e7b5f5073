//! A wish and a table to a registration, or to why there is none.
//!
//! Invariant: what a registration writes is the table and one entry more, by what both mean.

use std::sync::Arc;

use super::proof::{Before, Proof};
use super::{Destination, Holder, Refusal, Wish, choice, spot};
use crate::edit::{self, NewEntry};
use crate::mapping::{Diagnostic, Place, Site, SourceFile, Table, Target, Timestamp, compile};

/// A link that is registered once its file is written.
#[derive(Debug, Clone)]
pub struct Registration {
    /// The code.
    pub code: String,
    /// The short link.
    pub short_url: String,
    /// Where it leads, in canonical form.
    pub target: String,
    /// Where its entry is written.
    pub place: Place,
    /// The file to write, as it shall be.
    pub file: SourceFile,
    /// Whether that file is new.
    pub is_new_file: bool,
    /// What is odd about the table since the entry is in it.
    pub warnings: Vec<Diagnostic>,
}

/// Registers a wish in a table of these files.
///
/// # Errors
///
/// Returns the first reason why the wish is not registered: the target is looked at first, then
/// whether it has a link, then codes, then the file.
pub fn register(
    files: &[SourceFile],
    wish: &Wish,
    now: Timestamp,
) -> Result<Registration, Refusal> {
    let target = Target::parse(&wish.url)?;
    check_texts(wish)?;
    let mut old = compile(files);
    old.run_tests(now);
    let Some(table) = &old.table else {
        return Err(Refusal::TableHasErrors(old.diagnostics));
    };
    if table.covers(&target) {
        return Err(Refusal::OwnLink);
    }
    let site = spot::site(table, wish.site.as_deref(), &wish.destination)?;
    if let Some(holder) = registered(site, &target, now) {
        return Err(Refusal::AlreadyRegistered(holder));
    }
    let entry = new_entry(site, wish, &target, now)?;
    let (file, is_new_file) = write(table, site, files, wish, &entry)?;
    let before = Before {
        files,
        table,
        problems: &old.diagnostics,
    };
    let Proof { places, warnings } =
        before.prove(site, &file, std::slice::from_ref(&entry), now)?;
    let code = entry.own_code(site.scheme()).to_string();
    Ok(Registration {
        short_url: site.short_url(&code),
        code,
        target: target.into_string(),
        place: places.into_iter().next().ok_or(Refusal::SideEffects)?,
        file,
        is_new_file,
        warnings,
    })
}

fn check_texts(wish: &Wish) -> Result<(), Refusal> {
    let title = wish.title.iter().map(|it| ("title", it));
    let owner = wish.owner.iter().map(|it| ("owner", it));
    let tags = wish.tags.iter().map(|it| ("tag", it));
    for (what, text) in title.chain(owner).chain(tags) {
        if let Some(character) = text.chars().find(|c| c.is_control()) {
            return Err(Refusal::ControlCharacter { what, character });
        }
    }
    match &wish.expires {
        Some(text) if Timestamp::parse_end(text).is_none() => {
            Err(Refusal::Expires { text: text.clone() })
        }
        _ => Ok(()),
    }
}

/// Returns the entry that a target has: a live one before one that is gone.
fn registered(site: &Site, target: &Target<'_>, now: Timestamp) -> Option<Box<Holder>> {
    let entries = site.leading_to(target.as_str());
    let live = entries.iter().find(|entry| !entry.is_gone(now));
    // Who has the code that the target's hash spells and has dropped its own target had this one.
    let taken_down = || {
        let code = site.scheme().code(target.as_str());
        let holder = site.lookup(code.as_str());
        holder.filter(|entry| entry.target().is_none())
    };
    let found = live.or(entries.first()).copied().or_else(taken_down)?;
    Some(Holder::of(found, now))
}

fn new_entry(
    site: &Site,
    wish: &Wish,
    target: &Target<'_>,
    now: Timestamp,
) -> Result<NewEntry, Refusal> {
    let code = choice::own_code(site, &wish.code, target, now)?;
    let mut entry = NewEntry::new(target.clone().into_owned(), code);
    entry.aliases = choice::aliases(site, wish, &entry.own_code(site.scheme()), now)?;
    Ok(NewEntry {
        title: wish.title.clone(),
        owner: wish.owner.clone(),
        tags: wish.tags.clone(),
        status: wish.status,
        forward: wish.forward,
        expires: wish.expires.clone(),
        ..entry
    })
}

/// Returns the file that the entry goes into, with it, and whether the file is new.
fn write(
    table: &Table,
    site: &Site,
    files: &[SourceFile],
    wish: &Wish,
    entry: &NewEntry,
) -> Result<(SourceFile, bool), Refusal> {
    let name = match &wish.destination {
        Destination::Document(name) => name,
        Destination::Fragment(directory) => {
            let name = spot::fragment_name(entry.own_code(site.scheme()).as_str());
            let path = match directory.trim_end_matches('/') {
                "" => name,
                directory => format!("{directory}/{name}"),
            };
            let there = |file: &SourceFile| *file.path == *path || *file.path == **directory;
            if files.iter().any(there) {
                return Err(Refusal::FileExists { path });
            }
            let base_url = match table.sites() {
                [_] => String::new(),
                _ => format!("base_url: {}\n", site.base_url().as_str()),
            };
            let file = SourceFile {
                path: path.into(),
                bytes: format!("{base_url}mapping:\n{entry}\n").into_bytes(),
            };
            return Ok((file, true));
        }
    };
    let path = spot::document(site, name.as_deref())?;
    let old = files.iter().find(|file| *file.path == *path);
    let old = old.expect("a table is compiled from these files");
    let text = edit::insert(old, std::slice::from_ref(entry));
    let text = text.map_err(|problems| Refusal::CannotInsert {
        problems,
        entry: entry.to_string(),
    })?;
    let file = SourceFile {
        path: Arc::clone(&old.path),
        bytes: text.into_bytes(),
    };
    Ok((file, false))
}
