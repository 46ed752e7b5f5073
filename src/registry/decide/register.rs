//! From a request and a table to a registration, or to a refusal.
//!
//! Invariant: a registration adds exactly one entry to the meaning of the table.

use std::collections::BTreeSet;

use super::draft::{Draft, target_of};
use super::drafts;
use super::proof::{Base, Proof};
use super::refusal::RegistrationRefusal;
use super::request::RegistrationRequest;
use crate::mapping::{Diagnostic, Place, Site, SourceFile, Timestamp};

/// A link that is registered once its file is written.
#[derive(Debug, Clone)]
pub struct Registration {
    /// The code.
    pub code: String,
    /// The short link.
    pub short_url: String,
    /// Its target, in canonical form.
    pub target: String,
    /// The place of its entry.
    pub place: Place,
    /// The file to write, with its new text.
    pub file: SourceFile,
    /// Whether that file is new.
    pub is_new_file: bool,
    /// The warnings that the entry causes.
    pub warnings: Vec<Diagnostic>,
    /// The trailers of a commit that state that the shadowing by its codes is intended.
    pub trailers: BTreeSet<String>,
}

/// Registers a request in a table of these files, of at most `max_bytes` in total.
///
/// # Errors
///
/// Returns the first reason why the request is refused: the target is checked first, then whether
/// it has a link, then codes, then the file, then the resulting table, and last what the codes
/// would shadow.
pub fn register(
    files: &[SourceFile],
    request: &RegistrationRequest,
    max_bytes: u64,
    now: Timestamp,
) -> Result<Registration, RegistrationRefusal> {
    let target = target_of(request)?;
    let before = Base::of(files, max_bytes, now)?;
    let draft = Draft::of(request, target, &before.table, Site::highest_number, now)?;
    let drafts = std::slice::from_ref(&draft);
    let mut written = drafts::write(&before.table, files, drafts)?;
    let Proof {
        mut places,
        warnings,
        shadowings,
    } = before.prove(&written, &[(draft.site, &draft.entry)], now)?;
    let mut refusals = shadowings.iter().map(|it| it.refusal(&request.may_shadow));
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
