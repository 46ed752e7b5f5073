//! The program under a service manager: what it reports, and the sockets it inherits.
//!
//! The tests play systemd: they start the real program with the variables and descriptors that
//! sd_notify(3) and sd_listen_fds(3) describe.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod child;
mod notify;
mod served;
mod sockets;
mod units;
