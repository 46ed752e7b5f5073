//! The server as its clients and operators see it: raw bytes in, raw bytes out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../support/mod.rs"]
mod support;

mod admin;
mod conformance;
mod connections;
mod drain;
mod escaping;
mod hook;
mod http;
mod malformed;
mod pages;
mod reload;
mod start;
