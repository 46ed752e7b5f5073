//! Searching a site: which of its entries a filter selects, in the order of their codes.

mod bits;
mod filter;
mod fold;
mod order;
mod scan;
mod slot;
mod state;
mod texts;
mod walk;
mod word;
mod written;

pub use filter::Filter;
pub use order::CodeOrder;
pub use state::LinkState;
