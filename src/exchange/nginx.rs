//! `map` blocks for nginx, one per status, with the lines that use them in a comment.
//!
//! nginx folds the case of the strings in a map, so codes that differ only in case become regular
//! expressions, which are case-sensitive but tried in order. In the value of a map `$` begins a
//! variable, and the only way to escape it is a variable that contains it.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::mapping::{Site, Status, Timestamp};

use super::below::{Leads, Prefixes, UNSOUND};
use super::case::Alike;
use super::expression::matching;
use super::order::{CodeRow, SortedEntries};

/// The statuses of redirects.
const STATUSES: [Status; 5] = [
    Status::MovedPermanently,
    Status::Found,
    Status::SeeOther,
    Status::TemporaryRedirect,
    Status::PermanentRedirect,
];

/// The header of each file.
const USE: &str = "\
# Include this file in the http block, and in the server block write:
#
#   if ($waypost_301) { return 301 $waypost_301; }
#   if ($waypost_302) { return 302 $waypost_302; }
#   if ($waypost_303) { return 303 $waypost_303; }
#   if ($waypost_307) { return 307 $waypost_307; }
#   if ($waypost_308) { return 308 $waypost_308; }
#   if ($waypost_410) { return 410; }

";

/// What the header adds if paths below codes lead anywhere.
const USE_BELOW: &str = "\
# and after that:
#
#   if ($waypost_below_301) { return 301 $waypost_below_301; }
#   if ($waypost_below_302) { return 302 $waypost_below_302; }
#   if ($waypost_below_303) { return 303 $waypost_below_303; }
#   if ($waypost_below_307) { return 307 $waypost_below_307; }
#   if ($waypost_below_308) { return 308 $waypost_below_308; }
#   if ($waypost_below_410) { return 410; }

";

/// The variable that expands to `$`: `geo` takes its values literally.
const DOLLAR: &str = "geo $waypost_dollar { default \"$\"; }\n";

/// The size of an entry in an nginx hash table besides its key, in bytes: a pointer, a length, up
/// to seven bytes of padding, and the mark at the end of a bucket.
const OVERHEAD: usize = 8 + 2 + 7 + 8;

/// The maximum number of bytes between quotes: nginx reads its files through a buffer of 4,096,
/// which must contain a string and its terminator (ngx_conf_file.c, NGX_CONF_BUFFER).
const LONGEST: usize = 4093;

/// Returns whether nginx can read a row. Keys are measured as expressions, their longest form.
pub(super) fn fits(row: &CodeRow<'_>, now: Timestamp) -> bool {
    let target = row.target(now);
    let below = row.entry.below().map(|url| value(url).len() + "$1".len());
    let sent = row.entry.takes_below().then(|| below_sent(row).len());
    expression(&row.path()).len() < LONGEST
        && target.is_none_or(|target| value(&target).len() <= LONGEST)
        && below.max(sent).is_none_or(|length| length <= LONGEST)
}

/// Writes a site as it is at `now`, except for rows that do not fit.
pub(super) fn write(site: &Site, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    let order = SortedEntries::of(site);
    let (mut codes, mut longest) = (0, 0);
    let prefixes = Prefixes::of(&order, now);
    for row in order.rows().filter(|row| fits(row, now)) {
        let ends = ends(&row, &prefixes);
        codes += ends.len();
        longest = longest.max(row.path().len() + ends.len() - 1);
    }
    out.write_all(USE.as_bytes())?;
    if prefixes.rows().next().is_some() {
        out.write_all(USE_BELOW.as_bytes())?;
    }
    let bucket = (longest + OVERHEAD).next_power_of_two().max(64);
    writeln!(out, "map_hash_bucket_size {bucket};")?;
    let buckets = usize::next_power_of_two(codes).max(2048);
    writeln!(out, "map_hash_max_size {buckets};")?;
    out.write_all(DOLLAR.as_bytes())?;

    let alike = Alike::of(&order);
    for status in STATUSES {
        writeln!(out, "map $uri $waypost_{} {{", status.code())?;
        for row in order.rows().filter(|row| row.entry.status() == status) {
            if let Some(target) = row.target(now).filter(|_| fits(&row, now)) {
                for end in ends(&row, &prefixes) {
                    let key = key(&row, end, &alike);
                    writeln!(out, "    {key} \"{}\";", value(&target))?;
                }
            }
        }
        out.write_all(b"}\n")?;
    }
    out.write_all(b"map $uri $waypost_410 {\n")?;
    for row in order.rows() {
        if row.target(now).is_some() || !fits(&row, now) {
            continue;
        }
        for end in ends(&row, &prefixes) {
            writeln!(out, "    {} 1;", key(&row, end, &alike))?;
        }
    }
    out.write_all(b"}\n")?;
    match prefixes.rows().next() {
        Some(_) => write_below(&prefixes, now, out),
        None => Ok(()),
    }
}

