//! The work of a transfer process: read its job, run it, answer.

use std::io::{self, BufRead, Write};
use std::process;
use std::thread;

use serde::Serialize;
use zeroize::Zeroizing;

use super::fetch::fetch;
use super::packing::repack_clone;
use super::push::push;
use crate::git::transport::orders::{JOB_BYTES, Job, Progress, Task};
use crate::git::transport::remote::TransferFailure;
use crate::git::unwinding::{caught, print_no_panics};

/// Runs the one transfer that is described in the first line of `input`, and writes the answer.
///
/// Exits when `input` ends: then no process waits for the answer.
///
/// # Errors
///
/// If there is no job, or the answer cannot be written. A failed transfer is an answer.
pub fn run_transfer(
    mut input: impl BufRead + Send + 'static,
    output: impl Write + 'static,
) -> io::Result<()> {
    let mut line = Zeroizing::new(Vec::with_capacity(JOB_BYTES));
    input.read_until(b'\n', &mut line)?;
    let job: Job = serde_json::from_slice(&line)?;
    drop(line);
    thread::spawn(move || {
        let _ = io::copy(&mut input, &mut io::sink());
        process::exit(1);
    });
    print_no_panics();
    job.bounds.set()?;
    let progress = Progress::new(output);
    match &job.task {
        Task::Fetch(order) => answer(&progress, || fetch(&job, order, &progress)),
        Task::Push(order) => answer(&progress, || push(&job, order)),
        Task::Repack(order) => answer(&progress, || repack_clone(&job, order, &progress)),
    }
}

/// Runs a task and writes its result. A panic is reported as such.
fn answer<T: Serialize>(
    progress: &Progress,
    task: impl FnOnce() -> Result<T, TransferFailure>,
) -> io::Result<()> {
    let ended = caught(task).unwrap_or_else(|panic| {
        let message = format!("the process that fetched or pushed crashed: {panic}");
        Err(TransferFailure::new(message))
    });
    progress.answer(&ended)
}
