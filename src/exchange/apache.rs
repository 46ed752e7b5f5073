//! Apache mod_rewrite rules, one per code.
//!
//! A `Redirect` line would also match paths under its code, and `RedirectMatch` encodes the `%` of
//! a URL once more. A `RewriteMap` would find a code in one step, but since 2.4.60 Apache refuses
//! results with a `?` in them. So each code has a rule that matches its whole path, and Apache
//! tries the rules in order, which is fast enough for thousands.

use std::io::{self, Write};

use crate::mapping::{Site, Timestamp};

use super::expression::matching;
use super::order::SortedEntries;

/// The lines before the rules.
const USE: &str = "\
# For a server, a virtual host or the .htaccess of its root, with mod_rewrite.
RewriteEngine On
";

/// Writes a site as it is at `now`.
pub(super) fn write(site: &Site, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(USE.as_bytes())?;
    for row in SortedEntries::of(site).rows() {
        // In a .htaccess file the path has no leading slash.
        let path = matching(row.path().trim_start_matches('/'));
        match row.target(now) {
            Some(target) => {
                let (url, status) = (escaped(&target), row.entry.status().code());
                writeln!(
                    out,
                    "RewriteRule \"^/?{path}$\" \"{url}\" [R={status},NE,QSD,L]"
                )?;
            }
            None => writeln!(out, "RewriteRule \"^/?{path}$\" - [G]")?,
        }
    }
    Ok(())
}

/// Returns a URL as the substitution of a rule, with the characters that begin a reference escaped.
fn escaped(url: &str) -> String {
    let mut escaped = String::with_capacity(url.len());
    for c in url.chars() {
        if "\\$%\"".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
