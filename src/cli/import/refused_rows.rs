//! The report of rows that cannot be imported: each reason once, with the lines that share it.

use std::collections::HashMap;
use std::io::{self, Write as _, stderr};

use crate::cli::terminal::legible;

/// How many reasons are remembered; further ones are reported for each row.
const REMEMBERED: usize = 10_000;

/// How many further lines with the same reason are named.
const NAMED_LINES: usize = 5;

/// The rows that were refused, by their reasons.
pub(super) struct RefusedRows<'n> {
    /// The name of the file.
    name: &'n str,
    count: usize,
    reasons: HashMap<String, usize>,
    /// The rows that share the reason of an earlier one.
    further: Vec<Further>,
}

/// The rows with one reason, after the first.
struct Further {
    first: usize,
    count: usize,
    lines: Vec<usize>,
}

impl<'n> RefusedRows<'n> {
    pub(super) fn of(name: &'n str) -> Self {
        Self {
            name,
            count: 0,
            reasons: HashMap::new(),
            further: Vec::new(),
        }
    }

    /// Returns the number of rows.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Counts a row; returns whether its reason is new, and therefore to be reported.
    pub(super) fn is_new(&mut self, line: usize, reason: &str) -> bool {
        self.count += 1;
        if let Some(&known) = self.reasons.get(reason) {
            let further = &mut self.further[known];
            further.count += 1;
            if further.lines.len() < NAMED_LINES {
                further.lines.push(line);
            }
            return false;
        }
        if self.reasons.len() < REMEMBERED {
            self.reasons.insert(reason.to_owned(), self.further.len());
            self.further.push(Further {
                first: line,
                count: 0,
                lines: Vec::new(),
            });
        }
        true
    }

    /// Reports a row and its reason.
    pub(super) fn report(&self, line: usize, reason: &str, hint: Option<&str>) -> io::Result<()> {
        writeln!(stderr(), "{}:{line}: error: {}", self.name, legible(reason))?;
        match hint {
            Some(hint) => writeln!(stderr(), "  hint: {}", legible(hint)),
            None => Ok(()),
        }
    }

    /// Reports how many rows share the reason of an earlier one, and their first lines.
    pub(super) fn report_further(&self) -> io::Result<()> {
        for Further {
            first,
            count,
            lines,
        } in self.further.iter().filter(|it| it.count > 0)
        {
            let named: Vec<_> = lines.iter().map(usize::to_string).collect();
            let named = named.join(", ");
            let noun = if *count == 1 { "line" } else { "lines" };
            let more = if *count > lines.len() { ", …" } else { "" };
            let name = self.name;
            writeln!(
                stderr(),
                "{name}:{first}: the same on {count} further {noun}: {named}{more}"
            )?;
        }
        Ok(())
    }
}
