//! The values of a table: codes, URLs, properties, points in time, and diagnostics about them;
//! `rule` describes the rules that diagnostics name.
//!
//! Each is valid from construction on. This folder imports none of the others.

mod about;
mod base_url;
mod case;
mod caution;
mod code;
mod date_error;
mod defaults;
mod diagnostic;
mod intended_url;
mod media_type;
mod piece_id;
mod properties;
mod reach;
mod rule;
pub(super) mod scheme;
mod site_target;
mod source_file;
mod table_name;
pub(super) mod target;
mod timestamp;
mod weighted_list;
mod written_date;

pub use about::{About, ProposalTemplate};
pub(crate) use about::{AboutError, CollectionName, Contact};
pub use base_url::{BaseUrl, BaseUrlError};
pub use case::Case;
pub(crate) use case::{fold_case, spellings};
pub use caution::direction_control;
pub(crate) use code::is_reserved;
pub use code::{Code, CodeError, MAX_CODE_BYTES};
pub(crate) use date_error::date_error;
pub use defaults::Defaults;
pub(crate) use diagnostic::{Checkpoint, MAX_PROBLEMS, Problems};
pub use diagnostic::{Diagnostic, Place, Position};
pub use media_type::{MediaType, MediaTypeError};
pub use piece_id::KnownPieces;
pub(crate) use piece_id::{PieceExtent, PieceHash, PieceId};
pub use properties::{DEFAULT_MAX_AGE, Forward, Misfit, NewCode, Retired, Status};
pub use reach::Reach;
pub use rule::{Description, Example, Rule, Severity};
pub use scheme::Scheme;
pub(crate) use scheme::{KEY_REST, code_bytes_of_key, code_of_key};
pub use site_target::SiteTarget;
pub use source_file::SourceFile;
pub use table_name::is_table_name;
pub use target::{MAX_TARGET_BYTES, Target, TargetError};
pub use timestamp::Timestamp;
pub(crate) use weighted_list::{Weight, weighted_members};
pub use written_date::{WrittenDate, WrittenDateError, WrittenRetirement};
