//! Registering on a remote's branch: the registration, and the commit that holds it.

use std::time::{Duration, SystemTime};

use super::branch::{Branch, Published, TablePath, publish};
use super::edit::Edit;
use super::publish_error::PublishError;
use crate::registry::decide::{Registration, RegistrationRefusal, RegistrationRequest, register};

/// Why nothing was registered on a remote's branch.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OnlineError {
    /// The request is refused.
    #[error(transparent)]
    Refused(#[from] RegistrationRefusal),
    /// It could not be published.
    #[error(transparent)]
    Publish(#[from] PublishError),
}

/// Registers a request in the table on a remote's branch, retrying on newer tips for as long as
/// `timeout` lasts. Blocks the thread.
///
/// # Errors
///
/// If the request is refused or cannot be published; then nothing has changed.
pub fn register_on_branch(
    branch: &mut impl Branch,
    table: &TablePath,
    request: &RegistrationRequest,
    timeout: Duration,
) -> Result<(Registration, Published), OnlineError> {
    let mut last = None;
    let published = publish(branch, table, timeout, |tip| {
        let now = SystemTime::now().into();
        let registration = register(&tip.files, request, table.max_bytes(), now)?;
        let edit = Edit {
            files: vec![registration.file.clone()],
            message: message(&registration),
        };
        last = Some(registration);
        Ok::<_, OnlineError>(edit)
    })?;
    Ok((last.expect("what was published was computed"), published))
}

/// Returns the message of the commit with a registration: its link, and its statements as trailers
/// (git-interpret-trailers(1)).
pub(crate) fn message(registration: &Registration) -> String {
    let Registration {
        code,
        short_url,
        trailers,
        ..
    } = registration;
    let mut message = format!("Add {code}\n\nShort-Link: {short_url}\n");
    for trailer in trailers {
        message += trailer;
        message.push('\n');
    }
    message
}
