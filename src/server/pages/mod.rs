//! Pages for people, one file per page, with other forms for programs.

mod check_sentence;
mod context;
mod entry_source;
mod gone;
mod landing;
mod links;
mod not_found;
mod opensearch;
mod path_of;
mod preview;
mod propose;
mod refusal;

pub(crate) use context::{PageContext, VARIES};
pub(crate) use path_of::path_of;
pub(crate) use propose::{PostedProposal, ProposalSource};
pub(crate) use refusal::is_refusal;
