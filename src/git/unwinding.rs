//! Catching panics in calls into git2.
//!
//! git2 unwraps texts of a remote that are not UTF-8: the names of its references
//! (`RemoteHead::name`, `RemoteHead::symref_target`), and its answers about a push
//! (`push_update_reference`); and the type of an object, which a damaged pack may not have
//! (`Odb::read_header`). Without `unsafe` there is no other way to get them, so such a panic is
//! treated like any other answer here. Only the process of a transfer and `object_header` do this.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

/// The message of a panic.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Panicked(String);

/// Runs a closure, and returns the message of its panic if it panics.
///
/// Anything borrowed by the closure must not be used after a panic, or be safe to use then.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| Panicked(message(&*panic)))
}

/// Silences panics of this process: they are reported where they are caught.
pub(crate) fn print_no_panics() {
    set_hook(Box::new(|_| {}));
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = (panic.downcast_ref::<&str>().copied())
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it panicked").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_what_was_done_or_why_it_panicked() {
        assert_eq!(caught(|| 1), Ok(1));
        let panicked = caught(|| String::from_utf8(vec![0xFF]).unwrap());
        assert!(panicked.unwrap_err().0.contains("Utf8"));
        assert_eq!(
            caught(|| panic!("{}", 1)),
            Err::<(), _>(Panicked("1".to_owned()))
        );
    }
}
