//! The server as its clients and operators see it: raw bytes in, raw bytes out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../support/mod.rs"]
mod support;

#[allow(dead_code, reason = "tests/linkcheck uses the rest")]
#[path = "../linkcheck/interposed.rs"]
mod interposed;
#[allow(dead_code, reason = "tests/linkcheck uses the rest")]
#[path = "../linkcheck/web.rs"]
mod web;

mod admin;
mod conformance;
mod connections;
mod drain;
mod dump;
mod escaping;
mod fast_path;
#[cfg(feature = "tls")]
mod frames;
mod hook;
mod http;
#[cfg(feature = "tls")]
mod http2;
#[cfg(feature = "tls")]
mod http2_rules;
#[cfg(feature = "tls")]
mod https_redirect;
mod linkcheck;
mod links;
mod malformed;
mod pages;
mod propose;
mod qr;
mod reload;
#[cfg(feature = "tls")]
mod secure;
mod start;
#[cfg(feature = "tls")]
mod tls;
mod torn;
mod variants;
