//! Serving only commits signed by an allowed signer, with keys in the file that Git itself uses
//! (`gpg.ssh.allowedSignersFile`).
//!
//! Invariants: a commit that `git verify-commit` refuses with the same file is refused here too (on
//! a machine whose zone is UTC, since that is how a time without a zone is taken here), and so is
//! every commit while the file cannot be read or understood. The file is read again for each
//! commit, so that the removal of a signer takes effect immediately.
//!
//! # Which time counts
//!
//! Git checks whether the key was valid at the committer's date. The signer writes that date, so
//! anyone who finds an expired key would only have to backdate. A server, which serves new commits,
//! can be stricter: the key must be valid now *and* at the committer's date. The disadvantage is
//! that the last commit by a key that has expired since is refused when a server starts with it:
//! someone with a valid key must sign a new one. A commit that is already served is not checked
//! again.
//!
//! Left out: certificates (`cert-authority`), revocation lists, and signatures that are not SSH's.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use git2::Repository;
use ssh_key::HashAlg;
use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, PrimitiveDateTime};

use super::key_check::is_made_by_its_key;
use super::signature::{NAMESPACE, Signature};
use super::signer_line::SignerLine;
use super::signer_line_error::SignerLineError;
use super::verify::{Refusal, Verify};
use crate::git::commit_id::CommitId;
use crate::git::error_chain::chain;
use crate::git::regular::open_regular;

/// The size limit of the file: enough for thousands of keys.
const MAX: u64 = 1 << 20;

/// A file of allowed signers, read again for each commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedSigners {
    path: PathBuf,
}

/// The signer of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// The names of the signer, as in the file. They must not be compared with the author: only the
    /// key is checked.
    pub principals: String,
    /// The fingerprint of the key, as `ssh-keygen -l` shows it.
    pub fingerprint: String,
}

/// Why the allowed signers are not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignersError {
    /// The file cannot be read.
    #[error("cannot read the allowed signers in {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error from the system.
        #[source]
        source: io::Error,
    },
    /// The file is too large.
    #[error("{} is larger than 1 MiB: is it a file of allowed signers?", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// A line cannot be understood.
    #[error("{}:{line}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The error in the line.
        #[source]
        source: SignerLineError,
    },
    /// The file allows no signer.
    #[error("{} allows no signer: add a line with a name and a public key", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// Why a signature is not that of an allowed signer, phrased as a predicate of the commit.
#[derive(Debug, thiserror::Error)]
enum NotAllowed {
    #[error(
        "does not match its signature: it was changed, so have an allowed signer sign it again"
    )]
    Changed,
    #[error(
        "is signed by {principals} with a key that {objection} ({}:{line})",
        path.display()
    )]
    Restricted {
        principals: String,
        /// Why the key is not valid now.
        objection: String,
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    #[error(
        "is signed with the key {fingerprint}, which is not in {}: \
         have an allowed signer sign it, or add the key",
        path.display()
    )]
    UnknownKey { fingerprint: String, path: PathBuf },
}

