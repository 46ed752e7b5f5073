//! A visit: the work while a host is reserved, which is at most one request, and the consequences
//! of its answer.
//!
//! First come the robots.txt of the origin and, before a deep link, a nonexistent page. All changes
//! are written with the end of the lease, or not at all.
//!
//! `reserved` is the state of a visit, `choose` chooses its request, `send` sends it, `take_in`
//! processes the answer, and `conclude` stores the result; `course` runs these steps in order.

mod choose;
mod conclude;
mod course;
mod reserved;
mod send;
mod take_in;

pub(super) use reserved::{BUSY_TIMEOUT, Visit};
