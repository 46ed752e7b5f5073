//! Branches for review: their names, and the address at which to request a review.
//!
//! The host's message after the push takes precedence over a guess from its name.

use git2::Reference;
use url::Url;

use super::publish_error::PublishError;
use crate::git::{Pushed, RemoteUrl};
use crate::mapping::RepositoryPages;

/// The name of a branch to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBranch(String);

/// Why a name is not valid for a branch.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not a valid branch name: use one such as add-gnu-home, without refs/heads/")]
pub struct NewBranchError(String);

impl std::str::FromStr for NewBranch {
    type Err = NewBranchError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let full = format!("refs/heads/{name}");
        // Git creates no branch HEAD, and `refs/heads/a` was intended for the branch `a`.
        let odd = name.starts_with('-') || name.starts_with("refs/") || name == "HEAD";
        match Reference::is_valid_name(&full) && !odd {
            true => Ok(Self(full)),
            false => Err(NewBranchError(name.to_owned())),
        }
    }
}

impl NewBranch {
    /// Returns the name without `refs/heads/`.
    pub fn short(&self) -> &str {
        short(&self.0)
    }

    pub(crate) fn full(&self) -> &str {
        &self.0
    }

    /// Interprets the result of a push that creates the branch: if it was moved first, it exists. A
    /// branch that is only locked may be created later.
    ///
    /// # Errors
    ///
    /// If the branch exists.
    pub(crate) fn judge(&self, pushed: Pushed) -> Result<Pushed, PublishError> {
        match pushed {
            Pushed::Lost { .. } => Err(PublishError::BranchExists {
                branch: self.short().to_owned(),
            }),
            other => Ok(other),
        }
    }
}

/// Returns the name of a branch without `refs/heads/`.
fn short(full: &str) -> &str {
    full.strip_prefix("refs/heads/").unwrap_or(full)
}

/// Returns the address at which to open a pull request of `branch` into `base`, a full name, if
/// known: from what the remote `said` after the push, or from its address.
pub fn review_address(
    remote: &RemoteUrl,
    base: &str,
    branch: &NewBranch,
    said: &str,
) -> Option<String> {
    if let Some(reported) = (said.split_whitespace()).find(|word| word.starts_with("https://")) {
        return Some(reported.to_owned());
    }
    let pages = RepositoryPages::of(web_address(remote)?.as_str())?;
    pages.comparison(short(base), branch.short())
}

/// Returns the page of a repository on the host in its address.
pub fn web_address(remote: &RemoteUrl) -> Option<Url> {
    let address = remote.to_string();
    let (host, path) = match address.split_once("://") {
        Some((scheme, _)) => {
            let url = Url::parse(&address).ok()?;
            if !matches!(scheme, "https" | "http" | "ssh" | "git+ssh" | "ssh+git") {
                return None;
            }
            // A port of SSH says nothing about that of the web pages.
            let port = (url.port().filter(|_| scheme.starts_with("http")))
                .map_or_else(String::new, |port| format!(":{port}"));
            (format!("{}{port}", url.host_str()?), url.path().to_owned())
        }
        None => {
            let (login, path) = address.split_once(':')?;
            let host = login.rsplit_once('@').map_or(login, |(_, host)| host);
            (host.to_owned(), path.to_owned())
        }
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    Url::parse(&format!("https://{host}/{path}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(remote: &str, said: &str) -> Option<String> {
        review_address(
            &RemoteUrl::parse(remote).unwrap(),
            "refs/heads/main",
            &"links/gnu+home".parse().unwrap(),
            said,
        )
    }

    #[test]
    fn knows_the_pages_of_hosts() {
        for (remote, expected) in [
            (
                "https://user:token@github.com/o/r.git",
                "https://github.com/o/r/compare/main...links/gnu%2Bhome?expand=1",
            ),
            (
                "git@github.com:o/r.git",
                "https://github.com/o/r/compare/main...links/gnu%2Bhome?expand=1",
            ),
            (
                "ssh://git@gitlab.example.org:2222/group/sub/r.git",
                "https://gitlab.example.org/group/sub/r/-/merge_requests/new\
                 ?merge_request%5Bsource_branch%5D=links%2Fgnu%2Bhome\
                 &merge_request%5Btarget_branch%5D=main",
            ),
            (
                "https://codeberg.org/o/r",
                "https://codeberg.org/o/r/compare/main...links/gnu%2Bhome",
            ),
        ] {
            assert_eq!(address(remote, "").as_deref(), Some(expected));
        }
    }

    #[test]
    fn believes_the_host() {
        let said = "Create a new pull request for 'links/gnu+home': https://git.example.org/x y";
        let reported = Some("https://git.example.org/x".to_owned());
        assert_eq!(address("https://github.com/o/r", said), reported);
        assert_eq!(address("/srv/links.git", said), reported);
    }

    #[test]
    fn does_not_guess_about_unknown_hosts() {
        for remote in ["https://git.example.org/o/r", "/srv/links.git", "file:///r"] {
            assert_eq!(address(remote, ""), None);
        }
    }

    #[test]
    fn a_branch_that_is_locked_need_not_exist() {
        let branch: NewBranch = "add-a".parse().unwrap();
        let pushed = |answer| branch.judge(Pushed::rejected(answer, ""));
        assert!(matches!(
            pushed("failed to update ref"),
            Ok(Pushed::Locked { .. })
        ));
        assert!(matches!(
            pushed("reference already exists"),
            Err(PublishError::BranchExists { .. })
        ));
    }

    #[test]
    fn a_new_branch_has_a_name_that_git_takes() {
        assert_eq!("a/b".parse::<NewBranch>().unwrap().short(), "a/b");
        for name in ["", "-d", "a b", "a..b", "a.lock", "/a", "a:b"] {
            assert!(name.parse::<NewBranch>().is_err(), "{name}");
        }
        // Git would push to these, but they are never intended as branch names.
        for name in ["HEAD", "refs/heads/a", "refs/tags/a"] {
            assert!(name.parse::<NewBranch>().is_err(), "{name}");
        }
        assert_eq!("a/HEAD".parse::<NewBranch>().unwrap().short(), "a/HEAD");
    }
}
