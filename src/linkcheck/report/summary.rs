//! The summary of a link's checks, in eight bytes: its verdict, and the dates that people need.

use serde::Serialize;

use super::day::Day;
use crate::linkcheck::conclude::{LinkRecord, Verdict};

/// The summary of a link's checks.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LinkSummary {
    /// The verdict.
    pub verdict: Verdict,
    /// When the verdict was first reached; for a dead link, when it started to fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Day>,
    /// When it last worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_ok: Option<Day>,
    /// When it was last observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<Day>,
}

impl LinkSummary {
    /// Returns the summary of a verdict that was reached without a request.
    pub(super) fn without_request(verdict: Verdict) -> Self {
        Self {
            verdict,
            ..Self::default()
        }
    }

    /// Encodes it as a number; no result is zero. The topmost byte is zero, and free for others.
    pub(super) fn packed(self) -> u64 {
        let days = [self.since, self.last_ok, self.checked];
        let days = days.iter().fold(0, |packed, day| {
            packed << 16 | u64::from(day.map_or(0, Day::number))
        });
        // `Unchecked` is the last one, and becomes zero, because most links begin with it.
        let verdict = (Verdict::ALL.iter().rev()).position(|it| *it == self.verdict);
        days | (verdict.unwrap_or_default() as u64) << 48
    }

    /// Decodes the result of [`packed`](Self::packed), ignoring the topmost byte.
    pub(super) fn unpacked(packed: u64) -> Self {
        let [_, verdict, days @ ..] = packed.to_be_bytes();
        let verdict = Verdict::ALL.iter().rev().nth(verdict.into());
        let day = |at| Day::from_number(u16::from_be_bytes([days[at], days[at + 1]]));
        Self {
            verdict: verdict.copied().unwrap_or_default(),
            since: day(0),
            last_ok: day(2),
            checked: day(4),
        }
    }
}

impl From<&LinkRecord> for LinkSummary {
    fn from(record: &LinkRecord) -> Self {
        Self {
            verdict: record.verdict(),
            since: record.since().map(Day::of),
            last_ok: record.last_ok().map(Day::of),
            checked: record.checked().map(Day::of),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::Timestamp;

    #[test]
    fn any_summary_fits_into_eight_bytes() {
        let days = [0, 1, 20_000_i64, 65_535];
        let day =
            |number: i64| (number > 0).then(|| Day::of(Timestamp::from_unix(number * 86_400)));
        for verdict in Verdict::ALL {
            for since in days {
                for last_ok in days {
                    let summary = LinkSummary {
                        verdict,
                        since: day(since),
                        last_ok: day(last_ok),
                        checked: day(65_535 - since),
                    };
                    assert_eq!(LinkSummary::unpacked(summary.packed()), summary);
                    assert_eq!(summary.packed() >> 56, 0);
                }
            }
        }
        assert_eq!(LinkSummary::default().packed(), 0);
    }
}
