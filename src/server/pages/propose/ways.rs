//! The ways to send a proposal: an editor of the forge that is filled in beforehand, or one where the
//! lines are pasted.

use crate::mapping::{About, Forge, MAX_ADDRESS_BYTES, RepositoryPages};
use crate::registry::ProposedLink;
use crate::source::RepositoryPlace;

/// A way to send a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) kind: WayKind,
    /// The address of the page, elsewhere.
    pub(super) address: String,
}

/// What is to be done on the page of a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WayKind {
    /// Everything is filled in.
    Filled,
    /// The name is filled in for certain, the lines perhaps.
    NewFile,
    /// The lines are added to a file that exists.
    Edit,
    /// Nothing is known of the pages of the repository.
    Repository,
}

/// Returns the way to send a proposal; `None` if the table does not say where it is kept.
pub(super) fn way(about: &About, place: &RepositoryPlace, proposal: &ProposedLink) -> Option<Way> {
    let path = place.path_of(&proposal.path);
    let message = message(&proposal.code);
    let way = |kind, address| Way { kind, address };
    if let (Some(template), Some(text)) = (about.propose(), &proposal.new_file) {
        let address = template.expand(&path, text, &message);
        if address.len() <= MAX_ADDRESS_BYTES {
            return Some(way(WayKind::Filled, address));
        }
    }
    let repository = about.repository()?;
    let known = RepositoryPages::of(repository).and_then(|pages| {
        let Some(text) = &proposal.new_file else {
            return Some(way(WayKind::Edit, pages.editor(place.branch(), &path)?));
        };
        let new_file = |text| pages.new_file(place.branch(), &path, text, &message);
        match (new_file(text), pages.forge()) {
            (Some(address), Forge::GitHub | Forge::Gitea) => Some(way(WayKind::Filled, address)),
            // Not every GitLab fills in the text.
            (Some(address), Forge::GitLab) => Some(way(WayKind::NewFile, address)),
            (None, _) => Some(way(WayKind::NewFile, new_file("")?)),
        }
    });
    Some(known.unwrap_or_else(|| way(WayKind::Repository, repository.to_owned())))
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
    use crate::registry::{
        Destination, ProposalBase, RegistrationRequest, RequestedCode, propose,
    };

    fn base(about: &str) -> (Arc<Table>, ProposalBase) {
        let file = SourceFile {
            path: "links/all.yaml".into(),
            bytes: format!("base_url: https://s.code/\n{about}mapping: []\n").into(),
        };
        let files = [file];
        let table = Arc::new(compile(&files).table.unwrap());
        (Arc::clone(&table), ProposalBase::new(table, &files))
    }

    fn found(about: &str, title: &str, destination: Destination) -> Option<Way> {
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
        way(table.sites()[0].about(), &place, &decided.unwrap())
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
        let about = "repository: https://github.com/o/r\n\
                     propose: 'https://git.e.org/x{?filename,content,message}'\n";
        let way = found(about, "T", Destination::default()).unwrap();
        assert_eq!(way.kind, WayKind::Edit);
        assert_eq!(
            way.address,
            "https://github.com/o/r/edit/live/links/all.yaml"
        );
    }

    #[test]
    fn where_no_page_is_known_there_is_the_repository() {
        let way = found("repository: https://git.e.org/o/r\n", "T", fragment()).unwrap();
        assert_eq!(way.kind, WayKind::Repository);
        assert_eq!(way.address, "https://git.e.org/o/r");
        assert_eq!(found("", "T", fragment()), None);
    }
}
