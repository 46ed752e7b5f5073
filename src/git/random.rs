//! Random numbers, for names and jitter: nothing that must be secret.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

/// Returns a random number.
pub fn random() -> u64 {
    RandomState::new().hash_one(())
}
