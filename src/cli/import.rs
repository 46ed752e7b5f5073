//! `waypost import`: imports links into a table from other formats.

mod configuration_tree;
mod format;
mod imported_file;
mod importing;
mod refused_rows;

use std::fs::File;
use std::io::{IsTerminal as _, Read, Write as _, stderr, stdin, stdout};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context as _;
use clap::ValueEnum as _;
use clap::builder::{BoolishValueParser, TypedValueParser};

use self::format::ImportFormatArg;
use self::imported_file::{Content, ImportedFile, Remarks, refused_row};
use self::importing::Importing;
use self::refused_rows::RefusedRows;
use super::arguments::{STDIN, STDIN_NAME, TableArgs, property, quantity, table};
use super::publishing::{self, ChangeFailure, PublishArgs};
use super::refusal;
use super::terminal::{Error, counted, legible, progress, remedy};
use crate::exchange::read::{Column, in_plain_lines, in_utf8};
use crate::mapping::{BaseUrl, Case};
use crate::registry::{ImportDecision, ImportRun, MayShadow, NewTable};

/// The maximum size of a file. A table keeps less than its content.
const MAX_INPUT: u64 = 1 << 30;

/// How many warnings are reported.
const SHOWN_WARNINGS: usize = 20;

/// Import links from another program into a table
///
/// Every link keeps its code, so published links keep working. A row that cannot be imported is
/// reported with its line and the reason; all other rows are written in one step, and in one commit
/// if a commit is requested. A link that the table already has is skipped. Existing entries never
/// change, and an import that fails changes nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost import links.csv --dry-run
  waypost import links.csv --format csv --column url=Ziel --column short-code=Kurz
  waypost import dump.csv --format shlink --base-url https://short.code/ --table new.yaml
  waypost import nginx.conf --format nginx --from https://old.example/go/
  waypost import htdocs --format apache --dry-run      .htaccess files, with their directories
  waypost import dump.csv --push                       on the latest commit of the remote
  waypost import dump.csv --branch old-links           for review
  waypost import dump.csv --repo git@git.example.org:links.git

Exit status: 0 every link is in the table; 1 some are not, or only in part, or the table has errors;
2 wrong usage; 3 a file cannot be read or written, or Git failed.")]
pub(super) struct Args {
    /// The file to read; `-` is standard input, and a directory is a tree of .htaccess files
    #[arg(value_name = "FILE")]
    source: PathBuf,

    /// The format of the file [default: detected from its name and content]
    #[arg(long, env = "WAYPOST_IMPORT_FORMAT", value_name = "FORMAT")]
    format: Option<ImportFormatArg>,

    #[command(flatten)]
    table: TableArgs,

    /// The base URL of the site, if the table has several
    #[arg(long, value_name = "URL", env = "WAYPOST_SITE")]
    site: Option<String>,

    /// The file of the table to write to, by path or name, if there are several
    #[arg(long, env = "WAYPOST_FILE", value_name = "FILE")]
    file: Option<String>,

    /// Create a new table with this base URL
    #[arg(long, env = "WAYPOST_BASE_URL", value_name = "URL", conflicts_with_all = ["file", "push", "branch", "repo"], value_parser = base_url())]
    base_url: Option<BaseUrl>,

    /// Whether the new table finds codes in any case
    #[arg(long, env = "WAYPOST_CASE", value_name = "CASE", requires = "base_url", default_value = Case::Exact.name(), value_parser = property::case())]
    case: Case,

    /// The base URL of the short links in the file, if it differs from the table's
    #[arg(long, env = "WAYPOST_FROM", value_name = "URL", value_parser = base_url())]
    from: Option<BaseUrl>,

    /// The name of a CSV column in the header; without NAME, the column is ignored; may be repeated
    #[arg(long, env = "WAYPOST_COLUMN", value_name = "KEY=NAME", value_parser = column)]
    column: Vec<(Column, String)>,

    /// Allow rows to change where published paths of existing links lead, such as forwarded or
    /// repaired paths; the commit that --commit, --push or --branch makes declares this
    #[arg(long, env = "WAYPOST_ALLOW_SHADOWING", value_parser = BoolishValueParser::new())]
    allow_shadowing: bool,

    /// How many rows of each reason are reported, or `all` [default: 1, and the lines of 5 more]
    #[arg(long, value_name = "N", env = "WAYPOST_MAX_PROBLEMS", value_parser = quantity::max_problems)]
    max_problems: Option<usize>,

    #[command(flatten)]
    git: PublishArgs,
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    table::require_files(&args.table.paths)?;
    if args.base_url.is_some() {
        match &args.table.paths[..] {
            [path] if !path.exists() => {}
            _ => {
                return Err(Error::usage(
                    "--base-url needs exactly one --table, a file that does not exist yet",
                ));
            }
        }
    }
    if args.source.is_dir() {
        if args.format.is_some_and(|it| it != ImportFormatArg::Apache) {
            return Err(Error::usage(
                "a directory can only be imported with --format apache",
            ));
        }
        let name = args.source.display().to_string();
        let what = format!("reading {name}");
        let tree = progress::during(what, || {
            configuration_tree::read_tree(&args.source, MAX_INPUT)
        })?;
        return import(args, &name, ImportFormatArg::Apache, Content::Tree(&tree));
    }
    let (name, bytes) = read(&args.source)?;
    let (bytes, encoding) = in_utf8(&bytes);
    if let Some(encoding) = encoding {
        writeln!(stderr(), "{name}: converted from {encoding}")?;
    }
    let bytes = in_plain_lines(bytes);
    let format = ImportFormatArg::of(args.format, &name, &bytes)?;
    import(args, &name, format, Content::File(format, &bytes))
}

