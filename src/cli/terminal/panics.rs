//! Logs the panics of a serving process as events.
//!
//! Their default output, standard error, may be a pipe that is not read, and the thread that
//! panicked would wait for it.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{self, PanicHookInfo};
use std::thread;

use tracing::error;
use tracing::field::display;

use crate::server::SERVING_THREAD;

/// Logs panics from now on.
pub(crate) fn log() {
    panic::set_hook(Box::new(log_one));
}

fn log_one(info: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let thread = thread.name().unwrap_or("unnamed");
    let place = info.location().map(display);
    // PanicOutput only if RUST_BACKTRACE requests it.
    let backtrace = Backtrace::capture();
    let is_captured = backtrace.status() == BacktraceStatus::Captured;
    let backtrace = is_captured.then(|| display(&backtrace));
    let reason = reason(info, thread);
    error!(thread, place, reason, backtrace, "panicked");
}

/// Returns the reason for a panic, unless the text may include client input.
fn reason<'a>(info: &'a PanicHookInfo<'_>, thread: &str) -> Option<&'a str> {
    let payload = info.payload();
    let literal = payload.downcast_ref::<&'static str>().copied();
    let formatted = payload.downcast_ref::<String>().map(String::as_str);
    literal.or(formatted.filter(|_| thread != SERVING_THREAD))
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use tracing::subscriber::with_default;

    use super::*;

    #[derive(Clone, Default)]
    struct PanicOutput(Arc<Mutex<Vec<u8>>>);

    impl Write for PanicOutput {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the log of a panic on a thread of that name.
    fn logged(name: &str, panic: fn(&str)) -> String {
        let text = PanicOutput::default();
        let writer = text.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(move || writer.clone());
        let subscriber = subscriber.finish();
        let thread = thread::Builder::new().name(name.to_owned());
        let run = move || with_default(subscriber, || panic("secret"));
        assert!(thread.spawn(run).unwrap().join().is_err());
        let bytes = text.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_panic_is_logged_without_what_a_client_may_have_sent() {
        let before = panic::take_hook();
        let other = "someone else";
        // Other tests run at the same time in the same process.
        panic::set_hook(Box::new(move |info| match thread::current().name() {
            Some(SERVING_THREAD | "someone else") => log_one(info),
            _ => before(info),
        }));
        let formatted: fn(&str) = |sent| panic!("what is {sent}?");
        let line = logged(other, formatted);
        assert!(line.contains("panicked thread=\"someone else\""), "{line}");
        assert!(line.contains("place=src/cli/terminal/panics.rs:"), "{line}");
        assert!(line.contains("reason=\"what is secret?\""), "{line}");
        let line = logged(SERVING_THREAD, formatted);
        assert!(line.contains("panicked thread=\"serving\""), "{line}");
        assert!(!line.contains("secret"), "{line}");
        let line = logged(SERVING_THREAD, |_| panic!("a literal"));
        assert!(line.contains("reason=\"a literal\""), "{line}");
    }
}
