//! The flags of `serve` about checking links.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use super::{host_aliases, quantity};
use crate::cli::terminal::Error;
use crate::frontier::SystemClock;
use crate::linkcheck::{
    AskClient, CheckOptions, CheckState, FileState, Scope, SystemResolver, Trust, UserAgent,
};
use crate::server::{LinkChecking, LinkStore};

/// The file in the state directory.
const STATE_FILE: &str = "linkcheck.redb";

/// Checking the links in the background.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Link checks")]
pub(crate) struct LinkCheckArgs {
    /// Check in the background whether the links work, as `waypost linkcheck` does
    ///
    /// The preview page of a link shows its result, and /-/linkcheck.jsonl lists those that need
    /// attention. The requests come from the address of this server. Results are kept in --state-dir.
    #[arg(long, env = "WAYPOST_LINKCHECK", value_parser = clap::builder::BoolishValueParser::new())]
    linkcheck: bool,

    /// The shortest pause between two requests to one host, or to hosts of the same alias
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_LINKCHECK_DELAY", default_value = "1s", value_parser = quantity::interval)]
    linkcheck_delay: Duration,

    /// A URL or mail address at which operators of hosts can reach you, sent with each request
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
    /// Prepares checking links, if it is enabled; the results are kept in a directory.
    pub(crate) fn prepare(&self, state_dir: Option<&Path>) -> Result<Option<LinkChecking>, Error> {
        if !self.linkcheck {
            return Ok(None);
        }
        let Some(state_dir) = state_dir else {
            return Err(Error::usage(
                "--linkcheck: name a directory for its results with --state-dir",
            ));
        };
        let members = match &self.linkcheck_aliases {
            Some(path) => host_aliases::read(path)?,
            None => Vec::new(),
        };
        let contact = self.linkcheck_contact.as_deref();
        let user_agent = UserAgent::new(contact).map_err(Error::usage)?;
        let trust = Trust::system().context("cannot ask hosts over TLS")?;
        let scope = match self.linkcheck_allow_private {
            true => Scope::Private,
            false => Scope::Global,
        };
        let resolver = Arc::new(SystemResolver::default());
        let client = AskClient::new(resolver, trust, user_agent).asking(scope);
        let clock = SystemClock::new();
        Ok(Some(LinkChecking {
            store: LinkStore::Open(self.state(state_dir, clock)?, Arc::new(clock)),
            asker: Arc::new(client),
            options: CheckOptions {
                delay: self.linkcheck_delay,
                ..CheckOptions::default()
            },
            members,
        }))
    }

    fn state(&self, state_dir: &Path, clock: SystemClock) -> Result<Arc<dyn CheckState>, Error> {
        let shown = state_dir.display();
        // As of a followed repository, for which it is the same directory.
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
