//! The order of the codes of each site of a table: eight bytes an entry.
//!
//! It is made in the background, once the table is live, and belongs to its snapshot. A search that
//! comes sooner waits for it, or makes it itself.

use std::sync::OnceLock;

use crate::mapping::{CodeOrder, Table};

/// The order of the codes of each site of one table.
#[derive(Default)]
pub(crate) struct CodeOrders(OnceLock<Box<[CodeOrder]>>);

impl CodeOrders {
    /// Returns the order of the codes of each site. It may take a second: serving threads must not ask
    /// for it.
    pub(crate) fn of(&self, table: &Table) -> &[CodeOrder] {
        let sites = table.sites().iter();
        self.0.get_or_init(|| sites.map(CodeOrder::new).collect())
    }
}
