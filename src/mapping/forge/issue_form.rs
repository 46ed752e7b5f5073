//! Issue forms: pages of a forge where a link is proposed as an issue, of which a workflow of the
//! repository makes a branch for review.
//!
//! A repository has the form if it has its file: a name of our own in the directory where the forge
//! looks for forms. The parameters are those that each forge reads:
//!
//! - GitHub: `/issues/new?template=NAME&title=SUMMARY&FIELD=TEXT`; so no field is named `title`.
//! - Gitea and Forgejo: `/issues/new?template=PATH&title=SUMMARY&field:FIELD=TEXT`.
//! - GitLab has no fields: `/-/issues/new?issue[title]=SUMMARY&issue[description]=TEXT`, where the text
//!   has each label as a heading, as the others write it into an issue.

use super::host::Forge;
use super::pages::{RepositoryPages, in_query, within_limit};

/// The paths in a repository at which it has the form.
pub const ISSUE_FORMS: [&str; 4] = [
    ".github/ISSUE_TEMPLATE/propose-link.yml",
    ".forgejo/ISSUE_TEMPLATE/propose-link.yml",
    ".gitea/ISSUE_TEMPLATE/propose-link.yml",
    ".gitlab/issue_templates/propose-link.md",
];

/// The fields of the form, and the labels by which an issue has them.
const FIELDS: [(&str, &str); 5] = [
    ("url", "URL"),
    ("code", "Short code"),
    ("link-title", "Title"),
    ("tags", "Tags"),
    ("expires", "Last day"),
];

/// The input for the form.
#[derive(Debug, Clone, Copy)]
pub struct IssueFields<'f> {
    /// The target.
    pub url: &'f str,
    /// The code, or nothing.
    pub code: &'f str,
    /// The title, or nothing.
    pub title: &'f str,
    /// The tags, separated by commas.
    pub tags: &'f str,
    /// The last day, or nothing.
    pub expires: &'f str,
}

impl IssueFields<'_> {
    /// Returns the texts, in the order of [`FIELDS`].
    fn texts(&self) -> [&str; 5] {
        [self.url, self.code, self.title, self.tags, self.expires]
    }
}

impl RepositoryPages {
    /// Returns the address of the issue form, filled in with a summary and fields; `has` returns
    /// whether the repository has a file. `None` if it has no form that its forge reads, or that
    /// does not fit into an address.
    pub fn issue_form(
        &self,
        has: impl Fn(&str) -> bool,
        summary: &str,
        fields: &IssueFields<'_>,
    ) -> Option<String> {
        let path = self.form_paths().iter().find(|path| has(path))?;
        let (home, summary) = (self.home(), in_query(summary));
        let entered = |prefix: &str| {
            let fields = FIELDS.iter().zip(fields.texts());
            let entered = fields.filter(|(_, text)| !text.is_empty());
            let each = entered.map(|((id, _), text)| format!("&{prefix}{id}={}", in_query(text)));
            each.collect::<String>()
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        within_limit(match self.forge() {
            Forge::GitHub => {
                let entered = entered("");
                format!("{home}/issues/new?template={name}&title={summary}{entered}")
            }
            Forge::Gitea => {
                let (path, entered) = (in_query(path), entered("field:"));
                format!("{home}/issues/new?template={path}&title={summary}{entered}")
            }
            Forge::GitLab => {
                let text = in_query(&description(fields));
                format!(
                    "{home}/-/issues/new?issue%5Btitle%5D={summary}&issue%5Bdescription%5D={text}"
                )
            }
        })
    }

    /// Returns the paths at which the forge looks for the form.
    fn form_paths(&self) -> &'static [&'static str] {
        match self.forge() {
            Forge::GitHub => &ISSUE_FORMS[..1],
            // Both know `.gitea`; only Forgejo knows `.forgejo`, which is not used for Gitea.
            Forge::Gitea => &ISSUE_FORMS[1..3],
            Forge::GitLab => &ISSUE_FORMS[3..],
        }
    }
}

