//! Publishing in `add`: its flags about Git, and their effects.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::builder::BoolishValueParser;

use crate::cli::arguments::{AccessArgs, InRepository, MAX_BYTES};
use crate::cli::terminal::{Error, complain, pushed};
use crate::git::{RemoteBranch, RemoteUrl};
use crate::registry::{
    Branch as _, CheckoutBranch, CloneBranch, CommitIdentity, Destination, LocalError, NewBranch,
    OnlineError, PublishError, Registration, RegistrationRefusal, RegistrationRequest, TablePath,
    UserCheckout, register_in_files, register_on_branch,
};

/// How long to retry while the branch keeps moving. Each attempt is a fetch and a push.
const RETRY_TIMEOUT: Duration = Duration::from_secs(120);

/// Committing and pushing.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Git")]
pub(super) struct PublishArgs {
    /// Commit the file, and nothing else, to the current branch
    #[arg(long, env = "WAYPOST_COMMIT", value_parser = BoolishValueParser::new())]
    commit: bool,

    /// Commit on top of the branch's latest commit on the remote, push, and fast-forward the checkout
    #[arg(long, env = "WAYPOST_PUSH", value_parser = BoolishValueParser::new())]
    push: bool,

    /// Push a new branch for review, and print where to open a pull request
    #[arg(long, env = "WAYPOST_BRANCH", value_name = "NAME", conflicts_with_all = ["commit", "push"])]
    branch: Option<NewBranch>,

    /// Add to the table of this repository, without a checkout: an https, ssh, git or file URL, or a
    /// path
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

/// A link that was added, and notes for the user.
pub(super) struct Added {
    pub(super) registration: Registration,
    pub(super) notes: Vec<String>,
}

impl PublishArgs {
    /// Returns whether a repository is named rather than local files.
    pub(super) fn has_repo(&self) -> bool {
        self.repo.is_some()
    }

    /// Adds a link to the table at these paths, or to that of a remote.
    pub(super) fn add(
        &self,
        table: &[PathBuf],
        request: RegistrationRequest,
    ) -> Result<Added, AddError> {
        if let Some(repo) = &self.repo {
            return self.add_to_repository(repo, request);
        }
        let checkout =
            |path| UserCheckout::around(path, self.git_author.clone(), self.access.git_timeout);
        if self.push || self.branch.is_some() {
            let [path] = table else {
                return Err(Error::usage("--push and --branch go with one --table").into());
            };
            return self.add_from(checkout(path)?, path, request);
        }
        let checkout = match (self.commit, table) {
            (true, [path]) => Some(checkout(path)?),
            (true, _) => return Err(Error::usage("--commit goes with one --table").into()),
            (false, _) => None,
        };
        let now = SystemTime::now().into();
        let registration = register_in_files(table, MAX_BYTES, &request, now, checkout.as_ref())?;
        Ok(Added {
            registration,
            notes: match checkout {
                Some(checkout) => vec![format!("committed as {}", checkout.head()?.short())],
                None => Vec::new(),
            },
        })
    }

    fn add_to_repository(
        &self,
        repo: &str,
        request: RegistrationRequest,
    ) -> Result<Added, AddError> {
        let address = RemoteUrl::parse(repo).map_err(|error| Error::Usage(error.into()))?;
        for file in self.access.exposed_files() {
            let file = file.display();
            complain(&format!(
                "warning: everyone on this machine can read {file}: chmod 600 {file}"
            ));
        }
        let (transfer, credentials) = (self.access.transfer()?, self.access.credentials());
        let reference = self.reference.as_deref();
        let branch = RemoteBranch::new(address, reference, transfer, credentials)
            .map_err(PublishError::from)?;
        let mut remote = CloneBranch::new(&branch, self.git_author.clone(), self.branch.clone());
        let table = TablePath::new(&self.table.path, MAX_BYTES);
        let request = in_repository(request, &table);
        let (registration, published) =
            register_on_branch(&mut remote, &table, &request, RETRY_TIMEOUT)?;
        Ok(Added {
            registration,
            notes: pushed(
                self.branch.as_ref(),
                remote.address().as_ref(),
                remote.name(),
                &published,
            ),
        })
    }

    fn add_from(
        &self,
        checkout: UserCheckout,
        table: &Path,
        request: RegistrationRequest,
    ) -> Result<Added, AddError> {
        let inside = checkout.inside(table).map_err(PublishError::from)?;
        let mut branch = CheckoutBranch::of(checkout, self.branch.clone())?;
        let table = TablePath::new(&inside, MAX_BYTES);
        let request = in_repository(request, &table);
        let (registration, published) =
            register_on_branch(&mut branch, &table, &request, RETRY_TIMEOUT)?;
        let (review, address) = (self.branch.as_ref(), branch.address());
        let mut notes = pushed(review, address.as_ref(), branch.base(), &published);
        if self.branch.is_none()
            && let Err(error) = branch.follow(published.commit)
        {
            notes.push(format!("the checkout does not have it yet: {error}"));
        }
        Ok(Added {
            registration,
            notes,
        })
    }
}

/// Why nothing was added.
pub(super) enum AddError {
    /// The request is refused.
    Refused(RegistrationRefusal),
    /// Any other reason.
    Other(Error),
}

impl From<Error> for AddError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<PublishError> for AddError {
    fn from(error: PublishError) -> Self {
        Self::Other(error.into())
    }
}

impl From<LocalError> for AddError {
    fn from(error: LocalError) -> Self {
        match error {
            LocalError::Refused(refusal) => Self::Refused(refusal),
            error => Self::Other(error.into()),
        }
    }
}

impl From<OnlineError> for AddError {
    fn from(error: OnlineError) -> Self {
        match error {
            OnlineError::Refused(refusal) => Self::Refused(refusal),
            OnlineError::Publish(error) => error.into(),
        }
    }
}

/// Makes the path of a new file relative to the repository's top.
fn in_repository(mut request: RegistrationRequest, table: &TablePath) -> RegistrationRequest {
    if let Destination::Fragment(directory) = &mut request.destination {
        table.path().clone_into(directory);
    }
    request
}
