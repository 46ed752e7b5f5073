//! The size of benchmarks: full size when they are measured, small when they are
//! only tried.

use std::env;

/// Returns `measured`, or `tried` where criterion runs each benchmark once: without `--bench`,
/// which `cargo bench` passes, or with `--test`.
pub(crate) fn scale<T>(measured: T, tried: T) -> T {
    let has = |flag: &str| env::args().any(|argument| argument == flag);
    if has("--bench") && !has("--test") {
        measured
    } else {
        tried
    }
}
