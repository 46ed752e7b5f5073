//! One connection to a remote, in a process of its own: the answers to the remote's requests, and
//! the meaning of its errors.
//!
//! libgit2 replaces the messages of a callback by its own, so the reasons are kept separately.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use git2::cert::Cert;
use git2::{CertificateCheckStatus, ErrorClass, ErrorCode, ProxyOptions, Remote, RemoteCallbacks};

use crate::git::damage::is_damage;
use crate::git::foreign_repository;
use crate::git::secrets::{Secrets, secrets_in_address};
use crate::git::setting::Setting;
use crate::git::transport::orders::{Bounds, Job, Progress};
use crate::git::transport::remote::{
    CredentialAnswers, HostKeyError, HostKeys, RemoteUrl, TransferFailure,
};

/// The messages about a remote that sends too many bytes, or too much for the memory.
const TOO_MANY_BYTES: &str = "the remote sends more than the setting \"max fetch bytes\" allows: \
    if it is to hold as much, raise that";
const TOO_MUCH_MEMORY: &str = "what the remote sends takes too much memory: it has references \
    without end, or an object larger than the setting \"max fetch bytes\"; raise that if it is to \
    hold such objects";

/// The answers for a remote, and the results of its requests.
pub(crate) struct RemoteSession {
    notes: Rc<RefCell<TransferNotes>>,
    known: Option<HostKeys>,
    secrets: Secrets,
    bounds: Bounds,
    progress: Option<Progress>,
}

struct TransferNotes {
    answers: CredentialAnswers,
    /// Why the host's key was refused.
    host_key: Option<TransferFailure>,
    /// The bytes received by completed downloads, and by the current one.
    received: (u64, u64),
    /// Whether too much was received.
    excess: bool,
}

impl RemoteSession {
    /// Prepares the answers for the remote of a job.
    pub(crate) fn of(job: &Job) -> Self {
        Self {
            notes: Rc::new(RefCell::new(TransferNotes {
                answers: CredentialAnswers::new(job.login.clone(), &job.remote),
                host_key: None,
                received: (0, 0),
                excess: false,
            })),
            known: job.host_keys.clone(),
            bounds: job.bounds,
            progress: None,
            secrets: Secrets::new(job.login.secrets()).with(secrets_of(&job.remote)),
        }
    }

    /// Reports how much has arrived, from now on.
    pub(crate) fn reporting_to(self, progress: &Progress) -> Self {
        Self {
            progress: Some(progress.clone()),
            ..self
        }
    }

    /// Reports that everything has arrived that was requested outside of libgit2.
    pub(crate) fn complete(&self) {
        if let Some(progress) = &self.progress {
            progress.complete();
        }
    }

    /// Records the address that is really used, by `url.….insteadOf` in Git's configuration.
    pub(crate) fn leads_to(&mut self, remote: &Remote<'_>) {
        if let Ok(rewritten) = remote.url() {
            self.secrets = self.secrets.clone().with(secrets_of(rewritten));
            self.notes.borrow_mut().answers.address = rewritten.to_owned();
        }
    }

    /// Returns the maximum size of an object in memory.
    pub(crate) fn max_object(&self) -> u64 {
        self.bounds.max_object()
    }

    /// Returns the secrets to redact.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Returns an error with our own reason for it, if there is one, in a form for people.
    pub(crate) fn explain(&self, error: TransferFailure) -> TransferFailure {
        let notes = self.notes.borrow();
        let reason = notes
            .host_key
            .clone()
            .or_else(|| notes.answers.given_up.clone());
        let excess = || notes.excess.then(too_many_bytes);
        let failure = reason.or_else(excess).unwrap_or(error);
        TransferFailure {
            message: self.secrets.readable(&failure.message),
            ..failure
        }
    }

    /// Allows memory for objects, once all references are listed.
    pub(crate) fn begin_transfer(&self) -> Result<(), TransferFailure> {
        (self.bounds.widen()).map_err(|error| {
            TransferFailure::new(format!("cannot set the limits of a transfer: {error}"))
        })
    }

    /// Returns the function that counts each bytes received outside of libgit2, and fails above the
    /// receive limit.
    pub(crate) fn counter(&self) -> impl FnMut(u64) -> io::Result<()> + use<> {
        let (notes, bounds) = (Rc::clone(&self.notes), self.bounds);
        let reports = self.progress.clone();
        move |length| {
            let mut notes = notes.borrow_mut();
            notes.received.0 += length;
            if let Some(reports) = &reports {
                reports.received(notes.received.0);
            }
            if bounds.allow(notes.received.0) {
                return Ok(());
            }
            notes.excess = true;
            Err(io::Error::other(TOO_MANY_BYTES))
        }
    }

    /// Checks that the number of bytes is within the receive limit.
    pub(crate) fn bound(&self, bytes: u64) -> Result<(), git2::Error> {
        if self.bounds.allow(bytes) {
            return Ok(());
        }
        self.notes.borrow_mut().excess = true;
        Err(git2::Error::from_str(TOO_MANY_BYTES))
    }

