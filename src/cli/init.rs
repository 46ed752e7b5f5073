//! `waypost init`: begins a table of short links, with what its repository needs.
//!
//! Invariant: no file that exists is touched, and if not all files can be created, none is.

mod answers;
mod create;
mod questions;
mod starter;
mod surroundings;

use std::io::{IsTerminal as _, Write as _, stderr, stdin, stdout};
use std::path::{Path, PathBuf};

use clap::builder::BoolishValueParser;

use self::answers::{Answers, InitForge};
use self::create::create_all;
use self::questions::Questions;
use self::surroundings::Surroundings;
use super::terminal::{Error, shell_word};

/// Begin a table of short links, with what its repository needs
///
/// Creates the table, a README for those who propose links, a file of owners, the attributes by which
/// Git merges tables by meaning, the image of the table, and for a forge the checks of proposals and of
/// links, and an issue form by which people propose links.
/// On a terminal it asks for what no flag says. An existing file is never overwritten: then nothing is
/// created.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost init                         begin a table here, and ask what it needs
  waypost init links --base-url https://short.code/ --name 'Links of Example' --forge github
                                       begin one in ./links without questions
  waypost init --base-url https://short.code/ --directory
                                       a directory of files, so that proposals never conflict

Exit status: 0 created; 1 some of the files exist already; 2 wrong usage; 3 a file cannot be written.")]
pub(super) struct Args {
    /// The directory for the repository's files; it is created if necessary
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,

    /// The address before the codes, as in https://short.code/
    #[arg(long, value_name = "URL", env = "WAYPOST_INIT_BASE_URL")]
    base_url: Option<String>,

    /// What this collection of links is called, on its pages and in the README
    #[arg(long, value_name = "NAME", env = "WAYPOST_INIT_NAME")]
    name: Option<String>,

    /// The forge whose checks are created; by default the one that the remote `origin` names, if any
    #[arg(long, value_name = "FORGE", env = "WAYPOST_INIT_FORGE")]
    forge: Option<InitForge>,

    /// Make the table a directory of files, `links/`, instead of the file `mapping.yaml`
    #[arg(long, env = "WAYPOST_INIT_DIRECTORY", value_parser = BoolishValueParser::new())]
    directory: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    let surroundings = Surroundings::of(&args.dir);
    let questions = Questions {
        base_url: args.base_url.clone(),
        name: args.name.clone(),
        forge: args.forge,
        is_directory: args.directory,
    };
    let answers = match stdin().is_terminal() && stderr().is_terminal() {
        true => questions.ask(&surroundings, &mut stdin().lock(), &mut stderr())?,
        false => questions.without_asking(&surroundings)?,
    };
    if answers.forge.has_checks()
        && let Some(top) = &surroundings.top_above
    {
        return Err(Error::usage(format_args!(
            "the checks belong at the top of the repository, {}: create the table there, or leave them \
             out with --forge none",
            top.display()
        )));
    }
    let files = starter::files(&answers);
    let files = create_all(&args.dir, &files)?;
    let mut out = stdout();
    for file in files {
        writeln!(out, "{}", file.display())?;
    }
    write!(
        stderr(),
        "{}",
        next_steps(&args.dir, &answers, &surroundings)
    )?;
    Ok(())
}

/// Returns the commands to continue with.
fn next_steps(dir: &Path, answers: &Answers, surroundings: &Surroundings) -> String {
    let (path, table, fragment) = match answers.is_directory {
        true => (" links", " --table links", " --fragment"),
        false => ("", "", ""),
    };
    let mut lines = Vec::new();
    if dir != Path::new(".") {
        let dir = dir.to_string_lossy();
        // A shell would take it for a flag.
        let here = if dir.starts_with('-') { "./" } else { "" };
        lines.push(format!("cd {}", shell_word(&format!("{here}{dir}"))));
    }
    if !surroundings.is_in_repository {
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
        let here = Surroundings {
            is_in_repository: true,
            ..Surroundings::default()
        };
        assert_eq!(
            next_steps(Path::new("."), &answers, &here),
            "next:\n  waypost add https://www.gnu.org/ --code gnu-home\n  waypost serve\n  \
             waypost merge-driver --install\n  \
             git add . && git commit -m 'Begin a table of short links'\n"
        );
        answers.is_directory = true;
        let steps = next_steps(Path::new("x"), &answers, &Surroundings::default());
        assert!(steps.starts_with("next:\n  cd x\n  git init\n"), "{steps}");
        assert!(
            steps.contains("gnu-home --table links --fragment\n"),
            "{steps}"
        );
        assert!(steps.contains("serve links\n"), "{steps}");
        for (dir, step) in [("Kürzere Wege", "cd 'Kürzere Wege'\n"), ("-x", "cd ./-x\n")] {
            let steps = next_steps(Path::new(dir), &answers, &Surroundings::default());
            assert!(steps.starts_with(&format!("next:\n  {step}")), "{steps}");
        }
    }
}