impl AllowedSigners {
    /// Names a file, after checking that it can be used.
    ///
    /// # Errors
    ///
    /// If it cannot be read, has an invalid line, or allows no signer.
    pub fn read(path: impl Into<PathBuf>) -> Result<Self, SignersError> {
        let signers = Self { path: path.into() };
        signers.lines()?;
        Ok(signers)
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the signer of a commit, if it is allowed at a time.
    ///
    /// # Errors
    ///
    /// If it is not, or the file can no longer be used.
    pub fn signer(
        &self,
        repository: &Repository,
        commit: CommitId,
        now: SystemTime,
    ) -> Result<Signer, Refusal> {
        let short = commit.short();
        let refuse = |reason: String| Refusal(format!("{short} {reason}"));
        let unread = |error: git2::Error| refuse(format!("cannot be read: {}", error.message()));
        let time = repository.find_commit(commit.0).map_err(unread)?.time();
        let odb = repository.odb().map_err(unread)?;
        let object = odb.read(commit.0).map_err(unread)?;
        let signature = Signature::of(object.data()).map_err(|it| refuse(it.to_string()))?;
        let lines = self
            .lines()
            .map_err(|error| refuse(format!("cannot be trusted: {}", chain(&error))))?;
        let times = [
            ("it is", to_second(now.into())),
            ("the commit is of", from_unix(time.seconds())),
        ];
        (self.judge(&lines, &signature, times)).map_err(|error| refuse(error.to_string()))
    }

    fn judge(
        &self,
        lines: &[(usize, SignerLine)],
        signature: &Signature,
        times: [(&str, OffsetDateTime); 2],
    ) -> Result<Signer, NotAllowed> {
        let Signature { ssh, payload } = signature;
        let fingerprint = ssh.public_key().fingerprint(HashAlg::Sha256).to_string();
        let mut reason = None;
        for (number, line) in lines {
            if line.key.key_data() != ssh.public_key() {
                continue;
            }
            if !is_made_by_its_key(ssh, payload) {
                return Err(NotAllowed::Changed);
            }
            let Some(objection) = objection(line, times) else {
                return Ok(Signer {
                    principals: line.principals.clone(),
                    fingerprint,
                });
            };
            reason.get_or_insert_with(|| NotAllowed::Restricted {
                principals: line.principals.clone(),
                objection,
                path: self.path.clone(),
                line: *number,
            });
        }
        Err(reason.unwrap_or_else(|| NotAllowed::UnknownKey {
            fingerprint,
            path: self.path.clone(),
        }))
    }

    /// Reads the file.
    fn lines(&self) -> Result<Vec<(usize, SignerLine)>, SignersError> {
        let path = &self.path;
        let text = read(path).map_err(|source| SignersError::Read {
            path: path.clone(),
            source,
        })?;
        let text = text.ok_or_else(|| SignersError::TooLarge { path: path.clone() })?;
        let mut lines = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            match SignerLine::parse(text) {
                Ok(None) => {}
                Ok(Some(signer)) => lines.push((line, signer)),
                Err(source) => {
                    let path = path.clone();
                    return Err(SignersError::Line { path, line, source });
                }
            }
        }
        if lines.is_empty() {
            return Err(SignersError::Empty { path: path.clone() });
        }
        Ok(lines)
    }
}

impl Verify for AllowedSigners {
    fn verify(&self, repository: &Repository, commit: CommitId) -> Result<(), Refusal> {
        let now = SystemTime::now();
        let Signer {
            principals,
            fingerprint,
        } = self.signer(repository, commit, now)?;
        tracing::info!(%commit, principals, key = fingerprint, "the commit has an allowed signer");
        Ok(())
    }
}

/// Returns why a signature is not valid, although its key is in this line.
fn objection(line: &SignerLine, times: [(&str, OffsetDateTime); 2]) -> Option<String> {
    if !line.options.is_for(NAMESPACE) {
        return Some("may not sign for git: add \"git\" to its namespaces".to_owned());
    }
    times.into_iter().find_map(|(what, at)| {
        if let Some(start) = line.options.valid_later(at) {
            return Some(format!(
                "is valid from {}, while {what} {}: sign it again then",
                shown(start),
                shown(at)
            ));
        }
        let end = line.options.valid_earlier(at)?;
        Some(format!(
            "was valid before {}, while {what} {}: sign it with a valid key",
            shown(end),
            shown(at)
        ))
    })
}

/// Returns the time of a commit; one out of range is before or after all others.
fn from_unix(seconds: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(seconds).unwrap_or_else(|_| {
        let end = match seconds < 0 {
            true => PrimitiveDateTime::MIN,
            false => PrimitiveDateTime::MAX,
        };
        end.assume_utc()
    })
}

/// Returns a time without the fraction of its second.
fn to_second(at: OffsetDateTime) -> OffsetDateTime {
    at.replace_nanosecond(0).unwrap_or(at)
}

/// Returns a time as in RFC 3339.
fn shown(at: OffsetDateTime) -> String {
    at.format(&Rfc3339).unwrap_or_else(|_| at.to_string())
}

/// Reads a whole file; one that is too large is `None`. A named pipe is not waited for.
fn read(path: &Path) -> io::Result<Option<String>> {
    let file = open_regular(path)?;
    let mut bytes = Vec::new();
    file.take(MAX + 1).read_to_end(&mut bytes)?;
    let small = bytes.len() as u64 <= MAX;
    // A comment may be in any encoding.
    Ok(small.then(|| String::from_utf8_lossy(&bytes).into_owned()))
}