    /// Returns the callbacks for libgit2.
    pub(crate) fn callbacks<'cb>(&self) -> RemoteCallbacks<'cb> {
        let mut callbacks = RemoteCallbacks::new();
        let notes = Rc::clone(&self.notes);
        callbacks.credentials(move |asked_at, user, allowed| {
            notes.borrow_mut().answers.answer(asked_at, user, allowed)
        });
        let notes = Rc::clone(&self.notes);
        let known = self.known.clone();
        callbacks.certificate_check(move |certificate, _| {
            check(certificate, known.as_ref()).map_err(|error| {
                let (message, setting) = (error.to_string(), error.setting());
                let reason = TransferFailure::new(message.as_str()).with_setting(setting);
                notes.borrow_mut().host_key = Some(reason);
                git2::Error::new(ErrorCode::Certificate, ErrorClass::Ssh, message)
            })
        });
        let (notes, bounds) = (Rc::clone(&self.notes), self.bounds);
        let reports = self.progress.clone();
        callbacks.transfer_progress(move |progress| {
            let mut notes = notes.borrow_mut();
            let received = progress.received_bytes() as u64;
            if received < notes.received.1 {
                // Another download has begun.
                notes.received.0 += notes.received.1;
            }
            notes.received.1 = received;
            let total = notes.received.0 + received;
            if let Some(reports) = &reports {
                let objects = (progress.received_objects(), progress.total_objects());
                match objects.1 > 0 && objects.0 >= objects.1 {
                    true => reports.complete(),
                    false => reports.received(total),
                }
            }
            let allowed = bounds.allow(total);
            if !allowed {
                notes.excess = true;
            }
            allowed
        });
        callbacks
    }
}

/// Returns the failure of a transfer that takes too much memory.
pub(crate) fn too_much_memory() -> TransferFailure {
    TransferFailure::new(TOO_MUCH_MEMORY).with_setting(Setting::MaxFetchBytes)
}

/// Returns the failure of a transfer that received too many bytes.
fn too_many_bytes() -> TransferFailure {
    TransferFailure::new(TOO_MANY_BYTES).with_setting(Setting::MaxFetchBytes)
}

fn secrets_of(address: &str) -> Vec<String> {
    RemoteUrl::parse(address)
        .map_or_else(|_| secrets_in_address(address), |it| it.secrets().collect())
}

/// Checks an SSH host's key; TLS certificates are checked by libgit2 itself.
fn check(
    certificate: &Cert<'_>,
    known: Option<&HostKeys>,
) -> Result<CertificateCheckStatus, HostKeyError> {
    let Some(shown) = certificate.as_hostkey() else {
        return Ok(CertificateCheckStatus::CertificatePassthrough);
    };
    let key = shown.hostkey().ok_or(HostKeyError::NotShown)?;
    let known = known.ok_or(HostKeyError::NotLookedUp)?;
    known.check(key)?;
    Ok(CertificateCheckStatus::CertificateOk)
}

/// Returns options to use the proxy of Git's configuration and the environment.
pub(crate) fn proxy<'cb>() -> ProxyOptions<'cb> {
    let mut options = ProxyOptions::new();
    options.auto();
    options
}

/// Returns the meaning of a Git error, with a remedy.
pub(crate) fn failure(error: &git2::Error) -> TransferFailure {
    let said = error.message().trim();
    let mut setting = None;
    let message = match (error.code(), error.class()) {
        // libgit2 loses the code if the remote is a path.
        (ErrorCode::Owner, _) | (_, ErrorClass::Config) if said.contains("not owned by") => {
            format!("{said}: {}", foreign_repository::advice("PATH"))
        }
        // libgit2 loses the code of a certificate that it has checked itself.
        (ErrorCode::Certificate, _) | (_, ErrorClass::Ssl) if said.contains("certificate") => {
            format!("{said}: if the remote has an authority of its own, name it in SSL_CERT_FILE")
        }
        // The schemes were checked before, so libgit2 has taken a missing path for one.
        (_, ErrorClass::NoMemory) => {
            setting = Some(Setting::MaxFetchBytes);
            TOO_MUCH_MEMORY.to_owned()
        }
        _ if said == "unsupported URL protocol" => "no repository is there".to_owned(),
        _ => said.to_owned(),
    };
    TransferFailure {
        damage: is_damage(error),
        setting,
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_what_to_do_about_another_users_repository() {
        for code in [ErrorCode::Owner, ErrorCode::GenericError] {
            let said = "repository path '/r' is not owned by current user";
            let failure = failure(&git2::Error::new(code, ErrorClass::Config, said));
            let message = failure.message;
            assert!(message.contains("safe.directory"), "{message}");
        }
    }

    #[test]
    fn reports_how_to_trust_an_authority_of_ones_own() {
        for code in [ErrorCode::Certificate, ErrorCode::GenericError] {
            let said = "the SSL certificate is invalid";
            let failure = failure(&git2::Error::new(code, ErrorClass::Ssl, said));
            assert!(failure.message.starts_with(said), "{}", failure.message);
            assert!(
                failure.message.contains("SSL_CERT_FILE"),
                "{}",
                failure.message
            );
        }
    }
}
