//! The order of the codes of each site of a table: eight bytes an entry.
//!
//! It is computed by the first search of a table, and belongs to its snapshot. Later versions get
//! theirs from it in the background, as long as there are searches.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use crate::mapping::{CodeOrder, OrderChange, Table};

/// How many versions in a row get their orders from earlier ones, with no search in between. To sort
/// the codes takes about as long as this many changes of an order do.
const MAX_UNUSED: u32 = 8;

/// The order of the codes of each site of one table.
#[derive(Default)]
pub(crate) struct CodeOrders {
    orders: OnceLock<Box<[CodeOrder]>>,
    /// The number of versions since the last search.
    unused: AtomicU32,
}

impl CodeOrders {
    /// Returns the order of the codes of each site. This may take a second: serving threads must
    /// not call it.
    pub(crate) fn of(&self, table: &Table) -> &[CodeOrder] {
        self.unused.store(0, Ordering::Relaxed);
        let sites = table.sites().iter();
        self.orders
            .get_or_init(|| sites.map(CodeOrder::new).collect())
    }

    /// Makes the orders of a table from those of the version before.
    pub(crate) fn follow(&self, table: &Table, changes: &CodeOrderChanges) {
        self.orders.get_or_init(|| {
            self.unused.store(changes.unused, Ordering::Relaxed);
            let sites = table.sites().iter().enumerate();
            let order = |(number, site)| {
                let followed = changes.order(number);
                followed.unwrap_or_else(|| CodeOrder::new(site))
            };
            sites.map(order).collect()
        });
    }
}

/// The orders of an earlier version of a table, and how they change.
pub(crate) struct CodeOrderChanges {
    earlier: Arc<CodeOrders>,
    /// The number of versions since the last search, with the next one.
    unused: u32,
    /// For each site of the next version, the number of the site in the earlier one, and its changes.
    sites: Vec<Option<(usize, OrderChange)>>,
}

impl CodeOrderChanges {
    /// Compares a table with an earlier version; `None` if there are no orders of that one, or the
    /// last search was too many versions ago.
    pub(crate) fn between(old: &Table, earlier: &Arc<CodeOrders>, new: &Table) -> Option<Self> {
        let orders = earlier.orders.get()?;
        let unused = earlier.unused.load(Ordering::Relaxed) + 1;
        if unused > MAX_UNUSED {
            return None;
        }
        let sites = new.sites().iter().map(|site| {
            let counterpart = old.counterpart(site)?;
            let mut sites = old.sites().iter();
            let number = sites.position(|it| std::ptr::eq(it, counterpart))?;
            let change = OrderChange::between(counterpart, &orders[number], site)?;
            Some((number, change))
        });
        Some(Self {
            sites: sites.collect(),
            unused,
            earlier: Arc::clone(earlier),
        })
    }

    /// Returns the order of a site of the next version.
    fn order(&self, site: usize) -> Option<CodeOrder> {
        let (number, change) = self.sites.get(site)?.as_ref()?;
        Some(change.apply(&self.earlier.orders.get()?[*number]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{SourceFile, compile};

    fn table(codes: &[&str]) -> Arc<Table> {
        let entries = codes
            .iter()
            .map(|code| format!("- url: https://example.org/{code}\n  short-code: {code}\n"));
        let text = format!(
            "base_url: https://short.code/\nmapping:\n{}",
            entries.collect::<String>()
        );
        let files = [SourceFile::new("mapping.yaml".into(), text.into_bytes())];
        compile(&files).into_sound().expect("a sound table").table
    }

    #[test]
    fn orders_are_carried_on_until_nobody_has_searched_for_a_while() {
        let old = table(&["bee", "ant", "cat", "dog", "eel", "fox"]);
        let new = table(&["bee", "ant", "cat", "dog", "cow", "eel", "fox"]);
        let mut orders = Arc::<CodeOrders>::default();
        assert!(CodeOrderChanges::between(&old, &orders, &new).is_none());

        orders.of(&old);
        let (mut before, mut after) = (old, new);
        for _ in 0..MAX_UNUSED {
            let changes = CodeOrderChanges::between(&before, &orders, &after).expect("changes");
            let next = Arc::<CodeOrders>::default();
            next.follow(&after, &changes);
            orders = next;
            std::mem::swap(&mut before, &mut after);
        }
        assert!(CodeOrderChanges::between(&before, &orders, &after).is_none());

        orders.of(&before);
        assert!(CodeOrderChanges::between(&before, &orders, &after).is_some());
    }
}
