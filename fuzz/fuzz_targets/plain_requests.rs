//! Arbitrary bytes from a client: with the fast path, they are answered as hyper alone answers them.
//!
//! They arrive in one read. `tests/server/fast_path.rs` tests pieces: hyper then answers a
//! malformed head differently.

#![no_main]

use libfuzzer_sys::fuzz_target;
use waypost_fuzz::connections::answers;

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(answers(bytes, true), answers(bytes, false));
});
