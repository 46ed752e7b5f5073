//! A wish and a table to a registration, or to why there is none.
//!
//! Invariant: what a registration writes is the table and one entry more, by what both mean.

use std::collections::BTreeSet;

use super::draft::{Draft, target_of};
use super::drafts;
use super::proof::{Before, Proof};
use super::refusal::Refusal;
use super::wish::Wish;
use crate::mapping::{Diagnostic, Place, Site, SourceFile, Timestamp};

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
    /// The trailers of a commit that state that its codes are meant to shadow what they do.
    pub trailers: BTreeSet<String>,
}

/// Registers a wish in a table of these files, which may come to `max_bytes`.
///
/// # Errors
///
/// Returns the first reason why the wish is not registered: the target is looked at first, then
/// whether it has a link, then codes, then the file, then what the table would be, and last what
/// the codes would shadow.
pub fn register(
    files: &[SourceFile],
    wish: &Wish,
    max_bytes: u64,
    now: Timestamp,
) -> Result<Registration, Refusal> {
    let target = target_of(wish)?;
    let before = Before::of(files, max_bytes, now)?;
    let draft = Draft::of(wish, target, &before.table, Site::highest_number, now)?;
    let drafts = std::slice::from_ref(&draft);
    let mut written = drafts::write(&before.table, files, drafts)?;
    let Proof {
        mut places,
        warnings,
        shadowings,
    } = before.prove(&written, &[(draft.site, &draft.entry)], now)?;
    let mut refusals = shadowings.iter().map(|it| it.refusal(&wish.may_shadow));
    if let Some(refusal) = refusals.find_map(|it| it) {
        return Err(refusal);
    }
    Ok(Registration {
        short_url: draft.site.short_url(draft.code.as_str()),
        code: draft.code.to_string(),
        target: draft.target.into_string(),
        place: places.remove(0),
        file: written.remove(0),
        is_new_file: draft.is_new_file,
        warnings,
        trailers: shadowings.into_iter().map(|it| it.trailer).collect(),
    })
}
