//! The report of rows that cannot be imported: each reason once, with the lines that share it.

use std::collections::HashMap;
use std::io::{self, Write as _, stderr};
use std::mem;

use crate::cli::terminal::legible;
use crate::exchange::read::ConfigurationTree;

/// How many further lines with the same reason are named.
const NAMED_LINES: usize = 5;

/// The rows that were refused, by their reasons.
#[derive(Default)]
pub(super) struct RefusedRows {
    count: usize,
    /// The group of each reason.
    numbers: HashMap<String, usize>,
    groups: Vec<ReasonRows>,
}

/// The rows with one reason.
struct ReasonRows {
    /// The first of them.
    first: RefusedRow,
    /// The first lines of the others.
    further: Vec<usize>,
    count: usize,
}

/// A row, and why it is refused.
pub(super) struct RefusedRow {
    pub(super) line: usize,
    /// The common reason of rows.
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

/// Where the lines of what was read are.
pub(super) enum Places<'p> {
    /// In the file of this name.
    File(&'p str),
    /// In the files of a tree.
    Tree(&'p ConfigurationTree),
}

impl Places<'_> {
    fn of(&self, line: usize) -> String {
        match self {
            Self::File(name) => format!("{name}:{line}"),
            Self::Tree(tree) => tree.place(line),
        }
    }

    /// Returns a place after another one has been named.
    fn short(&self, line: usize) -> String {
        match self {
            Self::File(_) => line.to_string(),
            Self::Tree(tree) => tree.place(line),
        }
    }
}

impl RefusedRows {
    /// Returns the number of rows.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Adds a row.
    pub(super) fn add(&mut self, mut row: RefusedRow) {
        self.count += 1;
        let reason = mem::take(&mut row.reason);
        let number = *self.numbers.entry(reason).or_insert(self.groups.len());
        let Some(group) = self.groups.get_mut(number) else {
            self.groups.push(ReasonRows {
                first: row,
                further: Vec::new(),
                count: 1,
            });
            return;
        };
        group.count += 1;
        if row.line < group.first.line {
            mem::swap(&mut row, &mut group.first);
        }
        let at = group.further.partition_point(|line| *line < row.line);
        group.further.insert(at, row.line);
        group.further.truncate(NAMED_LINES);
    }

    /// Reports all rows, in the order of their lines, with the places of these lines.
    pub(super) fn report(&mut self, places: &Places<'_>) -> io::Result<()> {
        self.groups.sort_by_key(|group| group.first.line);
        for ReasonRows {
            first,
            further,
            count,
        } in &self.groups
        {
            let RefusedRow {
                line,
                message,
                hint,
                ..
            } = first;
            let place = places.of(*line);
            writeln!(stderr(), "{place}: error: {}", legible(message))?;
            if let Some(hint) = hint {
                writeln!(stderr(), "  hint: {}", legible(hint))?;
            }
            let count = count - 1;
            if count > 0 {
                let named: Vec<_> = further.iter().map(|it| places.short(*it)).collect();
                let named = named.join(", ");
                let noun = if count == 1 { "line" } else { "lines" };
                let more = if count > further.len() { ", …" } else { "" };
                writeln!(
                    stderr(),
                    "{place}: the same on {count} further {noun}: {named}{more}"
                )?;
            }
        }
        Ok(())
    }
}
