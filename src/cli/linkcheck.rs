//! `waypost linkcheck`: checks whether the links of a table work, and reports those that do not.

mod change_lines;
mod conclusions;
mod fix;
mod format;
mod json;
mod look_up;
mod markdown;
mod outage;
mod progress;
mod proposals;
mod state_file;
mod watch;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context as _;

use self::change_lines::ChangeLines;
use self::conclusions::Conclusions;
use self::fix::FixArgs;
use self::format::VerdictFormat;
use self::proposals::Proposals;
#[cfg(feature = "valkey")]
use super::arguments::link_store;
use super::arguments::rule::{RuleParser, named};
use super::arguments::{MAX_BYTES, PathArgs, host_aliases, quantity, table};
use super::report::{self, Findings, Levels};
use super::terminal::{Error, complain};
use crate::frontier::{Clock, SystemClock};
use crate::history::Lineage;
use crate::linkcheck::{
    AskClient, CheckOptions, CheckState, Checker, FileState, Limits, Links, MemoryState, Policy,
    Scope, SystemResolver, Trust, UserAgent, Verdict,
};
use crate::mapping::{Rule, Table, Timestamp, compile};

/// Check whether the links of a table work, and report those that do not
///
/// Sends each host one request at a time, with a pause between requests, and honours its robots.txt.
/// Results are kept in a file, so that a run checks only what is due, and only failures over days make
/// a link dead.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost linkcheck                     check the links of ./mapping.yaml that are due
  waypost linkcheck links/ --max-time 1h
                                        the same for a directory, for at most an hour
  waypost linkcheck --format markdown   a report for an issue that a bot updates
  waypost linkcheck --base main         check only what a change added
  waypost linkcheck --deny dead         fail if a link is dead
  waypost linkcheck --fix --dry-run     show what would be fixed in the table
  waypost linkcheck --fix --branch fix-links
                                        fix what can be fixed, for review
  waypost linkcheck --watch --store redis://valkey.example
                                        keep checking, and share the work with others

Exit status: 0 the links were checked, whatever the verdicts; 1 the table has errors, or a link
has a verdict that --deny names; 2 wrong usage; 3 it could not run.")]
pub(super) struct Args {
    #[command(flatten)]
    table: PathArgs,

