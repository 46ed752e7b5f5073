//! What a process of a transfer does: read its job, do it, answer.

use std::io::{self, BufRead, Write};
use std::process;
use std::thread;

use zeroize::Zeroizing;

use super::fetch::fetch;
use super::push::push;
use super::transfer::{JOB_BYTES, Job, Task};

/// Does the one transfer that is described in the first line of `input`, and writes the answer.
///
/// Ends the process when `input` ends: then whoever wants the answer is gone.
///
/// # Errors
///
/// If there is no job, or the answer cannot be written. That a transfer failed is an answer.
pub fn run_transfer(
    mut input: impl BufRead + Send + 'static,
    mut output: impl Write,
) -> io::Result<()> {
    let mut line = Zeroizing::new(Vec::with_capacity(JOB_BYTES));
    input.read_until(b'\n', &mut line)?;
    let job: Job = serde_json::from_slice(&line)?;
    drop(line);
    thread::spawn(move || {
        let _ = io::copy(&mut input, &mut io::sink());
        process::exit(1);
    });
    match &job.task {
        Task::Fetch(order) => serde_json::to_writer(&mut output, &fetch(&job, order))?,
        Task::Push(order) => serde_json::to_writer(&mut output, &push(&job, order))?,
    }
    output.flush()
}
