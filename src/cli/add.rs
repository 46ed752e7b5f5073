//! `waypost add`: registers a link in a table.

mod publish;

use std::io::{IsTerminal as _, Read as _, Write as _, stderr, stdin, stdout};

use anyhow::Context as _;
use clap::builder::BoolishValueParser;

use self::publish::Adding;
use super::arguments::{TableArgs, property, table};
use super::publishing::{self, ChangeFailure, PublishArgs};
use super::refusal;
use super::terminal::{Error, complain, remedy};
use crate::mapping::{Forward, Status, WrittenDate};
use crate::registry::{
    Destination, MayShadow, Registration, RegistrationRefusal, RegistrationRequest, RequestedCode,
};

/// The maximum size of standard input: more than any URL, so that a longer one is reported as such.
const MAX_INPUT: u64 = 1 << 20;

/// Add a link to a table, and print the short link
///
/// The URL is written in canonical form, and its entry is inserted in the order of codes; nothing
/// else in the file changes. A URL that already has a short link is refused, and so is a code that
/// is taken, even by a retired link. A table with errors is not changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost add https://git-scm.com/                     with a code derived from the URL
  waypost add https://git-scm.com/ --code git --title 'Git, the database'
  waypost add https://git-scm.com/ --number next       the next number
  waypost add https://git-scm.com/ --table links/ --fragment
  waypost add https://git-scm.com/ --dry-run           show what would be added
  waypost add https://git-scm.com/ --push              on the latest commit of the remote
  waypost add https://git-scm.com/ --branch git-link   for review
  waypost add https://git-scm.com/ --repo git@git.example.org:links.git
  short=$(waypost add --get-or-create < url.txt)

Only the short link, or what a dry run shows, goes to standard output; everything else goes to
standard error.
Exit status: 0 the link is in the table; 1 it is refused, or the table has errors; 2 wrong usage;
3 the table cannot be read or written, or Git failed.")]
pub(super) struct Args {
    /// The target; if omitted, prompted for on a terminal, and otherwise read from standard input
    #[arg(value_name = "URL")]
    url: Option<String>,

    /// The short code, instead of one derived from the URL
    #[arg(
        long,
        env = "WAYPOST_CODE",
        value_name = "CODE",
        allow_hyphen_values = true,
        conflicts_with = "number"
    )]
    code: Option<String>,

    /// A number whose base62 form becomes the code; `next` is one more than the highest in use
    #[arg(long, env = "WAYPOST_NUMBER", value_name = "N|next", value_parser = number)]
    number: Option<RequestedCode>,

    /// Another code for the same URL; may be repeated
    #[arg(
        long,
        env = "WAYPOST_ALIAS",
        value_name = "CODE",
        allow_hyphen_values = true
    )]
    alias: Vec<String>,

    /// The title, shown on pages
    #[arg(long, env = "WAYPOST_TITLE", value_name = "TEXT")]
    title: Option<String>,

    /// The person or group responsible for the link
    #[arg(long, value_name = "NAME", env = "WAYPOST_OWNER")]
    owner: Option<String>,

    /// A tag; may be repeated
    #[arg(long, env = "WAYPOST_TAG", value_name = "TEXT")]
    tag: Vec<String>,

    /// The redirect status, instead of the table's default
    #[arg(long, env = "WAYPOST_STATUS", value_name = "CODE", value_parser = property::status())]
    status: Option<Status>,

    /// Which parts of a request are passed on to the target, instead of the table's default
    #[arg(long, env = "WAYPOST_FORWARD", value_name = "WHAT", value_parser = property::forward())]
    forward: Option<Forward>,

    /// A URL to which paths below the code are appended; the target is then for the code alone
    #[arg(long, env = "WAYPOST_BELOW", value_name = "URL")]
    below: Option<String>,

    /// The last day on which the link works, or the time until which it works (RFC 3339)
    #[arg(long, env = "WAYPOST_EXPIRES", value_name = "DATE")]
    expires: Option<String>,

    #[command(flatten)]
    table: TableArgs,

    /// The base URL of the site, if the table has several
    #[arg(long, value_name = "URL", env = "WAYPOST_SITE")]
    site: Option<String>,

    /// The file of the table to write to, by path or name, if there are several
    #[arg(
        long,
        env = "WAYPOST_FILE",
        value_name = "FILE",
        conflicts_with = "fragment"
    )]
    file: Option<String>,

    /// Write the link to a separate new file named after its code, which avoids merge conflicts
    #[arg(long, env = "WAYPOST_FRAGMENT", value_parser = BoolishValueParser::new())]
    fragment: bool,

    /// If the URL already has a short link, print that one
    #[arg(long, env = "WAYPOST_GET_OR_CREATE", value_parser = BoolishValueParser::new())]
    get_or_create: bool,

    /// Allow the new codes to change where published paths of other links lead, such as forwarded
    /// or repaired paths; the commit that --commit, --push or --branch makes declares this
    #[arg(long, env = "WAYPOST_ALLOW_SHADOWING", value_parser = BoolishValueParser::new())]
    allow_shadowing: bool,

    #[command(flatten)]
    git: PublishArgs,
}

