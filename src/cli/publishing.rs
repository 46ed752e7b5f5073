//! Publishing a change of a table: into files, into a commit of a checkout, or onto a branch of a
//! remote, by the flags that every command that changes a table has.

mod args;
mod edits;
mod publication;
mod requested_change;
mod shown_branch;

pub(super) use self::args::PublishArgs;
pub(super) use self::edits::{show, statement};
pub(super) use self::publication::{Publication, RETRY_TIMEOUT};
pub(super) use self::requested_change::{ChangeFailure, RequestedChange};
