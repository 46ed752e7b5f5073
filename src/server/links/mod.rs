//! Links in JSON, and lists of links: the query, the search in the background, and the answer.

mod link_view;
mod list_query;
mod listing;
mod search;

pub(crate) use link_view::LinkView;
pub(crate) use list_query::{BadListQuery, ListQuery, MAX_TEXT};
pub(crate) use listing::{JSON_VARIANT, json};
pub(crate) use search::{Search, Selection};
