//! The result of one request: a reply or a failure, its duration, and the pause before the host's
//! next request.

use std::time::Duration;

use bytes::Bytes;

use super::Failure;
use crate::linkcheck::polite::HostPace;

/// The reply to one request, with only the needed fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The field `Location`, not validated.
    pub location: Option<String>,
    /// How long to wait, by `Retry-After`.
    pub retry_after: Option<Duration>,
    /// Whether it comes from a wall that blocks programs.
    pub is_wall: bool,
    /// Whether it sets a cookie, and so may require it.
    pub sets_cookie: bool,
    /// The beginning of the body, up to the limit of the request.
    pub body: Bytes,
    /// Whether that is the whole body.
    pub is_whole: bool,
}

/// One request, and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundTrip {
    /// The reply, or why there is none.
    pub result: Result<Reply, Failure>,
    /// From when the request was sent to the end of the reply; for a connection that failed, how
    /// long it took to fail.
    pub took: Duration,
    /// Whether the connection was a new one. A failure on one that was used before may mean only
    /// that the host had closed it.
    pub is_fresh: bool,
}

/// How long a host rests after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rest {
    /// The pause until its next request.
    pub pause: Duration,
    /// How long the host must not be requested at all, if it said so.
    pub block: Option<Duration>,
}

impl RoundTrip {
    /// Returns how long the host must rest now.
    pub fn rest(&self, pace: HostPace) -> Rest {
        let pause = pace.after(self.took);
        match &self.result {
            Ok(Reply {
                status: 429 | 503,
                retry_after,
                ..
            }) => Rest {
                pause: pause.max(pace.after_refusal()),
                block: *retry_after,
            },
            _ => Rest { pause, block: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_paused_for_as_long_as_its_retry_after() {
        let second = Duration::from_secs(1);
        let pace = HostPace::new(second, None).unwrap();
        let rest = |status, retry_after| {
            let reply = Reply {
                status,
                retry_after,
                ..Reply::default()
            };
            let round_trip = RoundTrip {
                result: Ok(reply),
                took: second,
                is_fresh: true,
            };
            round_trip.rest(pace)
        };
        let year = Some(second * 31_536_000);
        for status in [429, 503] {
            let pause = 30 * second;
            assert_eq!(rest(status, None), Rest { pause, block: None });
            assert_eq!(rest(status, year), Rest { pause, block: year });
        }
        for status in [200, 301, 404, 500] {
            let pause = 5 * second;
            assert_eq!(rest(status, year), Rest { pause, block: None });
        }
    }
}
