//! The progress of a long command, shown on a terminal.
//!
//! Stages may lie inside one another; the innermost is shown. Nothing is shown during the first
//! second, in a pipe, on a terminal that cannot move its cursor, or in continuous integration, and
//! nothing stays.

use std::fmt::Display;
use std::io::{IsTerminal as _, stderr};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::legible::legible;

/// How long a command runs before its progress is shown.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

/// The interval of the animation.
const TICK: Duration = Duration::from_millis(100);

/// The beginning of the first stage.
static BEGINNING: OnceLock<Instant> = OnceLock::new();

/// The current stages, the outermost first.
static STAGES: Mutex<Vec<ShownStage>> = Mutex::new(Vec::new());

/// Notified when the last stage has ended.
static ENDED: Condvar = Condvar::new();

/// How often a stage is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repaint {
    /// Again and again.
    Animated,
    /// Once.
    Once,
}

/// A stage as it is shown.
struct ShownStage {
    text: String,
    repaint: Repaint,
}

/// Runs a function, and shows its description meanwhile. The function must not write to the
/// terminal.
pub(crate) fn during<T>(what: impl Display, work: impl FnOnce() -> T) -> T {
    let _stage = Stage::begin(what, Repaint::Animated);
    work()
}

/// Runs a function in which another program may prompt for a password: its description is drawn
/// once, so that it does not overwrite the prompt.
pub(crate) fn during_questions<T>(what: impl Display, work: impl FnOnce() -> T) -> T {
    let _stage = Stage::begin(what, Repaint::Once);
    work()
}

/// Returns whether progress is shown.
pub(crate) fn is_shown() -> bool {
    static IS_SHOWN: OnceLock<bool> = OnceLock::new();
    *IS_SHOWN.get_or_init(|| {
        let variable = |name| std::env::var(name).unwrap_or_default();
        is_wanted(stderr().is_terminal(), &variable("TERM"), &variable("CI"))
    })
}

fn is_wanted(is_terminal: bool, term: &str, ci: &str) -> bool {
    is_terminal && term != "dumb" && matches!(ci, "" | "false" | "0")
}

/// Returns the time until the progress is shown.
fn until_shown(beginning: Instant, now: Instant) -> Duration {
    SHOWN_AFTER.saturating_sub(now.saturating_duration_since(beginning))
}

/// A stage that ends when it is dropped.
struct Stage {
    is_shown: bool,
    /// The thread that draws, if this is the outermost stage.
    drawing: Option<JoinHandle<()>>,
}

impl Stage {
    fn begin(what: impl Display, repaint: Repaint) -> Self {
        let beginning = *BEGINNING.get_or_init(Instant::now);
        let is_shown = is_shown();
        let mut drawing = None;
        if is_shown {
            let mut stages = stages();
            if stages.is_empty() {
                // Without a thread, nothing is shown.
                let thread = thread::Builder::new();
                drawing = thread.spawn(move || draw(beginning)).ok();
            }
            stages.push(ShownStage {
                text: legible(&what.to_string()).into(),
                repaint,
            });
        }
        Self { is_shown, drawing }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !self.is_shown {
            return;
        }
        stages().pop();
        if let Some(drawing) = self.drawing.take() {
            ENDED.notify_all();
            // A panic while drawing is not an error of the function.
            let _ = drawing.join();
        }
    }
}

fn stages() -> MutexGuard<'static, Vec<ShownStage>> {
    STAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws the innermost stage until the last one has ended.
fn draw(beginning: Instant) {
    let mut bar = None::<ProgressBar>;
    let mut stages = stages();
    while let Some(stage) = stages.last() {
        let wait = until_shown(beginning, Instant::now());
        if wait.is_zero() {
            let bar = bar.get_or_insert_with(spinner);
            match bar.message() == stage.text {
                true if stage.repaint == Repaint::Animated => bar.tick(),
                true => {}
                false => {
                    bar.set_message(stage.text.clone());
                    bar.force_draw();
                }
            }
        }
        let wait = if wait.is_zero() { TICK } else { wait };
        let waited = ENDED.wait_timeout(stages, wait);
        stages = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
    drop(stages);
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn spinner() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {wide_msg}");
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_shown_before_a_second_has_passed() {
        let beginning = Instant::now();
        let after = |millis| until_shown(beginning, beginning + Duration::from_millis(millis));
        assert_eq!(after(0), Duration::from_secs(1));
        assert_eq!(after(400), Duration::from_millis(600));
        assert_eq!(after(1000), Duration::ZERO);
        assert_eq!(after(5000), Duration::ZERO);
    }

    #[test]
    fn only_a_person_at_a_terminal_is_shown_progress() {
        assert!(is_wanted(true, "xterm", ""));
        assert!(is_wanted(true, "", "false"));
        assert!(!is_wanted(false, "xterm", ""));
        assert!(!is_wanted(true, "dumb", ""));
        assert!(!is_wanted(true, "xterm", "true"));
    }

    #[test]
    fn work_is_done_and_stages_end() {
        let done = during("outer", || during_questions("inner", || 7));
        assert_eq!(done, 7);
        assert!(stages().is_empty());
    }
}
