//! The flags about Git of commands that change a table.

use std::path::PathBuf;

use clap::builder::BoolishValueParser;

use super::publication::Publication;
use super::requested_change::RequestedChange;
use crate::cli::arguments::{AccessArgs, InRepository, quantity, table};
use crate::cli::terminal::{Error, complain};
use crate::git::{RemoteBranch, RemoteUrl};
use crate::registry::{CommitIdentity, NewBranch, PublishError, UserCheckout};

/// Committing and pushing, or only showing the change.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Git")]
pub(crate) struct PublishArgs {
    /// Show what would change, as `waypost diff` does, and change nothing
    #[arg(long, env = "WAYPOST_DRY_RUN", value_parser = BoolishValueParser::new(), help_heading = None::<&'static str>)]
    pub(crate) dry_run: bool,

    /// The maximum size of the table's text, before and after the change
    #[arg(long, value_name = "BYTES", env = "WAYPOST_MAX_TABLE_BYTES", default_value = table::DEFAULT_MAX_TABLE_BYTES, value_parser = quantity::bytes, help_heading = None::<&'static str>)]
    max_table_bytes: u64,

    /// Commit the file, and nothing else, to the current branch
    #[arg(long, env = "WAYPOST_COMMIT", value_parser = BoolishValueParser::new())]
    commit: bool,

    /// Commit on top of the branch's latest commit on the remote, push, and fast-forward the checkout
    #[arg(long, env = "WAYPOST_PUSH", value_parser = BoolishValueParser::new())]
    push: bool,

    /// Push a new branch for review, and print where to open a pull request
    #[arg(long, env = "WAYPOST_BRANCH", value_name = "NAME", conflicts_with_all = ["commit", "push"])]
    branch: Option<NewBranch>,

    /// Change the table in this repository, without a checkout: an https, ssh, git or file URL, or
    /// a path
    #[arg(long, value_name = "URL", env = "WAYPOST_REPO", conflicts_with_all = ["table", "commit", "push"])]
    // Not parsed as an address by clap, whose errors would repeat a password in it.
    repo: Option<String>,

    /// The branch to push to [default: the remote's HEAD]
    #[arg(
        long = "ref",
        value_name = "BRANCH",
        env = "WAYPOST_REF",
        requires = "repo"
    )]
    reference: Option<String>,

    #[command(flatten)]
    table: InRepository,

    /// The author of commits, as in 'A. Name <name@example.org>' [default: from Git's configuration]
    #[arg(long, value_name = "WHO", env = "WAYPOST_GIT_AUTHOR")]
    git_author: Option<CommitIdentity>,

    #[command(flatten)]
    access: AccessArgs,
}

impl PublishArgs {
    /// Returns whether a repository is named rather than local files.
    pub(crate) fn has_repo(&self) -> bool {
        self.repo.is_some()
    }

    /// Returns whether a change is committed.
    pub(crate) fn makes_commit(&self) -> bool {
        self.commit || self.push || self.branch.is_some() || self.has_repo()
    }

    /// Publishes a change of the table at these paths, or of that of the repository; returns notes
    /// for the user, too.
    pub(crate) fn publish<C: RequestedChange>(
        &self,
        table: &[PathBuf],
        change: &C,
    ) -> Result<(C::Decided, Vec<String>), C::Error> {
        self.publication(table)?
            .publish(change, self.max_table_bytes)
    }

    fn publication<'a>(&'a self, table: &'a [PathBuf]) -> Result<Publication<'a>, Error> {
        if let Some(repo) = &self.repo {
            return Ok(Publication::Remote {
                branch: Box::new(self.remote(repo)?),
                path: &self.table.path,
                author: self.git_author.clone(),
                review: self.branch.as_ref(),
            });
        }
        let checkout =
            |path| UserCheckout::around(path, self.git_author.clone(), self.access.git_timeout);
        match table {
            [path] if self.push || self.branch.is_some() => Ok(Publication::Checkout {
                checkout: checkout(path)?,
                path,
                review: self.branch.as_ref(),
            }),
            _ if self.push || self.branch.is_some() => {
                Err(Error::usage("--push and --branch need exactly one --table"))
            }
            [path] if self.commit => Ok(Publication::Files {
                paths: table,
                checkout: Some(checkout(path)?),
            }),
            _ if self.commit => Err(Error::usage("--commit needs exactly one --table")),
            _ => Ok(Publication::Files {
                paths: table,
                checkout: None,
            }),
        }
    }

    /// Returns the branch of a repository that is pushed to.
    fn remote(&self, repo: &str) -> Result<RemoteBranch, Error> {
        let address = RemoteUrl::parse(repo).map_err(|error| Error::Usage(error.into()))?;
        for file in self.access.exposed_files() {
            let file = file.display();
            complain(&format!(
                "warning: everyone on this machine can read {file}: chmod 600 {file}"
            ));
        }
        let (transfer, credentials) = (self.access.transfer()?, self.access.credentials());
        let reference = self.reference.as_deref();
        let branch = RemoteBranch::new(address, reference, transfer, credentials);
        Ok(branch.map_err(PublishError::from)?)
    }
}
