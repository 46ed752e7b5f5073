//! Pages for people who do not just follow a link, with other forms for programs.

mod check_sentence;
mod context;
mod gone;
mod landing;
mod not_found;
mod preview;
mod propose;

pub(crate) use context::PageContext;
pub(crate) use propose::ProposalSource;
