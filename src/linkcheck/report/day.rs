//! A day, in two bytes.

use std::fmt;
use std::num::NonZeroU16;

use serde::{Serialize, Serializer};
use time::Date;
use time::format_description::BorrowedFormatItem;
use time::macros::{date, format_description};

use crate::mapping::Timestamp;

/// RFC 3339 section 5.6, `full-date`.
const FULL_DATE: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

const SECONDS_PER_DAY: i64 = 86_400;

/// A day in UTC, from 1970-01-02 to 2149-06-06; times before and after are those days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(NonZeroU16);

impl Day {
    /// Returns the day of a point in time.
    pub fn of(time: Timestamp) -> Self {
        let days = time.unix().div_euclid(SECONDS_PER_DAY);
        let days = days.clamp(1, u16::MAX.into());
        Self(u16::try_from(days).map_or(NonZeroU16::MAX, |days| {
            NonZeroU16::new(days).unwrap_or(NonZeroU16::MIN)
        }))
    }

    /// Returns the days since 1970-01-01.
    pub(super) fn number(self) -> u16 {
        self.0.get()
    }

    /// Returns the day so many days after 1970-01-01; `None` for zero.
    pub(super) fn from_number(number: u16) -> Option<Self> {
        NonZeroU16::new(number).map(Self)
    }

    /// Returns when it begins.
    pub fn start(self) -> Timestamp {
        Timestamp::from_unix(i64::from(self.0.get()) * SECONDS_PER_DAY)
    }
}

/// Writes an RFC 3339 date.
impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = time::Duration::days(self.0.get().into());
        let day: Date = date!(1970 - 01 - 01).saturating_add(days);
        // Every day has all parts of the form.
        f.write_str(&day.format(FULL_DATE).unwrap_or_default())
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_that_of_utc() {
        for (seconds, written) in [
            (1_794_441_600, "2026-11-12"),
            (1_794_527_999, "2026-11-12"),
            (1_794_528_000, "2026-11-13"),
            (951_782_400, "2000-02-29"),
            (i64::MIN, "1970-01-02"),
            (i64::MAX, "2149-06-06"),
        ] {
            let day = Day::of(Timestamp::from_unix(seconds));
            assert_eq!(day.to_string(), written);
            assert_eq!(Day::of(day.start()), day);
            assert_eq!(Day::from_number(day.number()), Some(day));
        }
    }
}
