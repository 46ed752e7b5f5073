//! The initial files of a table's repository.
//!
//! The workflows, the form and the image are those of `deploy/`, which are tested there.

use super::answers::{Answers, InitForge};

/// The table, where it is a directory.
const DIRECTORY: &str = "links";

/// The line of a template that names the table.
const TABLE_LINE: &str = "mapping.yaml # a file or a directory";

const OWNERS: &str = "\
# The accounts that may change the links of each owner: see docs/owners.md of Waypost. While no account
# is named here, anyone may propose any change. Admins may change all links; the owners are those that
# entries name as `owner`:
#
#   admins: [alice]
#   owners:
#     library: [bob, carol]
admins: []
owners: {}
";

/// A file to create.
pub(super) struct StarterFile {
    /// The path from the top of the repository.
    pub(super) path: &'static str,
    pub(super) text: String,
}

/// Returns the files for a table.
pub(super) fn files(answers: &Answers) -> Vec<StarterFile> {
    let file = |path, text| StarterFile { path, text };
    let is_directory = answers.is_directory;
    let mut files = vec![
        match is_directory {
            true => file("links/site.yaml", table(answers)),
            false => file("mapping.yaml", table(answers)),
        },
        file("owners.yaml", OWNERS.to_owned()),
        file("README.md", readme(answers)),
        file(".gitattributes", attributes(is_directory).to_owned()),
        file("Containerfile", containerfile(is_directory)),
    ];
    let templates = templates(answers.forge).iter();
    files.extend(templates.map(|(path, template)| file(path, filled(template, is_directory))));
    files
}

fn table(answers: &Answers) -> String {
    // The answers were accepted because this document is valid.
    let document = answers.document().unwrap_or_default();
    format!("# Short links; README.md says how to add one.\n{document}")
}

/// Returns the files for a forge: checks of proposals and, at night, of links; and an issue form,
/// with the workflow that creates a branch from an issue. Each has its path in the repository and
/// its template.
fn templates(forge: InitForge) -> &'static [(&'static str, &'static str)] {
    match forge {
        InitForge::GitHub => &[
            (
                ".github/workflows/links.yaml",
                include_str!("../../../deploy/ci/github.yaml"),
            ),
            (
                ".github/workflows/links-summary.yaml",
                include_str!("../../../deploy/ci/summary.github.yaml"),
            ),
            (
                ".github/workflows/linkcheck.yaml",
                include_str!("../../../deploy/ci/linkcheck.github.yaml"),
            ),
            (
                ".github/workflows/propose.yaml",
                include_str!("../../../deploy/ci/propose.github.yaml"),
            ),
            (
                ".github/ISSUE_TEMPLATE/propose-link.yml",
                include_str!("../../../deploy/ci/issue-form.yaml"),
            ),
        ],
        InitForge::GitLab => &[
            (
                ".gitlab-ci.yml",
                concat!(
                    include_str!("../../../deploy/ci/gitlab.yaml"),
                    "\ninclude:\n  - local: linkcheck.gitlab.yaml\n  - local: propose.gitlab.yaml\n"
                ),
            ),
            (
                "linkcheck.gitlab.yaml",
                include_str!("../../../deploy/ci/linkcheck.gitlab.yaml"),
            ),
            (
                "propose.gitlab.yaml",
                include_str!("../../../deploy/ci/propose.gitlab.yaml"),
            ),
            (
                ".gitlab/issue_templates/propose-link.md",
                include_str!("../../../deploy/ci/issue-form.gitlab.md"),
            ),
        ],
        InitForge::Forgejo => &[
            (
                ".forgejo/workflows/links.yaml",
                include_str!("../../../deploy/ci/forgejo.yaml"),
            ),
            (
                ".forgejo/workflows/linkcheck.yaml",
                include_str!("../../../deploy/ci/linkcheck.forgejo.yaml"),
            ),
            (
                ".forgejo/workflows/propose.yaml",
                include_str!("../../../deploy/ci/propose.forgejo.yaml"),
            ),
            (
                ".forgejo/ISSUE_TEMPLATE/propose-link.yml",
                include_str!("../../../deploy/ci/issue-form.yaml"),
            ),
        ],
        InitForge::Woodpecker => &[
            (
                ".woodpecker/links.yaml",
                include_str!("../../../deploy/ci/woodpecker.yaml"),
            ),
            (
                ".woodpecker/linkcheck.yaml",
                include_str!("../../../deploy/ci/linkcheck.woodpecker.yaml"),
            ),
        ],
        InitForge::None => &[],
    }
}

fn filled(template: &str, is_directory: bool) -> String {
    match is_directory {
        true => template.replace(TABLE_LINE, &TABLE_LINE.replace("mapping.yaml", DIRECTORY)),
        false => template.to_owned(),
    }
}

fn containerfile(is_directory: bool) -> String {
    let template = include_str!("../../../deploy/container/Containerfile");
    if !is_directory {
        return template.to_owned();
    }
    // Without its comments, which describe a table in one file.
    let lines = template.lines().filter(|line| !line.starts_with('#'));
    let lines = lines.map(|line| match line {
        "COPY mapping.yaml /srv/mapping.yaml" => {
            "COPY links/ /srv/links/\nENV WAYPOST_TABLE=/srv/links\n".to_owned()
        }
        line => line.replace("/srv/mapping.yaml", "/srv/links") + "\n",
    });
    format!(
        "# The image of the table: one with an error fails the build.\n{}",
        lines.collect::<String>()
    )
}

