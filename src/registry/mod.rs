//! Registers links and edits entries: from a request to the changed text of a table.
//!
//! Every decision (`decide`, `import`, `edits`) is a pure function of the table's files, whose text it
//! reads where it needs it (`text`), so that a writer that lost a race for the table can decide again on
//! its current state. Writing it (`publish`, `followed`) is separate.
//!
//! # Invariants
//!
//! - A registration adds one entry and changes nothing else, an import several; a refused one
//!   changes nothing at all.
//! - An edit changes nothing but its entry, whose code stays, and is refused if the entry has
//!   changed since the request.
//! - No code depends on the order of entries: one that was found by probing is written out.
//! - A change is only applied to the table from which it was computed.
//! - A text is compiled once: the table that was proved is the one that goes live, and the next
//!   registration is decided on it.
//! - No registration takes over a published path of another link unless it is allowed to
//!   (docs/decisions/0015).
//! - A push whose answer was lost is looked up in the branch before it is reported as failed.

mod decide;
mod edits;
mod followed;
mod import;
mod publish;
mod text;

pub use self::decide::{
    CodeUnreachable, ControlCharacter, Decision, Destination, Holder, MayShadow, ProposalBase,
    ProposedLink, ProvedTable, Registered, Registration, RegistrationRefusal, RegistrationRequest,
    RequestedCode, propose, register, register_all,
};
pub use self::edits::{
    EditDecision, EditError, EditRefusal, EditRight, EditRun, EditedEntry, EntryContent, EntryEdit,
    EntryTag, EntryValue, ExpectedContent, edit_entries, edit_in_files, edit_on_branch,
};
pub use self::followed::{
    ChangeOutcome, CommittedTable, OfferedTable, PublishedGroup, Registrar, RegistrarError,
    ReviewBranch, ReviewError, Submission, SubmittedChange,
};
pub use self::import::{
    ImportDecision, ImportRun, Intake, NewTable, import_in_files, import_in_new_file,
    import_on_branch,
};
pub use self::publish::{
    Branch, BranchTip, CheckoutBranch, CheckoutError, CloneBranch, CommitIdentity, Edit,
    IdentityError, LocalError, NewBranch, NewBranchError, OnlineError, PublishError, Published,
    RegistrationRun, TablePath, UserCheckout, publish, register_in_files, register_on_branch,
    review_address, web_address,
};
pub use self::text::{StoredText, TableText, TextFile};