pub(super) fn run(args: Args) -> Result<(), Error> {
    table::require_files(&args.table.paths)?;
    let destination = match (args.fragment, &args.table.paths[..]) {
        (false, _) => Destination::Document(args.file),
        (true, [path]) if path.is_dir() || args.git.has_repo() => {
            Destination::Fragment(path.display().to_string())
        }
        (true, _) => {
            return Err(Error::usage(
                "--fragment needs exactly one --table, a directory for the new file",
            ));
        }
    };
    let expires = args.expires.map(|text| text.parse::<WrittenDate>());
    let expires = expires.transpose().map_err(Error::refused)?;
    let code = args.code.map(RequestedCode::Custom);
    // Scripts may pass empty or blank values.
    let says_something = |text: &String| !text.trim().is_empty();
    let request = RegistrationRequest {
        url: match args.url {
            Some(url) => url,
            None => ask()?,
        },
        code: code.or(args.number).unwrap_or_default(),
        aliases: args.alias,
        title: args.title.filter(says_something),
        owner: args.owner.filter(says_something),
        tags: args.tag.into_iter().filter(says_something).collect(),
        status: args.status,
        forward: args.forward,
        below: args.below.filter(says_something),
        variants: Vec::new(),
        expires,
        site: args.site,
        destination,
        may_shadow: MayShadow::of_flag(args.allow_shadowing),
    };
    let adding = Adding {
        request,
        is_dry_run: args.git.dry_run,
    };
    match args.git.publish(&args.table.paths, &adding) {
        Ok((registration, _)) if args.git.dry_run => show_dry_run(&registration),
        Ok((registration, notes)) => announce(&registration, &notes),
        Err(ChangeFailure::Refused(RegistrationRefusal::AlreadyRegistered(holder)))
            if args.get_or_create && !holder.is_gone =>
        {
            writeln!(stdout(), "{}", holder.short_url)?;
            Ok(())
        }
        Err(ChangeFailure::Refused(refusal)) => report(&refusal),
        Err(ChangeFailure::Other(error)) => Err(error),
    }
}

/// Reads the URL from standard input, with a prompt on a terminal.
fn ask() -> Result<String, Error> {
    let mut text = String::new();
    if stdin().is_terminal() {
        write!(stderr(), "URL: ")?;
        stdin().read_line(&mut text)
    } else {
        stdin().take(MAX_INPUT).read_to_string(&mut text)
    }
    .context("cannot read the URL from standard input")?;
    if text.trim().is_empty() {
        return Err(Error::usage(
            "no URL was given, nor read from standard input",
        ));
    }
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

/// Shows the change of a dry run.
fn show_dry_run(registration: &Registration) -> Result<(), Error> {
    table::report(&registration.warnings)?;
    let after = &registration.proved.table.table;
    publishing::show(&mut stdout(), &registration.before, after)?;
    Ok(())
}

fn announce(registration: &Registration, notes: &[String]) -> Result<(), Error> {
    table::report(&registration.warnings)?;
    writeln!(stderr(), "added at {}", registration.place)?;
    for note in notes {
        writeln!(stderr(), "{note}")?;
    }
    writeln!(stdout(), "{}", registration.short_url)?;
    Ok(())
}

/// Reports why a request is refused, and a hint.
fn report(refusal: &RegistrationRefusal) -> Result<(), Error> {
    match refusal {
        RegistrationRefusal::AlreadyRegistered(holder) => {
            return refusal::report_holder(refusal, holder, None);
        }
        RegistrationRefusal::CannotInsert { problems, entry } => {
            table::report(problems)?;
            complain(&format!("{refusal}, but it can be pasted:\n{entry}"));
        }
        _ => return refusal::report(refusal, remedy::of_adding(refusal).as_deref()),
    }
    Err(Error::Reported)
}

fn number(text: &str) -> Result<RequestedCode, String> {
    if text == "next" {
        return Ok(RequestedCode::NextNumber);
    }
    let number = text.parse().map(RequestedCode::Number);
    number.map_err(|_| "a number from 0 to 18446744073709551615, or \"next\"".to_owned())
}
