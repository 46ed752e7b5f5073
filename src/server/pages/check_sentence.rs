//! What the page of a link says of the last check: a sentence for each verdict, with its days.

use crate::linkcheck::{Day, LinkSummary, Verdict};

/// A sentence in parts: a text, a day, another text, and when the link last worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CheckSentence {
    pub(super) begin: &'static str,
    pub(super) day: Option<Day>,
    pub(super) end: &'static str,
    /// Missing if the sentence has it already.
    pub(super) last_ok: Option<Day>,
}

impl CheckSentence {
    /// Returns what is said of a link; nothing if nothing is known.
    pub(super) fn of(summary: LinkSummary) -> Option<Self> {
        let LinkSummary {
            verdict,
            since,
            last_ok,
            checked,
        } = summary;
        let said = |begin, day, end| {
            Some(Self {
                begin,
                day,
                end,
                last_ok,
            })
        };
        let worked = |end| {
            Some(Self {
                begin: "Worked on ",
                day: Some(last_ok?),
                end,
                last_ok: None,
            })
        };
        match verdict {
            Verdict::Ok => worked(""),
            Verdict::Moved => worked(", and has moved permanently"),
            // What was never asked is a short link of the table's own.
            Verdict::Failing if checked.is_none() => {
                said("Leads to a short link that is not there", None, "")
            }
            Verdict::Gone if checked.is_none() => {
                said("Leads to a short link that is no longer in use", None, "")
            }
            Verdict::Failing => said("Did not work on ", checked, ""),
            Verdict::Dead => said("Seems dead since ", since, ""),
            Verdict::Gone => said("Permanently gone since ", since, ""),
            Verdict::SoftNotFound => said(
                "Probably missing since ",
                since,
                ", although its host reports success",
            ),
            Verdict::Blocked => said(
                "Could not be checked on ",
                checked,
                ", because its host blocks automated requests; it may well work in a browser",
            ),
            Verdict::RobotsDisallowed => said(
                "Not checked, because the robots.txt of its host does not allow it",
                None,
                "",
            ),
            Verdict::Insecure => said(
                "Not secure since ",
                since,
                ": its host has an invalid certificate or obsolete TLS",
            ),
            Verdict::Unchecked => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::Timestamp;

    /// Writes a sentence as the page does, but without markup.
    fn written(verdict: Verdict) -> Option<String> {
        let day = |number: i64| Some(Day::of(Timestamp::from_unix(number * 86_400)));
        let sentence = CheckSentence::of(LinkSummary {
            verdict,
            since: day(20_769),
            last_ok: day(20_700),
            checked: day(20_779),
        })?;
        let words = |day: Option<Day>| day.map(Day::in_words).unwrap_or_default();
        let mut text = format!("{}{}{}", sentence.begin, words(sentence.day), sentence.end);
        if sentence.last_ok.is_some() {
            text += &format!("; it last worked on {}", words(sentence.last_ok));
        }
        Some(text)
    }

    #[test]
    fn each_verdict_has_its_words() {
        let failed = "; it last worked on 4 September 2026";
        for (verdict, expected) in [
            (Verdict::Ok, "Worked on 4 September 2026".to_owned()),
            (
                Verdict::Moved,
                "Worked on 4 September 2026, and has moved permanently".to_owned(),
            ),
            (
                Verdict::Failing,
                format!("Did not work on 22 November 2026{failed}"),
            ),
            (
                Verdict::Dead,
                format!("Seems dead since 12 November 2026{failed}"),
            ),
        ] {
            assert_eq!(written(verdict), Some(expected));
        }
        for verdict in Verdict::ALL {
            let expected = verdict != Verdict::Unchecked;
            assert_eq!(written(verdict).is_some(), expected, "{verdict}");
        }
    }

    #[test]
    fn own_links_have_no_days() {
        for (verdict, expected) in [
            (Verdict::Ok, None),
            (
                Verdict::Failing,
                Some("Leads to a short link that is not there"),
            ),
            (
                Verdict::Gone,
                Some("Leads to a short link that is no longer in use"),
            ),
        ] {
            let sentence = CheckSentence::of(LinkSummary {
                verdict,
                ..LinkSummary::default()
            });
            assert_eq!(sentence.map(|it| it.begin), expected);
            assert_eq!(sentence.and_then(|it| it.day), None);
        }
    }
}