/// Returns the lines that make Git merge the table by meaning; see gitattributes(5).
fn attributes(is_directory: bool) -> &'static str {
    match is_directory {
        true => "/links/*.yaml merge=waypost\n/links/*.yml merge=waypost\n",
        false => "/mapping.yaml merge=waypost\n",
    }
}

fn readme(answers: &Answers) -> String {
    let base_url = answers.base_url.as_str();
    let name = answers.name.as_deref().unwrap_or("Short links");
    let request = match answers.forge {
        InitForge::GitLab => "merge request",
        _ => "pull request",
    };
    let (table, place, example, flag) = match answers.is_directory {
        true => (
            "`links/`",
            "Create a file in `links/`, named after the code, such as `links/gnu-home.yaml`",
            "mapping:\n- url: https://www.gnu.org/\n  short-code: gnu-home\n",
            " --table links",
        ),
        false => (
            "`mapping.yaml`",
            "Add an entry to `mapping.yaml` (the first one replaces the `[]`)",
            "- url: https://www.gnu.org/\n  short-code: gnu-home\n",
            "",
        ),
    };
    let (path, fragment) = match answers.is_directory {
        true => (" links", " --fragment"),
        false => ("", ""),
    };
    let issue = match answers.forge {
        InitForge::GitHub | InitForge::Forgejo => {
            "\nOr open an issue with the form *Propose a link*: a branch is created from it.\n"
        }
        InitForge::GitLab => {
            "\nOr open an issue with the template *propose-link*: a branch is created from it.\n"
        }
        InitForge::Woodpecker | InitForge::None => "",
    };
    format!(
        "\
# {name}

The short links of {base_url}: {table} maps each code to its target.
[Waypost](https://github.com/waypost/waypost) checks and serves them.

## Propose a link

{place}, and open a {request}:

```yaml
{example}```

This creates {base_url}gnu-home.
Without `short-code`, the link gets a code that is derived from its URL.
With the program, the same is `waypost add https://www.gnu.org/ --code gnu-home{flag}{fragment}`.
{issue}
A published link stays forever: to end one, add `retired: true` to its entry instead of removing it.
`owners.yaml` can say who may change whose links.

## On your machine

```console
$ waypost check{path}
$ waypost serve{path}
$ waypost merge-driver --install{flag}
```

The last one is run once in each clone: links that two people add then conflict only if they have the same code.
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit;
    use crate::mapping::{ISSUE_FORMS, Owners, SourceFile, compile};

    fn made(forge: InitForge, is_directory: bool) -> Vec<StarterFile> {
        files(&Answers {
            forge,
            is_directory,
            ..Answers::example()
        })
    }

    fn source(file: &StarterFile) -> SourceFile {
        SourceFile {
            path: file.path.into(),
            bytes: file.text.clone().into(),
        }
    }

    #[test]
    fn the_table_is_valid_and_formatted() {
        for is_directory in [false, true] {
            let files = made(InitForge::None, is_directory);
            let table = source(&files[0]);
            let compilation = compile(std::slice::from_ref(&table));
            assert!(compilation.diagnostics.is_empty(), "{compilation:?}");
            let about = compilation.table.unwrap();
            let about = about.sites()[0].about();
            assert_eq!(about.name(), Some("Links: ours"));
            assert_eq!(about.repository(), Some("https://github.com/o/links"));
            assert_eq!(edit::format(&table).unwrap(), files[0].text);
            let (owners, problems) = Owners::read(&source(&files[1]));
            assert!(owners.is_empty() && problems.is_empty(), "{problems:?}");
        }
    }

    #[test]
    fn templates_name_the_table() {
        for (forge, count) in [
            (InitForge::GitHub, 4),
            (InitForge::GitLab, 3),
            (InitForge::Forgejo, 3),
            (InitForge::Woodpecker, 2),
            (InitForge::None, 0),
        ] {
            // An issue form is the same for any table.
            let is_form = |path: &str| ISSUE_FORMS.contains(&path);
            let templates = templates(forge).iter().filter(|(path, _)| !is_form(path));
            let templates: Vec<_> = templates.collect();
            assert_eq!(templates.len(), count);
            for (path, template) in templates {
                assert_eq!(template.matches(TABLE_LINE).count(), 1, "{path}");
                assert_eq!(template.matches("mapping.yaml").count(), 1, "{path}");
                assert_eq!(filled(template, false), *template);
                let filled = filled(template, true);
                assert!(filled.contains("links # a file or a directory"), "{filled}");
            }
        }
    }

    #[test]
    fn a_form_is_where_a_server_looks_for_it() {
        for (forge, count) in [
            (InitForge::GitHub, 1),
            (InitForge::GitLab, 1),
            (InitForge::Forgejo, 1),
            (InitForge::Woodpecker, 0),
        ] {
            let paths = templates(forge).iter().map(|(path, _)| path);
            let forms: Vec<_> = paths.filter(|path| ISSUE_FORMS.contains(path)).collect();
            assert_eq!(forms.len(), count, "{forms:?}");
        }
    }

    #[test]
    fn the_image_has_the_table() {
        let template = include_str!("../../../deploy/container/Containerfile");
        assert_eq!(containerfile(false), template);
        let expected = "\
# The image of the table: one with an error fails the build.

ARG WAYPOST=waypost:latest
FROM ${WAYPOST}
COPY links/ /srv/links/
ENV WAYPOST_TABLE=/srv/links
RUN [\"waypost\", \"check\", \"/srv/links\"]
";
        assert_eq!(containerfile(true), expected);
    }
}
