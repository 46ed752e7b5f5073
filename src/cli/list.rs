//! `waypost list`: lists and searches the links of a table.

mod human;
mod json;

use std::io::{BufWriter, Write as _, stderr, stdout};
use std::time::SystemTime;

use clap::ValueEnum;

use super::arguments::{TableArgs, table};
use super::terminal::{Error, counted};
use crate::exchange;
use crate::mapping::{CodeOrder, Filter, LinkState, Site, Table, Timestamp};

/// List the links of a table, or those that match a query
///
/// Each word of QUERY must occur in a link's code, aliases, URL, title, owner or tags; case is
/// ignored. Links are listed in the order of their codes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost list                                         all links
  waypost list gnu                                     those with gnu in their code, URL, title …
  waypost list 'gnu manual'                            those with both words
  waypost list --owner docs --tag print --state live
  waypost list --state retired --format csv > retired.csv
  waypost list gnu --format json                       as GET /-/api/links answers

Exit status: 0 whether or not there are such links; 1 the table has errors, or no such site; 2 wrong
usage; 3 the table cannot be read.")]
pub(super) struct Args {
    /// The words to search for; after `--`, they may begin with two dashes
    #[arg(value_name = "QUERY", allow_hyphen_values = true, value_parser = not_a_flag)]
    query: Option<String>,

    #[arg(last = true, hide = true, conflicts_with = "query")]
    query_after_dashes: Option<String>,

    /// Only links with this tag
    #[arg(long, value_name = "TEXT")]
    tag: Option<String>,

    /// Only links of this owner
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,

    /// Only links of the site with this base URL
    #[arg(long, value_name = "URL")]
    site: Option<String>,

    /// Only links in this state
    #[arg(long, value_name = "STATE")]
    state: Option<State>,

    #[command(flatten)]
    table: TableArgs,

    /// The output format
    #[arg(
        long,
        value_name = "FORMAT",
        env = "WAYPOST_LIST_FORMAT",
        default_value = "human"
    )]
    format: ListFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum State {
    /// They redirect
    Live,
    /// They were withdrawn
    Retired,
    /// Their validity has ended
    Expired,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    /// Columns that fit the terminal
    Human,
    /// JSON, with the field names of the HTTP API
    Json,
    /// CSV, with the columns that `waypost import --format csv` reads
    Csv,
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    let compilation = table::compile_paths(&args.table.paths)?;
    let Some(table) = &compilation.table else {
        table::report(&compilation.diagnostics)?;
        return Err(Error::Reported);
    };
    let sites = args.sites(table)?;
    let now = Timestamp::from(SystemTime::now());
    let orders: Vec<_> = sites.iter().map(|site| CodeOrder::new(site)).collect();
    let filter = args.filter();
    let of_sites = sites
        .iter()
        .zip(&orders)
        .flat_map(|(site, order)| order.search(site, filter.clone(), None, now, || true));
    let entries: Vec<_> = of_sites.collect();
    let mut out = BufWriter::new(stdout().lock());
    match args.format {
        ListFormat::Human => human::write(&mut out, &entries, table.sites().len() > 1, now)?,
        ListFormat::Json => json::write(&mut out, &entries, now)?,
        ListFormat::Csv if sites.len() > 1 => {
            return Err(Error::usage(
                "the table has several sites, and CSV holds one: name it with --site",
            ));
        }
        ListFormat::Csv => exchange::write_csv(entries.iter().copied(), &mut out)?,
    }
    out.flush()?;
    if args.format == ListFormat::Human {
        let of_all = sites.iter().map(|site| site.len()).sum();
        writeln!(stderr(), "{}", summary(entries.len(), of_all))?;
    }
    Ok(())
}

/// Returns the number of listed links, and the total.
fn summary(listed: usize, of_all: usize) -> String {
    let all = counted(of_all, "link", "links");
    match listed == of_all {
        true => all,
        false => format!("{listed} of {all}"),
    }
}

/// Reads a query. A code may begin with one or two dashes, but a text that begins with two is more
/// often an unknown flag.
fn not_a_flag(text: &str) -> Result<String, &'static str> {
    match text.starts_with("--") {
        true => Err("there is no such flag; write a query that begins with two dashes after `--`"),
        false => Ok(text.to_owned()),
    }
}

impl Args {
    /// Returns the sites whose links are listed.
    fn sites<'t>(&self, table: &'t Table) -> Result<Vec<&'t Site>, Error> {
        match &self.site {
            None => Ok(table.sites().iter().collect()),
            Some(name) => Ok(vec![table.site_named(name).map_err(Error::refused)?]),
        }
    }

    /// Returns the filter for links.
    fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        if let Some(query) = self.query.as_ref().or(self.query_after_dashes.as_ref()) {
            filter = filter.text(query);
        }
        if let Some(tag) = &self.tag {
            filter = filter.tag(tag);
        }
        if let Some(owner) = &self.owner {
            filter = filter.owner(owner);
        }
        match self.state {
            Some(State::Live) => filter.state(LinkState::Live),
            Some(State::Retired) => filter.state(LinkState::Retired),
            Some(State::Expired) => filter.state(LinkState::Expired),
            None => filter,
        }
    }
}
