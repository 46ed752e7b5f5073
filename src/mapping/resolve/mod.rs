//! From a request to its outcome, and from a name of a link to its entry.

mod accept;
mod chain;
mod location;
mod name;
mod path;
mod request;
mod resemblance;
mod server_page;
mod site_redirect;
mod suggest;

pub use accept::AcceptFields;
pub(crate) use accept::preferred_variant;
pub(crate) use chain::{
    End, Followed, follow, follow_below, follow_url, follow_url_for, follow_variant, name_of_loop,
};
pub use location::Location;
pub(crate) use request::{LOST, Match, location_of, location_of_variant};
pub use request::{Outcome, Redirect, Request, Via};
pub(crate) use server_page::ServerPage;
pub use site_redirect::{SiteKey, SiteRedirect};
