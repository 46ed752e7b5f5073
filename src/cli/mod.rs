//! The command line: one file per subcommand, each with its arguments and a `run`.
//!
//! Next to the commands is their shared code: `arguments`; `terminal`, the output for people, and
//! errors with their exit statuses and the flag or Git command that helps (`terminal/remedy.rs`);
//! `publishing`, the flags for publishing a change to files, a commit or a remote; and `report`,
//! which writes diagnostics, one file per format, and decides which of them count
//! (`report/levels.rs`). The commands that change one link are in `editing`, next to their shared
//! code; those that other programs call are in `programs`.
//!
//! Invariant: only output for scripts goes to standard output; everything else to standard error.

mod add;
mod arguments;
mod check;
mod code;
mod diff;
mod editing;
mod explain;
mod export;
mod fmt;
mod healthcheck;
mod import;
mod init;
mod linkcheck;
mod list;
mod programs;
mod publishing;
mod refusal;
mod report;
mod resolve;
mod serve;
mod terminal;

use std::env;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::git::{redact, secrets_in_address, start_without_authorities};

use self::editing::{restore, retarget, retire, set};
use self::programs::{completions, man, merge_driver, transfer};
use self::terminal::complain;

/// A URL shortener whose only database is a Git repository.
#[derive(Debug, Parser)]
#[command(
    name = "waypost",
    version,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "\
A table is a YAML file, or a directory of them:

  base_url: https://short.code/
  mapping:
  - url: https://framasoft.org/        # https://short.code/t0P0JMya
  - url: https://www.gnu.org/
    short-code: gnu-home               # https://short.code/gnu-home

Start here:
  waypost init                         create a table, and the files its repository needs
  waypost check mapping.yaml           report every problem, with its position
  waypost serve                        serve its short links on 127.0.0.1:8080
  waypost resolve gnu-home             show where a link leads
  waypost add https://git-scm.com/     add a link, and print its short link

Exit status: 0 success; 1 the table has errors, or what was asked for does not exist or is refused;
2 wrong usage or configuration; 3 it could not run (I/O, Git, network)."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Args),
    Serve(Box<serve::Args>),
    Check(check::Args),
    Explain(explain::Args),
    Fmt(fmt::Args),
    Diff(diff::Args),
    MergeDriver(merge_driver::Args),
    Code(code::Args),
    Resolve(resolve::Args),
    List(list::Args),
    Add(Box<add::Args>),
    Set(Box<set::Args>),
    Retarget(Box<retarget::Args>),
    Retire(Box<retire::Args>),
    Restore(Box<restore::Args>),
    Import(Box<import::Args>),
    Export(export::Args),
    Linkcheck(Box<linkcheck::Args>),
    Healthcheck(healthcheck::Args),
    Completions(completions::Args),
    Man(man::Args),
    Transfer(transfer::Args),
}

impl Command {
    /// Returns whether it is called by people or deployments, rather than by Git, a probe or the
    /// program itself.
    fn is_for_people(&self) -> bool {
        !matches!(
            self,
            Self::MergeDriver(_)
                | Self::Healthcheck(_)
                | Self::Completions(_)
                | Self::Man(_)
                | Self::Transfer(_)
        )
    }

    /// Returns whether it may read a repository on this machine, but none elsewhere: another process of the
    /// program does that.
    fn reads_local_repositories(&self) -> bool {
        !matches!(
            self,
            Self::Explain(_)
                | Self::Code(_)
                | Self::Healthcheck(_)
                | Self::Completions(_)
                | Self::Man(_)
                | Self::Transfer(_)
        )
    }
}

/// Runs the program on the process's arguments.
pub fn main() -> ExitCode {
    let (definition, line) = (command(), Vec::from_iter(env::args_os()));
    let matches = arguments::parse(&definition, &line);
    let cli = match matches.and_then(|it| Cli::from_arg_matches(&it)) {
        Ok(cli) => cli,
        Err(error) => {
            // If this cannot be written, the error cannot be reported.
            let _ = print(&error);
            let blamed = arguments::blamed(&definition, &line, &error);
            blamed.iter().for_each(|reported| complain(reported));
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(u8::MAX));
        }
    };
    if cli.command.is_for_people() {
        let set = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let notes = arguments::misspelt(&definition, set);
        notes.iter().for_each(|note| complain(note));
    }
    if cli.command.reads_local_repositories() {
        start_without_authorities();
    }
    let result = match cli.command {
        Command::Init(args) => init::run(&args),
        Command::Serve(args) => serve::run(*args),
        Command::Check(args) => check::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::MergeDriver(args) => merge_driver::run(&args),
        Command::Code(args) => code::run(&args),
        Command::Resolve(args) => resolve::run(&args),
        Command::List(args) => list::run(&args),
        Command::Add(args) => add::run(*args),
        Command::Set(args) => set::run(*args),
        Command::Retarget(args) => retarget::run(*args),
        Command::Retire(args) => retire::run(*args),
        Command::Restore(args) => restore::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Linkcheck(args) => linkcheck::run(&args),
        Command::Healthcheck(args) => healthcheck::run(&args),
        Command::Completions(args) => completions::run(&args, definition),
        Command::Man(args) => man::run(&args, definition),
        Command::Transfer(args) => transfer::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error.report();
            ExitCode::from(error.status())
        }
    }
}

/// Returns the definition of the command line, from which help, completions and manual pages are
/// generated.
fn command() -> clap::Command {
    Cli::command()
        .mut_subcommands(|verb| verb.mut_args(arguments::plain))
        .mut_subcommand("serve", serve::brief)
}

/// Prints an error about the command line, or the help.
fn print(error: &clap::Error) -> io::Result<()> {
    if !error.use_stderr() {
        return error.print();
    }
    // The error repeats the input: an address without its flag, for example.
    let typed = env::args_os().flat_map(|it| secrets_in_address(&it.to_string_lossy()));
    let text = error.render().ansi().to_string();
    write!(
        anstream::stderr(),
        "{}",
        redact(&text, &Vec::from_iter(typed))
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
    }

    /// Returns whether a flag applies to a single link, or filters links: a variable that was set
    /// for one link must not change, or hide, the next.
    fn is_of_one_link(verb: &str, flag: &str) -> bool {
        match verb {
            "set" => [
                "title",
                "owner",
                "tag",
                "alias",
                "status",
                "forward",
                "below",
                "cache_max_age",
                "expires",
                "archive",
                "unset",
                "allow_alias_loss",
            ]
            .contains(&flag),
            "list" => ["tag", "owner", "site", "state"].contains(&flag),
            "retire" => ["on", "drop_url", "archive"].contains(&flag),
            _ => false,
        }
    }

    #[test]
    fn every_flag_has_a_variable() {
        let command = super::command();
        for verb in command.get_subcommands() {
            for flag in verb.get_arguments().filter(|arg| !arg.is_positional()) {
                if is_of_one_link(verb.get_name(), flag.get_id().as_str()) {
                    assert_eq!(flag.get_env(), None, "{} {flag}", verb.get_name());
                    continue;
                }
                let variable = flag.get_env().and_then(|it| it.to_str());
                assert!(
                    variable.is_some_and(|it| it.starts_with("WAYPOST_")),
                    "{} {flag}: {variable:?}",
                    verb.get_name()
                );
            }
        }
    }
}
