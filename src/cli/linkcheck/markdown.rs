//! The links that do not simply work, as an issue that a bot updates.
//!
//! Codes and targets are chosen by the people who propose them, and a target's host chooses where it says
//! to have moved; so each is written as a value that is neither a link nor a mention.

use std::io::{self, Write};

use super::conclusions::Conclusions;
use crate::cli::report::code;
use crate::linkcheck::{Conclusion, LinkRecord, Verdict};

/// The line by which a bot finds its issue.
const MARK: &str = "<!-- waypost linkcheck -->";

/// The maximum size of the rows in bytes: an issue on GitHub holds 65,536 characters.
const MAX_BYTES: usize = 60_000;

/// The verdicts that are listed, the most serious first.
const LISTED: [Verdict; 8] = [
    Verdict::Dead,
    Verdict::Gone,
    Verdict::SoftNotFound,
    Verdict::Insecure,
    Verdict::Failing,
    Verdict::Moved,
    Verdict::Blocked,
    Verdict::RobotsDisallowed,
];

pub(super) fn write(conclusions: &Conclusions, out: &mut dyn Write) -> io::Result<()> {
    let time = conclusions.time.to_string();
    let day = time.split('T').next().unwrap_or_default();
    writeln!(
        out,
        "{MARK}\n### Links on {day}\n\n{}.",
        conclusions.summary()
    )?;
    let mut room = MAX_BYTES;
    let mut left_out = 0;
    for verdict in LISTED {
        let all = conclusions
            .reported
            .iter()
            .filter(|it| it.verdict == verdict);
        let rows: Vec<_> = all.map(row).collect();
        let shown = rows.iter().take_while(|row| {
            let fits = row.len() <= room;
            room = room.saturating_sub(row.len());
            fits
        });
        let shown: Vec<_> = shown.collect();
        left_out += rows.len() - shown.len();
        if shown.is_empty() {
            continue;
        }
        writeln!(out, "\n#### {verdict}: {}\n", rows.len())?;
        writeln!(
            out,
            "| code | target | result | since |\n| --- | --- | --- | --- |"
        )?;
        for row in shown {
            writeln!(out, "{row}")?;
        }
    }
    match left_out {
        0 => Ok(()),
        _ => writeln!(out, "\n{left_out} more not shown."),
    }
}

fn row(conclusion: &Conclusion) -> String {
    let uses = &conclusion.link.uses;
    let codes: Vec<_> = uses.iter().take(5).map(|it| code(&it.code)).collect();
    let more = match uses.len() {
        0..=5 => String::new(),
        count => format!(" and {} more", count - 5),
    };
    let seen = match conclusion.moved_to() {
        Some(to) => format!("now {}", code(to)),
        None => conclusion.detail.clone().unwrap_or_default(),
    };
    let since = conclusion.record.as_ref().and_then(LinkRecord::since);
    let since = since.map(|it| it.to_string()).unwrap_or_default();
    let day = since.split('T').next().unwrap_or_default();
    let target = code(&conclusion.link.target);
    format!("| {}{more} | {target} | {seen} | {day} |", codes.join(", "))
}
