//! The progress of a check, shown only on a terminal.

use std::future::Future;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use tokio::time::{Instant, interval_at};

use crate::cli::terminal::progress;
use crate::linkcheck::Checker;

/// How often it is drawn.
const INTERVAL: Duration = Duration::from_millis(500);

/// Shows the progress of a check until it ends.
pub(super) async fn show<T>(checker: &Checker, check: impl Future<Output = T>) -> T {
    if !progress::is_shown() {
        return check.await;
    }
    let mut check = std::pin::pin!(check);
    let mut draws = interval_at(Instant::now() + INTERVAL, INTERVAL);
    let mut bar = None::<ProgressBar>;
    loop {
        tokio::select! {
            biased;
            result = &mut check => {
                if let Some(bar) = bar {
                    bar.finish_and_clear();
                }
                return result;
            }
            _ = draws.tick() => {
                let progress = checker.progress();
                let bar = bar.get_or_insert_with(|| {
                    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} links, {msg}");
                    let bar = ProgressBar::new(0);
                    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                    bar
                });
                bar.set_length(progress.due.max(progress.checked) as u64);
                bar.set_position(progress.checked as u64);
                let left = HumanDuration(progress.left);
                bar.set_message(format!("{} hosts, at least {left} left", progress.hosts));
            }
        }
    }
}
