//! Edits of existing entries: keys are set or removed, and every other byte of the text is kept.

mod edited_text;
mod in_pieces;
mod key_edit;
mod written_entry;

pub use edited_text::EditedText;
pub use in_pieces::edit_in_pieces;
pub use key_edit::{KeyEdit, NewValue};
