//! Background work: loading and dumping tables, which may occupy a core for a second, yields to
//! serving.
//!
//! A thread whose priority was lowered keeps it permanently, unless the process is privileged. No
//! redirect waits for threads of the blocking pools, so that is acceptable.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
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

/// One thread for all work on tables, so that they take turns.
///
/// The C library gives each thread memory of its own. What one version of a table leaves there is used
/// again for the next one only if that is made by the same thread.
#[derive(Clone)]
pub(super) struct LoadThread(Arc<LoadRuntime>);

/// A runtime that has nothing but one thread for blocking work.
struct LoadRuntime(Option<Runtime>);

/// How long the thread waits for work until it ends.
const FOREVER: Duration = Duration::from_secs(u32::MAX as u64);

impl LoadThread {
    pub(super) fn new() -> Self {
        let runtime = Builder::new_current_thread()
            .max_blocking_threads(1)
            .thread_keep_alive(FOREVER)
            .build();
        let runtime = runtime.expect("a runtime without drivers takes nothing from the system");
        Self(Arc::new(LoadRuntime(Some(runtime))))
    }

    /// Begins work on the thread after all that was begun before, whether or not its result is awaited.
    /// Must be called within a runtime, which waits for the work when it is shut down.
    pub(super) fn begin<T: Send + 'static, W: FnOnce() -> T + Send + 'static>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T, JoinError>> + use<T, W> {
        let runtime = self.0.0.as_ref();
        let runtime = runtime.expect("the runtime is only taken when it is dropped");
        let working = runtime.spawn_blocking(|| {
            give_way();
            work()
        });
        let waiting = spawn_blocking(move || Handle::current().block_on(working));
        async { waiting.await? }
    }
}

impl Drop for LoadRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // A thread that serves may drop it, and must not wait.
            runtime.shutdown_background();
        }
    }
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
