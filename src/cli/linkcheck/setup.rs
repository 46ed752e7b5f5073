//! The parts of a link check: the store of the results, the client, and their limits.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use super::args::Args;
use super::state_file;
#[cfg(feature = "valkey")]
use crate::cli::arguments::link_store;
use crate::cli::terminal::Error;
use crate::frontier::{Clock, SystemClock};
use crate::linkcheck::{
    CheckOptions, CheckState, Checker, FileState, Limits, Links, MemoryState, Policy,
    RequestClient, Scope, SystemResolver, Trust, UserAgent,
};

/// Returns a checker of links, with its store open.
pub(super) async fn checker(
    args: &Args,
    links: Links,
    user_agent: UserAgent,
) -> Result<Checker, Error> {
    let (state, clock) = state(args).await?;
    let trust = Trust::system().context("cannot use TLS for requests to hosts")?;
    let client = RequestClient::new(Arc::new(SystemResolver::default()), trust, user_agent)
        .in_scope(scope(args))
        .within(limits(args.timeout));
    let options = CheckOptions {
        delay: args.delay,
        concurrency: args.concurrency.into(),
        policy: policy(args),
        max_time: args.max_time,
    };
    Ok(Checker::new(state, Arc::new(client), clock, links, options))
}

/// Returns the permitted addresses.
pub(super) fn scope(args: &Args) -> Scope {
    match args.allow_private {
        true => Scope::Private,
        false => Scope::Global,
    }
}

/// Returns the policy about dead links and intervals.
pub(super) fn policy(args: &Args) -> Policy {
    Policy::default()
        .with_strikes(args.strikes)
        .with_strike_interval(args.strike_interval)
        .with_recheck(args.recheck)
}

/// Returns the store of the results, and its clock.
async fn state(args: &Args) -> Result<(Arc<dyn CheckState>, Arc<dyn Clock>), Error> {
    #[cfg(feature = "valkey")]
    if let Some(url) = &args.store {
        return link_store::connect(link_store::address(url)?, args.delay).await;
    }
    let clock = SystemClock::new();
    let state: Arc<dyn CheckState> = match &args.base {
        Some(_) => Arc::new(MemoryState::new(clock, args.delay)),
        None => {
            let path = state_file::path(args.state.as_deref())?;
            let opened = FileState::open(&path, clock, args.delay);
            Arc::new(opened.context("cannot keep the results of link checks")?)
        }
    };
    Ok((state, Arc::new(clock)))
}

fn limits(timeout: Duration) -> Limits {
    let usual = Limits::default();
    Limits {
        connect: usual.connect.min(timeout),
        head: usual.head.min(timeout),
        whole: timeout,
    }
}
