//! HTTP requests and answers: the checks on the former, and the parts of the latter.

pub(super) mod admin_hosts;
pub(super) mod body;
mod content;
mod counts;
mod digest;
mod entity_tag;
mod lines;
mod negotiate;
mod readable;
pub(super) mod request;
pub(super) mod response;

pub use admin_hosts::{AdminHost, AdminHostError};
pub(crate) use body::Unread;
pub(crate) use content::{Content, ContentPiece};
pub(crate) use counts::{Answered, Counts, Requests};
pub(crate) use digest::{Sha256Digest, digest};
pub(crate) use entity_tag::is_known;
pub(crate) use lines::{BareLineFeed, LineEnds, LineStream};
pub(crate) use negotiate::{Coding, PageFormat, coding, form, language};
pub(crate) use readable::readable;
pub use readable::shows_itself;
pub(crate) use request::Refused;
pub(crate) use response::{
    JSON, READING, TEXT, bad_request, misdirected, not_allowed, only_read, unavailable,
};