/// Imports what was read.
fn import(
    args: &Args,
    name: &str,
    format: ImportFormatArg,
    content: Content<'_>,
) -> Result<(), Error> {
    let of_format = format.to_possible_value();
    let (from, columns) = (args.from.as_ref(), &args.column);
    let file = ImportedFile::of(name, content, from, columns, args.max_problems);
    let places = file.places();
    let importing = Importing {
        run: ImportRun {
            fill: &|intake| file.fill(intake),
            names_sites: args.from.is_none() && format.form().may_name_sites(),
            // These variables are for existing tables.
            site: args.site.as_deref().filter(|_| args.base_url.is_none()),
            file: args.file.as_deref(),
            may_shadow: &MayShadow::of_flag(args.allow_shadowing),
            format: of_format.as_ref().map_or("", |it| it.get_name()),
            is_dry_run: args.git.dry_run,
            now: SystemTime::now().into(),
        },
        new_table: args.base_url.as_ref().map(|base_url| NewTable {
            base_url,
            case: args.case,
        }),
    };
    let published = args.git.publish(&args.table.paths, &importing);
    let Remarks {
        mut refused,
        unread,
        deviations,
    } = file.finish();
    if let Ok((decision, _)) = &published {
        for (line, refusal) in &decision.refused {
            refused.add(refused_row(*line, refusal));
        }
    }
    refused.report(&places)?;
    if !unread.is_empty() {
        let names = unread.join(", ");
        writeln!(stderr(), "ignored columns: {}", legible(&names))?;
    }
    for (deviation, count) in deviations {
        let links = counted(count, "link", "links");
        writeln!(stderr(), "note: {links}: {}", deviation.description())?;
    }
    match published {
        Ok((decision, notes)) => announce(args, &decision, &notes, &refused),
        Err(ChangeFailure::Refused(refusal)) => {
            refusal::report(&refusal, remedy::of_importing(&refusal).as_deref())
        }
        Err(ChangeFailure::Other(error)) => Err(error),
    }
}

/// Reads the file to import; returns its name, too.
fn read(path: &Path) -> anyhow::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut take = |from: &mut dyn Read| from.take(MAX_INPUT + 1).read_to_end(&mut bytes);
    let name = match path == Path::new(STDIN) {
        true => STDIN_NAME.to_owned(),
        false => path.display().to_string(),
    };
    let read = match path == Path::new(STDIN) {
        true if stdin().is_terminal() => take(&mut stdin()),
        true => progress::during("reading standard input", || take(&mut stdin())),
        false => progress::during(format!("reading {name}"), || {
            File::open(path).and_then(|mut file| take(&mut file))
        }),
    };
    read.with_context(|| format!("cannot read {name}"))?;
    anyhow::ensure!(
        bytes.len() as u64 <= MAX_INPUT,
        "{name} is larger than {MAX_INPUT} bytes: import it in parts"
    );
    Ok((name, bytes))
}

fn announce(
    args: &Args,
    decision: &ImportDecision,
    notes: &[String],
    refused: &RefusedRows,
) -> Result<(), Error> {
    let ImportDecision {
        before,
        added,
        known,
        proved,
        warnings,
        trailers,
        ..
    } = decision;
    table::report(&warnings[..warnings.len().min(SHOWN_WARNINGS)])?;
    if let Some(more) = warnings.len().checked_sub(SHOWN_WARNINGS + 1) {
        writeln!(
            stderr(),
            "and {} warnings more: see waypost check",
            more + 1
        )?;
    }
    if let Some(proved) = proved.as_ref().filter(|_| args.git.dry_run) {
        publishing::show(&mut stdout(), before, &proved.table.table)?;
    }
    let verb = match args.git.dry_run {
        true => "would add",
        false => "added",
    };
    let added: Vec<_> = (added.iter())
        .map(|(path, count)| format!("{} to {path}", counted(*count, "link", "links")))
        .collect();
    write!(stderr(), "{verb} {}", added.join(", "))?;
    if *known > 0 {
        write!(stderr(), "; {known} already in the table")?;
    }
    for (count, what) in [
        (refused.in_part(), "imported in part"),
        (refused.count(), "not imported"),
    ] {
        if count > 0 {
            write!(stderr(), "; {count} {what}")?;
        }
    }
    writeln!(stderr())?;
    let statement = match args.git.makes_commit() || args.git.dry_run {
        true => Vec::new(),
        false => publishing::statement(trailers),
    };
    for note in notes.iter().chain(&statement) {
        writeln!(stderr(), "{note}")?;
    }
    match refused.count() + refused.in_part() {
        0 => Ok(()),
        _ => Err(Error::Reported),
    }
}

fn base_url() -> impl TypedValueParser<Value = BaseUrl> {
    clap::builder::StringValueParser::new().try_map(|text| BaseUrl::parse(&text))
}

fn column(text: &str) -> Result<(Column, String), String> {
    let (key, name) = text.split_once('=').ok_or("write it as KEY=NAME")?;
    let column = Column::from_name(key);
    let column = column.ok_or_else(|| {
        format!(
            "no column is called {key:?}: url, short-code, short-url, number, aliases, status, \
                 forward, cache-max-age, title, owner, tags, expires, retired, archive, \
                 below"
        )
    })?;
    Ok((column, name.to_owned()))
}