    /// Where to keep results from run to run; by default linkcheck.redb in $XDG_STATE_HOME/waypost or
    /// ~/.local/state/waypost
    #[arg(
        long,
        value_name = "FILE",
        env = "WAYPOST_LINKCHECK_STATE",
        conflicts_with = "base"
    )]
    state: Option<PathBuf>,

    /// Share the work and its results with others on a Valkey or Redis server, such as
    /// redis://valkey.example or rediss://valkey.example:6380
    ///
    /// All of them check the same table. User and password are in WAYPOST_LINKCHECK_STORE_USERNAME and
    /// WAYPOST_LINKCHECK_STORE_PASSWORD, or in the files that these variables with the suffix _FILE
    /// name.
    #[cfg(feature = "valkey")]
    #[arg(
        long,
        value_name = "URL",
        env = "WAYPOST_LINKCHECK_STORE",
        conflicts_with_all = ["base", "state"]
    )]
    store: Option<String>,

    /// Check only targets that a change added: those that the table did not have where HEAD branched
    /// off from this branch, tag or commit
    ///
    /// Each is checked once and no result is kept, so no link is reported as dead.
    #[arg(long, value_name = "REV", env = "WAYPOST_LINKCHECK_BASE")]
    base: Option<String>,

    /// The shortest pause between two requests to one host, or to hosts of the same alias
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_LINKCHECK_DELAY", default_value = "1s", value_parser = quantity::interval)]
    delay: Duration,

    /// How long a request may take
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_LINKCHECK_TIMEOUT", default_value = "30s", value_parser = quantity::positive_interval)]
    timeout: Duration,

    /// How many hosts to check at a time
    #[arg(long, value_name = "N", env = "WAYPOST_LINKCHECK_CONCURRENCY", default_value = "64", value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,

    /// How many failures make a link dead
    #[arg(long, value_name = "N", env = "WAYPOST_LINKCHECK_STRIKES", default_value = "3", value_parser = clap::value_parser!(u8).range(2..))]
    strikes: u8,

    /// The shortest time between two failures that both count
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_LINKCHECK_STRIKE_INTERVAL", default_value = "3d", value_parser = quantity::interval)]
    strike_interval: Duration,

    /// The time after which a link that works is checked again
    ///
    /// A link that does not work is checked again after an hour, then after a day, then every three
    /// days.
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_LINKCHECK_RECHECK", default_value = "14d", value_parser = quantity::positive_interval)]
    recheck: Duration,

    /// A YAML file of hosts to treat as one, such as several names of one machine:
    /// `ALIAS: [HOST, HOST:PORT, …]`
    #[arg(long, value_name = "FILE", env = "WAYPOST_LINKCHECK_ALIASES")]
    aliases: Option<PathBuf>,

    /// A URL or mail address at which operators of hosts can reach you, sent with each request
    #[arg(long, value_name = "ADDRESS", env = "WAYPOST_LINKCHECK_CONTACT")]
    contact: Option<String>,

    /// Also check hosts with private addresses, such as those of an intranet; link-local addresses and
    /// metadata services are never contacted
    #[arg(long, env = "WAYPOST_LINKCHECK_ALLOW_PRIVATE", value_parser = clap::builder::BoolishValueParser::new())]
    allow_private: bool,

    /// Keep checking until a signal ends it (SIGTERM, SIGINT), and follow changes of the table
    ///
    /// Prints a line for each link whose verdict changes, and for each new one that needs attention.
    /// If the table has errors, its last good version is checked. With --max-time it ends by itself.
    #[arg(
        long,
        env = "WAYPOST_LINKCHECK_WATCH",
        conflicts_with_all = ["base", "deny", "format", "fix", "archive"],
        value_parser = clap::builder::BoolishValueParser::new()
    )]
    watch: bool,

    /// Stop after this time; the next run continues
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_LINKCHECK_MAX_TIME", value_parser = quantity::positive_interval)]
    max_time: Option<Duration>,

    /// A verdict that makes the command fail, such as `dead`, or its rule; may be repeated
    #[arg(
        long,
        value_name = "RULE",
        env = "WAYPOST_LINKCHECK_DENY",
        value_delimiter = ',',
        hide_possible_values = true,
        value_parser = RuleParser::new(denied).or("dead")
    )]
    deny: Vec<Rule>,

    /// The format of the report
    #[arg(
        long,
        value_name = "FORMAT",
        env = "WAYPOST_LINKCHECK_FORMAT",
        default_value = "human"
    )]
    format: VerdictFormat,

    #[command(flatten)]
    fixing: FixArgs,
}

