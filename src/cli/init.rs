//! `waypost init`: creates a table of short links, with the other files that its repository needs.
//!
//! Invariant: no file that exists is touched, and if not all files can be created, none is.

mod answers;
mod create;
mod place;
mod questions;
mod starter;

use std::io::{IsTerminal as _, Write as _, stderr, stdin, stdout};
use std::path::{Path, PathBuf};

use clap::builder::BoolishValueParser;

use self::answers::{Answers, InitForge};
use self::create::create_all;
use self::place::InitPlace;
use self::questions::Questions;
use super::terminal::{Error, shell_word};

/// Create a table of short links and the other files that its repository needs
///
/// Creates the table, a README for contributors, an owners file, the Git attributes that select the
/// merge driver for tables, a Containerfile for an image of the table, and, for a forge, CI jobs
/// that check proposals and links, and an issue form for proposing links. On a terminal, prompts
/// for everything that no flag sets. If one of the files already exists, nothing is created.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost init                         create a table here, and prompt for its settings
  waypost init links --base-url https://short.code/ --name 'Links of Example' --forge github
                                       create one in ./links without prompts
  waypost init --base-url https://short.code/ --directory
                                       a directory of files, which avoids merge conflicts

Exit status: 0 created; 1 some of the files exist already; 2 wrong usage; 3 a file cannot be written.")]
pub(super) struct Args {
    /// The directory for the repository's files; it is created if necessary
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,

    /// The URL that the codes are appended to, as in https://short.code/
    #[arg(long, value_name = "URL", env = "WAYPOST_INIT_BASE_URL")]
    base_url: Option<String>,

    /// The name of this collection of links, for its pages and the README
    #[arg(long, value_name = "NAME", env = "WAYPOST_INIT_NAME")]
    name: Option<String>,

    /// The forge to create CI jobs for [default: the forge of the remote `origin`, if it is known]
    #[arg(long, value_name = "FORGE", env = "WAYPOST_INIT_FORGE")]
    forge: Option<InitForge>,

    /// Make the table a directory of files, `links/`, instead of the file `mapping.yaml`
    #[arg(long, env = "WAYPOST_INIT_DIRECTORY", value_parser = BoolishValueParser::new())]
    directory: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    let place = InitPlace::of(&args.dir);
    let questions = Questions {
        base_url: args.base_url.clone(),
        name: args.name.clone(),
        forge: args.forge,
        is_directory: args.directory,
    };
    let answers = match stdin().is_terminal() && stderr().is_terminal() {
        true => questions.ask(&place, &mut stdin().lock(), &mut stderr())?,
        false => questions.without_asking(&place)?,
    };
    if answers.forge.has_checks()
        && let Some(top) = &place.top_above
    {
        return Err(Error::usage(format_args!(
            "CI jobs belong at the top of the repository, {}: create the table there, or omit \
             the jobs with --forge none",
            top.display()
        )));
    }
    let files = starter::files(&answers);
    let files = create_all(&args.dir, &files)?;
    let mut out = stdout();
    for file in files {
        writeln!(out, "{}", file.display())?;
    }
    write!(stderr(), "{}", next_steps(&args.dir, &answers, &place))?;
    Ok(())
}

/// Returns the commands to continue with.
fn next_steps(dir: &Path, answers: &Answers, place: &InitPlace) -> String {
    let (path, table, fragment) = match answers.is_directory {
        true => (" links", " --table links", " --fragment"),
        false => ("", "", ""),
    };
    let mut lines = Vec::new();
    if dir != Path::new(".") {
        let dir = dir.to_string_lossy();
        // It would be interpreted as a flag.
        let here = if dir.starts_with('-') { "./" } else { "" };
        lines.push(format!("cd {}", shell_word(&format!("{here}{dir}"))));
    }
    if !place.is_in_repository {
        lines.push("git init".to_owned());
    }
    lines.push(format!(
        "waypost add https://www.gnu.org/ --code gnu-home{table}{fragment}"
    ));
    lines.push(format!("waypost serve{path}"));
    lines.push(format!("waypost merge-driver --install{table}"));
    lines.push("git add . && git commit -m 'Begin a table of short links'".to_owned());
    let lines = lines.iter().map(|line| format!("  {line}\n"));
    format!("next:\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_steps_fit_what_is_there() {
        let mut answers = Answers::example();
        let here = InitPlace {
            is_in_repository: true,
            ..InitPlace::default()
        };
        assert_eq!(
            next_steps(Path::new("."), &answers, &here),
            "next:\n  waypost add https://www.gnu.org/ --code gnu-home\n  waypost serve\n  \
             waypost merge-driver --install\n  \
             git add . && git commit -m 'Begin a table of short links'\n"
        );
        answers.is_directory = true;
        let steps = next_steps(Path::new("x"), &answers, &InitPlace::default());
        assert!(steps.starts_with("next:\n  cd x\n  git init\n"), "{steps}");
        assert!(
            steps.contains("gnu-home --table links --fragment\n"),
            "{steps}"
        );
        assert!(steps.contains("serve links\n"), "{steps}");
        for (dir, step) in [("Kürzere Wege", "cd 'Kürzere Wege'\n"), ("-x", "cd ./-x\n")] {
            let steps = next_steps(Path::new(dir), &answers, &InitPlace::default());
            assert!(steps.starts_with(&format!("next:\n  {step}")), "{steps}");
        }
    }
}
