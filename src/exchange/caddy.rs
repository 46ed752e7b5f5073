//! A Caddyfile: a site block in which a `map` knows each code.
//!
//! Caddy compares the codes of a `map` one after the other, which is fast enough for thousands.

use std::io::{self, Write};

use crate::mapping::{BaseUrl, Site, Timestamp};

use super::order::Order;

/// What stands behind the codes: links are followed, and all else is answered by its status.
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

/// Writes a site as it is at that time.
pub(super) fn write(site: &Site, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} {{", address(site.base_url()))?;
    writeln!(
        out,
        "\tmap {{path}} {{waypost_status}} {{waypost_location}} {{"
    )?;
    for row in Order::of(site).rows() {
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

/// Returns the base URL without its path: what Caddy knows a site by.
fn address(base_url: &BaseUrl) -> &str {
    let whole = base_url.as_str();
    whole.strip_suffix(base_url.path()).unwrap_or(whole)
}

/// Returns a URL as a value between double quotes, in which braces hold the place of something else.
fn escaped(url: &str) -> String {
    // Variables of the environment are put in before anything is read, whatever stands before them:
    // here the brace is encoded, and nowhere else.
    let url = url.replace("{$", "%7B$");
    url.replace('\\', "\\\\")
        .replace('{', "\\{")
        .replace('}', "\\}")
        .replace('"', "\\\"")
}
