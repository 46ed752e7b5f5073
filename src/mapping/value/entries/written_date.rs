//! Dates as people write them: RFC 3339 dates and date-times, kept in their own words.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::date_error::date_error;
use super::properties::Retired;
use super::timestamp::Timestamp;

/// A date or a date-time (RFC 3339), displayed as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenDate {
    text: Box<str>,
    start: Timestamp,
    end: Timestamp,
}

/// Why a text is not a date.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is not a date: {}", self.reason())]
pub struct WrittenDateError {
    /// The text.
    pub text: String,
}

impl WrittenDateError {
    fn reason(&self) -> String {
        date_error(&self.text).unwrap_or_else(|| {
            "write it as in 2026-12-31 or 2026-12-31T12:00:00Z (RFC 3339)".to_owned()
        })
    }
}

impl WrittenDate {
    /// Returns the day of a time, in UTC.
    pub fn day_of(time: Timestamp) -> Self {
        let text = time.to_string();
        let day = text.split('T').next().unwrap_or_default();
        day.parse().expect("a time begins with its day")
    }

    /// Returns the time from which something holds since this date: the beginning of a day in UTC.
    pub fn start(&self) -> Timestamp {
        self.start
    }

    /// Returns the time up to which something holds through this date: the end of a day in UTC.
    pub fn end(&self) -> Timestamp {
        self.end
    }
}

impl FromStr for WrittenDate {
    type Err = WrittenDateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (Timestamp::parse_start(text), Timestamp::parse_end(text)) {
            (Some(start), Some(end)) => Ok(Self {
                text: text.into(),
                start,
                end,
            }),
            _ => Err(WrittenDateError {
                text: text.to_owned(),
            }),
        }
    }
}

impl fmt::Display for WrittenDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Since when an entry is retired, displayed as it is written: `true`, or a date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrittenRetirement {
    /// Since always.
    Always,
    /// Since a date.
    From(WrittenDate),
}

impl WrittenRetirement {
    /// Returns its meaning.
    pub fn meaning(&self) -> Retired {
        match self {
            Self::Always => Retired::Always,
            Self::From(date) => Retired::From(date.start()),
        }
    }
}

impl fmt::Display for WrittenRetirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always => f.write_str("true"),
            Self::From(date) => date.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_kept_as_it_was_written() {
        for text in ["2026-12-31", "2026-12-31t12:00:00.500+01:00"] {
            let date: WrittenDate = text.parse().unwrap();
            assert_eq!(date.to_string(), text);
            assert_eq!(Some(date.start()), Timestamp::parse_start(text));
            assert_eq!(Some(date.end()), Timestamp::parse_end(text));
        }
        let error = "tomorrow".parse::<WrittenDate>().unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("\"tomorrow\" is not a date: write it as")
        );
        let error = "2026-02-30".parse::<WrittenDate>().unwrap_err();
        let reason = "\"2026-02-30\" is not a date: February 2026 has 28 days";
        assert_eq!(error.to_string(), reason);
    }
}
