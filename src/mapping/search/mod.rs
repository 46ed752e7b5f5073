//! Searching a site: which of its entries a filter selects, in the order of their codes.

mod filter;
mod fold;
mod order;
mod state;

pub use filter::Filter;
pub use order::CodeOrder;
pub use state::LinkState;
