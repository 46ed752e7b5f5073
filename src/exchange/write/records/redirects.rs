//! A `_redirects` file, as Netlify and Cloudflare Pages read it: a path, a URL and a status per
//! line.
//!
//! A rule matches only its exact path: without `*` and `:name`, which no code contains, there are
//! no placeholders.

use std::io::{self, Write};

use crate::mapping::{Site, Timestamp};

use crate::exchange::write::rows::SortedEntries;

/// Writes a site as it is at `now`.
pub(crate) fn write(site: &Site, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    let base_url = site.base_url();
    let origin = base_url.as_str().len() - base_url.path().len();
    for row in SortedEntries::of(site).rows() {
        if let Some(target) = row.target(now) {
            let short_url = site.short_url(&row.code);
            let status = row.entry.status().code();
            writeln!(out, "{} {target} {status}", &short_url[origin..])?;
        }
    }
    Ok(())
}
