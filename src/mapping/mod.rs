//! The mapping table, pure: text in, table and diagnostics out; requests in, outcomes out.
//!
//! Invariant: nothing here does I/O, reads a clock or the environment, or knows of HTTP, Git or
//! the command line. What passed review is what is served, because both run this code.

mod compile;
mod diagnostic;
mod document;
mod entry;
mod resolve;
mod table;
mod timestamp;

pub use compile::{Compilation, compile};
pub use diagnostic::{Diagnostic, Place, Position, Severity};
pub use document::SourceFile;
pub use entry::{Forward, Status};
pub use resolve::{Outcome, Redirect, Request, Via};
pub use table::{Entry, Site, Table};
pub use timestamp::Timestamp;
