//! Registering: in local files or on a remote's branch, and the commit that contains the
//! registration.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::branch::{Branch, Published, TablePath};
use super::checkout::UserCheckout;
use super::edit::Edit;
use super::local::{LocalError, change_in_files};
use super::on_branch::change_on_branch;
use super::publish_error::PublishError;
use super::table_change::{ChangeRun, TableChange};
use crate::mapping::Table;
use crate::registry::decide::{
    ProvedTable, Registration, RegistrationRefusal, RegistrationRequest, register,
};
use crate::registry::text::TableText;

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

/// A request to publish.
#[derive(Debug)]
pub struct RegistrationRun<'r> {
    /// The request.
    pub request: &'r RegistrationRequest,
    /// Whether this is a dry run, which writes and publishes nothing.
    pub is_dry_run: bool,
}

/// Registers a request in the table at these paths, files and directories, and writes it.
///
/// Waits for other writers. In a `checkout`, the file is also committed, or restored.
///
/// # Errors
///
/// If the request is refused, or a file cannot be read, written or committed; then nothing has
/// changed.
pub fn register_in_files(
    paths: &[PathBuf],
    max_bytes: u64,
    run: &RegistrationRun<'_>,
    checkout: Option<&UserCheckout>,
) -> Result<Registration, LocalError> {
    let decide = |text: &TableText| Ok::<_, LocalError>(run.decide(text, max_bytes)?);
    Ok(change_in_files(paths, max_bytes, checkout, decide)?.change)
}

/// Registers a request in the table on a remote's branch, retrying on newer tips for as long as
/// `timeout` lasts; a dry run publishes nothing. Blocks the thread.
///
/// # Errors
///
/// If the request is refused or cannot be published; then nothing has changed.
pub fn register_on_branch(
    branch: &mut impl Branch,
    table: &TablePath,
    run: &RegistrationRun<'_>,
    timeout: Duration,
) -> Result<(Registration, Option<Published>), OnlineError> {
    let max_bytes = table.max_bytes();
    let decide = |text: &TableText| Ok::<_, OnlineError>(run.decide(text, max_bytes)?);
    let (decided, published) = change_on_branch(branch, table, timeout, decide)?;
    Ok((decided.change, published))
}

impl RegistrationRun<'_> {
    fn decide(
        &self,
        text: &TableText,
        max_bytes: u64,
    ) -> Result<ChangeRun<Registration>, RegistrationRefusal> {
        let now = SystemTime::now().into();
        Ok(ChangeRun {
            change: register(text, self.request, max_bytes, now)?,
            is_dry_run: self.is_dry_run,
        })
    }
}

impl TableChange for Registration {
    fn edit(&self) -> Edit {
        Edit {
            files: vec![self.file.clone()],
            message: message(self),
        }
    }

    fn proved(&self) -> &ProvedTable {
        &self.proved
    }

    fn is_in(&self, table: &Table) -> bool {
        let entries = table
            .sites()
            .iter()
            .filter_map(|site| site.lookup(&self.code));
        let mut links = entries.map(|entry| (entry.short_url(), entry.target()));
        links.any(|(short_url, target)| {
            short_url == self.short_url && target.as_deref() == Some(&*self.target)
        })
    }
}

/// Returns the message of the commit with a registration: its link, and its statements as trailers
/// (git-interpret-trailers(1)).
fn message(registration: &Registration) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{SourceFile, Timestamp, compile};
    use crate::registry::text::TextFile;

    #[test]
    fn a_registration_is_found_among_other_changes() {
        let file = |text: &str| SourceFile {
            path: "mapping.yaml".into(),
            bytes: text.into(),
        };
        let old = file("base_url: https://s.code/\nmapping: []\n");
        let request = RegistrationRequest {
            url: "https://e.org/".to_owned(),
            ..RegistrationRequest::default()
        };
        let text = vec![TextFile::from(old.clone())].into();
        let registration = register(&text, &request, 1 << 20, Timestamp::MIN).unwrap();
        let edit = registration.edit();
        assert_eq!(edit.files, std::slice::from_ref(&registration.file));
        assert!(edit.message.starts_with("Add "), "{}", edit.message);
        let is_in = |file: SourceFile| registration.is_in(&compile(&[file]).table.unwrap());
        assert!(!is_in(old));
        let bytes = [
            &registration.file.whole().unwrap().bytes[..],
            b"tests: []\n",
        ]
        .concat();
        assert!(is_in(SourceFile {
            bytes,
            ..registration.file.whole().unwrap()
        }));
    }
}
