//! The ways to send a proposal: an editor of the forge that is filled in beforehand, or one where the
//! lines are pasted; and the issue form of the repository.

use super::form::ProposalForm;
use crate::mapping::{About, Forge, IssueFields, MAX_ADDRESS_BYTES, RepositoryPages};
use crate::registry::ProposedLink;
use crate::source::RepositoryPlace;

/// A way to send a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) kind: WayKind,
    /// The address of the page, elsewhere.
    pub(super) address: String,
}

/// What a person does on the page of a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WayKind {
    /// Everything is filled in.
    Filled,
    /// The whole file is filled in, with the link.
    Changed,
    /// The name is filled in for certain, the lines perhaps.
    NewFile,
    /// The lines are added to a file that exists.
    Edit,
    /// The pages of the repository are unknown.
    Repository,
}

/// A proposal, and where it is sent from.
pub(super) struct Sending<'s> {
    pub(super) about: &'s About,
    pub(super) place: &'s RepositoryPlace,
    pub(super) proposal: &'s ProposedLink,
    /// Whether the whole text of a file may be sent: it is public, and that of a commit, so it
    /// reverts nothing but recent changes of the repository.
    pub(super) may_replace: bool,
}

impl Sending<'_> {
    /// Returns the way to send the proposal; `None` if the table does not say where it is kept.
    pub(super) fn way(&self) -> Option<Way> {
        self.by_template().or_else(|| self.at_the_repository())
    }

    /// Returns the page of the table's own template.
    fn by_template(&self) -> Option<Way> {
        let (template, path) = (self.about.propose()?, self.path());
        let text = self.proposal.new_file.as_ref();
        let text = text.unwrap_or(&self.proposal.entry);
        let address = template.expand(&path, text, &self.message());
        (address.len() <= MAX_ADDRESS_BYTES).then_some(Way {
            kind: WayKind::Filled,
            address,
        })
    }

    fn at_the_repository(&self) -> Option<Way> {
        let repository = self.about.repository()?;
        let known = RepositoryPages::of(repository).and_then(|pages| self.in_editor(&pages));
        Some(known.unwrap_or_else(|| Way {
            kind: WayKind::Repository,
            address: repository.to_owned(),
        }))
    }

    /// Returns the editor of a new file, or of the existing one.
    fn in_editor(&self, pages: &RepositoryPages) -> Option<Way> {
        let (branch, path) = (self.place.branch(), self.path());
        let way = |kind, address| Way { kind, address };
        let Some(text) = &self.proposal.new_file else {
            let text = self.proposal.changed_file.as_ref();
            let changed = text.filter(|_| self.may_replace);
            let changed = changed.and_then(|text| pages.changed_file(branch, &path, text));
            return match changed {
                Some(address) => Some(way(WayKind::Changed, address)),
                None => Some(way(WayKind::Edit, pages.editor(branch, &path)?)),
            };
        };
        let new_file = |text| pages.new_file(branch, &path, text, &self.message());
        Some(match (new_file(text), pages.forge()) {
            (Some(address), Forge::GitHub | Forge::Gitea) => way(WayKind::Filled, address),
            // Not every GitLab fills in the text.
            (Some(address), Forge::GitLab) => way(WayKind::NewFile, address),
            (None, _) => way(WayKind::NewFile, new_file("")?),
        })
    }

    /// Returns the address of the repository's issue form, filled in, if it has one.
    pub(super) fn issue_form(&self, form: &ProposalForm) -> Option<String> {
        let pages = RepositoryPages::of(self.about.repository()?)?;
        let fields = IssueFields {
            url: &form.url,
            code: &form.code,
            title: &form.title,
            tags: &form.tags,
            expires: &form.expires,
        };
        let has = |path: &str| self.place.has_issue_form(path);
        pages.issue_form(has, &self.message(), &fields)
    }

    fn path(&self) -> String {
        self.place.path_of(&self.proposal.path)
    }

    fn message(&self) -> String {
        message(&self.proposal.code)
    }
}

