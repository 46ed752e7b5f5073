//! The credentials for a remote, and how often they are tried.
//!
//! Invariants: no `Debug` and no error shows a secret; secrets in files are read again for each
//! fetch, so that they can be rotated.

use std::fmt;
use std::path::PathBuf;

use git2::{Cred, CredentialType, Error};
use serde::{Deserialize, Serialize};

use super::address::elsewhere;
use super::failure::TransferFailure;
use crate::git::regular::open_regular;
use crate::git::secrets::{CredentialsError, Secret, SecretText};
use crate::git::setting::Setting;

/// The user if neither the address nor the credentials name one: the usual one of Git hosts for
/// SSH, and harmless where a token is the password.
const DEFAULT_USER: &str = "git";

/// The credentials to use, and the hosts to trust.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    /// The user, for HTTP, and for SSH if the address names none.
    pub username: Option<Secret>,
    /// The password or token for HTTP; for SSH the passphrase of the key, or the password.
    pub password: Option<Secret>,
    /// The private key for SSH; without one, the agent is used.
    pub ssh_key: Option<PathBuf>,
    /// The trusted SSH host keys, in OpenSSH's format.
    pub known_hosts: Option<PathBuf>,
}

impl Credentials {
    /// Reads the credentials that are in files.
    pub(crate) fn read(&self) -> Result<Login, CredentialsError> {
        if let Some(key) = &self.ssh_key {
            // Reported here because libgit2 does not name the file.
            open_regular(key).map_err(|source| {
                let path = key.clone();
                CredentialsError::Unreadable { path, source }
            })?;
        }
        Ok(Login {
            username: self.username.as_ref().map(Secret::read).transpose()?,
            password: self.password.as_ref().map(Secret::read).transpose()?,
            ssh_key: self.ssh_key.clone(),
        })
    }
}

/// The credentials of one fetch.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Login {
    username: Option<SecretText>,
    password: Option<SecretText>,
    ssh_key: Option<PathBuf>,
}

impl Login {
    /// Returns the secrets to redact. A user name may be a token.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = String> {
        (self.password.iter().chain(&self.username))
            .map(|secret| &**secret)
            // Replacing the host's own word would reveal more than it hides.
            .filter(|secret| *secret != DEFAULT_USER)
            .map(str::to_owned)
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login(***)")
    }
}

/// Answers a remote's requests for credentials, each kind once.
///
/// libgit2 requests them for as long as it gets answers, so a wrong key would be tried endlessly.
///
/// Credentials go only to the host that the address names, not to the target of a redirect: libgit2
/// would request them there, too.
pub(crate) struct CredentialAnswers {
    login: Login,
    /// The address of the remote.
    pub(crate) address: String,
    tried: CredentialType,
    /// Why the last request was not answered.
    pub(crate) given_up: Option<TransferFailure>,
}

impl CredentialAnswers {
    pub(crate) fn new(login: Login, address: &str) -> Self {
        Self {
            login,
            address: address.to_owned(),
            tried: CredentialType::empty(),
            given_up: None,
        }
    }

    /// Answers a request for one of the `allowed` kinds of credentials, made for an address.
    pub(crate) fn answer(
        &mut self,
        asked_at: &str,
        user: Option<&str>,
        allowed: CredentialType,
    ) -> Result<Cred, Error> {
        if let Some(place) = elsewhere(&self.address, asked_at) {
            return Err(self.give_up(TransferFailure::new(format!(
                "the remote leads to {place}, which requires a password: if that is right, \
                 name its address there"
            ))));
        }
        let user = user.or(self.login.username.as_deref());
        let user = user.unwrap_or(DEFAULT_USER).to_owned();
        let fresh = |kind| allowed.contains(kind) && !self.tried.contains(kind);
        if fresh(CredentialType::USERNAME) {
            self.tried |= CredentialType::USERNAME;
            return Cred::username(&user);
        }
        if fresh(CredentialType::SSH_KEY) {
            self.tried |= CredentialType::SSH_KEY;
            return match &self.login.ssh_key {
                Some(key) => Cred::ssh_key(&user, None, key, self.login.password.as_deref()),
                None => Cred::ssh_key_from_agent(&user),
            };
        }
        if let Some(password) = &self.login.password
            && fresh(CredentialType::USER_PASS_PLAINTEXT)
        {
            self.tried |= CredentialType::USER_PASS_PLAINTEXT;
            let user = self.login.username.as_deref().unwrap_or(&user);
            return Cred::userpass_plaintext(user, password);
        }
        Err(self.give_up(self.reason(allowed)))
    }

