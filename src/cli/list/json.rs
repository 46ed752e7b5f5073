//! Links for programs: the document with which `GET /-/api/links` answers, with all links on one page.

use std::io::{self, Write};

use crate::mapping::{Entry, Timestamp};
use crate::server::LinkView;

/// Writes links, one a line.
pub(super) fn write(out: &mut impl Write, entries: &[Entry<'_>], now: Timestamp) -> io::Result<()> {
    write!(out, "{{\"links\": [")?;
    for (number, entry) in entries.iter().enumerate() {
        out.write_all(if number == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &LinkView::of(*entry, None, now))?;
    }
    out.write_all(if entries.is_empty() {
        b"]}\n"
    } else {
        b"\n]}\n"
    })
}
