//! The mapping table, pure: text in, table and diagnostics out; requests in, outcomes out.
//!
//! The reviewed table is the one that is served, because `check` and the server both run this code.
//! `value` and `forge` import none of the other folders; `parse` and `packed` import `value`;
//! `resolve`, `search`, `compile`, `compare` and `ownership` follow, and each imports only those
//! before it.
//!
//! # Invariants
//!
//! - Nothing here does I/O, reads a clock or the environment, logs, or knows about HTTP, Git or the
//!   command line.
//! - A [`Code`], [`Target`] or [`BaseUrl`] that exists is valid: its constructor is the only way
//!   in.
//! - A diagnostic is identified by its rule: nothing depends on the words of a message. The name of
//!   a rule never changes once it is released.
//! - Both readers return the same nodes at the same positions: `parse/block.rs` reads every file
//!   that it does not decline exactly as `parse/yaml.rs` does.
//! - [`compile`] returns all problems of a table, not just the first. Resolving is total.
//! - [`compile_after`] returns what [`compile`] returns, whatever the earlier version was.
//! - A location begins with its target's scheme and authority, and is visible ASCII.

mod compare;
mod compile;
mod cutting;
mod forge;
mod ownership;
mod packed;
mod parse;
mod resolve;
mod search;
mod value;

pub(crate) use self::compare::Destination;
pub use self::compare::{
    Breach, Broken, Change, ChangeKind, Link, Neighbourhood, NewLink, Origin, Promises, Shadowed,
    SiteChange, SiteChangeKind, Statement, Statements, TRAILER, breaches, compare, compare_sites,
    near_ends, report_exact_case, report_known, report_shadowing, shadowed, shadowed_by,
    would_shadow,
};
pub use self::compile::{
    ChangedFile, Compilation, Difference, EntryOutline, Expectation, FirstReading, KnownFiles,
    MAX_TABLE_TEXT, Outline, Outset, Pair, Scalar, ScalarForm, SoundTable, TextNeeded, Workers,
    case_of, compile, compile_after, compile_listing, compile_read, defaults_of, scheme_of,
};
pub(crate) use self::cutting::Gaps;
pub use self::cutting::{Cut, CutCheck, Cutter, FileText, ListPlace, TableFile};
pub use self::forge::{Forge, ISSUE_FORMS, IssueFields, MAX_ADDRESS_BYTES, RepositoryPages};
pub use self::ownership::{Author, Owners, Proposal};
pub(crate) use self::packed::first_of;
pub use self::packed::{Entry, OwnedVariant, Site, Table, TargetParts, UnknownSite, Variant};
pub use self::resolve::{
    AcceptFields, Location, Outcome, Redirect, Request, SiteKey, SiteRedirect, Via,
};
pub(crate) use self::resolve::{
    End, ServerPage, follow, follow_below, follow_variant, preferred_variant,
};
pub use self::search::{CodeOrder, Filter, LinkState, OrderChange};
pub use self::value::{
    About, BaseUrl, BaseUrlError, Case, Code, CodeError, DEFAULT_MAX_AGE, Defaults, Description,
    Diagnostic, Example, Forward, KnownPieces, MAX_CODE_BYTES, MAX_TARGET_BYTES, MediaType,
    MediaTypeError, Misfit, NewCode, Place, Position, ProposalTemplate, Reach, Retired, Rule,
    Scheme, Severity, SiteTarget, SourceFile, Status, Target, TargetError, Timestamp, WrittenDate,
    WrittenDateError, WrittenRetirement, direction_control, is_table_name,
};
pub(crate) use self::value::{fold_case, spellings, weighted_members};
#[cfg(fuzzing)]
pub use parse::block::is_in_block_form;
