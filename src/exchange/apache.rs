//! Apache mod_rewrite rules, one per code.
//!
//! A `Redirect` line would also match paths under its code, and `RedirectMatch` encodes the `%` of
//! a URL once more. A `RewriteMap` would find a code in one step, but since 2.4.60 Apache refuses
//! results with a `?` in them. So each code has a rule that matches its whole path, and Apache
//! tries the rules in order, which is fast enough for thousands.

use std::io::{self, Write};

use crate::mapping::{Site, Timestamp};

use super::below::{Leads, Prefixes, UNSOUND};
use super::expression::matching;
use super::order::{CodeRow, SortedEntries};

/// The lines before the rules.
const USE: &str = "\
# For a server, a virtual host or the .htaccess of its root, with mod_rewrite.
RewriteEngine On
";

/// Writes a site as it is at `now`.
pub(super) fn write(site: &Site, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(USE.as_bytes())?;
    let order = SortedEntries::of(site);
    let prefixes = Prefixes::of(&order, now);
    for row in order.rows() {
        // In a .htaccess file the path has no leading slash.
        let mut path = matching(row.path().trim_start_matches('/'));
        if prefixes.concern(&row.code) {
            path.push_str("/?");
        }
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
    let mut rows = prefixes.rows();
    rows.try_for_each(|(row, leads)| write_below(row, *leads, out))
}

/// Writes the rules for the paths below a code.
fn write_below(row: &CodeRow<'_>, leads: Leads<'_>, out: &mut dyn Write) -> io::Result<()> {
    let path = matching(row.path().trim_start_matches('/'));
    let rule = format!("RewriteRule \"^/?{path}/.\"");
    if leads != Leads::Nowhere {
        writeln!(out, "RewriteCond \"%{{THE_REQUEST}}\" \"!{UNSOUND}\"")?;
    }
    match leads {
        Leads::To(url) => {
            // Apache would decode what is after the code. A request line begins with the method.
            let (sent, url) = (row.below_sent(), escaped(url));
            let status = row.entry.status().code();
            writeln!(out, "RewriteCond \"%{{THE_REQUEST}}\" \"^[^ ]+ {sent}\"")?;
            writeln!(out, "{rule} \"{url}%1\" [R={status},NE,QSD,L]")?;
        }
        Leads::Gone => writeln!(out, "{rule} - [G]")?,
        Leads::Nowhere => {}
    }
    // No shorter code takes these paths.
    writeln!(out, "{rule} - [R=404,L]")
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
