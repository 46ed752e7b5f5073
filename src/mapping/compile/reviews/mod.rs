//! Warnings about entries that are each correct: loops, and targets that other entries have.

mod below_review;
mod review;
mod site_review;

pub(super) use review::review;
