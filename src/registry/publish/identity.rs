//! Identities: the author and the committer of a commit.

use git2::{Repository, Signature};

/// The identity of an author or committer: `NAME <EMAIL>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitIdentity {
    /// The name.
    pub name: String,
    /// The email address.
    pub email: String,
}

/// Why there is no identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// Git has no identity.
    #[error("Git has no name and address for the author of a commit")]
    Unknown,
    /// The given text has another form.
    #[error("not of the form 'NAME <EMAIL>'")]
    Malformed,
}

impl CommitIdentity {
    /// Returns the identity in Git's variables or its configuration.
    ///
    /// # Errors
    ///
    /// If they have none.
    pub fn of_git() -> Result<Self, IdentityError> {
        let configured = git2::Config::open_default().and_then(|mut it| it.snapshot());
        let known = |variable: &str, key: &str| {
            let reported = std::env::var(variable).ok();
            let reported = reported.or_else(|| configured.as_ref().ok()?.get_string(key).ok());
            reported.ok_or(IdentityError::Unknown)
        };
        let name = known("GIT_AUTHOR_NAME", "user.name")?;
        let email = known("GIT_AUTHOR_EMAIL", "user.email")?;
        format!("{name} <{email}>").parse()
    }
}

impl std::str::FromStr for CommitIdentity {
    type Err = IdentityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, rest) = text.split_once('<').ok_or(IdentityError::Malformed)?;
        let email = rest.strip_suffix('>').ok_or(IdentityError::Malformed)?;
        let (name, email) = (name.trim(), email.trim());
        let odd = |part: &str| part.is_empty() || part.contains(['<', '>', '\n', '\0']);
        match odd(name) || odd(email) {
            true => Err(IdentityError::Malformed),
            false => Ok(Self {
                name: name.to_owned(),
                email: email.to_owned(),
            }),
        }
    }
}

/// Returns the author and the committer in Git's variables and configuration.
///
/// # Errors
///
/// If these have none.
pub(crate) fn configured(repository: &Repository) -> Result<[CommitIdentity; 2], IdentityError> {
    let identity = |signature: Result<Signature<'_>, git2::Error>| {
        let signature = signature.map_err(|_| IdentityError::Unknown)?;
        let part =
            |part: Result<&str, _>| part.map(str::to_owned).map_err(|_| IdentityError::Unknown);
        Ok(CommitIdentity {
            name: part(signature.name())?,
            email: part(signature.email())?,
        })
    };
    Ok([
        identity(repository.author_from_env())?,
        identity(repository.committer_from_env())?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_who_it_is() {
        let someone: CommitIdentity = "A. Name <a@example.org>".parse().unwrap();
        assert_eq!(someone.name, "A. Name");
        assert_eq!(someone.email, "a@example.org");
        for text in [
            "",
            "A",
            "<a@b>",
            "A <>",
            "A <a@b",
            "A <a@b> x",
            "A\nB <a@b>",
        ] {
            assert!(text.parse::<CommitIdentity>().is_err(), "{text:?}");
        }
    }
}
