//! The order of the codes of each site of a table: eight bytes an entry.
//!
//! It is computed in the background, once the table is live, and belongs to its snapshot. An
//! earlier search waits for it, or computes it itself.

use std::sync::{Arc, OnceLock};

use crate::mapping::{CodeOrder, OrderChange, Table};

/// The order of the codes of each site of one table.
#[derive(Default)]
pub(crate) struct CodeOrders(OnceLock<Box<[CodeOrder]>>);

impl CodeOrders {
    /// Returns the order of the codes of each site. This may take a second: serving threads must
    /// not call it.
    pub(crate) fn of(&self, table: &Table) -> &[CodeOrder] {
        let sites = table.sites().iter();
        self.0.get_or_init(|| sites.map(CodeOrder::new).collect())
    }

    /// Makes the orders of a table, from those of an earlier version as far as possible.
    pub(crate) fn follow(&self, table: &Table, earlier: Option<&CodeOrderChanges>) {
        self.0.get_or_init(|| {
            let sites = table.sites().iter().enumerate();
            let order = |(number, site)| {
                let followed = earlier.and_then(|earlier| earlier.order(number));
                followed.unwrap_or_else(|| CodeOrder::new(site))
            };
            sites.map(order).collect()
        });
    }
}

/// The orders of an earlier version of a table, and how they change.
pub(crate) struct CodeOrderChanges {
    earlier: Arc<CodeOrders>,
    /// For each site of the next version, the number of the site in the earlier one, and its changes.
    sites: Vec<Option<(usize, OrderChange)>>,
}

impl CodeOrderChanges {
    /// Compares a table with an earlier version; `None` if there are no orders of that one.
    pub(crate) fn between(old: &Table, earlier: &Arc<CodeOrders>, new: &Table) -> Option<Self> {
        let orders = earlier.0.get()?;
        let sites = new.sites().iter().map(|site| {
            let counterpart = old.counterpart(site)?;
            let mut sites = old.sites().iter();
            let number = sites.position(|it| std::ptr::eq(it, counterpart))?;
            let change = OrderChange::between(counterpart, &orders[number], site)?;
            Some((number, change))
        });
        Some(Self {
            sites: sites.collect(),
            earlier: Arc::clone(earlier),
        })
    }

    /// Returns the order of a site of the next version.
    fn order(&self, site: usize) -> Option<CodeOrder> {
        let (number, change) = self.sites.get(site)?.as_ref()?;
        Some(change.apply(&self.earlier.0.get()?[*number]))
    }
}
