//! Background work: loading and dumping tables, which may take a core for a second, yields to
//! serving.
//!
//! A thread whose priority was lowered keeps it permanently, unless the process is privileged. No
//! redirect waits for threads of the blocking pools, so that is acceptable.

use tokio::task::{JoinError, JoinHandle, spawn_blocking};

/// How much the nice value of such work exceeds that of the process (`man 7 sched`): when there is
/// no idle core, it gets about a tenth of the time of a serving thread.
#[cfg(target_os = "linux")]
const NICER: i32 = 10;

/// Runs work that may block or take long on a thread of its own.
///
/// # Errors
///
/// Fails if the work panics.
pub(crate) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    begin(work).await
}

/// Begins such work, whether or not its result is awaited. Must be called within a runtime.
pub(crate) fn begin<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    spawn_blocking(|| {
        give_way();
        work()
    })
}

/// Raises the nice value of this thread, and of those that it starts, above that of serving threads, if
/// that is allowed.
pub(crate) fn give_way() {
    // Only on Linux does this affect the thread and not the whole process, whose ID is its first
    // thread's.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpid, getpriority_process, setpriority_process};
        if let Ok(own) = getpriority_process(Some(getpid())) {
            let _ = setpriority_process(None, own + NICER);
        }
    }
}
