//! Points in time for people: a day, or a day and a time, always in UTC.

use time::UtcDateTime;

use super::language::Language;
use super::messages::filled;
use crate::mapping::Timestamp;

/// The keys of the months' names.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A day, or a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The day that has this time.
    Day(Timestamp),
    /// This time, to the minute.
    Time(Timestamp),
}

impl Moment {
    /// Returns when something ends that is valid before a point in time: the last day of it, if it
    /// ends with a day.
    pub fn last_before(end: Timestamp) -> Self {
        let last = Timestamp::from_unix(end.unix().saturating_sub(1));
        match end.unix().rem_euclid(86_400) {
            // The last day of the calendar has no second after it.
            0 | 86_399 => Self::Day(last),
            _ => Self::Time(end),
        }
    }

    /// Returns when something begins: a day, if it begins with one.
    pub fn first_from(start: Timestamp) -> Self {
        match start.unix().rem_euclid(86_400) {
            0 => Self::Day(start),
            _ => Self::Time(start),
        }
    }

    /// Returns whether it is a whole day.
    pub fn is_day(self) -> bool {
        matches!(self, Self::Day(_))
    }

    /// Returns the element `time` with the words of a language.
    pub fn html(self, language: Language) -> String {
        let (Self::Day(at) | Self::Time(at)) = self;
        let written = at.to_string();
        let machine = match self {
            Self::Day(_) => written.split('T').next().unwrap_or_default(),
            Self::Time(_) => &written,
        };
        let words = self.in_words(language);
        format!("<time datetime=\"{machine}\">{words}</time>")
    }

    /// Returns it in words, as in `31 December 2031`. The words contain no characters that are
    /// special in HTML.
    pub fn in_words(self, language: Language) -> String {
        let (Self::Day(at) | Self::Time(at)) = self;
        let Ok(at) = UtcDateTime::from_unix_timestamp(at.unix()) else {
            return at.to_string();
        };
        let month = usize::from(u8::from(at.month())) - 1;
        let day = filled(language.text("date"), |name| match name {
            "day" => at.day().to_string(),
            "month" => language.text(MONTHS[month]).to_owned(),
            _ => at.year().to_string(),
        });
        match self {
            Self::Day(_) => day,
            Self::Time(_) => filled(language.text("date-and-time"), |name| match name {
                "date" => day.clone(),
                _ => format!("{:02}:{:02}", at.hour(), at.minute()),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_end(text).unwrap()
    }

    #[test]
    fn what_expires_with_a_day_is_valid_through_it() {
        let german = Language::of_range("de").unwrap();
        for (expires, words, in_german, machine) in [
            (
                "2031-12-31",
                "31 December 2031",
                "31. Dezember 2031",
                "2031-12-31",
            ),
            (
                "2032-01-01T00:00:00Z",
                "31 December 2031",
                "31. Dezember 2031",
                "2031-12-31",
            ),
            (
                "9999-12-31",
                "31 December 9999",
                "31. Dezember 9999",
                "9999-12-31",
            ),
            (
                "2028-03-01T09:05:59+01:00",
                "08:05 UTC on 1 March 2028",
                "1. März 2028, 08:05 Uhr (UTC)",
                "2028-03-01T08:05:59Z",
            ),
        ] {
            let moment = Moment::last_before(at(expires));
            assert_eq!(moment.in_words(Language::DEFAULT), words);
            assert_eq!(moment.in_words(german), in_german);
            let html = format!("<time datetime=\"{machine}\">{words}</time>");
            assert_eq!(moment.html(Language::DEFAULT), html);
        }
    }

    #[test]
    fn what_begins_with_a_day_begins_on_it() {
        let start = Timestamp::parse_start("2026-03-01").unwrap();
        let moment = Moment::first_from(start);
        assert!(moment.is_day());
        assert_eq!(moment.in_words(Language::DEFAULT), "1 March 2026");
        let noon = Moment::first_from(at("2026-03-01T12:00:00Z"));
        assert_eq!(
            noon.in_words(Language::DEFAULT),
            "12:00 UTC on 1 March 2026"
        );
    }

    #[test]
    fn times_outside_the_calendar_are_numbers() {
        let moment = Moment::Day(Timestamp::MIN);
        assert_eq!(
            moment.in_words(Language::DEFAULT),
            Timestamp::MIN.to_string()
        );
    }

    #[test]
    fn the_words_need_no_escaping() {
        for language in Language::all() {
            let texts = MONTHS.map(|month| language.text(month)).concat();
            let all = texts + language.text("date") + language.text("date-and-time");
            assert!(!all.contains(['<', '>', '&', '"', '\'']), "{all}");
        }
    }
}
