//! Media types, and the weighted lists by which clients choose among them.

mod media_type;
mod weighted_list;

pub use media_type::{MediaType, MediaTypeError};
pub(crate) use weighted_list::{Weight, weighted_members};
