//! The mapping table, pure: text in, table and diagnostics out; requests in, outcomes out.
//!
//! Reading goes `text` → `reader` → `document` → `compile` → `table`; answering is `resolve`.
//! Invariant: nothing here does I/O, reads a clock or the environment, or knows of HTTP, Git or
//! the command line. What passed review is what is served, because both run this code.

mod admit;
mod arena;
mod base_url;
mod block;
mod catalogue;
mod caution;
mod chain;
mod change;
mod code;
mod codes;
mod compile;
mod contest;
mod defaults;
mod diagnostic;
mod diff;
mod document;
mod draft;
mod entry;
mod expectation;
mod gap;
mod index;
mod location;
mod neighbourhood;
mod notes;
mod outline;
mod path;
mod permanence;
mod promises;
mod properties;
mod reader;
mod record;
mod report;
mod resolve;
mod review;
mod scheme;
mod shadow_breach;
mod shadowing;
mod site;
mod source_file;
mod statement;
mod suggest;
mod table;
mod target;
mod text;
mod timestamp;
mod values;
mod yaml;

pub use base_url::{BaseUrl, BaseUrlError};
#[cfg(fuzzing)]
pub use block::is_in_block_form;
pub use caution::direction_control;
pub use change::{Change, ChangeKind};
pub use code::{Code, CodeError, MAX_CODE_BYTES};
pub use compile::{Compilation, compile};
pub use defaults::Defaults;
pub use diagnostic::{Diagnostic, Place, Position, Severity};
pub use diff::compare;
pub use entry::Entry;
pub use expectation::Expectation;
pub use neighbourhood::Neighbourhood;
pub use outline::{EntryOutline, Form, Outline, Pair, Scalar};
pub use permanence::{Breach, Broken, Link, Origin, TRAILER, breaches, tell_known};
pub use promises::Promises;
pub use properties::{DEFAULT_MAX_AGE, Forward, Misfit, NewCode, Retired, Status};
pub use resolve::{Outcome, Redirect, Request, Via};
pub use scheme::Scheme;
pub use shadow_breach::report_shadowing;
pub use shadowing::{Shadowed, shadowed, shadowed_by};
pub use site::Site;
pub use source_file::SourceFile;
pub use statement::{Statement, Statements};
pub use table::Table;
pub use target::{MAX_TARGET_BYTES, Target, TargetError};
pub use timestamp::Timestamp;
