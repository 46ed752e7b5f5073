//! BEACON link dumps (<https://gbv.github.io/beaconspec/>): meta fields, then one link per line.
//!
//! The prefix is a URI pattern with `{+ID}`, which copies a `/` or a `+` unchanged where `{ID}`
//! would encode it. Other non-ASCII characters of a code are encoded by the reader of the dump.

use std::io::{self, Write};

use crate::mapping::{Site, Timestamp};

use super::urlteam;

/// Writes a site as it is at `now`.
pub(crate) fn write(site: &Site, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "#FORMAT: BEACON")?;
    writeln!(out, "#PREFIX: {}{{+ID}}", site.base_url().as_str())?;
    writeln!(out, "#TARGET: {{+ID}}")?;
    writeln!(out, "#HOMEPAGE: {}\n", site.base_url().as_str())?;
    urlteam::write(site, now, out)
}
