//! Points in time as tables write them: RFC 3339 dates and date-times.
//!
//! The clock is never read here: callers pass the time in.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use time::format_description::{BorrowedFormatItem, well_known::Rfc3339};
use time::macros::format_description;
use time::{Date, OffsetDateTime};

/// RFC 3339 section 5.6, `full-date`.
const FULL_DATE: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

const SECONDS_PER_DAY: i64 = 86_400;

/// 9999-12-31T23:59:59Z, the last second that RFC 3339 can write.
const LAST: i64 = 253_402_300_799;

/// A point in time, in whole seconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The earliest point in time: before any that a table can name.
    pub const MIN: Self = Self(i64::MIN);

    /// Returns the time at a number of seconds after (or before) the Unix epoch.
    pub const fn from_unix(seconds: i64) -> Self {
        Self(seconds)
    }

    /// Returns the seconds since the Unix epoch.
    pub const fn unix(self) -> i64 {
        self.0
    }

    /// Reads an RFC 3339 date-time, or a date as its first second in UTC.
    ///
    /// Returns `None` for anything else, for dates that do not exist, and for ISO 8601 forms
    /// that RFC 3339 leaves out.
    pub fn parse_start(text: &str) -> Option<Self> {
        Self::parse_date(text).or_else(|| Self::parse_date_time(text))
    }

    /// Reads an RFC 3339 date-time, or a date as the first second after it in UTC.
    ///
    /// This is the meaning of `expires`: a link that expires on a day works through that day.
    pub fn parse_end(text: &str) -> Option<Self> {
        Self::parse_date(text)
            .map(|Self(start)| Self((start + SECONDS_PER_DAY).min(LAST)))
            .or_else(|| Self::parse_date_time(text))
    }

    fn parse_date(text: &str) -> Option<Self> {
        // The parser accepts signed years, the RFC does not.
        let unsigned = text.starts_with(|c: char| c.is_ascii_digit());
        let date = Date::parse(text, FULL_DATE).ok().filter(|_| unsigned)?;
        Some(Self(date.midnight().assume_utc().unix_timestamp()))
    }

    fn parse_date_time(text: &str) -> Option<Self> {
        // The parser accepts any character between date and time, the RFC three.
        let separated = matches!(text.as_bytes().get(10), Some(b'T' | b't' | b' '));
        let time = OffsetDateTime::parse(text, &Rfc3339)
            .ok()
            .filter(|_| separated)?;
        Some(Self(time.unix_timestamp()))
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let seconds = |d: Duration| i64::try_from(d.as_secs()).unwrap_or(i64::MAX);
        match time.duration_since(UNIX_EPOCH) {
            Ok(after) => Self(seconds(after)),
            Err(before) => Self(-seconds(before.duration())),
        }
    }
}

/// Writes RFC 3339 in UTC, as in `2026-12-31T00:00:00Z`, unless the year does not have four digits.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The widest offsets reach any time that a table can name.
        for (seconds, offset) in [(0, "Z"), (-86_340, "-23:59"), (86_340, "+23:59")] {
            let there = OffsetDateTime::from_unix_timestamp(self.0.saturating_add(seconds));
            if let Ok(Ok(text)) = there.map(|there| there.format(&Rfc3339)) {
                return write!(f, "{}{offset}", text.trim_end_matches('Z'));
            }
        }
        write!(f, "@{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_valid_through_its_day() {
        let start = Timestamp::parse_start("2026-12-31").unwrap();
        let end = Timestamp::parse_end("2026-12-31").unwrap();
        assert_eq!(start.to_string(), "2026-12-31T00:00:00Z");
        assert_eq!(end.to_string(), "2027-01-01T00:00:00Z");
    }

    #[test]
    fn the_last_date_has_an_end_that_can_be_written() {
        let end = Timestamp::parse_end("9999-12-31").unwrap();
        assert_eq!(end.to_string(), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn times_at_the_ends_of_the_calendar_can_be_written() {
        for (text, written) in [
            ("9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59-23:59"),
            ("9999-12-31T23:59:59-01:00", "9999-12-31T01:00:59-23:59"),
            ("0000-01-01T00:00:00+01:00", "0000-01-01T22:59:00+23:59"),
        ] {
            let time = Timestamp::parse_end(text).unwrap();
            assert_eq!(time.to_string(), written);
            assert_eq!(Timestamp::parse_end(written), Some(time));
        }
        assert_eq!(Timestamp::MIN.to_string(), format!("@{}", i64::MIN));
    }

    #[test]
    fn a_date_time_means_the_same_at_both_ends() {
        for text in ["2026-12-31T12:00:00Z", "2026-12-31T13:00:00+01:00"] {
            assert_eq!(Timestamp::parse_start(text), Timestamp::parse_end(text));
            assert_eq!(
                Timestamp::parse_end(text).unwrap().to_string(),
                "2026-12-31T12:00:00Z"
            );
        }
    }

    #[test]
    fn refuses_what_rfc_3339_does_not_know() {
        for text in [
            "",
            "2026",
            "2026-1-1",
            "20261231",
            "2026-02-30",
            "2026-13-01",
            "tomorrow",
            "2026-12-31T12:00",
            "2026-12-31T12:00:00",
            "+2026-12-31",
            "2026-12-31 ",
            "2026-12-31x12:00:00Z",
        ] {
            assert_eq!(Timestamp::parse_end(text), None, "{text:?}");
        }
    }
}
