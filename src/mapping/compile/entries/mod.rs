//! Reading the entries of a document: their keys, their values, and what each of them wants.

mod admit;
mod document;
mod item;
mod site_url;
mod url_checks;
mod variant_checks;
mod variants;

pub(super) use document::{Document, TestItem};
pub(super) use url_checks::NOT_CANONICAL;
