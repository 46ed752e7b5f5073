//! Work in the background: loading and dumping tables, which may take a core for a second, gives way
//! to serving.
//!
//! A thread that has given way does so for good, unless the process is privileged. Threads of the
//! blocking pools do nothing that a redirect waits for, so that is as it should be.

use tokio::task::{JoinError, JoinHandle, spawn_blocking};

/// How much nicer such work is than the process (`man 7 sched`): when there is no idle core, it gets
/// about a tenth of what a serving thread gets.
#[cfg(target_os = "linux")]
const NICER: i32 = 10;

/// Does work that may block or take long on a thread of its own.
///
/// # Errors
///
/// Fails if the work panics.
pub(crate) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    begin(work).await
}

/// Begins such work, whether or not anybody waits for what comes of it. Must be called within a
/// runtime.
pub(crate) fn begin<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    spawn_blocking(|| {
        give_way();
        work()
    })
}

/// Makes this thread nicer than those that serve. Where that may not be, it is as before.
fn give_way() {
    // Only Linux means the thread here and not the whole process, whose first thread has its number.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpid, getpriority_process, setpriority_process};
        if let Ok(own) = getpriority_process(Some(getpid())) {
            let _ = setpriority_process(None, own + NICER);
        }
    }
}
