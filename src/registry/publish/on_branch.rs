//! Changes the table on a remote's branch, and computes the change again on each newer tip.

use std::time::Duration;

use super::branch::{Branch, Published, TablePath, publish};
use super::publish_error::PublishError;
use super::table_change::TableChange;
use crate::registry::text::TableText;

/// Publishes the change that `decide` makes of the table on a remote's branch, retrying on newer
/// tips for as long as `timeout` lasts; nothing is published if nothing changes. Blocks the thread.
///
/// # Errors
///
/// If `decide` fails or the change cannot be published; then nothing has changed.
pub(crate) fn change_on_branch<C: TableChange, E: From<PublishError>>(
    branch: &mut impl Branch,
    table: &TablePath,
    timeout: Duration,
    mut decide: impl FnMut(&TableText) -> Result<C, E>,
) -> Result<(C, Option<Published>), E> {
    let mut last = None;
    let published = publish(branch, table, timeout, |tip| {
        let change = decide(&tip.files.clone().into()).map_err(NotPublished::Failed)?;
        let edit = change.edit();
        last = Some(change);
        match edit.files.is_empty() {
            true => Err(NotPublished::Unchanged),
            false => Ok(edit),
        }
    });
    let published = match published {
        Ok(published) => Some(published),
        Err(NotPublished::Unchanged) => None,
        Err(NotPublished::Failed(error)) => return Err(error),
    };
    Ok((
        last.expect("what was published, or not, was decided"),
        published,
    ))
}

/// Why no commit was made.
pub(in crate::registry) enum NotPublished<E> {
    /// Nothing changes.
    Unchanged,
    Failed(E),
}

impl<E: From<PublishError>> From<PublishError> for NotPublished<E> {
    fn from(error: PublishError) -> Self {
        Self::Failed(error.into())
    }
}
