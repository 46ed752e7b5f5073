//! The report on the links of a site that do not simply work, with a line of JSON for each.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::SystemTime;

use tokio::runtime::Handle;

use crate::linkcheck::{Conclusion, LinkRecord, ReportedLink, TableLink, troubled_links};
use crate::mapping::Timestamp;

use crate::server::state::{LinkChecks, Shared, Snapshot};

/// How many links are read from the store at a time.
const BATCH: usize = 256;

/// Returns a part of the entity tag that changes with the report.
pub(super) fn version(shared: &Shared, checks: &LinkChecks) -> String {
    // Each server starts counting changes from zero.
    let started = shared.started.unix();
    format!(".{started:x}.{:x}", checks.known.changes())
}

/// Returns the writer of the report on the site with this number. Must be called within a runtime.
pub(super) fn writer(
    checks: &Arc<LinkChecks>,
    snapshot: Arc<Snapshot>,
    number: usize,
) -> impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static {
    let (checks, runtime) = (Arc::clone(checks), Handle::current());
    move |out| {
        let table = &snapshot.table;
        let site = &table.sites()[number];
        let now = Timestamp::from(SystemTime::now());
        let mut links = troubled_links(table, site, &checks.known, now);
        loop {
            let batch: Vec<_> = links.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok(());
            }
            let urls = batch.iter().filter_map(|link| link.resolution.url());
            let urls = urls.map(str::to_owned).collect();
            write_batch(&batch, runtime.block_on(checks.records(urls))?, out)?;
        }
    }
}

/// Writes links, with the records of those that are checked.
fn write_batch(
    links: &[TableLink],
    records: Vec<Option<LinkRecord>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for conclusion in Conclusion::of_all(links, records) {
        // It may work again.
        if conclusion.verdict.rule().is_some() {
            serde_json::to_writer(&mut *out, &ReportedLink::of(&conclusion))?;
            writeln!(out)?;
        }
    }
    Ok(())
}
