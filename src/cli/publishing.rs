//! Publishing a change of a table: into files, into a commit of a checkout, or onto a branch of a
//! remote, by the flags that every command that changes a table has.

mod args;
mod change;
mod edits;
mod publication;
mod shown_branch;

pub(super) use self::args::PublishArgs;
pub(super) use self::change::Change;
pub(super) use self::edits::{show, statement};
pub(super) use self::publication::{Publication, RETRY_TIMEOUT};
