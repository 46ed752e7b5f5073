//! One fetch, as it is done in a process of its own: connect, choose, download.
//!
//! It may hang or be killed anywhere. So it changes nothing that counts: it adds objects, and in a
//! clone of our own moves a reference that only tells the remote what is here already.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process;
use std::rc::Rc;
use std::thread;

use git2::cert::Cert;
use git2::{
    AutotagOption, CertificateCheckStatus, Direction, ErrorClass, ErrorCode, FetchOptions, Oid,
    ProxyOptions, RemoteCallbacks, RemoteConnection, Repository,
};

use super::credentials::Answers;
use super::known_hosts::HostKeys;
use super::transfer::{Failure, Job, Tip};
use super::tree::is_damage;
use super::wanted::{Head, Wanted};

/// The reference that keeps the remote's tip in a clone of our own: what the remote is told of.
const TIP: &str = "refs/waypost/tip";

/// Held by the one process that fetches into a clone of our own.
const LOCK: &str = "waypost.lock";

/// Does the one fetch that is described in the first line of `input`, and writes the answer.
///
/// Ends the process when `input` ends: then whoever wants the answer is gone.
///
/// # Errors
///
/// If there is no job, or the answer cannot be written. That a fetch failed is an answer.
pub fn run_transfer(
    mut input: impl BufRead + Send + 'static,
    mut output: impl Write,
) -> io::Result<()> {
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line)?;
    let job: Job = serde_json::from_slice(&line)?;
    thread::spawn(move || {
        let _ = io::copy(&mut input, &mut io::sink());
        process::exit(1);
    });
    let answer = fetch(&job);
    serde_json::to_writer(&mut output, &answer)?;
    output.flush()
}

fn fetch(job: &Job) -> Result<Tip, Failure> {
    let mut _lock = None;
    let repository = if job.own {
        _lock = Some(enter(&job.repository).map_err(|error| Failure {
            damage: false,
            message: format!("cannot write to {}: {error}", job.repository.display()),
        })?);
        match job.repository.join("HEAD").exists() {
            true => Repository::open(&job.repository),
            false => Repository::init_bare(&job.repository),
        }
    } else {
        Repository::open(&job.repository)
    };
    let repository = repository.map_err(|error| failure(&error))?;

    let notes = Rc::new(RefCell::new(Notes {
        answers: Answers::new(job.login.clone(), &job.remote),
        host_key: None,
    }));
    let tip = Fetch {
        job,
        repository: &repository,
        notes: Rc::clone(&notes),
    }
    .run();
    tip.map_err(|error| {
        let notes = notes.borrow();
        let told = notes.host_key.as_ref().or(notes.answers.given_up.as_ref());
        match told {
            // libgit2 puts words of its own in place of ours.
            Some(reason) => Failure {
                damage: false,
                message: reason.clone(),
            },
            None => error,
        }
    })
}

/// Makes a clone's directory, waits for its last fetch to be gone, and removes what that has left.
fn enter(repository: &Path) -> io::Result<File> {
    fs::create_dir_all(repository)?;
    let lock = File::create(repository.join(LOCK))?;
    lock.lock()?;
    remove_leftovers(repository)?;
    Ok(lock)
}

fn remove_leftovers(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            remove_leftovers(&entry.path())?;
        } else if name != LOCK && (name.ends_with(".lock") || name.contains("_git2_")) {
            // libgit2's names for locks and for what is not yet whole.
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// What the remote's questions led to.
struct Notes {
    answers: Answers,
    /// Why the host's key was refused.
    host_key: Option<String>,
}

struct Fetch<'a> {
    job: &'a Job,
    repository: &'a Repository,
    notes: Rc<RefCell<Notes>>,
}

