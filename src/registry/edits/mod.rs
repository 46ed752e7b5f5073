//! Edits of existing entries: from requested values to the changed text of a table, many entries as
//! one change; decided and proved like a registration, and published the same way.

mod candidate;
mod content;
mod content_change;
mod decide;
mod entry_edit;
mod entry_tag;
mod new_page;
mod proof;
mod publish;
mod refusal;
mod search;
mod text;
mod value;

pub use content::EntryContent;
pub use decide::{EditDecision, EditedEntry, edit_entries};
pub use entry_edit::{EditRight, EntryEdit, ExpectedContent};
pub use entry_tag::EntryTag;
pub use publish::{EditError, EditRun, edit_in_files, edit_on_branch};
pub use refusal::EditRefusal;
pub use value::EntryValue;
