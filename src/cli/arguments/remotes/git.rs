//! Access to tables by Git: the flags of `serve` about remotes, those shared with `add`, and their
//! effects.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use super::in_repository::InRepository;
use crate::cli::arguments::environment::secret;
use crate::cli::arguments::values::quantity;
use crate::cli::terminal::Error;
use crate::git::{
    AllowedSigners, Anyone, Credentials, RemoteUrl, RemoteUrlError, Transfer, Verify, is_exposed,
};
use crate::server::{Files, RemoteSource};
use crate::source::{FetchObserver, FetchOptions, Following, Puller, Pulling, Schedule};

/// How remotes are reached.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Git")]
pub(crate) struct AccessArgs {
    /// How long a fetch may receive less than 1,000 bytes a second, and a push take
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_GIT_TIMEOUT", default_value = "60s", value_parser = quantity::positive_interval)]
    pub(crate) git_timeout: Duration,

    /// The time limit of one fetch or push in total
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_GIT_TIMEOUT_TOTAL", default_value = "30m", value_parser = quantity::positive_interval)]
    git_timeout_total: Duration,

    /// The maximum number of bytes that a fetch may receive, which also limits its memory
    #[arg(long, value_name = "BYTES", env = "WAYPOST_MAX_FETCH_BYTES", default_value = "1GiB", value_parser = quantity::bytes)]
    max_fetch_bytes: u64,

    /// The private key for ssh [default: the keys of the SSH agent]
    #[arg(long, value_name = "FILE", env = "WAYPOST_SSH_KEY")]
    ssh_key: Option<PathBuf>,

    /// The trusted ssh host keys, in OpenSSH's format [default: ~/.ssh/known_hosts]
    #[arg(long, value_name = "FILE", env = "WAYPOST_KNOWN_HOSTS")]
    known_hosts: Option<PathBuf>,
}

impl AccessArgs {
    /// Returns the credentials.
    pub(crate) fn credentials(&self) -> Credentials {
        Credentials {
            username: secret::of("WAYPOST_GIT_USERNAME"),
            password: secret::of("WAYPOST_GIT_PASSWORD"),
            ssh_key: self.ssh_key.clone(),
            known_hosts: self.known_hosts.clone().or_else(|| {
                let home = env::home_dir()?;
                Some(home.join(".ssh/known_hosts"))
            }),
        }
    }

    /// Returns the files of secrets, including the key, that everyone on this machine can read.
    pub(crate) fn exposed_files(&self) -> Vec<PathBuf> {
        let key = self.ssh_key.iter().filter(|key| is_exposed(key));
        let mut files = secret::exposed_files();
        files.extend(key.cloned());
        files
    }

    /// Returns the settings of fetches and pushes.
    pub(crate) fn transfer(&self) -> Result<Transfer, Error> {
        Ok(Transfer {
            program: env::current_exe().context("cannot find the path of this program")?,
            timeout: self.git_timeout,
            timeout_total: self.git_timeout_total,
            temp: env::temp_dir(),
            home: env::home_dir(),
            max_bytes: self.max_fetch_bytes,
        })
    }
}

/// Following a repository, or pulling a checkout.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Git")]
pub(crate) struct GitArgs {
    /// Follow this repository in a separate clone: an https, ssh, git or file URL, or a path
    #[arg(long, value_name = "URL", env = "WAYPOST_REPO", conflicts_with_all = ["table", "pull"])]
    // Not parsed as an address by clap, whose errors would repeat a password in it.
    repo: Option<String>,

    /// The branch, tag or full commit id to follow [default: the remote's HEAD]
    #[arg(
        long = "ref",
        value_name = "REF",
        env = "WAYPOST_REF",
        requires = "repo"
    )]
    reference: Option<String>,

    #[command(flatten)]
    table: InRepository,

    /// The directory for the clone, so that a restart does not need the remote [default: a
    /// temporary directory], and for the results of link checks
    #[arg(
        long,
        value_name = "DIR",
        env = "WAYPOST_STATE_DIR",
        requires = "keeps-state"
    )]
    state_dir: Option<PathBuf>,

    /// How often to fetch from the repository
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_PULL_INTERVAL", default_value = "60s", value_parser = quantity::positive_interval)]
    pull_interval: Duration,

    /// Fast-forward the checkout that contains the table, at this interval
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_PULL", value_parser = quantity::positive_interval)]
    pull: Option<Duration>,

    #[command(flatten)]
    pub(crate) access: AccessArgs,

    /// Serve only commits signed by one of these keys, in the allowed-signers format of ssh-keygen(1)
    #[arg(long, value_name = "FILE", env = "WAYPOST_ALLOWED_SIGNERS")]
    allowed_signers: Option<PathBuf>,
}

impl GitArgs {
    /// Returns the directory in which state is kept, if one is named.
    pub(crate) fn state_dir(&self) -> Option<&Path> {
        self.state_dir.as_deref()
    }

    /// Returns the address of the repository, if one is named.
    pub(crate) fn remote(&self) -> Result<Option<RemoteUrl>, RemoteUrlError> {
        self.repo.as_deref().map(RemoteUrl::parse).transpose()
    }

    /// Returns the followed table, if there is one: its address without a password, its reference and its
    /// path.
    pub(crate) fn followed<'a>(&'a self, remote: &RemoteUrl) -> (String, Option<&'a str>, &'a str) {
        (
            remote.to_string(),
            self.reference.as_deref(),
            &self.table.path,
        )
    }

    /// Returns whether only signed commits are served.
    pub(super) fn wants_signatures(&self) -> bool {
        self.allowed_signers.is_some()
    }

    /// Starts following a repository. Must be called within a runtime.
    pub(crate) fn follow(
        &self,
        remote: RemoteUrl,
        max_bytes: u64,
        memory: Option<u64>,
        observer: FetchObserver,
    ) -> Result<RemoteSource, Error> {
        let following = Following {
            remote,
            reference: self.reference.clone(),
            path: self.table.path.clone(),
            state_dir: self.state_dir.clone(),
            max_bytes,
            memory,
            fetch: self.fetch_options(self.pull_interval, observer)?,
        };
        Ok(RemoteSource::start(following)?)
    }

    /// Starts pulling the checkout around files, if requested. Must be called within a runtime.
    pub(crate) fn pull(
        &self,
        files: Files,
        table: PathBuf,
        observer: FetchObserver,
    ) -> Result<Files, Error> {
        let Some(interval) = self.pull else {
            return Ok(files);
        };
        let puller = Puller::start(Pulling {
            table,
            fetch: self.fetch_options(interval, observer)?,
        })?;
        Ok(files.pulled_by(puller))
    }

    fn fetch_options(
        &self,
        interval: Duration,
        observer: FetchObserver,
    ) -> Result<FetchOptions, Error> {
        Ok(FetchOptions {
            schedule: Schedule::every(interval),
            credentials: self.access.credentials(),
            transfer: self.access.transfer()?,
            verifier: self.verifier()?,
            observer,
        })
    }

    fn verifier(&self) -> Result<Arc<dyn Verify>, Error> {
        Ok(match &self.allowed_signers {
            Some(file) => Arc::new(AllowedSigners::read(file)?),
            None => Arc::new(Anyone),
        })
    }
}
