//! HTTP requests and answers: the trusted parts of a request, the parts of an answer, and how an
//! answer is counted.

pub(super) mod admin_hosts;
pub(super) mod body;
mod content;
mod counts;
mod digest;
mod entity_tag;
mod lines;
mod moment;
mod negotiate;
mod plain_request;
mod readable;
pub(super) mod request;
pub(super) mod response;
pub(super) mod response_head;

pub use admin_hosts::{AdminHost, AdminHostError};
pub(crate) use body::Unread;
pub(crate) use content::{Content, ContentPiece};
pub(crate) use counts::{Answered, RequestCounts, Requests};
pub(crate) use digest::{Sha256Digest, digest};
pub(crate) use entity_tag::is_known;
pub(crate) use lines::{BareLineFeed, LineEnds, LineStream, has_bare_feed};
pub(crate) use moment::Moment;
pub(crate) use negotiate::{Coding, PageFormat, coding, form, language};
pub(crate) use plain_request::{Parsed, PlainRequest, field_space, parse};
pub(crate) use readable::readable;
pub use readable::shows_itself;
pub(crate) use request::Refused;
pub(crate) use response::{
    CountedResponse, JSON, READING, TEXT, bad_request, misdirected, not_allowed, only_read,
    unavailable,
};
