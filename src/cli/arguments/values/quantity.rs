//! Quantities in flags: `500ms`, `10s`, `5m`, `1h`, `14d`; `64KiB`, `256MiB`.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// Parses an interval: a whole number and `ms`, `s`, `m`, `h` or `d`.
pub(crate) fn interval(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let millis_per_unit = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => {
            let problem = "write a whole number and a unit, as in 500ms, 10s, 5m, 1h or 14d";
            return Err(problem.to_owned());
        }
    };
    scale(number, millis_per_unit).map(Duration::from_millis)
}

/// Parses an interval that is not zero.
pub(crate) fn positive_interval(text: &str) -> Result<Duration, String> {
    let interval = interval(text)?;
    if interval.is_zero() {
        return Err("it must be longer than nothing".to_owned());
    }
    Ok(interval)
}

/// Reads a number that is at least 1.
pub(crate) fn count(text: &str) -> Result<NonZeroUsize, String> {
    let error = "write a whole number, at least 1";
    text.parse().map_err(|_| error.to_owned())
}

/// Returns a parser of the whole numbers in a range.
pub(crate) fn within<T>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + fmt::Display + Clone + Send + Sync + 'static,
{
    move |text: &str| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        let (least, most) = (range.start(), range.end());
        number.ok_or_else(|| format!("write a whole number from {least} to {most}"))
    }
}

/// Reads how many problems are listed: a number that is at least 1, or `all`.
pub(crate) fn max_problems(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        _ => count(text)
            .map(NonZeroUsize::get)
            .map_err(|it| format!("{it}, or all")),
    }
}

/// Parses a number of bytes: a whole number alone, or with `KiB`, `MiB` or `GiB`.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let bytes_per_unit = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err("write a whole number and a unit, as in 64KiB or 256MiB".to_owned()),
    };
    scale(number, bytes_per_unit)
}

fn split(text: &str) -> (&str, &str) {
    text.split_at(
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len()),
    )
}

fn scale(number: &str, factor: u64) -> Result<u64, String> {
    let number: u64 = number
        .parse()
        .map_err(|_| "it begins with a whole number".to_owned())?;
    number
        .checked_mul(factor)
        .ok_or_else(|| "it is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_of_a_range_are_refused_with_the_range() {
        let parse = within(2..=u8::MAX);
        assert_eq!((parse("2"), parse("255")), (Ok(2), Ok(255)));
        for text in ["", "1", "256", "-3", "2.5", "x", "18446744073709551616"] {
            let refused = Err("write a whole number from 2 to 255".to_owned());
            assert_eq!(parse(text), refused, "{text}");
        }
    }

    #[test]
    fn reads_intervals() {
        assert_eq!(interval("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(interval("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(interval("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(interval("1h"), Ok(Duration::from_secs(3600)));
        assert_eq!(interval("14d"), Ok(Duration::from_secs(14 * 86_400)));
        assert_eq!(interval("0s"), Ok(Duration::ZERO));
        for text in [
            "",
            "10",
            "s",
            "1.5s",
            "-1s",
            "10 s",
            "10S",
            "99999999999999999999s",
            "9999999999999999h",
            "9999999999999d",
            "1w",
            "1d12h",
        ] {
            assert!(interval(text).is_err(), "{text}");
        }
        assert!(positive_interval("0ms").is_err());
    }

    #[test]
    fn reads_bytes() {
        assert_eq!(bytes("1024"), Ok(1024));
        assert_eq!(bytes("256MiB"), Ok(256 << 20));
        for text in ["", "MiB", "1MB", "1.5GiB", "99999999999GiB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