impl Fetch<'_> {
    fn run(&self) -> Result<Tip, Failure> {
        if let Some(id) = self.job.wanted.commit()
            && self.repository.find_commit(id).is_ok()
        {
            // It cannot be another one tomorrow.
            return self.keep(None, id);
        }
        let address = self.job.remote.as_str();
        let mut remote = (self.repository.remote_anonymous(address)).map_err(|e| failure(&e))?;
        if let Ok(rewritten) = remote.url() {
            // By `url.….insteadOf` in Git's configuration.
            self.notes.borrow_mut().answers.address = rewritten.to_owned();
        }
        let mut connection = remote
            .connect_auth(Direction::Fetch, Some(self.callbacks()), Some(proxy()))
            .map_err(|e| failure(&e))?;
        if let Wanted::Commit(id) = &self.job.wanted {
            return self.commit(&mut connection, id);
        }
        let heads = heads(&connection).map_err(|e| failure(&e))?;
        let choice = (self.job.wanted.choose(&heads)).map_err(|message| Failure {
            damage: false,
            message,
        })?;
        if self.repository.find_object(choice.id, None).is_err() {
            self.download(&mut connection, &[&choice.name], self.job.shallow)
                .map_err(|e| failure(&e))?;
        }
        self.keep(Some(choice.name), choice.id)
    }

    /// Fetches a commit by its id where the remote allows that, else among all branches and tags.
    fn commit(
        &self,
        connection: &mut RemoteConnection<'_, '_, '_>,
        id: &str,
    ) -> Result<Tip, Failure> {
        let oid = Oid::from_str(id).map_err(|e| failure(&e))?;
        let directly = self.download(connection, &[id], self.job.shallow);
        if directly.is_err() || self.repository.find_commit(oid).is_err() {
            // It connects again if the remote hung up.
            self.download(
                connection,
                &["refs/heads/*:refs/x/*", "refs/tags/*:refs/y/*"],
                false,
            )
            .map_err(|e| failure(&e))?;
        }
        self.keep(None, oid).map_err(|error| match error.damage {
            true => Failure {
                damage: false,
                message: format!("no branch or tag of the remote holds the commit {id}"),
            },
            false => error,
        })
    }

    fn download(
        &self,
        connection: &mut RemoteConnection<'_, '_, '_>,
        names: &[&str],
        shallow: bool,
    ) -> Result<(), git2::Error> {
        let mut options = FetchOptions::new();
        options
            .remote_callbacks(self.callbacks())
            .proxy_options(proxy())
            .download_tags(AutotagOption::None)
            .depth(i32::from(shallow));
        connection.remote().download(names, Some(&mut options))
    }

    /// Sees that a commit is here, and in a clone of our own that the next fetch builds on it.
    fn keep(&self, name: Option<String>, id: Oid) -> Result<Tip, Failure> {
        let object = self.repository.find_object(id, None);
        let commit =
            object
                .and_then(|object| object.peel_to_commit())
                .map_err(|error| match error.code() {
                    ErrorCode::Peel | ErrorCode::InvalidSpec => Failure {
                        damage: false,
                        message:
                            "what is followed leads to no commit: name a branch or tag with --ref"
                                .to_owned(),
                    },
                    _ => failure(&error),
                })?;
        if self.job.own {
            (self.repository.reference(TIP, commit.id(), true, "fetch"))
                .map_err(|e| failure(&e))?;
        }
        Ok(Tip {
            name,
            commit: commit.id().to_string(),
        })
    }

    fn callbacks<'cb>(&self) -> RemoteCallbacks<'cb> {
        let mut callbacks = RemoteCallbacks::new();
        let notes = Rc::clone(&self.notes);
        callbacks.credentials(move |asked_at, user, allowed| {
            notes.borrow_mut().answers.answer(asked_at, user, allowed)
        });
        let notes = Rc::clone(&self.notes);
        let known = self.job.host_keys.clone();
        callbacks.certificate_check(move |certificate, _| {
            check(certificate, known.as_ref()).map_err(|reason| {
                notes.borrow_mut().host_key = Some(reason.clone());
                git2::Error::new(ErrorCode::Certificate, ErrorClass::Ssh, reason)
            })
        });
        callbacks
    }
}

/// Judges an SSH host's key; certificates of TLS are judged by libgit2 itself.
fn check(
    certificate: &Cert<'_>,
    known: Option<&HostKeys>,
) -> Result<CertificateCheckStatus, String> {
    let Some(shown) = certificate.as_hostkey() else {
        return Ok(CertificateCheckStatus::CertificatePassthrough);
    };
    let key = shown.hostkey().ok_or("the host showed no key")?;
    let known = known.ok_or("the host's key was not looked up")?;
    known.check(key)?;
    Ok(CertificateCheckStatus::CertificateOk)
}

fn proxy<'cb>() -> ProxyOptions<'cb> {
    let mut options = ProxyOptions::new();
    options.auto();
    options
}

fn heads(connection: &RemoteConnection<'_, '_, '_>) -> Result<Vec<Head>, git2::Error> {
    let heads = connection.list()?.iter().map(|head| Head {
        name: head.name().to_owned(),
        id: head.oid(),
        leads_to: head.symref_target().map(str::to_owned),
    });
    Ok(heads.collect())
}

/// Says what an error of Git means, and what to do.
fn failure(error: &git2::Error) -> Failure {
    let said = error.message().trim();
    let message = match (error.code(), error.class()) {
        // libgit2 loses the code if the remote is a path.
        (ErrorCode::Owner, _) | (_, ErrorClass::Config) if said.contains("not owned by") => {
            format!(
                "{said}: run as its owner, or `git config --global --add safe.directory PATH` for it"
            )
        }
        // libgit2 loses the code of a certificate that it has judged itself.
        (ErrorCode::Certificate, _) | (_, ErrorClass::Ssl) if said.contains("certificate") => {
            format!("{said}: if the remote has an authority of its own, name it in SSL_CERT_FILE")
        }
        // The schemes were looked at before, so libgit2 has taken a path that is not there for one.
        _ if said == "unsupported URL protocol" => "no repository is there".to_owned(),
        _ => said.to_owned(),
    };
    Failure {
        damage: is_damage(error),
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_what_to_do_about_another_users_repository() {
        for code in [ErrorCode::Owner, ErrorCode::GenericError] {
            let said = "repository path '/r' is not owned by current user";
            let failure = failure(&git2::Error::new(code, ErrorClass::Config, said));
            let message = failure.message;
            assert!(message.contains("safe.directory"), "{message}");
        }
    }

    #[test]
    fn tells_how_to_trust_an_authority_of_ones_own() {
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
