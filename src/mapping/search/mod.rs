//! Searching a site: which of its entries a filter selects, in the order of their codes.
//!
//! The first few are checked one by one (`walk`), then all at once, in the order of memory
//! (`scan`).

mod bits;
mod filter;
mod fold;
mod hosts;
mod order;
mod order_change;
mod scan;
mod slot;
mod state;
mod texts;
mod walk;
mod word;
mod written;

pub use filter::Filter;
pub use order::CodeOrder;
pub use order_change::OrderChange;
pub use state::LinkState;
