//! One JSON document: every link of the table, with its result.
//!
//! Keys may be added to it; any other change increases the version.

use std::io::{self, Write};

use serde::Serialize;

use super::conclusions::Conclusions;
use crate::linkcheck::ReportedLink;

const VERSION: u32 = 1;

#[derive(Serialize)]
struct LinkcheckJson<'c> {
    version: u32,
    links: Vec<ReportedLink<'c>>,
}

pub(super) fn write(conclusions: &Conclusions, out: &mut dyn Write) -> io::Result<()> {
    let document = LinkcheckJson {
        version: VERSION,
        links: conclusions.reported.iter().map(ReportedLink::of).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
