//! The options of one line of allowed signers: the purposes and times for which a key is valid.

use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time};

use super::signer_line_error::SignerLineError;
use crate::git::ssh_patterns::matches_list;

/// The purposes and times for which a key is valid.
#[derive(Debug, Default)]
pub(crate) struct SignerOptions {
    namespaces: Option<String>,
    valid_after: Option<OffsetDateTime>,
    valid_before: Option<OffsetDateTime>,
}

impl SignerOptions {
    /// Returns the end of the options: the first blank outside quotes.
    pub(crate) fn end(text: &str) -> Result<usize, SignerLineError> {
        let (mut quoted, mut escaped) = (false, false);
        for (at, c) in text.char_indices() {
            match c {
                ' ' | '\t' if !quoted => return Ok(at),
                '"' if !escaped => quoted = !quoted,
                _ => {}
            }
            escaped = c == '\\';
        }
        Err(if quoted {
            SignerLineError::Quote
        } else {
            SignerLineError::NoKey
        })
    }

    /// Parses options.
    pub(crate) fn parse(mut text: &str) -> Result<Self, SignerLineError> {
        let mut options = Self::default();
        loop {
            let end = text.find(['=', ',']).unwrap_or(text.len());
            let (name, rest) = text.split_at(end);
            text = match name.to_ascii_lowercase().as_str() {
                "cert-authority" => return Err(SignerLineError::CertAuthority),
                "namespaces" => {
                    let (value, rest) = quoted("namespaces", rest)?;
                    set(&mut options.namespaces, "namespaces", value)?;
                    rest
                }
                "valid-after" => {
                    let (value, rest) = quoted("valid-after", rest)?;
                    set(&mut options.valid_after, "valid-after", read_time(&value)?)?;
                    rest
                }
                "valid-before" => {
                    let (value, rest) = quoted("valid-before", rest)?;
                    set(
                        &mut options.valid_before,
                        "valid-before",
                        read_time(&value)?,
                    )?;
                    rest
                }
                _ => return Err(SignerLineError::UnknownOption(name.to_owned())),
            };
            if text.is_empty() {
                break;
            }
            let more = text.strip_prefix(',');
            text = more.ok_or_else(|| SignerLineError::UnknownOption(text.to_owned()))?;
        }
        if let (Some(start), Some(end)) = (options.valid_after, options.valid_before)
            && end <= start
        {
            return Err(SignerLineError::Never);
        }
        Ok(options)
    }

    /// Returns whether signatures in a namespace are valid.
    pub(crate) fn is_for(&self, namespace: &str) -> bool {
        (self.namespaces.as_deref()).is_none_or(|patterns| matches_list(namespace, patterns))
    }

    /// Returns the start of the key's validity, if a time is before it.
    pub(crate) fn valid_later(&self, at: OffsetDateTime) -> Option<OffsetDateTime> {
        self.valid_after.filter(|start| at < *start)
    }

    /// Returns the end of the key's validity, if a time is not before it.
    pub(crate) fn valid_earlier(&self, at: OffsetDateTime) -> Option<OffsetDateTime> {
        self.valid_before.filter(|end| at >= *end)
    }
}

fn set<T>(option: &mut Option<T>, name: &'static str, value: T) -> Result<(), SignerLineError> {
    match option.replace(value) {
        None => Ok(()),
        Some(_) => Err(SignerLineError::Twice(name)),
    }
}

/// Parses `="value"`, in which `\"` is a quote, and returns the rest.
fn quoted<'a>(name: &'static str, text: &'a str) -> Result<(String, &'a str), SignerLineError> {
    let text = text
        .strip_prefix("=\"")
        .ok_or(SignerLineError::Value(name))?;
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' if text[at + 1..].starts_with('"') => {
                chars.next();
                value.push('"');
            }
            _ => value.push(c),
        }
    }
    Err(SignerLineError::Quote)
}

/// Parses a time. One without a zone is taken as UTC, not in the zone of this machine as in
/// ssh-keygen: the same file must mean the same on every server.
fn read_time(text: &str) -> Result<OffsetDateTime, SignerLineError> {
    let digits = (text.strip_suffix(['Z', 'z']))
        .or_else(|| text.strip_suffix("UTC"))
        .unwrap_or(text);
    time_of(digits).ok_or_else(|| SignerLineError::Time(text.to_owned()))
}

fn time_of(digits: &str) -> Option<OffsetDateTime> {
    if !matches!(digits.len(), 8 | 12 | 14) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let two = |at: usize| {
        digits
            .get(at..at + 2)
            .map_or(Some(0), |text| text.parse::<u8>().ok())
    };
    let month = Month::try_from(two(4)?).ok()?;
    let date = Date::from_calendar_date(digits[..4].parse().ok()?, month, two(6)?).ok()?;
    let time = Time::from_hms(two(8)?, two(10)?, two(12)?).ok()?;
    Some(PrimitiveDateTime::new(date, time).assume_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> SignerOptions {
        SignerOptions::parse(text).unwrap()
    }

    fn time(text: &str) -> i64 {
        read_time(text).unwrap().unix_timestamp()
    }

    #[test]
    fn reads_times_as_utc() {
        assert_eq!(time("20260101"), 1_767_225_600);
        assert_eq!(time("20260101Z"), time("20260101"));
        assert_eq!(time("202601010130Z"), time("20260101") + 5_400);
        assert_eq!(time("20260101013001UTC"), time("20260101") + 5_401);
        for text in [
            "",
            "Z",
            "2026",
            "20261301",
            "20260230",
            "202601012400",
            "2026010113000",
            "2026-01-01",
            "٢٠٢٦٠١٠١",
        ] {
            assert!(read_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bounds_the_time_on_both_sides() {
        let line = options(r#"valid-after="20260101",valid-before="20270101""#);
        let at = |text| OffsetDateTime::from_unix_timestamp(time(text)).unwrap();
        assert_eq!(line.valid_later(at("20251231235959")), Some(at("20260101")));
        assert_eq!(line.valid_later(at("20260101")), None);
        assert_eq!(line.valid_earlier(at("20261231235959")), None);
        assert_eq!(line.valid_earlier(at("20270101")), Some(at("20270101")));
    }

    #[test]
    fn matches_namespaces_as_patterns() {
        for (patterns, allowed) in [
            ("git", true),
            ("file,git", true),
            ("g*", true),
            ("*i?", true),
            ("*", true),
            ("file", false),
            ("GIT", false),
            ("*,!git", false),
            ("gi", false),
            ("git?", false),
            ("", false),
        ] {
            assert_eq!(
                options(&format!("namespaces=\"{patterns}\"")).is_for("git"),
                allowed,
                "{patterns}"
            );
        }
    }

    #[test]
    fn ends_at_the_first_blank_outside_quotes() {
        for (text, end) in [
            ("a b", Some(1)),
            ("a\tb", Some(1)),
            (r#"a="b c",d e"#, Some(9)),
            (r#"a="b\" c" d"#, Some(9)),
            (r#"a="b"#, None),
            ("a", None),
            ("", None),
        ] {
            assert_eq!(SignerOptions::end(text).ok(), end, "{text}");
        }
    }
}