/// Returns the rule that a verdict or the name of a rule means.
fn denied(name: &str) -> Result<Rule, String> {
    let verdict = Verdict::ALL.iter().find(|verdict| verdict.name() == name);
    if let Some(rule) = verdict.and_then(|verdict| verdict.rule()) {
        return Ok(rule);
    }
    let rule = named(name)?;
    match Verdict::ALL.iter().any(|it| it.rule() == Some(rule)) {
        true => Ok(rule),
        false => Err("it is not a rule of link checking".to_owned()),
    }
}

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
    let links = links(args, &table)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let (state, clock) = runtime.block_on(state(args))?;
    let trust = Trust::system().context("cannot use TLS for requests to hosts")?;
    let scope = match args.allow_private {
        true => Scope::Private,
        false => Scope::Global,
    };
    let client = AskClient::new(Arc::new(SystemResolver::default()), trust, user_agent)
        .asking(scope)
        .within(limits(args.timeout));
    let options = CheckOptions {
        delay: args.delay,
        concurrency: args.concurrency.into(),
        policy: Policy::default()
            .with_strikes(args.strikes)
            .with_strike_interval(args.strike_interval)
            .with_recheck(args.recheck),
        max_time: args.max_time,
    };
    let deadline = args.max_time.and_then(|it| Instant::now().checked_add(it));
    let checker = Checker::new(state, Arc::new(client), clock, links, options);
    if args.watch {
        let lines = ChangeLines::new();
        let checker = Arc::new(lines.printed_by(checker));
        let watched = runtime.block_on(async {
            let set = checker.set_aliases(&members).await;
            set.context("cannot keep the results of link checks")?;
            watch::run(&checker, &args.table.paths, lines, args.max_time).await
        });
        runtime.shutdown_background();
        return watched;
    }
    let checker = Arc::new(checker);
    let check = async {
        checker.set_aliases(&members).await?;
        progress::show(&checker, checker.run()).await
    };
    runtime
        .block_on(async {
            tokio::select! {
                checked = check => checked,
                never = outage::report(&checker) => never,
            }
        })
        .context("cannot keep the results of link checks")?;
    let links = checker.links();
    let wants = |verdict| args.format.reports(verdict);
    let mut conclusions = runtime
        .block_on(Conclusions::of(&checker, &links, wants))
        .context("cannot read the results of link checks")?;
    if let Some(archive) = args.fixing.archive() {
        let look_up = look_up::run(&checker, &archive, &mut conclusions, scope, deadline);
        runtime
            .block_on(look_up)
            .context("cannot keep the results of link checks")?;
    }
    // A look-up that nobody waits for must not delay the end.
    runtime.shutdown_background();
    let proposals = (args.fixing.fix).then(|| Proposals::of(&conclusions, &table, options.policy));
    compilation.diagnostics = conclusions.diagnostics();
    compilation.expectations.clear();
    let findings = Findings::new(files, compilation, Levels::denying(args.deny.clone()));
    let finished = report::finish(&findings, &conclusions.summary(), |out| {
        args.format.write(&findings, &conclusions, out)
    });
    // A verdict that is denied keeps nothing from being fixed.
    if let (Some(proposals), Ok(()) | Err(Error::Reported)) = (proposals, &finished) {
        let is_for_people = args.format.is_for_people();
        (args.fixing).run(&args.table.paths, proposals, is_for_people)?;
    }
    finished
}

/// Returns where the results are kept, and the clock there.
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

/// Returns the links to check: of a table, or only those that it has more than its base.
fn links(args: &Args, table: &Arc<Table>) -> Result<Links, Error> {
    let now = Timestamp::from(SystemTime::now());
    let Some(base) = &args.base else {
        return Ok(Links::of(table, now, |_| true));
    };
    let known = targets(lineage(&args.table.paths)?.table_at_base(base, &|note| {
        complain(&note.to_string());
    })?);
    Ok(Links::of(table, now, |target| !known.contains(target)))
}

/// Returns the commits of the table, none of whose paths leads out of its repository.
fn lineage(paths: &[PathBuf]) -> Result<Lineage, Error> {
    let lineage = Lineage::of_work_tree(paths, "HEAD", MAX_BYTES)?;
    let refused = table::refuse_links(lineage.repository(), paths)?;
    match refused.is_empty() {
        true => Ok(lineage),
        false => {
            table::report(&refused)?;
            Err(Error::Reported)
        }
    }
}

/// Returns the targets of a table; none, if there was none.
fn targets(table: Option<Table>) -> HashSet<String> {
    let sites = table.iter().flat_map(Table::sites);
    let entries = sites.flat_map(|site| site.entries());
    entries
        .filter_map(|entry| entry.target().map(|target| target.into_owned()))
        .collect()
}

fn limits(timeout: Duration) -> Limits {
    let usual = Limits::default();
    Limits {
        connect: usual.connect.min(timeout),
        head: usual.head.min(timeout),
        whole: timeout,
    }
}
