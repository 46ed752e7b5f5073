//! `waypost linkcheck`: checks whether the links of a table work, and reports those that do not.

mod args;
mod arrivals;
mod base;
mod change_lines;
mod conclusions;
mod fix;
mod format;
mod json;
mod link_fixes;
mod look_up;
mod markdown;
mod once;
mod outage;
mod progress;
mod setup;
mod state_file;
mod watch;

use std::sync::Arc;

use anyhow::Context as _;

pub(super) use self::args::Args;
use self::once::Compiled;
use super::arguments::{MAX_BYTES, host_aliases, table};
use super::terminal::Error;
use crate::linkcheck::UserAgent;
use crate::mapping::compile;

pub(super) fn run(args: &Args) -> Result<(), Error> {
    if args.base.is_some() {
        table::require_history(&args.table.paths)?;
    }
    args.fixing.check_table(&args.table.paths)?;
    if args.watch {
        watch::require_files(&args.table.paths)?;
    }
    let members = match &args.aliases {
        Some(path) => host_aliases::read(path)?,
        None => Vec::new(),
    };
    let user_agent = UserAgent::new(args.contact.as_deref()).map_err(Error::usage)?;
    let files = table::read(&args.table.paths, MAX_BYTES)?;
    let mut compilation = compile(&files);
    let Some(table) = compilation.table.take() else {
        table::report(&compilation.diagnostics)?;
        return Err(Error::Reported);
    };
    let table = Arc::new(table);
    let links = base::links(&table, &args.table.paths, args.base.as_deref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let checked = runtime.block_on(async {
        let checker = setup::checker(args, links, user_agent).await?;
        let set = checker.set_aliases(&members).await;
        set.context("cannot keep the results of link checks")?;
        match args.watch {
            true => {
                let watched = watch::run(checker, &args.table.paths, args.max_time).await;
                watched.map(|()| None)
            }
            false => once::check(args, checker).await.map(Some),
        }
    });
    // A look-up that is no longer awaited must not delay the end.
    runtime.shutdown_background();
    let Some(conclusions) = checked? else {
        return Ok(());
    };
    let compiled = Compiled {
        files,
        compilation,
        table,
    };
    once::report(args, &conclusions, compiled)
}
