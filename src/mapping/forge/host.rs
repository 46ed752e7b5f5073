//! The forge that a host runs, guessed from its name.

/// A kind of forge, by the form of its addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forge {
    /// github.com and GitHub Enterprise.
    GitHub,
    /// gitlab.com and other GitLabs.
    GitLab,
    /// Gitea and Forgejo, such as codeberg.org.
    Gitea,
}

impl Forge {
    /// Guesses the forge from a word of a host's name, as in `gitlab.example.org`.
    pub fn of_host(host: &str) -> Option<Self> {
        let mut words = host.split(['.', '-']);
        words.find_map(|word| match &*word.to_ascii_lowercase() {
            "github" => Some(Self::GitHub),
            "gitlab" => Some(Self::GitLab),
            "codeberg" | "forgejo" | "gitea" => Some(Self::Gitea),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_the_name_is_enough() {
        for (host, forge) in [
            ("github.com", Some(Forge::GitHub)),
            ("GitHub.example.org", Some(Forge::GitHub)),
            ("gitlab.com", Some(Forge::GitLab)),
            ("git-gitlab.example.org", Some(Forge::GitLab)),
            ("codeberg.org", Some(Forge::Gitea)),
            ("gitea.example.org", Some(Forge::Gitea)),
            ("forgejo.example.org", Some(Forge::Gitea)),
            ("git.example.org", None),
            ("mygithub.com", None),
            ("", None),
        ] {
            assert_eq!(Forge::of_host(host), forge, "{host}");
        }
    }
}