    fn give_up(&mut self, reason: TransferFailure) -> Error {
        let error = Error::from_str(&reason.message);
        self.given_up = Some(reason);
        error
    }

    fn reason(&self, allowed: CredentialType) -> TransferFailure {
        let over_ssh = allowed.contains(CredentialType::SSH_KEY);
        if self.tried.contains(CredentialType::USER_PASS_PLAINTEXT) {
            TransferFailure::new(
                "the remote refused the password: see WAYPOST_GIT_USERNAME and WAYPOST_GIT_PASSWORD",
            )
        } else if over_ssh && self.login.ssh_key.is_some() {
            TransferFailure::new(
                "the remote refused the SSH key: add the public key to the account there",
            )
            .with_setting(Setting::SshKey)
        } else if over_ssh {
            TransferFailure::new("the remote refused the keys of the SSH agent: name a key file")
                .with_setting(Setting::SshKey)
        } else if allowed.contains(CredentialType::USER_PASS_PLAINTEXT) {
            TransferFailure::new(
                "the remote requires a password, and its address has none or a wrong one: \
                 set WAYPOST_GIT_PASSWORD or WAYPOST_GIT_PASSWORD_FILE",
            )
        } else {
            TransferFailure::new("the remote requires an unsupported kind of credentials")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const HERE: &str = "https://h.example/links.git";

    fn login() -> Login {
        Login {
            username: Some("someone".to_owned().into()),
            password: Some("hunter2".to_owned().into()),
            ssh_key: Some("/key".into()),
        }
    }

    #[test]
    fn shows_no_secret() {
        let credentials = Credentials {
            password: Some(Secret::Value("hunter2".to_owned().into())),
            ..Credentials::default()
        };
        assert!(!format!("{credentials:?}").contains("hunter2"));
        assert!(!format!("{:?}", login()).contains("hunter2"));
    }

    #[test]
    fn rereads_a_file_without_its_line_break() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let credentials = Credentials {
            password: Some(Secret::File(file.path().to_owned())),
            ..Credentials::default()
        };
        assert!(credentials.read().is_err());
        for password in ["one", " two "] {
            fs::write(file.path(), format!("{password}\n")).unwrap();
            assert_eq!(&*credentials.read().unwrap().password.unwrap(), password);
        }
    }

    #[test]
    fn tries_each_kind_once() {
        let mut answers = CredentialAnswers::new(login(), HERE);
        let allowed = CredentialType::SSH_KEY | CredentialType::USER_PASS_PLAINTEXT;
        assert!(answers.answer(HERE, None, CredentialType::USERNAME).is_ok());
        assert!(answers.answer(HERE, None, allowed).is_ok());
        assert!(answers.answer(HERE, None, allowed).is_ok());
        assert!(answers.answer(HERE, None, allowed).is_err());
        assert!(
            answers
                .given_up
                .unwrap()
                .message
                .contains("refused the password")
        );
    }

    #[test]
    fn reports_a_missing_credential() {
        let mut answers = CredentialAnswers::new(Login::default(), HERE);
        let allowed = CredentialType::USER_PASS_PLAINTEXT;
        assert!(answers.answer(HERE, None, allowed).is_err());
        assert!(
            answers
                .given_up
                .unwrap()
                .message
                .contains("WAYPOST_GIT_PASSWORD")
        );
    }

    #[test]
    fn reports_no_other_host_the_password() {
        let mut answers = CredentialAnswers::new(login(), HERE);
        let allowed = CredentialType::USER_PASS_PLAINTEXT;
        let there = "https://i.example/links.git";
        assert!(answers.answer(there, None, allowed).is_err());
        assert!(answers.given_up.unwrap().message.contains("i.example:443"));
    }
}
