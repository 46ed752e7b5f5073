//! A bar that shows how far long work has come, to a person at a terminal only.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Work that is done before this is over needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often something moves while nothing can be counted.
const TICK: Duration = Duration::from_millis(100);

/// How many steps there are between two looks at the clock.
const STEPS: usize = 1024;

/// How far work has come.
pub(crate) struct Progress {
    begin: Instant,
    total: u64,
    steps: usize,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Begins work of that many lines.
    pub(crate) fn new(total: u64) -> Self {
        Self {
            begin: Instant::now(),
            total,
            steps: 0,
            bar: None,
        }
    }

    /// Tells that a line is done.
    pub(crate) fn advance(&mut self, line: u64) {
        self.steps += 1;
        if !self.steps.is_multiple_of(STEPS) || self.begin.elapsed() < PATIENCE {
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

    /// Tells what is left to do, of which nobody knows how long it takes.
    pub(crate) fn rest(&self, what: &'static str) {
        if let Some(bar) = &self.bar {
            let style = ProgressStyle::with_template("{spinner} {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.set_message(what);
            bar.enable_steady_tick(TICK);
        }
    }

    /// Writes to standard error, above the bar.
    pub(crate) fn above<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
