//! The CPU time and memory that this process has used, as the kernel counts them.

#![allow(dead_code, reason = "not every benchmark needs all of it")]

use std::fs;
use std::time::Duration;

/// Returns the CPU time of all threads so far.
pub(crate) fn cpu_time() -> Duration {
    let threads = fs::read_dir("/proc/self/task").expect("this runs on Linux");
    let nanos = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}

/// Returns the memory that is resident now, in bytes.
pub(crate) fn resident() -> u64 {
    status("VmRSS:")
}

/// Returns the most memory that was ever resident, in bytes.
pub(crate) fn peak() -> u64 {
    status("VmHWM:")
}

/// Resets the peak to the memory that is resident now.
pub(crate) fn forget_peak() {
    fs::write("/proc/self/clear_refs", "5").expect("the kernel takes it of this process");
}

fn status(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("this runs on Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.expect("the kernel counts it") << 10
}
