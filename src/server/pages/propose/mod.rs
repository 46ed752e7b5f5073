//! The page that proposes a link: a form, and the resulting link, with the ways to send it.
//!
//! Nothing is changed or stored here: the form is a GET, and a person sends the proposal to the
//! repository on its forge. So it needs neither a token nor its own limit. If registrations are
//! enabled, a second form sends it as a branch for review: that one is a POST with a token, which
//! `registrations` decides on.

mod form;
mod page;
mod refusal;
mod sent;
mod ways;

pub(crate) use form::PostedProposal;
pub(crate) use page::ProposalSource;
