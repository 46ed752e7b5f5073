//! What is compared: a site in two versions of a table, and where its codes lead.

mod destination;
mod site_pair;

pub(crate) use destination::Destination;
pub(super) use destination::Lost;
pub(in crate::mapping) use site_pair::SitePair;
