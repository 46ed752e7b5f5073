//! The answers that define a new table.

use crate::edit::scalar;
use crate::mapping::{BaseUrl, Diagnostic, Forge, SourceFile, compile};

/// The forges for which there are checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum InitForge {
    /// GitHub Actions
    #[value(name = "github")]
    GitHub,
    /// GitLab CI
    #[value(name = "gitlab")]
    GitLab,
    /// Forgejo Actions
    Forgejo,
    /// Woodpecker, in front of Forgejo or Gitea
    Woodpecker,
    /// No CI jobs
    None,
}

/// The answers to all questions.
#[derive(Debug, Clone)]
pub(super) struct Answers {
    pub(super) base_url: BaseUrl,
    pub(super) name: Option<String>,
    /// The web address of the repository, if its forge is known.
    pub(super) repository: Option<String>,
    pub(super) forge: InitForge,
    pub(super) is_directory: bool,
}

impl InitForge {
    /// Returns the checks for a forge that is known by the name of its host.
    pub(super) fn of(forge: Forge) -> Self {
        match forge {
            Forge::GitHub => Self::GitHub,
            Forge::GitLab => Self::GitLab,
            Forge::Gitea => Self::Forgejo,
        }
    }

    pub(super) fn has_checks(self) -> bool {
        self != Self::None
    }
}

impl Answers {
    /// Returns the text of the document that describes the table, which has no entries yet.
    ///
    /// # Errors
    ///
    /// If a value is not valid.
    pub(super) fn document(&self) -> Result<String, Diagnostic> {
        let mut text = format!("base_url: {}\n", self.base_url.as_str());
        if let Some(name) = &self.name {
            text += &format!("name: {}\n", scalar(name));
        }
        if let Some(repository) = &self.repository {
            text += &format!("repository: {}\n", scalar(repository));
        }
        text += "mapping: []\n";
        let file = SourceFile {
            path: "mapping.yaml".into(),
            bytes: text.clone().into(),
        };
        match compile(&[file]).diagnostics.into_iter().next() {
            None => Ok(text),
            Some(problem) => Err(problem),
        }
    }

    #[cfg(test)]
    pub(super) fn example() -> Self {
        Self {
            base_url: BaseUrl::parse("https://short.code/").unwrap(),
            name: Some("Links: ours".to_owned()),
            repository: Some("https://github.com/o/links".to_owned()),
            forge: InitForge::GitHub,
            is_directory: false,
        }
    }
}
