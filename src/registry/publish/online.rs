//! Registering on a remote's branch: the registration, and the commit that holds it.

use std::time::{Duration, SystemTime};

use super::branch::{Branch, Edit, PublishError, Published, TablePath, publish};
use crate::registry::decide::{Registration, RegistrationRefusal, RegistrationRequest, register};

/// Registers a request in the table on a remote's branch, retrying on newer tips for as long as
/// `timeout` lasts. Blocks the thread.
///
/// # Errors
///
/// If it cannot be published. A refusal of the request is a returned value; in both cases nothing
/// has changed.
pub fn register_on_branch(
    branch: &mut impl Branch,
    table: &TablePath,
    request: &RegistrationRequest,
    timeout: Duration,
) -> Result<Result<(Registration, Published), RegistrationRefusal>, PublishError> {
    let mut last = None;
    let published = publish(branch, table, timeout, |files| {
        let registration = register(files, request, table.max_bytes(), SystemTime::now().into())?;
        let edit = Edit {
            files: vec![registration.file.clone()],
            message: message(&registration),
        };
        last = Some(registration);
        Ok(edit)
    })?;
    let registered = |published| {
        let registration = last.expect("what was published was computed");
        (registration, published)
    };
    Ok(published.map(registered))
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
