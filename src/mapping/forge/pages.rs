//! The pages of one repository on a forge: a file at a line, and editors filled in beforehand.
//!
//! The parameters are those that each forge reads:
//!
//! - GitHub: `/new/BRANCH?filename=PATH&value=TEXT&message=SUMMARY`; its editor of a file that exists
//!   takes no text.
//! - Gitea and Forgejo: `/_new/BRANCH?filename=PATH&value=TEXT`. In their editor of a file that exists,
//!   `/_edit/BRANCH/PATH?value=TEXT`, the text replaces the whole file.
//! - GitLab: `/-/new/BRANCH?file_name=PATH&content=TEXT`; some of its releases fill in the name alone.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use super::host::Forge;

/// The maximum length of an address in bytes: forges, and proxies in front of them, refuse request
/// lines of 8 KiB.
pub const MAX_ADDRESS_BYTES: usize = 8191;

/// The characters that are literal in a query: RFC 3986, "unreserved".
const IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The characters that are literal in a path.
const IN_PATH: &AsciiSet = &IN_QUERY.remove(b'/');

/// The web pages of a repository on a known forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryPages {
    forge: Forge,
    /// The address of the repository, without a final slash.
    home: String,
}

impl RepositoryPages {
    /// Returns the pages of the repository with that web address, if its host names its forge.
    pub fn of(repository: &str) -> Option<Self> {
        let url = Url::parse(repository).ok()?;
        let forge = Forge::of_host(url.host_str()?)?;
        let is_plain = matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        let home = url.as_str().trim_end_matches('/');
        let home = home.strip_suffix(".git").unwrap_or(home);
        let has_path = url.path().trim_matches('/').contains('/');
        (is_plain && has_path).then(|| Self {
            forge,
            home: home.to_owned(),
        })
    }

    /// Returns the forge.
    pub fn forge(&self) -> Forge {
        self.forge
    }

    /// Returns the address of the repository, without a final slash.
    pub(super) fn home(&self) -> &str {
        &self.home
    }

    /// Returns the address of a file at a commit and a line, from 1; it stays the same as the branch
    /// moves on. `None` if there can be no such file.
    pub fn file_at(&self, commit: &str, path: &str, line: u32) -> Option<String> {
        let (home, commit, path) = (&self.home, in_path(commit)?, in_path(path)?);
        Some(match self.forge {
            Forge::GitHub => format!("{home}/blob/{commit}/{path}#L{line}"),
            Forge::GitLab => format!("{home}/-/blob/{commit}/{path}#L{line}"),
            Forge::Gitea => format!("{home}/src/commit/{commit}/{path}#L{line}"),
        })
    }

    /// Returns the address of the editor for a file that exists. `None` if there can be no such file.
    pub fn editor(&self, branch: &str, path: &str) -> Option<String> {
        let (home, branch, path) = (&self.home, in_path(branch)?, in_path(path)?);
        Some(match self.forge {
            Forge::GitHub => format!("{home}/edit/{branch}/{path}"),
            Forge::GitLab => format!("{home}/-/edit/{branch}/{path}"),
            Forge::Gitea => format!("{home}/_edit/{branch}/{path}"),
        })
    }

    /// Returns the address of the editor for a file that exists, filled in with the whole text that is
    /// to replace it. `None` if the forge has no such editor, that does not fit into an address, or
    /// there can be no such file.
    pub fn changed_file(&self, branch: &str, path: &str, text: &str) -> Option<String> {
        if self.forge != Forge::Gitea || text.len() > MAX_ADDRESS_BYTES {
            return None;
        }
        let editor = self.editor(branch, path)?;
        within_limit(format!("{editor}?value={}", in_query(text)))
    }

    /// Returns the address at which a branch is compared with another one, and a pull request to merge
    /// it is opened. `None` if there can be no such branch.
    pub fn comparison(&self, base: &str, branch: &str) -> Option<String> {
        let home = &self.home;
        let [base_path, branch_path] = [in_path(base)?, in_path(branch)?];
        Some(match self.forge {
            Forge::GitHub => format!("{home}/compare/{base_path}...{branch_path}?expand=1"),
            Forge::GitLab => {
                let [base, branch] = [base, branch].map(in_query);
                format!(
                    "{home}/-/merge_requests/new?merge_request%5Bsource_branch%5D={branch}\
                     &merge_request%5Btarget_branch%5D={base}"
                )
            }
            Forge::Gitea => format!("{home}/compare/{base_path}...{branch_path}"),
        })
    }

