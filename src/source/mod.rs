//! Where table text comes from.
