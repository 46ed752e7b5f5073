//! The threads that compile a table while it is read.

use std::thread;

use crate::mapping::Workers;

/// The size up to which a file is compiled by one thread, in bytes: starting others would take longer.
const ALONE: u64 = 1 << 20;

/// Some threads, the current one among them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Threads(usize);

impl Threads {
    /// Returns a thread for each processor that the program may use, if a file is large enough for them.
    pub(crate) fn for_file(size: u64) -> Self {
        match size > ALONE {
            true => Self(thread::available_parallelism().map_or(1, usize::from)),
            false => Self(1),
        }
    }
}

impl Workers for Threads {
    fn run(&self, job: &(dyn Fn() + Sync)) {
        thread::scope(|scope| {
            for _ in 1..self.0 {
                // Without another thread, this one does all of it.
                let (Ok(_) | Err(_)) = thread::Builder::new().spawn_scoped(scope, job);
            }
            job();
        });
    }
}
