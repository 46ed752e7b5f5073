//! The arguments of `waypost linkcheck`.

use std::path::PathBuf;
use std::time::Duration;

use super::fix::FixArgs;
use super::format::VerdictFormat;
use crate::cli::arguments::rule::{RuleParser, named};
use crate::cli::arguments::{PathArgs, quantity};
use crate::linkcheck::Verdict;
use crate::mapping::Rule;

/// Check whether the links of a table work, and report those that do not
///
/// Sends each host one request at a time, with a pause between requests, and honours its
/// robots.txt. Results are kept in a file: a run checks only what is due, and only repeated
/// failures over several days make a link dead.
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
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) table: PathArgs,

    /// The file that keeps results between runs [default: linkcheck.redb in $XDG_STATE_HOME/waypost
    /// or ~/.local/state/waypost]
    #[arg(
        long,
        value_name = "FILE",
        env = "WAYPOST_LINKCHECK_STATE",
        conflicts_with = "base"
    )]
    pub(super) state: Option<PathBuf>,

    /// Share the work and its results with others on a Valkey or Redis server, such as
    /// redis://valkey.example or rediss://valkey.example:6380
    ///
    /// All of them must check the same table. Set the user and password in
    /// WAYPOST_LINKCHECK_STORE_USERNAME and WAYPOST_LINKCHECK_STORE_PASSWORD, or name files that
    /// contain them in the same variables with the suffix _FILE.
    #[cfg(feature = "valkey")]
    #[arg(
        long,
        value_name = "URL",
        env = "WAYPOST_LINKCHECK_STORE",
        conflicts_with_all = ["base", "state"]
    )]
    pub(super) store: Option<String>,

    /// Check only targets that a change added: those that the table lacks at the commit where HEAD
    /// branched off from this branch, tag or commit
    ///
    /// Each target is checked once and no result is kept, so no link is reported as dead.
    #[arg(long, value_name = "REV", env = "WAYPOST_LINKCHECK_BASE")]
    pub(super) base: Option<String>,

    /// The minimum pause between two requests to one host, or to hosts of the same alias
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_LINKCHECK_DELAY", default_value = "1s", value_parser = quantity::interval)]
    pub(super) delay: Duration,

    /// How long a request may take
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_LINKCHECK_TIMEOUT", default_value = "30s", value_parser = quantity::positive_interval)]
    pub(super) timeout: Duration,

    /// How many hosts to check at the same time
    #[arg(long, value_name = "N", env = "WAYPOST_LINKCHECK_CONCURRENCY", default_value = "64", value_parser = quantity::within(1..=u16::MAX))]
    pub(super) concurrency: u16,

    /// How many failures in a row make a link dead
    #[arg(long, value_name = "N", env = "WAYPOST_LINKCHECK_STRIKES", default_value = "3", value_parser = quantity::within(2..=u8::MAX))]
    pub(super) strikes: u8,

    /// The minimum time between two failures for both to count
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_LINKCHECK_STRIKE_INTERVAL", default_value = "3d", value_parser = quantity::interval)]
    pub(super) strike_interval: Duration,

    /// The time after which a link that works is checked again
    ///
    /// A link that does not work is checked again after an hour, then after a day, then every three
    /// days.
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_LINKCHECK_RECHECK", default_value = "14d", value_parser = quantity::positive_interval)]
    pub(super) recheck: Duration,

    /// A YAML file of hosts to treat as one, such as several names of one machine:
    /// `ALIAS: [HOST, HOST:PORT, …]`
    #[arg(long, value_name = "FILE", env = "WAYPOST_LINKCHECK_ALIASES")]
    pub(super) aliases: Option<PathBuf>,

    /// A URL or email address at which operators of hosts can reach you, sent with each request
    #[arg(long, value_name = "ADDRESS", env = "WAYPOST_LINKCHECK_CONTACT")]
    pub(super) contact: Option<String>,

    /// Also check hosts with private addresses, such as those of an intranet; link-local addresses and
    /// metadata services are never contacted
    #[arg(long, env = "WAYPOST_LINKCHECK_ALLOW_PRIVATE", value_parser = clap::builder::BoolishValueParser::new())]
    pub(super) allow_private: bool,

    /// Keep checking until stopped by a signal (SIGTERM, SIGINT), and follow changes to the table
    ///
    /// Prints a line for each link whose verdict changes, and for each new one that needs
    /// attention. If the table has errors, its last good version is checked. --max-time stops it as
    /// well.
    #[arg(
        long,
        env = "WAYPOST_LINKCHECK_WATCH",
        conflicts_with_all = ["base", "deny", "format", "fix", "archive"],
        value_parser = clap::builder::BoolishValueParser::new()
    )]
    pub(super) watch: bool,

    /// Stop after this time; the next run continues
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_LINKCHECK_MAX_TIME", value_parser = quantity::positive_interval)]
    pub(super) max_time: Option<Duration>,

    /// A verdict that makes the command fail, such as `dead`, or its rule; may be repeated
    #[arg(
        long,
        value_name = "RULE",
        env = "WAYPOST_LINKCHECK_DENY",
        value_delimiter = ',',
        hide_possible_values = true,
        value_parser = RuleParser::new(denied).or("dead")
    )]
    pub(super) deny: Vec<Rule>,

    /// The format of the report
    #[arg(
        long,
        value_name = "FORMAT",
        env = "WAYPOST_LINKCHECK_FORMAT",
        default_value = "human"
    )]
    pub(super) format: VerdictFormat,

    #[command(flatten)]
    pub(super) fixing: FixArgs,
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
