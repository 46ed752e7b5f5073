//! The mapping table, pure: text in, table and diagnostics out; requests in, outcomes out.
//!
//! Reading goes `text` → `reader` → `document` → `compile` → `table`; answering is `resolve`.
//! Invariant: nothing here does I/O, reads a clock or the environment, or knows of HTTP, Git or
//! the command line. What passed review is what is served, because both run this code.

mod compare;
mod compile;
mod packed;
mod parse;
mod resolve;
mod value;
pub use compare::Neighbourhood;
pub use compare::Promises;
pub use compare::compare;
pub use compare::report_shadowing;
pub use compare::{Breach, Broken, Link, Origin, TRAILER, breaches, tell_known};
pub use compare::{Change, ChangeKind};
pub use compare::{Shadowed, shadowed, shadowed_by};
pub use compare::{Statement, Statements};
pub use compile::Expectation;
pub use compile::{Compilation, compile};
pub use compile::{EntryOutline, Form, Outline, Pair, Scalar};
pub use packed::Entry;
pub use packed::Site;
pub use packed::Table;
#[cfg(fuzzing)]
pub use parse::block::is_in_block_form;
pub use resolve::{Outcome, Redirect, Request, Via};
pub use value::Defaults;
pub use value::Scheme;
pub use value::SourceFile;
pub use value::Timestamp;
pub use value::direction_control;
pub use value::{BaseUrl, BaseUrlError};
pub use value::{Code, CodeError, MAX_CODE_BYTES};
pub use value::{DEFAULT_MAX_AGE, Forward, Misfit, NewCode, Retired, Status};
pub use value::{Diagnostic, Place, Position, Severity};
pub use value::{MAX_TARGET_BYTES, Target, TargetError};
