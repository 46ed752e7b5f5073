//! Edits of entries that exist: keys are set or removed, and every other byte of the text is kept.

mod edited_text;
mod key_edit;
mod written_entry;

pub use edited_text::EditedText;
pub use key_edit::{KeyEdit, NewValue};
