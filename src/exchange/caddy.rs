//! A Caddyfile: a site block with a `map` of all codes.
//!
//! Caddy compares the codes of a `map` in order, which is fast enough for thousands.

use std::io::{self, Write};

use crate::mapping::{BaseUrl, Site, Timestamp};

use super::below::{Leads, Prefixes, UNSOUND};
use super::order::{CodeRow, SortedEntries};

/// The end of a map.
const REST: &str = "\
\t\tdefault 404
\t}
";

/// The directives after the codes: links redirect, everything else is answered by its status.
const ANSWERS: &str = "\
\troute {
\t\t@link not vars {waypost_location} \"\"
\t\tredir @link {waypost_location} {waypost_status}
\t\trespond \"\" {waypost_status}
\t}
}
";

/// The same, if paths below codes lead anywhere.
const ANSWERS_BELOW: &str = "\
\troute {
\t\t@link not vars {waypost_location} \"\"
\t\tredir @link {waypost_location} {waypost_status}
\t\t@gone vars {waypost_status} 410
\t\trespond @gone 410
\t\t@below not vars {waypost_below_location} \"\"
\t\tredir @below {waypost_below_location} {waypost_below_status}
\t\trespond \"\" {waypost_below_status}
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
    let order = SortedEntries::of(site);
    let prefixes = Prefixes::of(&order, now);
    for row in order.rows() {
        let path = row.path();
        let ends: &[&str] = match prefixes.concern(&row.code) {
            true => &["", "/"],
            false => &[""],
        };
        for end in ends {
            match row.target(now) {
                Some(target) => {
                    let (url, status) = (escaped(&target), row.entry.status().code());
                    writeln!(out, "\t\t\"{path}{end}\" {status} \"{url}\"")?;
                }
                None => writeln!(out, "\t\t\"{path}{end}\" 410")?,
            }
        }
    }
    out.write_all(REST.as_bytes())?;
    let mut rows = prefixes.rows().peekable();
    if rows.peek().is_none() {
        return out.write_all(ANSWERS.as_bytes());
    }
    writeln!(
        out,
        "\tmap \"{{path}} {{uri}}\" {{waypost_below_status}} {{waypost_below_location}} {{"
    )?;
    writeln!(out, "\t\t`~{UNSOUND}` 404 \"\"")?;
    rows.try_for_each(|(row, leads)| write_below(row, *leads, out))?;
    out.write_all(REST.as_bytes())?;
    out.write_all(ANSWERS_BELOW.as_bytes())
}

/// Writes the lines for the paths below a code.
fn write_below(row: &CodeRow<'_>, leads: Leads<'_>, out: &mut dyn Write) -> io::Result<()> {
    let path = row.below_decoded();
    if let Leads::To(url) = leads {
        let (sent, status) = (row.below_sent(), row.entry.status().code());
        // A `$` begins a reference.
        let url = escaped(url).replace('$', "$$");
        writeln!(out, "\t\t`~{path}.* {sent}` {status} \"{url}$1\"")?;
    }
    let status = match leads {
        Leads::Gone => 410,
        Leads::To(_) | Leads::Nowhere => 404,
    };
    // Without a location, a later line would give it.
    writeln!(out, "\t\t`~{path}` {status} \"\"")
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
