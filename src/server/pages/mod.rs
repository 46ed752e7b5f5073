//! Pages for people who do not just follow a link, with other forms for programs.

mod check_sentence;
mod context;
mod gone;
mod landing;
mod not_found;
mod preview;

pub(crate) use context::PageContext;
