//! The flags of `serve` about registrations over HTTP.

use std::path::PathBuf;
use std::sync::Arc;

use super::git::GitArgs;
use crate::cli::terminal::Error;
use crate::git::RemoteUrl;
use crate::registry::{CommitIdentity, Registrar};
use crate::server::{PrivateUrls, Registrations, RemoteSource, TokenFile};
use crate::source::Follower;

/// Registering over HTTP.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Registrations")]
pub(crate) struct RegistrationArgs {
    /// Let anyone with a token register links at /-/api/links, and push them to the repository
    #[arg(long, env = "WAYPOST_REGISTRATIONS", value_parser = clap::builder::BoolishValueParser::new())]
    registrations: bool,

    /// The token file: one line per token, with the owner's name and the SHA-256 of the token
    #[arg(long, value_name = "FILE", env = "WAYPOST_REGISTRATIONS_TOKENS")]
    registrations_tokens: Option<PathBuf>,

    /// Refuse URLs with a private or loopback address, or with the host localhost
    ///
    /// Such a link leads to a different machine in every network. Host names are not looked up.
    /// `waypost check` warns about such URLs in any case.
    #[arg(long, env = "WAYPOST_REGISTRATIONS_REFUSE_PRIVATE", value_parser = clap::builder::BoolishValueParser::new())]
    registrations_refuse_private: bool,

    /// The author of commits, as in 'A. Name <name@example.org>' [default: from Git's configuration]
    #[arg(long, value_name = "WHO", env = "WAYPOST_GIT_AUTHOR")]
    git_author: Option<CommitIdentity>,
}

/// The settings of registrations before a table is loaded.
pub(crate) struct Prepared {
    tokens: TokenFile,
    author: CommitIdentity,
    private: PrivateUrls,
}

impl RegistrationArgs {
    /// Reads the settings if registrations are enabled.
    pub(crate) fn prepare(
        &self,
        git: &GitArgs,
        remote: Option<&RemoteUrl>,
    ) -> Result<Option<Prepared>, Error> {
        if !self.registrations {
            return Ok(None);
        }
        let refuse = |problem: &str| Error::usage(format!("--registrations: {problem}"));
        if remote.is_none() {
            return Err(refuse("name the repository to push to with --repo"));
        }
        let Some(path) = &self.registrations_tokens else {
            return Err(refuse("name who may register with --registrations-tokens"));
        };
        if git.wants_signatures() {
            return Err(refuse(
                "its commits are not signed, and --allowed-signers would refuse them",
            ));
        }
        let tokens = TokenFile::read(path)
            .map_err(|error| Error::Usage(anyhow::Error::from(error).context("--registrations")))?;
        let author = self.git_author.clone();
        let author = author
            .map_or_else(CommitIdentity::of_git, Ok)
            .map_err(|_| {
                refuse("name who commits with --git-author 'A. Name <name@example.org>'")
            })?;
        Ok(Some(Prepared {
            tokens,
            author,
            private: match self.registrations_refuse_private {
                true => PrivateUrls::Refused,
                false => PrivateUrls::Accepted,
            },
        }))
    }
}

/// Returns an error if the followed reference is known not to be a branch, because nothing can be
/// pushed to it.
pub(crate) fn require_branch(follower: &Follower) -> Result<(), Error> {
    let status = follower.status();
    let name = status.served.map(|_| status.seen_as.unwrap_or_default());
    match name.is_none_or(|name| name.starts_with("refs/heads/")) {
        true => Ok(()),
        false => Err(Error::usage(
            "--registrations: the followed reference is not a branch: name one with --ref",
        )),
    }
}

impl Prepared {
    /// Returns the service that registers links on the followed branch.
    pub(crate) fn registrations(self, followed: &RemoteSource) -> Registrations {
        let registrar = Registrar::new(Arc::clone(followed.follower()), self.author);
        Registrations::new(self.tokens, registrar).with_private_urls(self.private)
    }
}
