//! What happens while a host is reserved: at most one request, and what follows from its answer.
//!
//! First come the robots.txt of the origin and, if a deep link is to be asked, a name that the host
//! cannot know. All that changes is written with the end of the lease, or not at all.
//!
//! `reserved` is what a visit has, `choose` what it asks, `ask` how, `take_in` what follows from the
//! answer, and `conclude` what is kept of it; `course` puts them in order.

mod ask;
mod choose;
mod conclude;
mod course;
mod reserved;
mod take_in;

pub(super) use reserved::{BUSY_TIMEOUT, Visit};
