//! `waypost export`: converts a table to another format.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, IsTerminal as _, Write as _, stderr, stdout};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context as _;
use clap::ValueEnum;

use super::arguments::{TableArgs, table};
use super::terminal::{Error, legible, progress};
use crate::exchange::{self, Feature, Losses, PageWithoutPlace};
use crate::mapping::{Site, Table, Timestamp};

/// How many codes that differ only in case are named.
const NAMED: usize = 20;

/// Convert a table to another format
///
/// The result goes to standard output, sorted by code; a static site goes to a directory, which
/// must be new or empty. Anything that the format cannot represent is reported on standard error,
/// with a count for each kind.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost export --format csv > links.csv
  waypost export --format nginx > /etc/nginx/conf.d/links.conf
  waypost export --format html public/       one page per code, for hosts that only serve files
  waypost export --format beacon --site https://short.code/ --table links/

Exit status: 0 done, even if something is lost; 1 the table has errors or no such site, or the
directory is not empty; 2 wrong usage; 3 the table cannot be read, or the result cannot be written.")]
pub(super) struct Args {
    /// The directory for a static site
    #[arg(value_name = "DIR", required_if_eq("format", "html"))]
    directory: Option<PathBuf>,

    /// The format
    #[arg(long, value_name = "FORMAT", env = "WAYPOST_EXPORT_FORMAT")]
    format: ExportFormatArg,

    #[command(flatten)]
    table: TableArgs,

    /// The base URL of the site, if the table has several
    #[arg(long, value_name = "BASE_URL", env = "WAYPOST_SITE")]
    site: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormatArg {
    /// Comma-separated values
    Csv,
    /// One JSON object per line
    Jsonl,
    /// A Waypost table, as one file
    Yaml,
    /// A BEACON link dump
    Beacon,
    /// The text that URLTeam publishes
    Urlteam,
    /// Maps for nginx
    Nginx,
    /// A Caddyfile
    Caddy,
    /// A _redirects file of Netlify or Cloudflare Pages
    Redirects,
    /// Rules for Apache
    Apache,
    /// A static site
    Html,
}

impl ExportFormatArg {
    /// Returns the corresponding text format; a static site has none.
    fn text(self) -> Option<exchange::ExportFormat> {
        Some(match self {
            Self::Csv => exchange::ExportFormat::Csv,
            Self::Jsonl => exchange::ExportFormat::JsonLines,
            Self::Yaml => exchange::ExportFormat::Yaml,
            Self::Beacon => exchange::ExportFormat::Beacon,
            Self::Urlteam => exchange::ExportFormat::UrlTeam,
            Self::Nginx => exchange::ExportFormat::Nginx,
            Self::Caddy => exchange::ExportFormat::Caddy,
            Self::Redirects => exchange::ExportFormat::Redirects,
            Self::Apache => exchange::ExportFormat::Apache,
            Self::Html => return None,
        })
    }
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    let text = args.format.text();
    if text.is_some() && args.directory.is_some() {
        return Err(Error::usage(
            "only a static site (--format html) goes to a directory",
        ));
    }
    let compilation = table::compile_paths(&args.table.paths)?;
    let Some(table) = &compilation.table else {
        table::report(&compilation.diagnostics)?;
        return Err(Error::Reported);
    };
    let site = choose(table, args.site.as_deref())?;
    let now = Timestamp::from(SystemTime::now());
    match (text, &args.directory) {
        (Some(format), _) => {
            let write = || {
                let mut out = BufWriter::new(stdout().lock());
                format.write(site, now, &mut out)?;
                out.flush()
            };
            match stdout().is_terminal() {
                true => write()?,
                false => progress::during("writing the links", write)?,
            }
            report_losses(&format.losses(site, now))?;
            report_approximations(&format.approximations(site, now))?;
            if format == exchange::ExportFormat::Nginx {
                report_alike(site)?;
            }
        }
        (None, Some(directory)) => {
            if !is_free(directory)? {
                let directory = directory.display();
                let message = format!("{directory} is not empty: name a new directory");
                return Err(Error::refused(message));
            }
            let write = || write_pages(site, now, directory);
            for code in progress::during("writing the pages", write)? {
                let code = legible(&code);
                writeln!(stderr(), "left out, for its file has another use: {code}")?;
            }
            report_losses(&exchange::page_losses(site, now))?;
        }
        (None, None) => unreachable!("a static site requires a directory"),
    }
    Ok(())
}

/// Returns the requested site, or a hint.
fn choose<'t>(table: &'t Table, named: Option<&str>) -> Result<&'t Site, Error> {
    match (named, table.sites()) {
        (Some(named), _) => table.site_named(named).map_err(Error::refused),
        (None, [site]) => Ok(site),
        (None, sites) => {
            let all: Vec<_> = sites.iter().map(|it| it.base_url().as_str()).collect();
            let all = all.join(", ");
            let hint = format!("name one of the sites with --site: {all}");
            Err(Error::usage(hint))
        }
    }
}

/// Returns whether a path does not exist or is an empty directory.
fn is_free(directory: &Path) -> anyhow::Result<bool> {
    match fs::read_dir(directory) {
        Ok(mut items) => Ok(items.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", directory.display())),
    }
}

/// Writes a static site into an empty directory; returns the codes that have no page.
fn write_pages(site: &Site, now: Timestamp, directory: &Path) -> anyhow::Result<Vec<String>> {
    let mut left_out = Vec::new();
    for page in exchange::pages(site, now) {
        let page = match page {
            Ok(page) => page,
            Err(PageWithoutPlace(code)) => {
                left_out.push(code);
                continue;
            }
        };
        let path = directory.join(&page.path);
        let written = fs::create_dir_all(path.parent().unwrap_or(directory)).and_then(|()| {
            // On a case-insensitive file system, one page must not replace another.
            let file = OpenOptions::new().write(true).create_new(true).open(&path);
            file?.write_all(page.html.as_bytes())
        });
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(left_out)
}

/// Reports the number of codes that lose each feature.
fn report_losses(losses: &Losses) -> io::Result<()> {
    for feature in Feature::ALL {
        let count = losses.of(feature);
        if count > 0 {
            let name = feature.name();
            writeln!(stderr(), "not carried over: {name} ({count})")?;
        }
    }
    Ok(())
}

/// Reports the number of codes that do not choose among their variants exactly as the table says.
fn report_approximations(approximations: &Losses) -> io::Result<()> {
    let count = approximations.of(Feature::Variants);
    if count > 0 {
        let name = Feature::Variants.name();
        writeln!(
            stderr(),
            "approximated: {name} ({count}), for qualities in Accept are compared to one decimal place"
        )?;
    }
    Ok(())
}

/// Reports the codes that nginx can only distinguish one after the other.
fn report_alike(site: &Site) -> io::Result<()> {
    let codes = exchange::alike_but_for_case(site);
    if codes.is_empty() {
        return Ok(());
    }
    let count = codes.len();
    writeln!(
        stderr(),
        "written as regular expressions, for they differ only in case ({count}):"
    )?;
    for code in codes.iter().take(NAMED) {
        writeln!(stderr(), "  {}", legible(code))?;
    }
    if count > NAMED {
        writeln!(stderr(), "  and {} more", count - NAMED)?;
    }
    Ok(())
}
