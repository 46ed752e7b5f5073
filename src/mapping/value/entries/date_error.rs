//! The error of a text that has the form of a date, but is not one.

use time::{Date, Month, util};

/// Returns why a text in the form of a date or date-time (RFC 3339) is invalid; `None` if it does
/// not have that form.
pub(crate) fn date_error(text: &str) -> Option<String> {
    let (date, rest) = text.split_at_checked(10)?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let Some(name) = u8::try_from(month)
        .ok()
        .and_then(|it| Month::try_from(it).ok())
    else {
        return Some(format!("there is no month {month:02}"));
    };
    let year = i32::try_from(year).ok()?;
    let days = util::days_in_month(name, year);
    if Date::from_calendar_date(year, name, u8::try_from(day).ok()?).is_err() {
        return Some(match day {
            0 => "days count from 01".to_owned(),
            _ => format!("{name} {year} has {days} days"),
        });
    }
    let time = rest.strip_prefix(['T', 't', ' '])?;
    let (clock, offset) = match time.find(|c: char| !c.is_ascii_digit() && !":.".contains(c)) {
        Some(end) => time.split_at(end),
        None => (time, ""),
    };
    let clock = clock.split('.').next().unwrap_or_default();
    let Some([hour, minute, second]) = numbers(clock, ':', [2, 2, 2]) else {
        let is_short = numbers(clock, ':', [2, 2]).is_some();
        return is_short.then(|| "the seconds of the time are missing".to_owned());
    };
    let over = [
        (hour, 23, "hour"),
        (minute, 59, "minute"),
        (second, 59, "second"),
    ];
    if let Some((value, _, unit)) = over.into_iter().find(|(value, max, _)| value > max) {
        return Some(format!("there is no {unit} {value}"));
    }
    offset
        .is_empty()
        .then(|| "the time zone is missing: add Z for UTC, or an offset as in +01:00".to_owned())
}

/// Reads numbers of these widths, with a separator between them.
fn numbers<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[u32; N]> {
    let mut parts = text.split(separator);
    let mut read = [0; N];
    for (value, width) in read.iter_mut().zip(widths) {
        let part = parts.next().filter(|part| part.len() == width)?;
        let digits = part.bytes().all(|byte| byte.is_ascii_digit());
        *value = digits.then(|| part.parse().ok()).flatten()?;
    }
    parts.next().is_none().then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::value::Timestamp;

    #[test]
    fn names_the_part_that_is_wrong() {
        for (text, error) in [
            ("2026-02-30", "February 2026 has 28 days"),
            ("2028-02-30", "February 2028 has 29 days"),
            ("2026-04-31T12:00:00Z", "April 2026 has 30 days"),
            ("2026-00-10", "there is no month 00"),
            ("2026-13-01", "there is no month 13"),
            ("2026-12-00", "days count from 01"),
            ("2026-12-31T12:00Z", "the seconds of the time are missing"),
            ("2026-12-31 25:00:00Z", "there is no hour 25"),
            ("2026-12-31T12:60:00Z", "there is no minute 60"),
            (
                "2026-12-31T12:00:00.5",
                "the time zone is missing: add Z for UTC, or an offset as in +01:00",
            ),
        ] {
            assert_eq!(date_error(text).as_deref(), Some(error), "{text}");
            assert_eq!(Timestamp::parse_end(text), None, "{text}");
        }
    }

    #[test]
    fn another_form_is_no_error_of_a_date() {
        for text in [
            "",
            "tomorrow",
            "2026-1-1",
            "31.12.2026",
            "2026-12-3é",
            "2026–12–31",
            "+026-12-31",
        ] {
            assert_eq!(date_error(text), None, "{text}");
        }
    }
}
