//! What all pages for people share, served or exported: the frame, the style, and the texts in each
//! language. It is pure, and does not know HTTP.

mod frame;
mod language;
mod messages;
mod moment;
mod sentence;
mod shown_url;

pub use frame::{Frame, STYLE, in_query};
pub use language::Language;
pub use moment::Moment;
pub use sentence::Sentence;
pub use shown_url::ShownUrl;
