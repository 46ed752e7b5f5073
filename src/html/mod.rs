//! The common parts of all pages, served or exported: the frame, which `templates/base.html`
//! writes; the texts in each language, from `templates/messages/`; dates in words, and URLs whose
//! host is emphasised.
//!
//! The pages that are served are in `server/pages/`, those that are exported in
//! `exchange/write/records/html.rs`; each has a template in `templates/`.
//!
//! # Invariants
//!
//! - Nothing here knows about HTTP, or reads a clock.
//! - Every value is escaped: by the template, or where it is inserted into a text (`sentence`).
//! - Every language has every text, with the same values in it.

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
