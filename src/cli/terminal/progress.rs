//! A progress bar for long work, shown only on a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Work that ends within this time needs no bar.
const NO_BAR_BEFORE: Duration = Duration::from_secs(1);

/// The number of steps between two readings of the clock.
const STEPS: usize = 1024;

/// The progress of long work.
pub(crate) struct Progress {
    begin: Instant,
    total: u64,
    steps: usize,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Starts work on that many lines.
    pub(crate) fn new(total: u64) -> Self {
        Self {
            begin: Instant::now(),
            total,
            steps: 0,
            bar: None,
        }
    }

    /// Reports that a line is done.
    pub(crate) fn advance(&mut self, line: u64) {
        self.steps += 1;
        if !self.steps.is_multiple_of(STEPS) || self.begin.elapsed() < NO_BAR_BEFORE {
            return;
        }
        // It is drawn on standard error, and only if that is a terminal.
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{bar:40} {percent} % of {len} lines");
            let bar = ProgressBar::new(self.total);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        bar.set_position(line);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