/// Writes the maps of paths below codes.
fn write_below(prefixes: &Prefixes<'_>, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    for status in STATUSES.map(Some).into_iter().chain([None]) {
        let name = status.map_or(410, Status::code);
        writeln!(out, "map \"$uri $request_uri\" $waypost_below_{name} {{")?;
        writeln!(out, "    \"~{UNSOUND}\" \"\";")?;
        for (row, leads) in prefixes.rows() {
            match leads {
                Leads::To(url) if status == Some(row.entry.status()) && fits(row, now) => {
                    let url = value(url);
                    writeln!(out, "    \"{}\" \"{url}$1\";", below_sent(row))?;
                }
                _ => {}
            }
            let is_gone = *leads == Leads::Gone && status.is_none();
            let found = if is_gone { "1" } else { "\"\"" };
            // No shorter code takes these paths.
            writeln!(out, "    \"~{}\" {found};", row.below_decoded())?;
        }
        out.write_all(b"}\n")?;
    }
    Ok(())
}

/// Returns the expression that paths below a code are compared with.
fn below_sent(row: &CodeRow<'_>) -> String {
    format!("~{}.* {}", row.below_decoded(), row.below_sent())
}

/// Returns what may follow a code in paths that lead to its target.
fn ends(row: &CodeRow<'_>, prefixes: &Prefixes<'_>) -> &'static [&'static str] {
    match prefixes.concern(&row.code) {
        true => &["", "/"],
        false => &[""],
    }
}

/// Returns the map key that a decoded path is compared with, which is the code followed by `end`.
fn key(row: &CodeRow<'_>, end: &str, alike: &Alike) -> String {
    let path = format!("{}{end}", row.path());
    match alike.contains(&row.code) {
        true => format!("\"{}\"", expression(&path)),
        false => format!("\"{path}\""),
    }
}

fn expression(path: &str) -> String {
    format!("~^{}$", matching(path))
}

fn value(url: &str) -> Cow<'_, str> {
    if !url.contains(['$', '"', '\\']) {
        return Cow::Borrowed(url);
    }
    let url = url.replace('\\', "\\\\").replace('"', "\\\"");
    Cow::Owned(url.replace('$', "${waypost_dollar}"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::site_of;
    use super::super::{ExportFormat, Feature};
    use super::*;

    #[test]
    fn leaves_out_and_counts_what_nginx_cannot_read() {
        // A `$` is written as the 17 bytes of a variable.
        let entries: String = [("fits", 0, 0), ("long", 1, 0), ("dollar", 0, 1)]
            .map(|(code, more, dollars)| {
                let path = "a".repeat(LONGEST - "https://e.org/".len() + more - dollars);
                let dollars = "$".repeat(dollars);
                format!("- url: https://e.org/{path}{dollars}\n  short-code: {code}\n")
            })
            .concat();
        let table = site_of(&entries);
        let site = &table.sites()[0];
        let now = Timestamp::parse_start("2026-01-01").unwrap();
        let mut out = Vec::new();
        ExportFormat::Nginx.write(site, now, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("\"/fits\""), "{text}");
        assert!(!text.contains("/long") && !text.contains("/dollar"));
        assert_eq!(ExportFormat::Nginx.losses(site, now).of(Feature::Length), 2);
        assert_eq!(ExportFormat::Caddy.losses(site, now).of(Feature::Length), 0);
    }
}
