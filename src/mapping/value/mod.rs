//! The values of a table: codes, URLs, properties, points in time, and diagnostics about them;
//! `diagnostics/rule` describes the rules that diagnostics name.
//!
//! Each is valid from construction on. This folder imports none of the others.

mod codes;
mod diagnostics;
mod documents;
mod entries;
mod negotiation;
mod urls;

pub(super) use codes::scheme;
pub use codes::{Case, Code, CodeError, MAX_CODE_BYTES, Scheme};
pub(crate) use codes::{
    KEY_REST, code_bytes_of_key, code_of_key, fold_case, is_reserved, spellings,
};
pub(crate) use diagnostics::{Checkpoint, MAX_PROBLEMS, Problems};
pub use diagnostics::{Description, Diagnostic, Example, Place, Position, Rule, Severity};
pub use documents::{About, KnownPieces, ProposalTemplate, SourceFile, is_table_name};
pub(crate) use documents::{AboutError, CollectionName, Contact, PieceExtent, PieceHash, PieceId};
pub(crate) use entries::date_error;
pub use entries::{
    DEFAULT_MAX_AGE, Defaults, Forward, Misfit, NewCode, Retired, Status, Timestamp, WrittenDate,
    WrittenDateError, WrittenRetirement,
};
pub use negotiation::{MediaType, MediaTypeError};
pub(crate) use negotiation::{Weight, weighted_members};
pub(super) use urls::target;
pub use urls::{
    BaseUrl, BaseUrlError, MAX_TARGET_BYTES, Reach, SiteTarget, Target, TargetError,
    direction_control,
};
