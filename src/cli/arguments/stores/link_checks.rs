//! The flags of `serve` about checking links.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use super::host_aliases;
#[cfg(feature = "valkey")]
use super::link_store;
use crate::cli::arguments::values::quantity;
use crate::cli::terminal::Error;
use crate::frontier::SystemClock;
#[cfg(feature = "valkey")]
use crate::frontier::ValkeyError;
use crate::linkcheck::{
    CheckOptions, CheckState, FileState, RequestClient, Scope, SystemResolver, Trust, UserAgent,
};
#[cfg(feature = "valkey")]
use crate::server::OpeningState;
use crate::server::{LinkChecking, LinkStore};

/// The file in the state directory.
const STATE_FILE: &str = "linkcheck.redb";

/// Checking the links in the background.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Link checks")]
pub(crate) struct LinkCheckArgs {
    /// Check in the background whether the links work, as `waypost linkcheck` does
    ///
    /// The preview page of a link shows its result, and /-/linkcheck.jsonl lists the links that
    /// need attention. Requests come from the address of this server. Results are kept in
    /// --state-dir or, if it is given, in --linkcheck-store.
    #[arg(long, env = "WAYPOST_LINKCHECK", value_parser = clap::builder::BoolishValueParser::new())]
    linkcheck: bool,

    /// Share the checks and their results with others on a Valkey or Redis server, such as
    /// redis://valkey.example or rediss://valkey.example:6380
    ///
    /// All of them, servers and `waypost linkcheck`, must check the same table. Set the user and
    /// password in WAYPOST_LINKCHECK_STORE_USERNAME and WAYPOST_LINKCHECK_STORE_PASSWORD, or name
    /// files that contain them in the same variables with the suffix _FILE.
    #[cfg(feature = "valkey")]
    #[arg(long, value_name = "URL", env = "WAYPOST_LINKCHECK_STORE")]
    linkcheck_store: Option<String>,

    /// The minimum pause between two requests to one host, or to hosts of the same alias
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_LINKCHECK_DELAY", default_value = "1s", value_parser = quantity::interval)]
    linkcheck_delay: Duration,

    /// A URL or email address at which operators of hosts can reach you, sent with each request
    #[arg(long, value_name = "ADDRESS", env = "WAYPOST_LINKCHECK_CONTACT")]
    linkcheck_contact: Option<String>,

    /// A YAML file of hosts to treat as one, such as several names of one machine:
    /// `ALIAS: [HOST, HOST:PORT, …]`
    #[arg(long, value_name = "FILE", env = "WAYPOST_LINKCHECK_ALIASES")]
    linkcheck_aliases: Option<PathBuf>,

    /// Also check hosts with private addresses, such as those of an intranet; link-local addresses and
    /// metadata services are never contacted
    #[arg(long, env = "WAYPOST_LINKCHECK_ALLOW_PRIVATE", value_parser = clap::builder::BoolishValueParser::new())]
    linkcheck_allow_private: bool,
}

impl LinkCheckArgs {
    /// Prepares checking links, if it is enabled; unless the results are kept on a server, they are in
    /// a directory.
    pub(crate) async fn prepare(
        &self,
        state_dir: Option<&Path>,
    ) -> Result<Option<LinkChecking>, Error> {
        if !self.linkcheck {
            return Ok(None);
        }
        let members = match &self.linkcheck_aliases {
            Some(path) => host_aliases::read(path)?,
            None => Vec::new(),
        };
        let contact = self.linkcheck_contact.as_deref();
        let user_agent = UserAgent::new(contact).map_err(Error::usage)?;
        let trust = Trust::system().context("cannot use TLS for requests to hosts")?;
        let scope = match self.linkcheck_allow_private {
            true => Scope::Private,
            false => Scope::Global,
        };
        let resolver = Arc::new(SystemResolver::default());
        let client = RequestClient::new(resolver, trust, user_agent).in_scope(scope);
        Ok(Some(LinkChecking {
            store: self.store(state_dir).await?,
            requester: Arc::new(client),
            options: CheckOptions {
                delay: self.linkcheck_delay,
                ..CheckOptions::default()
            },
            members,
        }))
    }

    async fn store(&self, state_dir: Option<&Path>) -> Result<LinkStore, Error> {
        #[cfg(feature = "valkey")]
        if let Some(url) = &self.linkcheck_store {
            return on_server(url, self.linkcheck_delay).await;
        }
        let Some(state_dir) = state_dir else {
            let places = match cfg!(feature = "valkey") {
                true => "--state-dir, or a server with --linkcheck-store",
                false => "--state-dir",
            };
            let problem = format!("--linkcheck: name a directory for its results with {places}");
            return Err(Error::usage(problem));
        };
        let clock = SystemClock::new();
        Ok(LinkStore::Open(
            self.state(state_dir, clock)?,
            Arc::new(clock),
        ))
    }

    fn state(&self, state_dir: &Path, clock: SystemClock) -> Result<Arc<dyn CheckState>, Error> {
        let shown = state_dir.display();
        // With the same mode as for a followed repository, which uses the same directory.
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(state_dir);
        made.with_context(|| format!("cannot create {shown}"))?;
        let path = state_dir.join(STATE_FILE);
        let opened = FileState::open(&path, clock, self.linkcheck_delay);
        Ok(Arc::new(
            opened.context("cannot keep the results of link checks")?,
        ))
    }
}

/// Returns the store on a server; links are served even if it cannot be reached now.
#[cfg(feature = "valkey")]
async fn on_server(url: &str, delay: Duration) -> Result<LinkStore, Error> {
    let address = link_store::address(url)?;
    match link_store::connect(address.clone(), delay).await {
        Ok((state, clock)) => Ok(LinkStore::Open(state, clock)),
        Err(Error::Failed(error)) if is_unreachable(&error) => {
            let open = move || -> OpeningState {
                let connecting = link_store::connect(address.clone(), delay);
                Box::pin(async { connecting.await.map_err(cause) })
            };
            Ok(LinkStore::Later(Arc::new(open)))
        }
        Err(error) => Err(error),
    }
}

/// Returns the cause of an error, for the log.
#[cfg(feature = "valkey")]
fn cause(error: Error) -> Box<dyn std::error::Error + Send + Sync> {
    match error {
        Error::Failed(cause) | Error::Usage(cause) => cause.into(),
        error => format!("{error:?}").into(),
    }
}

#[cfg(feature = "valkey")]
fn is_unreachable(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref();
    matches!(error, Some(ValkeyError::Unreachable { .. }))
}
