//! `waypost resolve`: reports where a short link leads, with the engine that serves it.

use std::io::{Write as _, stderr, stdout};
use std::str::FromStr as _;
use std::time::SystemTime;

use url::Url;

use super::arguments::{TableArgs, table};
use super::terminal::{Error, complain};
use crate::mapping::{
    AcceptFields, Entry, Outcome, Request, Site, SiteKey, Table, Target, Timestamp, Via,
    WrittenDate,
};

/// How many similar codes are named when there is no such link.
const SUGGESTIONS: usize = 5;

/// Show where a short link leads, and the position of its entry
///
/// Only the target goes to standard output; the position goes to standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost resolve gnu-home
  waypost resolve https://short.code/t0P0JMya
  waypost resolve --at 2030-01-01 campaign
  waypost resolve --accept text/turtle ontology

Exit status: 0 it leads somewhere; 1 it is gone or not found, or the table has errors.")]
pub(super) struct Args {
    /// A short code, or a whole short link
    #[arg(value_name = "CODE|SHORT-URL", allow_hyphen_values = true)]
    link: String,

    #[command(flatten)]
    table: TableArgs,

    /// The time at which to resolve the link (RFC 3339), instead of now
    #[arg(long, value_name = "TIME", env = "WAYPOST_AT", value_parser = time)]
    at: Option<Timestamp>,

    /// The media types that the client accepts, as in the field "Accept"
    #[arg(long, value_name = "TYPES", env = "WAYPOST_ACCEPT")]
    accept: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    let compilation = table::compile_paths(&args.table.paths)?;
    let Some(table) = &compilation.table else {
        table::report(&compilation.diagnostics)?;
        return Err(Error::Reported);
    };
    let now = args
        .at
        .unwrap_or_else(|| Timestamp::from(SystemTime::now()));
    let followed = Followed::parse(&args.link, table);
    if let [only] = &followed[..]
        && !only.is_of(table)
    {
        return Err(refuse_elsewhere(&args.link, table));
    }
    let mut outcomes: Vec<_> = followed
        .iter()
        .map(|followed| {
            (
                followed,
                followed.resolve(table, args.accept.as_deref(), now),
            )
        })
        .collect();
    // A bare code may belong to any of the sites; only those that have it are shown.
    if outcomes.len() > 1 && outcomes.iter().any(|(_, outcome)| is_hit(outcome)) {
        outcomes.retain(|(_, outcome)| is_hit(outcome));
    }
    if let [(_, first), .., _] = &outcomes[..] {
        let question = if is_hit(first) {
            "several sites have this code"
        } else {
            "no site has this code"
        };
        let message = format!("{question}: name the whole short link");
        return Err(Error::refused(message));
    }
    match outcomes.first() {
        Some((followed, outcome)) => report(followed, outcome, now),
        None => Err(Error::Reported),
    }
}

/// A request as a browser would make it.
struct Followed {
    host: Option<String>,
    path: String,
    query: Option<String>,
}

