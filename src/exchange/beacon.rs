//! A BEACON link dump (<https://gbv.github.io/beaconspec/>): meta fields, then a link a line.
//!
//! The prefix is a URI pattern with `{+ID}`, which copies a `/` or a `+` as it is where `{ID}` would
//! encode it. Other characters of a code that are not ASCII are encoded by whoever reads the dump.

use std::io::{self, Write};

use crate::mapping::{Site, Timestamp};

use super::urlteam;

/// Writes a site as it is at that time.
pub(super) fn write(site: &Site, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "#FORMAT: BEACON")?;
    writeln!(out, "#PREFIX: {}{{+ID}}", site.base_url().as_str())?;
    writeln!(out, "#TARGET: {{+ID}}")?;
    writeln!(out, "#HOMEPAGE: {}\n", site.base_url().as_str())?;
    urlteam::write(site, now, out)
}
