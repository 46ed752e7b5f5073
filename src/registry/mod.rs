//! Registers links and edits entries: from a request to the changed text of a table.
//!
//! Every decision is a pure function of the table's files, so that a writer that lost a race for
//! the table can decide again on its current state. Writing to files is separate.
//! Invariants: a registration adds one entry and changes nothing else, an import several; edits
//! change nothing but their entries; a refusal changes nothing at all.

mod decide;
mod edits;
mod followed;
mod import;
mod publish;

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
    ChangeOutcome, CommittedTable, PublishedGroup, Registrar, RegistrarError, ReviewBranch,
    ReviewError, Submission, SubmittedChange,
};
pub use self::import::{
    ImportDecision, ImportRun, Intake, import_in_files, import_in_new_file, import_on_branch,
};
pub use self::publish::{
    Branch, BranchTip, CheckoutBranch, CheckoutError, CloneBranch, CommitIdentity, Edit,
    IdentityError, LocalError, NewBranch, NewBranchError, OnlineError, PublishError, Published,
    RegistrationRun, TablePath, UserCheckout, publish, register_in_files, register_on_branch,
    review_address, web_address,
};
