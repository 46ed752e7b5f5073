//! Transcripts: what a program printed, and its status, as one text.

use std::process::Output;

/// Returns the status and both outputs of a program.
pub(crate) fn transcript(output: Output) -> String {
    let status = output.status.code().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    format!("status {status}\n--- stdout\n{stdout}--- stderr\n{stderr}")
}