/// Returns the message of the commit that adds a code, as `add` writes it.
fn message(code: &str) -> String {
    format!("Add {code}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::mapping::{SourceFile, Table, Timestamp, compile};
    use crate::registry::{Destination, ProposalBase, RegistrationRequest, RequestedCode, propose};

    fn base(about: &str) -> (Arc<Table>, ProposalBase) {
        let file = SourceFile {
            path: "links/all.yaml".into(),
            bytes: format!("base_url: https://s.code/\n{about}mapping: []\n").into(),
        };
        let files = [file];
        let table = Arc::new(compile(&files).table.unwrap());
        (Arc::clone(&table), ProposalBase::new(table, files.first()))
    }

    fn found(about: &str, title: &str, destination: Destination) -> Option<Way> {
        sent(about, title, destination, |sending| sending.way())
    }

    /// Has a link that was decided on sent, whose file may be replaced.
    fn sent<T>(
        about: &str,
        title: &str,
        destination: Destination,
        send: impl FnOnce(Sending<'_>) -> T,
    ) -> T {
        let (table, base) = base(about);
        let request = RegistrationRequest {
            url: "https://e.org/".to_owned(),
            code: RequestedCode::Custom("é".to_owned()),
            title: Some(title.to_owned()),
            destination,
            ..RegistrationRequest::default()
        };
        let decided = propose(&base, &request, Timestamp::MIN);
        let place = RepositoryPlace::of_commits("links", Some("refs/heads/live"));
        send(Sending {
            about: table.sites()[0].about(),
            place: &place,
            proposal: &decided.unwrap(),
            may_replace: true,
        })
    }

    fn fragment() -> Destination {
        Destination::Fragment("links".to_owned())
    }

    #[test]
    fn a_new_file_is_filled_in() {
        let text = "mapping%3A%0A-%20url%3A%20https%3A%2F%2Fe.org%2F%0A%20%20\
                    short-code%3A%20%C3%A9%0A%20%20title%3A%20T%0A";
        let way = found("repository: https://codeberg.org/o/r\n", "T", fragment()).unwrap();
        assert_eq!(way.kind, WayKind::Filled);
        assert_eq!(
            way.address,
            format!(
                "https://codeberg.org/o/r/_new/live?filename=links%2F%25C3%25A9.yaml&value={text}"
            )
        );
        let way = found("repository: https://gitlab.com/o/r\n", "T", fragment()).unwrap();
        assert_eq!(way.kind, WayKind::NewFile);
        let about = "repository: https://git.e.org/o/r\n\
                     propose: 'https://git.e.org/x{?filename,content,message}'\n";
        let way = found(about, "T", fragment()).unwrap();
        assert_eq!(way.kind, WayKind::Filled);
        assert_eq!(
            way.address,
            format!(
                "https://git.e.org/x?filename=links%2F%25C3%25A9.yaml&content={text}\
                 &message=Add%20%C3%A9"
            )
        );
    }

    #[test]
    fn what_does_not_fit_is_pasted() {
        let long = "t".repeat(8_000);
        let way = found("repository: https://github.com/o/r\n", &long, fragment()).unwrap();
        assert_eq!(way.kind, WayKind::NewFile);
        assert!(way.address.len() < 200);
    }

    #[test]
    fn the_lines_go_into_a_file_that_exists() {
        let about = "repository: https://github.com/o/r\n";
        let way = found(about, "T", Destination::default()).unwrap();
        assert_eq!(way.kind, WayKind::Edit);
        assert_eq!(
            way.address,
            "https://github.com/o/r/edit/live/links/all.yaml"
        );
    }

    #[test]
    fn a_template_takes_the_lines_for_a_file_that_exists() {
        let about = "repository: https://github.com/o/r\n\
                     propose: 'https://git.e.org/x{?filename,content,message}'\n";
        let way = found(about, "T", Destination::default()).unwrap();
        assert_eq!(way.kind, WayKind::Filled);
        assert_eq!(
            way.address,
            "https://git.e.org/x?filename=links%2Fall.yaml\
             &content=-%20url%3A%20https%3A%2F%2Fe.org%2F%0A%20%20short-code%3A%20%C3%A9%0A\
             %20%20title%3A%20T%0A&message=Add%20%C3%A9"
        );
        let long = "t".repeat(MAX_ADDRESS_BYTES);
        let way = found(about, &long, Destination::default()).unwrap();
        assert_eq!(way.kind, WayKind::Edit);
    }

    #[test]
    fn a_whole_file_is_filled_in_where_the_editor_takes_it() {
        let about = "repository: https://codeberg.org/o/r\n";
        let filled = found(about, "T", Destination::default()).unwrap();
        assert_eq!(filled.kind, WayKind::Changed);
        let editor = "https://codeberg.org/o/r/_edit/live/links/all.yaml";
        let text = "base_url%3A%20https%3A%2F%2Fs.code%2F%0A\
                    repository%3A%20https%3A%2F%2Fcodeberg.org%2Fo%2Fr%0Amapping%3A%0A\
                    -%20url%3A%20https%3A%2F%2Fe.org%2F%0A%20%20short-code%3A%20%C3%A9%0A\
                    %20%20title%3A%20T%0A";
        assert_eq!(filled.address, format!("{editor}?value={text}"));
        // Otherwise the lines are pasted: the text is too long, not public, or not known to be up
        // to date.
        let long = "t".repeat(8_000);
        for pasted in [
            found(about, &long, Destination::default()),
            sent(about, "T", Destination::default(), |sending| {
                let may_replace = false;
                Sending {
                    may_replace,
                    ..sending
                }
                .way()
            }),
        ] {
            let pasted = pasted.unwrap();
            assert_eq!(pasted.kind, WayKind::Edit);
            assert_eq!(pasted.address, editor);
        }
    }

    #[test]
    fn where_no_page_is_known_there_is_the_repository() {
        let way = found("repository: https://git.e.org/o/r\n", "T", fragment()).unwrap();
        assert_eq!(way.kind, WayKind::Repository);
        assert_eq!(way.address, "https://git.e.org/o/r");
        assert_eq!(found("", "T", fragment()), None);
    }
}