impl Followed {
    /// Parses a short link, or a bare code under each site of the table.
    fn parse(link: &str, table: &Table) -> Vec<Self> {
        let link = link.strip_prefix('/').unwrap_or(link);
        // A link is often written without its scheme, which is irrelevant here.
        let says_host = |site: &Site| {
            let rest = link.strip_prefix(site.base_url().host());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let whole = match table.sites().iter().any(says_host) {
            true => Url::parse(&format!("https://{link}")),
            false => Url::parse(link),
        };
        if let Some(url) = whole.ok().filter(Url::has_host) {
            return vec![Self {
                host: url.host_str().map(str::to_owned),
                path: url.path().to_owned(),
                query: url.query().map(str::to_owned),
            }];
        }
        let (code, query) = match link.split_once('?') {
            Some((code, query)) => (code, Some(query)),
            None => (link, None),
        };
        let under = |site: &Site| Self {
            host: Some(site.base_url().host().to_owned()),
            path: format!("{}{code}", site.base_url().path()),
            query: query.map(str::to_owned),
        };
        table.sites().iter().map(under).collect()
    }

    /// Returns whether it is under the base URL of a site, or addresses a server on this machine: a
    /// table of one site answers under every host.
    fn is_of(&self, table: &Table) -> bool {
        let host = self.host.as_deref().unwrap_or_default();
        let host = host.strip_suffix('.').unwrap_or(host);
        if matches!(host, "localhost" | "127.0.0.1" | "[::1]") {
            return true;
        }
        table.sites().iter().any(|site| {
            let base_url = site.base_url();
            let own = base_url.path().trim_end_matches('/');
            host == base_url.host()
                && self
                    .path
                    .strip_prefix(own)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    fn resolve<'t>(&self, table: &'t Table, accept: Option<&str>, now: Timestamp) -> Outcome<'t> {
        let request = Request {
            host: self.host.as_deref(),
            path: &self.path,
            query: self.query.as_deref(),
            accept: accept.as_ref().map(|it| it as &dyn AcceptFields),
        };
        table.resolve(&request, now)
    }
}

/// Reports a URL that is not a short link of a table, with the links that lead there.
fn refuse_elsewhere(url: &str, table: &Table) -> Error {
    complain(&format!("{url} is no short link of this table"));
    let target = Target::parse(url).ok();
    let leads_there = |entry: &Entry<'_>| {
        let target = target.as_ref().map(Target::as_str);
        target.is_some() && entry.target().as_deref() == target
    };
    let entries = table.sites().iter().flat_map(Site::entries);
    let links: Vec<_> = entries
        .filter(leads_there)
        .map(|entry| entry.short_url())
        .take(SUGGESTIONS)
        .collect();
    if links.is_empty() {
        let sites = table.sites().iter().map(|site| site.base_url().as_str());
        let sites = sites.take(SUGGESTIONS).collect::<Vec<_>>().join(", ");
        // If this cannot be written, the error cannot be reported either.
        let _ = writeln!(stderr(), "  hint: its short links are under {sites}");
    } else {
        let _ = writeln!(
            stderr(),
            "  hint: these links lead there: {}",
            links.join(", ")
        );
    }
    Error::Reported
}

fn is_hit(outcome: &Outcome<'_>) -> bool {
    match outcome {
        Outcome::Redirect(_) | Outcome::Preview(_) | Outcome::Gone(_) => true,
        Outcome::SiteRedirect(redirect) => redirect.key != SiteKey::Fallback,
        Outcome::Landing(_) | Outcome::NotFound(_) | Outcome::Misdirected => false,
    }
}

fn report(followed: &Followed, outcome: &Outcome<'_>, now: Timestamp) -> Result<(), Error> {
    match outcome {
        Outcome::Redirect(redirect) => {
            writeln!(stdout(), "{}", redirect.location)?;
            let entry = redirect.entry;
            let how = match redirect.via {
                Via::Code => "",
                Via::Forward => ", with the rest of the path",
                Via::Repair => ", repaired",
            };
            let status = redirect.status.code();
            writeln!(
                stderr(),
                "{}: {} ({status}){how}",
                entry.place(),
                entry.short_url()
            )?;
            Ok(())
        }
        Outcome::Preview(entry) => {
            writeln!(stdout(), "{}", entry.target().unwrap_or_default())?;
            writeln!(
                stderr(),
                "{}: {} (preview)",
                entry.place(),
                entry.short_url()
            )?;
            Ok(())
        }
        Outcome::Gone(entry) => {
            complain(&format!(
                "{}: {} {}",
                entry.place(),
                entry.short_url(),
                gone(*entry)
            ));
            if let Some(archive) = entry.archive() {
                writeln!(stderr(), "  hint: an archived copy is at {archive}")?;
            }
            Err(Error::Reported)
        }
        Outcome::SiteRedirect(redirect) => {
            writeln!(stdout(), "{}", redirect.location)?;
            let (place, key) = (redirect.target.place(), redirect.key.name());
            writeln!(stderr(), "{place}: by the key {key:?} (302)")?;
            Ok(())
        }
        Outcome::Landing(site) => {
            let base_url = site.base_url().as_str();
            Err(Error::refused(format!("{base_url} is the landing page")))
        }
        Outcome::Misdirected => Err(Error::refused("no site of this table has that host")),
        Outcome::NotFound(site) => {
            complain("no such link in this table");
            let similar = site.suggestions(&followed.path, SUGGESTIONS, now);
            if !similar.is_empty() {
                writeln!(stderr(), "  hint: did you mean {}?", similar.join(", "))?;
            }
            Err(Error::Reported)
        }
    }
}

fn gone(entry: Entry<'_>) -> String {
    match entry.gone_from() {
        Some(time) if time > Timestamp::MIN => format!("is gone since {time}"),
        _ => "is retired".to_owned(),
    }
}

fn time(text: &str) -> Result<Timestamp, String> {
    let date = WrittenDate::from_str(text).map_err(|error| error.to_string())?;
    Ok(date.start())
}
