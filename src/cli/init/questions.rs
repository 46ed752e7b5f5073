//! The questions about a new table, and answers from flags, from people or from its surroundings.

use std::io::{BufRead, Write};

use clap::ValueEnum as _;

use super::answers::{Answers, InitForge};
use super::place::InitPlace;
use crate::cli::terminal::{Error, with_hint};
use crate::mapping::BaseUrl;

/// The answers from flags; for the others, the user is prompted.
pub(super) struct Questions {
    pub(super) base_url: Option<String>,
    pub(super) name: Option<String>,
    pub(super) forge: Option<InitForge>,
    pub(super) is_directory: bool,
}

impl Questions {
    /// Answers all questions without prompts.
    pub(super) fn without_asking(self, around: &InitPlace) -> Result<Answers, Error> {
        let Some(base_url) = self.base_url else {
            return Err(Error::usage(
                "name the base URL with --base-url, as in https://short.code/",
            ));
        };
        let answers = Answers {
            base_url: base_url_of(&base_url).map_err(Error::usage)?,
            name: self.name,
            repository: repository(around),
            forge: self.forge.unwrap_or_else(|| around.forge()),
            is_directory: self.is_directory,
        };
        match answers.document() {
            Ok(_) => Ok(answers),
            Err(problem) => Err(Error::usage(problem.message)),
        }
    }

    /// Prompts for everything that flags leave open; a prompt is repeated until its answer is
    /// valid.
    pub(super) fn ask(
        self,
        around: &InitPlace,
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> Result<Answers, Error> {
        let mut dialogue = Dialogue { input, output };
        let base_url = match self.base_url {
            Some(given) => base_url_of(&given).map_err(Error::usage)?,
            None => dialogue.ask(
                "Base URL, which codes are appended to, as in https://short.code/",
                "",
                base_url_of,
            )?,
        };
        let mut answers = Answers {
            base_url,
            name: self.name,
            repository: repository(around),
            forge: InitForge::None,
            is_directory: self.is_directory,
        };
        let check = |answers: &Answers| answers.document().map_err(|problem| problem.message);
        if answers.name.is_none() {
            let unnamed = answers.clone();
            let proposed = around.name.as_deref().unwrap_or("Short links");
            answers.name = dialogue.ask("Name of this collection of links", proposed, |name| {
                let named = Answers {
                    name: Some(name.to_owned()),
                    ..unnamed.clone()
                };
                check(&named).map(|_| named.name)
            })?;
        }
        check(&answers).map_err(Error::usage)?;
        answers.forge = match self.forge {
            Some(forge) => forge,
            None => {
                let proposed = name_of(around.forge());
                let names: Vec<_> = InitForge::value_variants()
                    .iter()
                    .map(|it| name_of(*it))
                    .collect();
                let question = format!("Forge that checks proposals ({})", names.join(", "));
                dialogue.ask(&question, &proposed, |name| InitForge::from_str(name, true))?
            }
        };
        Ok(answers)
    }
}

fn repository(around: &InitPlace) -> Option<String> {
    around
        .repository
        .as_ref()
        .map(|(address, _)| address.clone())
}

fn name_of(forge: InitForge) -> String {
    let value = forge.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

fn base_url_of(text: &str) -> Result<BaseUrl, String> {
    BaseUrl::parse(text).map_err(|error| with_hint(&error, error.hint()))
}

/// Questions and answers, each on a line.
struct Dialogue<'d> {
    input: &'d mut dyn BufRead,
    output: &'d mut dyn Write,
}

impl Dialogue<'_> {
    /// Prompts until an answer is accepted; an empty answer selects the proposed one.
    fn ask<T>(
        &mut self,
        question: &str,
        proposed: &str,
        accept: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Error> {
        loop {
            match proposed {
                "" => write!(self.output, "{question}: ")?,
                _ => write!(self.output, "{question} [{proposed}]: ")?,
            }
            self.output.flush()?;
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                writeln!(self.output)?;
                return Err(Error::refused(
                    "nothing was created: a prompt was not answered",
                ));
            }
            let answer = match line.trim() {
                "" => proposed,
                answer => answer,
            };
            match accept(answer) {
                Ok(accepted) => return Ok(accepted),
                Err(problem) => writeln!(self.output, "  {problem}")?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Questions = Questions {
        base_url: None,
        name: None,
        forge: None,
        is_directory: false,
    };

    fn around() -> InitPlace {
        InitPlace {
            repository: Some((
                "https://codeberg.org/o/links".to_owned(),
                InitForge::Forgejo,
            )),
            name: Some("links".to_owned()),
            ..InitPlace::default()
        }
    }

    fn asked(questions: Questions, typed: &str) -> (Result<Answers, Error>, String) {
        let mut shown = Vec::new();
        let answers = questions.ask(&around(), &mut typed.as_bytes(), &mut shown);
        (answers, String::from_utf8(shown).unwrap())
    }

    #[test]
    fn empty_answers_take_what_is_proposed() {
        let (answers, shown) = asked(NOTHING, "https://short.code/\n\n\n");
        let answers = answers.unwrap();
        assert_eq!(answers.base_url.as_str(), "https://short.code/");
        assert_eq!(answers.name.as_deref(), Some("links"));
        assert_eq!(answers.forge, InitForge::Forgejo);
        let expected = "\
Base URL, which codes are appended to, as in https://short.code/: \
Name of this collection of links [links]: \
Forge that checks proposals (github, gitlab, forgejo, woodpecker, none) [forgejo]: ";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_wrong_answer_is_explained_and_asked_for_again() {
        let typed = "\nshort.code\nhttps://short.code/x\n https://short.code/ \n";
        let name = "x".repeat(81);
        let typed = format!("{typed}{name}\nOur: links\nGitHub\n");
        let (answers, shown) = asked(NOTHING, &typed);
        let answers = answers.unwrap();
        assert_eq!(answers.name.as_deref(), Some("Our: links"));
        assert_eq!(answers.forge, InitForge::GitHub);
        assert_eq!(shown.matches("Base URL").count(), 4, "{shown}");
        assert_eq!(shown.matches("Name of").count(), 2, "{shown}");
    }

    #[test]
    fn flags_are_not_asked_for() {
        let given = Questions {
            base_url: Some("https://short.code/".to_owned()),
            name: Some("Ours".to_owned()),
            forge: Some(InitForge::None),
            is_directory: true,
        };
        let (answers, shown) = asked(given, "");
        assert!(answers.unwrap().is_directory && shown.is_empty(), "{shown}");
    }

    #[test]
    fn without_an_answer_nothing_is_created() {
        let (answers, _) = asked(NOTHING, "https://short.code/\n");
        assert_eq!(answers.unwrap_err().status(), 1);
    }

    #[test]
    fn no_questions_without_a_terminal() {
        let answers = |base_url: Option<&str>, name: Option<&str>| {
            let given = Questions {
                base_url: base_url.map(str::to_owned),
                name: name.map(str::to_owned),
                ..NOTHING
            };
            given.without_asking(&around())
        };
        let complete = answers(Some("https://short.code/"), None).unwrap();
        assert_eq!((complete.name, complete.forge), (None, InitForge::Forgejo));
        for (base_url, name) in [
            (None, None),
            (Some("short.code"), None),
            (Some("https://short.code/"), Some(" ")),
            (Some("https://short.code/"), Some("a\u{202e}b")),
        ] {
            assert_eq!(
                answers(base_url, name).unwrap_err().status(),
                2,
                "{base_url:?}"
            );
        }
    }
}