    /// Returns the address of the editor for a new file, filled in with its path and text. `None` if
    /// that does not fit into an address, or there can be no such file.
    pub fn new_file(&self, branch: &str, path: &str, text: &str, message: &str) -> Option<String> {
        in_path(path)?;
        let (home, branch) = (&self.home, in_path(branch)?);
        let [path, text, message] = [path, text, message].map(in_query);
        within_limit(match self.forge {
            Forge::GitHub => {
                format!("{home}/new/{branch}?filename={path}&value={text}&message={message}")
            }
            Forge::GitLab => format!("{home}/-/new/{branch}?file_name={path}&content={text}"),
            Forge::Gitea => format!("{home}/_new/{branch}?filename={path}&value={text}"),
        })
    }
}

pub(super) fn within_limit(address: String) -> Option<String> {
    (address.len() <= MAX_ADDRESS_BYTES).then_some(address)
}

/// Encodes a relative path; `None` if a browser would interpret a segment of it as a step up.
fn in_path(path: &str) -> Option<String> {
    let leads_elsewhere = |segment| matches!(segment, "" | "." | "..");
    let is_inside = !path.split('/').any(leads_elsewhere);
    is_inside.then(|| utf8_percent_encode(path, IN_PATH).to_string())
}

pub(super) fn in_query(text: &str) -> String {
    utf8_percent_encode(text, IN_QUERY).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOMES: [&str; 3] = [
        "https://github.com/o/r",
        "https://gitlab.example.org:8443/group/sub/r",
        "https://codeberg.org/o/r",
    ];

    fn pages() -> [RepositoryPages; 3] {
        HOMES.map(|home| RepositoryPages::of(home).unwrap())
    }

    #[test]
    fn a_file_has_an_address_at_each_forge() {
        let found = pages().map(|pages| pages.file_at("c0ffee", "links/%C3%A9 a.yaml", 12));
        let file = "c0ffee/links/%25C3%25A9%20a.yaml#L12";
        let expected = [
            format!("https://github.com/o/r/blob/{file}"),
            format!("https://gitlab.example.org:8443/group/sub/r/-/blob/{file}"),
            format!("https://codeberg.org/o/r/src/commit/{file}"),
        ];
        assert_eq!(found, expected.map(Some));
    }

    #[test]
    fn an_editor_has_an_address_at_each_forge() {
        let found = pages().map(|pages| pages.editor("release/1#x", "mapping.yaml"));
        let expected = [
            "https://github.com/o/r/edit/release/1%23x/mapping.yaml",
            "https://gitlab.example.org:8443/group/sub/r/-/edit/release/1%23x/mapping.yaml",
            "https://codeberg.org/o/r/_edit/release/1%23x/mapping.yaml",
        ];
        assert_eq!(found, expected.map(|it| Some(it.to_owned())));
    }

    #[test]
    fn a_new_file_is_filled_in_at_each_forge() {
        let fill = |pages: RepositoryPages| {
            pages.new_file("main", "links/a+b.yaml", "- url: a&b\n", "links: add a+b")
        };
        let (path, text) = ("links%2Fa%2Bb.yaml", "-%20url%3A%20a%26b%0A");
        let expected = [
            format!(
                "https://github.com/o/r/new/main?filename={path}&value={text}\
                 &message=links%3A%20add%20a%2Bb"
            ),
            format!(
                "https://gitlab.example.org:8443/group/sub/r/-/new/main\
                 ?file_name={path}&content={text}"
            ),
            format!("https://codeberg.org/o/r/_new/main?filename={path}&value={text}"),
        ];
        assert_eq!(pages().map(fill), expected.map(Some));
    }

    #[test]
    fn a_file_is_replaced_where_the_editor_takes_a_text() {
        let fill = |pages: RepositoryPages| pages.changed_file("main", "a/m.yaml", "a: é&\n");
        let expected = "https://codeberg.org/o/r/_edit/main/a/m.yaml?value=a%3A%20%C3%A9%26%0A";
        assert_eq!(pages().map(fill), [None, None, Some(expected.to_owned())]);
        let [.., gitea] = pages();
        let address = |bytes| gitea.changed_file("main", "m.yaml", &"a".repeat(bytes));
        let room = MAX_ADDRESS_BYTES - address(0).unwrap().len();
        assert_eq!(address(room).unwrap().len(), MAX_ADDRESS_BYTES);
        assert_eq!(address(room + 1), None);
        assert_eq!(gitea.changed_file("main", "../m.yaml", ""), None);
    }

    #[test]
    fn no_address_is_longer_than_a_forge_takes() {
        for pages in pages() {
            let address = |bytes| pages.new_file("main", "a.yaml", &"a".repeat(bytes), "m");
            let room = MAX_ADDRESS_BYTES - address(0).unwrap().len();
            assert_eq!(address(room).unwrap().len(), MAX_ADDRESS_BYTES);
            assert_eq!(address(room + 1), None);
            // Encoded characters take more space.
            assert_eq!(
                pages.new_file("main", "a.yaml", &"é".repeat(room / 6 + 1), "m"),
                None
            );
        }
    }

    #[test]
    fn only_the_web_address_of_a_repository_has_pages() {
        for repository in [
            "https://git.example.org/o/r",
            "https://github.com/",
            "https://github.com/o",
            "https://user@github.com/o/r",
            "https://github.com/o/r?tab=readme",
            "https://github.com/o/r#readme",
            "ssh://git@github.com/o/r",
            "javascript://github.com/o/r",
            "git@github.com:o/r",
            "",
        ] {
            assert_eq!(RepositoryPages::of(repository), None, "{repository}");
        }
        for same in ["https://github.com/o/r/", "https://github.com/o/r.git"] {
            assert_eq!(RepositoryPages::of(same), RepositoryPages::of(HOMES[0]));
        }
    }

    #[test]
    fn no_path_leads_out_of_the_repository() {
        for pages in pages() {
            for path in ["", "/etc/x", "a//b", "../x", "a/../../x", "./a", "a/."] {
                assert_eq!(pages.file_at("c0ffee", path, 1), None, "{path}");
                assert_eq!(pages.editor("main", path), None, "{path}");
                assert_eq!(pages.new_file("main", path, "", ""), None, "{path}");
                assert_eq!(pages.editor(path, "m.yaml"), None, "{path}");
            }
        }
    }

    /// Returns the values of a query, decoded.
    fn values(address: &str) -> Vec<String> {
        let url = Url::parse(address).unwrap();
        url.query_pairs()
            .map(|(_, value)| value.into_owned())
            .collect()
    }

    proptest! {
        #[test]
        fn values_arrive_as_they_are(text in "\\PC{0,40}[\r\n\t&#=+%\"'<>]{0,9}", name in "[^/.]{1,20}") {
            for (pages, home) in pages().into_iter().zip(HOMES) {
                let message = "links: add";
                let address = pages.new_file("main", &name, &text, message).unwrap();
                prop_assert!(address.starts_with(home));
                prop_assert!(address.bytes().all(|byte| byte.is_ascii_graphic()));
                prop_assert!(!address.contains(['"', '\'', '<', '>', '#']));
                let expected = [&*name, &*text, message];
                prop_assert_eq!(&values(&address)[..2], &expected[..2]);

                let file = pages.file_at("c0ffee", &name, 7).unwrap();
                let url = Url::parse(&file).unwrap();
                prop_assert!(url.as_str().starts_with(home));
                prop_assert_eq!(url.fragment(), Some("L7"));
                prop_assert_eq!(url.query(), None);
                let last = url.path_segments().unwrap().next_back().unwrap().to_owned();
                let last = percent_encoding::percent_decode_str(&last).decode_utf8().unwrap();
                prop_assert_eq!(&*last, &*name);
            }
        }
    }
}
