//! The report of rows that cannot be imported, or only in part: each reason once, with the lines that share it.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write as _, stderr};
use std::mem;

use crate::cli::terminal::legible;
use crate::exchange::read::ConfigurationTree;

/// How many further lines with the same reason are named.
const NAMED_LINES: usize = 5;

/// The rows that were refused, or of which a part was, by their reasons.
pub(super) struct RefusedRows {
    /// How many rows of each reason are listed; without a number, one is, and further ones are named.
    listed: Option<usize>,
    /// How many were refused.
    count: usize,
    /// Their lines.
    refused_lines: HashSet<usize>,
    /// The lines of rows of which a part was imported, as far as is known of each reason alone.
    partial_lines: HashSet<usize>,
    /// The group of each reason, for rows that were refused and for those of which a part was imported.
    numbers: HashMap<(bool, String), usize>,
    groups: Vec<ReasonRows>,
}

/// The rows with one reason.
#[derive(Default)]
struct ReasonRows {
    count: usize,
    /// At least the first that are reported.
    rows: Vec<RefusedRow>,
}

/// A row, and why it is refused.
pub(super) struct RefusedRow {
    pub(super) line: usize,
    /// Whether a part of it is imported.
    pub(super) is_partial: bool,
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
    pub(super) fn new(listed: Option<usize>) -> Self {
        Self {
            listed,
            count: 0,
            refused_lines: HashSet::new(),
            partial_lines: HashSet::new(),
            numbers: HashMap::new(),
            groups: Vec::new(),
        }
    }

    /// Returns how many rows were refused.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns of how many rows only a part was imported.
    pub(super) fn in_part(&self) -> usize {
        self.partial_lines.difference(&self.refused_lines).count()
    }

    /// Adds a row.
    pub(super) fn add(&mut self, mut row: RefusedRow) {
        self.count += usize::from(!row.is_partial);
        let lines = match row.is_partial {
            true => &mut self.partial_lines,
            false => &mut self.refused_lines,
        };
        lines.insert(row.line);
        let next = self.groups.len();
        let reason = (row.is_partial, mem::take(&mut row.reason));
        let number = *self.numbers.entry(reason).or_insert(next);
        if number == next {
            self.groups.push(ReasonRows::default());
        }
        let kept = self.listed.unwrap_or(1 + NAMED_LINES);
        if let Some(group) = self.groups.get_mut(number) {
            group.count += 1;
            group.rows.push(row);
            if group.rows.len() / 2 >= kept {
                group.keep_first(kept);
            }
        }
    }

    /// Reports all rows, in the order of the first lines of their reasons, with the places of their lines.
    pub(super) fn report(&mut self, places: &Places<'_>) -> io::Result<()> {
        for group in &mut self.groups {
            group.keep_first(usize::MAX);
        }
        (self.groups).sort_by_key(|group| group.rows.first().map(|row| row.line));
        (self.groups.iter()).try_for_each(|group| group.report(places, self.listed))
    }
}

impl ReasonRows {
    /// Keeps the rows with the first lines, in the order of these.
    fn keep_first(&mut self, most: usize) {
        self.rows.sort_by_key(|row| row.line);
        self.rows.truncate(most);
    }

    fn report(&self, places: &Places<'_>, listed: Option<usize>) -> io::Result<()> {
        let named = if listed.is_some() { 0 } else { NAMED_LINES };
        let most = listed.unwrap_or(1).min(self.rows.len());
        let (listed, further) = self.rows.split_at(most);
        for row in listed {
            row.report(places)?;
        }
        let count = self.count - listed.len();
        let Some(first) = listed.first().filter(|_| count > 0) else {
            return Ok(());
        };
        let place = places.of(first.line);
        let noun = if count == 1 { "line" } else { "lines" };
        write!(stderr(), "{place}: the same on {count} further {noun}")?;
        let mut separator = ": ";
        for row in further.iter().take(named) {
            write!(stderr(), "{separator}{}", places.short(row.line))?;
            separator = ", ";
        }
        let is_cut = named > 0 && count > named;
        writeln!(stderr(), "{}", if is_cut { ", …" } else { "" })
    }
}

impl RefusedRow {
    fn report(&self, places: &Places<'_>) -> io::Result<()> {
        let place = places.of(self.line);
        let severity = match self.is_partial {
            true => "warning",
            false => "error",
        };
        writeln!(stderr(), "{place}: {severity}: {}", legible(&self.message))?;
        match &self.hint {
            Some(hint) => writeln!(stderr(), "  hint: {}", legible(hint)),
            None => Ok(()),
        }
    }
}
