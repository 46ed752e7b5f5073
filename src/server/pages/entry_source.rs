//! Where an entry is in the repository, and where people propose a change of it.

use crate::html::{Frame, Sentence};
use crate::mapping::{Entry, RepositoryPages};
use crate::server::state::Snapshot;

/// Where an entry is in the repository.
#[derive(Debug)]
pub(super) struct EntrySource {
    /// Its file and line, in words.
    pub(super) words: Sentence,
    /// The page that shows that line as it was at this revision, if the forge is known.
    pub(super) address: Option<String>,
    /// The page that edits the file, or else the repository.
    pub(super) editor: String,
}

impl EntrySource {
    /// Locates an entry; `None` if its table does not say where it is kept.
    pub(super) fn of(frame: &Frame<'_>, entry: Entry<'_>, snapshot: &Snapshot) -> Option<Self> {
        let repository = entry.site().about().repository()?;
        let place = entry.place();
        let line = place.position.line;
        let path = snapshot.place.path_of(&place.file);
        let pages = RepositoryPages::of(repository);
        let revision = &snapshot.revision;
        // In files that differ from their commit, the line may be a different one.
        let commit = revision.commit().filter(|_| !revision.is_dirty());
        let address = pages.as_ref().zip(commit);
        let editor = pages.as_ref();
        let editor = editor.and_then(|pages| pages.editor(snapshot.place.branch(), &path));
        let words = frame.sentence("in-repository-line");
        Some(Self {
            address: address
                .and_then(|(pages, commit)| pages.file_at(&commit.to_string(), &path, line)),
            editor: editor.unwrap_or_else(|| repository.to_owned()),
            words: words.code("file", path).text("line", line),
        })
    }
}
