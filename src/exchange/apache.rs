//! Rules of Apache's mod_rewrite, one a code.
//!
//! A `Redirect` line would also take what lies under its code, and `RedirectMatch` encodes the `%` of
//! a URL once more. A `RewriteMap` would find a code in one step, but since 2.4.60 Apache refuses
//! what comes out of one with a `?` in it. So each code has a rule that takes it whole, and Apache
//! tries them one after the other, which is fast enough for thousands.

use std::io::{self, Write};

use crate::mapping::{Site, Timestamp};

use super::expression::matching;
use super::order::Order;

/// What goes before the rules.
const USE: &str = "\
# For a server, a virtual host or the .htaccess of its root, with mod_rewrite.
RewriteEngine On
";

/// Writes a site as it is at that time.
pub(super) fn write(site: &Site, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(USE.as_bytes())?;
    for row in Order::of(site).rows() {
        // In a .htaccess the path comes without its first slash.
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

/// Returns a URL as what a rule puts in the place of a path, where these signs begin a reference.
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
