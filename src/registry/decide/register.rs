//! From one request and a table to a registration, or to a refusal: a batch of one.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::addition::target_of;
use super::batch::{Decision, Registered, register_all};
use super::proof::ProvedTable;
use super::refusal::RegistrationRefusal;
use super::request::RegistrationRequest;
use crate::mapping::{Diagnostic, Place, Table, Timestamp};
use crate::registry::text::{TableText, TextFile};

/// A link that is registered once its file is written.
#[derive(Debug)]
pub struct Registration {
    /// The table before.
    pub before: Arc<Table>,
    /// The code.
    pub code: String,
    /// The short link.
    pub short_url: String,
    /// Its target, in canonical form.
    pub target: String,
    /// The place of its entry.
    pub place: Place,
    /// The file to write, with its new text.
    pub file: TextFile,
    /// The table with that file.
    pub proved: ProvedTable,
    /// The warnings that the entry causes.
    pub warnings: Vec<Diagnostic>,
    /// The trailers of a commit that state that the shadowing by its codes is intended.
    pub trailers: BTreeSet<String>,
}

/// Registers a request in a table with this text, of at most `max_bytes` in total.
///
/// # Errors
///
/// Returns the first reason why the request is refused: the target is checked first, then whether
/// it has a link, then codes, then the file, then the resulting table, and last what the codes
/// would shadow.
pub fn register(
    text: &TableText,
    request: &RegistrationRequest,
    max_bytes: u64,
    now: Timestamp,
) -> Result<Registration, RegistrationRefusal> {
    target_of(request)?;
    let compiled = text.compiled()?;
    let requests = std::slice::from_ref(request);
    let Decision {
        mut outcomes,
        mut changed,
        proved,
        warnings,
    } = register_all(text.files(), &compiled, requests, max_bytes, now);
    let outcome = outcomes.pop().flatten();
    let registered = outcome.expect("at least one outcome is known")?;
    let proved = proved.expect("what is registered is proved");
    Ok(Registration {
        before: compiled.table,
        place: place(&proved, &registered).expect("what is registered is in the proved table"),
        code: registered.code,
        short_url: registered.short_url,
        target: registered.target,
        file: changed.remove(0),
        proved,
        warnings,
        trailers: registered.trailers,
    })
}

/// Returns the place of a registered link in the table.
fn place(proved: &ProvedTable, registered: &Registered) -> Option<Place> {
    let mut sites = proved.table.table.sites().iter();
    let site = sites.find(|site| site.base_url().as_str() == registered.site)?;
    Some(site.lookup(&registered.code)?.place())
}
