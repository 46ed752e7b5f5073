//! The time of day as answers need it, read once for many of them.
//!
//! Under load, reading the clock and preparing its forms would take a tenth of what the server adds to
//! the cost of an answer.

use std::cell::Cell;
use std::time::{Duration, Instant, SystemTime};

use httpdate::fmt_http_date;

use crate::mapping::Timestamp;

/// The length of the field `Date` (RFC 9110 section 6.6.1), which hyper writes last, and of the empty line
/// that ends a head.
const END_BYTES: usize = 39;

/// How long a thread uses a time that it has read. Answers have whole seconds.
const USED: Duration = Duration::from_millis(10);

/// A time of day, in the forms that answers need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// For deciding what an entry's end means.
    pub(crate) timestamp: Timestamp,
    /// The end of the head of an answer: its field `Date`, and an empty line.
    pub(crate) end_of_head: [u8; END_BYTES],
}

impl Moment {
    /// Returns the time of day at an instant, which was read just now.
    pub(crate) fn at(now: Instant) -> Self {
        thread_local! {
            static LAST: Cell<Option<(Instant, Moment)>> = const { Cell::new(None) };
        }
        if let Some((end, moment)) = LAST.get()
            && now < end
        {
            return moment;
        }
        let moment = Self::from(SystemTime::now());
        LAST.set(Some((now + USED, moment)));
        moment
    }
}

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        let mut end_of_head = [0; END_BYTES];
        let end = format!("Date: {}\r\n\r\n", fmt_http_date(time));
        end_of_head.copy_from_slice(end.as_bytes());
        Self {
            timestamp: Timestamp::from(time),
            end_of_head,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_again_after_a_while() {
        let now = Instant::now();
        let first = Moment::at(now);
        let again = Moment::at(now + USED / 2);
        assert_eq!(again.end_of_head, first.end_of_head);
        // Whatever the clock says by then.
        let before = Timestamp::from(SystemTime::now());
        assert!(Moment::at(now + USED).timestamp >= before);
    }

    #[test]
    fn has_the_date_of_headers() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let end = b"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n";
        assert_eq!(&Moment::from(time).end_of_head, end);
    }
}
