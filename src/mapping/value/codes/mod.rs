//! Short codes, the schemes by which they follow from targets, and their case.

mod case;
mod code;
pub(in crate::mapping) mod scheme;

pub use case::Case;
pub(crate) use case::{fold_case, spellings};
pub(crate) use code::is_reserved;
pub use code::{Code, CodeError, MAX_CODE_BYTES};
pub use scheme::Scheme;
pub(crate) use scheme::{KEY_REST, code_bytes_of_key, code_of_key};
