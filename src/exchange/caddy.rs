//! A Caddyfile: a site block with a `map` of all codes.
//!
//! Caddy compares the codes of a `map` in order, which is fast enough for thousands.

use std::io::{self, Write};

use crate::mapping::{BaseUrl, Site, Timestamp};

use super::order::SortedEntries;

/// The directives after the codes: links redirect, everything else is answered by its status.
const ANSWERS: &str = "\
\t\tdefault 404
\t}
\troute {
\t\t@link not vars {waypost_location} \"\"
\t\tredir @link {waypost_location} {waypost_status}
\t\trespond \"\" {waypost_status}
\t}
}
";

/// Writes a site as it is at `now`.
pub(super) fn write(site: &Site, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} {{", address(site.base_url()))?;
    writeln!(
        out,
        "\tmap {{path}} {{waypost_status}} {{waypost_location}} {{"
    )?;
    for row in SortedEntries::of(site).rows() {
        let path = row.path();
        match row.target(now) {
            Some(target) => {
                let status = row.entry.status().code();
                writeln!(out, "\t\t\"{path}\" {status} \"{}\"", escaped(&target))?;
            }
            None => writeln!(out, "\t\t\"{path}\" 410")?,
        }
    }
    out.write_all(ANSWERS.as_bytes())
}

/// Returns the base URL without its path, which is the site address in Caddy.
fn address(base_url: &BaseUrl) -> &str {
    let whole = base_url.as_str();
    whole.strip_suffix(base_url.path()).unwrap_or(whole)
}

/// Returns a URL as a double-quoted value, in which braces begin a placeholder.
fn escaped(url: &str) -> String {
    // Environment variables are substituted before anything is parsed, whatever precedes them, so
    // the brace is encoded here, and only here.
    let url = url.replace("{$", "%7B$");
    url.replace('\\', "\\\\")
        .replace('{', "\\{")
        .replace('}', "\\}")
        .replace('"', "\\\"")
}
