//! The text format in which URLTeam publishes shorteners: a code, a bar and a URL per line.
//!
//! A bar in a URL is encoded, so that the first one of a line is the only one.

use std::io::{self, Write};

use crate::mapping::{Site, Timestamp};

use crate::exchange::write::rows::SortedEntries;

/// Writes a site as it is at `now`.
pub(crate) fn write(site: &Site, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    for row in SortedEntries::of(site).rows() {
        if let Some(target) = row.target(now) {
            writeln!(out, "{}|{}", row.code, target.replace('|', "%7C"))?;
        }
    }
    Ok(())
}
