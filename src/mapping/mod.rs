//! The mapping table, pure: text in, table and diagnostics out; requests in, outcomes out.
//!
//! `parse` and `compile` build a table, which `packed` stores and `resolve` answers from.
//! Invariant: nothing here does I/O, reads a clock or the environment, or depends on HTTP, Git or
//! the command line. What passed review is what is served, because both run this code.

mod compare;
mod compile;
mod forge;
mod ownership;
mod packed;
mod parse;
mod resolve;
mod search;
mod value;

pub use self::compare::{
    Breach, Broken, Change, ChangeKind, Link, Neighbourhood, NewLink, Origin, Promises, Shadowed,
    Statement, Statements, TRAILER, breaches, compare, near_ends, report_known, report_shadowing,
    shadowed, shadowed_by, would_shadow,
};
pub use self::compile::{
    Compilation, EntryOutline, Expectation, Outline, Pair, Scalar, ScalarForm, SoundTable, compile,
    compile_after, defaults_of,
};
pub use self::forge::{Forge, ISSUE_FORMS, IssueFields, MAX_ADDRESS_BYTES, RepositoryPages};
pub use self::ownership::{Author, Owners, Proposal};
pub(crate) use self::packed::first_of;
pub use self::packed::{Entry, Site, Table, UnknownSite};
pub(crate) use self::resolve::{End, ServerPage, follow};
pub use self::resolve::{Outcome, Redirect, Request, Via};
pub use self::search::{CodeOrder, Filter, LinkState};
pub use self::value::{
    About, BaseUrl, BaseUrlError, Code, CodeError, DEFAULT_MAX_AGE, Defaults, Description,
    Diagnostic, Example, Forward, MAX_CODE_BYTES, MAX_TARGET_BYTES, Misfit, NewCode, Place,
    Position, ProposalTemplate, Reach, Retired, Rule, Scheme, Severity, SourceFile, Status, Target,
    TargetError, Timestamp, WrittenDate, WrittenDateError, WrittenRetirement, direction_control,
    is_table_name,
};
#[cfg(fuzzing)]
pub use parse::block::is_in_block_form;