/// Returns the text of an issue, as GitHub, Gitea and Forgejo generate it from their forms.
fn description(fields: &IssueFields<'_>) -> String {
    let fields = FIELDS.iter().zip(fields.texts());
    let parts = fields.map(|((_, label), text)| {
        let text = if text.is_empty() {
            "_No response_"
        } else {
            text
        };
        format!("### {label}\n\n{text}\n")
    });
    parts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = include_str!("../../../deploy/ci/issue-form.yaml");
    const OF_GITLAB: &str = include_str!("../../../deploy/ci/issue-form.gitlab.md");

    const LINK: IssueFields<'static> = IssueFields {
        url: "https://e.org/?a=1&b=é",
        code: "a+b",
        title: "",
        tags: "x, y",
        expires: "",
    };

    fn address(home: &str, files: &[&str]) -> Option<String> {
        let pages = RepositoryPages::of(home).unwrap();
        pages.issue_form(|path| files.contains(&path), "Add a+b", &LINK)
    }

    #[test]
    fn the_form_is_filled_in_at_each_forge() {
        let url = "https%3A%2F%2Fe.org%2F%3Fa%3D1%26b%3D%C3%A9";
        assert_eq!(
            address("https://github.com/o/r", &ISSUE_FORMS).unwrap(),
            format!(
                "https://github.com/o/r/issues/new?template=propose-link.yml&title=Add%20a%2Bb\
                 &url={url}&code=a%2Bb&tags=x%2C%20y"
            )
        );
        assert_eq!(
            address("https://codeberg.org/o/r", &ISSUE_FORMS).unwrap(),
            format!(
                "https://codeberg.org/o/r/issues/new\
                 ?template=.forgejo%2FISSUE_TEMPLATE%2Fpropose-link.yml&title=Add%20a%2Bb\
                 &field:url={url}&field:code=a%2Bb&field:tags=x%2C%20y"
            )
        );
        let gitea = address("https://gitea.e.org/o/r", &ISSUE_FORMS[2..]).unwrap();
        assert!(
            gitea.contains("template=.gitea%2FISSUE_TEMPLATE%2F"),
            "{gitea}"
        );
        let gitlab = address("https://gitlab.com/o/r", &ISSUE_FORMS).unwrap();
        let expected = format!(
            "https://gitlab.com/o/r/-/issues/new?issue%5Btitle%5D=Add%20a%2Bb\
             &issue%5Bdescription%5D=%23%23%23%20URL%0A%0A{url}%0A%0A%23%23%23%20Short%20code"
        );
        assert!(gitlab.starts_with(&expected), "{gitlab}");
    }

    #[test]
    fn without_its_file_there_is_no_form() {
        for home in [
            "https://github.com/o/r",
            "https://codeberg.org/o/r",
            "https://gitlab.com/o/r",
        ] {
            assert_eq!(address(home, &[]), None);
        }
        assert_eq!(address("https://github.com/o/r", &ISSUE_FORMS[1..]), None);
        let pages = RepositoryPages::of("https://github.com/o/r").unwrap();
        let title = "t".repeat(9_000);
        let long = IssueFields {
            title: &title,
            ..LINK
        };
        assert_eq!(pages.issue_form(|_| true, "Add", &long), None);
    }

    #[test]
    fn the_templates_have_these_fields() {
        let fields = FORM.split("  - type: input\n").skip(1);
        let fields: Vec<_> = fields
            .map(|field| field.lines().take(3).collect::<Vec<_>>())
            .collect();
        let expected = FIELDS.map(|(id, label)| {
            vec![
                format!("    id: {id}"),
                "    attributes:".to_owned(),
                format!("      label: {label}"),
            ]
        });
        assert_eq!(fields, expected);
        let nothing = IssueFields {
            url: "",
            code: "",
            title: "",
            tags: "",
            expires: "",
        };
        assert_eq!(description(&nothing), OF_GITLAB);
        for path in &ISSUE_FORMS[..3] {
            assert!(FORM.contains(path), "{path}");
        }
    }
}
