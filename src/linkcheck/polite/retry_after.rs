//! `Retry-After` (RFC 9110, section 10.2.3): a number of seconds, or a date.

use std::time::{Duration, SystemTime};

/// The maximum, ten years, so that sums of times cannot overflow.
const MAX: Duration = Duration::from_secs(10 * 366 * 86_400);

/// Reads a field's value as the time from `now` on. A date in the past is zero.
///
/// Returns `None` for anything else: such a field only means that the host is busy.
pub fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim_matches([' ', '\t']);
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that overflows is a long time, too.
        return Some(value.parse().map_or(MAX, Duration::from_secs).min(MAX));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default().min(MAX))
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn reads_seconds_of_any_length() {
        let read = |value: &str| retry_after(value, UNIX_EPOCH);
        assert_eq!(read("0"), Some(Duration::ZERO));
        assert_eq!(read(" 120\t"), Some(Duration::from_secs(120)));
        assert_eq!(read("31536000"), Some(Duration::from_secs(31_536_000)));
        let many = "9".repeat(400);
        assert_eq!(read(&many), Some(MAX));
        for value in ["", " ", "-1", "+1", "1.5", "1e3", "soon", "٣", "120, 120"] {
            assert_eq!(read(value), None, "{value:?}");
        }
    }

    #[test]
    fn reads_dates_in_all_three_forms() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
        for value in [
            "Sun, 06 Nov 1994 08:50:37 GMT",
            "Sunday, 06-Nov-94 08:50:37 GMT",
            "Sun Nov  6 08:50:37 1994",
        ] {
            let minute = Some(Duration::from_secs(60));
            assert_eq!(retry_after(value, now), minute, "{value}");
            let later = now + Duration::from_secs(61);
            assert_eq!(retry_after(value, later), Some(Duration::ZERO), "{value}");
        }
        let far = "Fri, 31 Dec 9999 23:59:59 GMT";
        assert_eq!(retry_after(far, now), Some(MAX));
        assert_eq!(retry_after("Sun, 06 Nov 1994", now), None);
    }
}
