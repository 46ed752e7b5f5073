//! The sentence about the last check on the page of a link: one for each verdict, with its dates.

use crate::html::{Frame, Moment, Sentence};
use crate::linkcheck::{LinkSummary, Verdict};

/// Returns the sentence about a link; none if it was not checked.
pub(super) fn check_sentence(frame: &Frame<'_>, summary: LinkSummary) -> Option<Sentence> {
    let LinkSummary {
        verdict,
        since,
        last_ok,
        checked,
    } = summary;
    // The texts with this day, and with the day when the link last worked, if that is known.
    let (day, texts) = match verdict {
        Verdict::Ok => (last_ok, ["check-ok"; 2]),
        Verdict::Moved => (last_ok, ["check-moved"; 2]),
        // A target that was never requested is a short link of the table itself.
        Verdict::Failing if checked.is_none() => return Some(frame.sentence("check-own-missing")),
        Verdict::Gone if checked.is_none() => return Some(frame.sentence("check-own-gone")),
        Verdict::Failing => (checked, ["check-failing", "check-failing-worked"]),
        Verdict::Dead => (since, ["check-dead", "check-dead-worked"]),
        Verdict::Gone => (since, ["check-gone", "check-gone-worked"]),
        Verdict::SoftNotFound => (since, ["check-soft-404", "check-soft-404-worked"]),
        Verdict::Blocked => (checked, ["check-blocked", "check-blocked-worked"]),
        Verdict::RobotsDisallowed => return Some(frame.sentence("check-robots-disallowed")),
        Verdict::Insecure => (since, ["check-insecure", "check-insecure-worked"]),
        Verdict::Unchecked => return None,
    };
    let sentence = frame.sentence(texts[usize::from(last_ok.is_some())]);
    let sentence = sentence.time("day", Moment::Day(day?.start()));
    Some(match last_ok {
        Some(worked) => sentence.time("worked", Moment::Day(worked.start())),
        None => sentence,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::Language;
    use crate::linkcheck::Day;
    use crate::mapping::Timestamp;

    fn day(number: i64) -> Option<Day> {
        Some(Day::of(Timestamp::from_unix(number * 86_400)))
    }

    /// Writes a sentence without its markup.
    fn written(summary: LinkSummary) -> Option<String> {
        let frame = Frame::of(Language::DEFAULT, None);
        let html = check_sentence(&frame, summary)?.to_string();
        let texts = html.split('<').map(|part| match part.split_once('>') {
            Some((_, text)) => text,
            None => part,
        });
        Some(texts.collect())
    }

    #[test]
    fn each_verdict_has_its_words() {
        let summary = |verdict| LinkSummary {
            verdict,
            since: day(20_769),
            last_ok: day(20_700),
            checked: day(20_779),
        };
        let failed = "; it last worked on 4 September 2026.";
        for (verdict, expected) in [
            (Verdict::Ok, "Worked on 4 September 2026.".to_owned()),
            (
                Verdict::Moved,
                "Worked on 4 September 2026, and has moved permanently.".to_owned(),
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
            assert_eq!(written(summary(verdict)), Some(expected));
        }
        for verdict in Verdict::ALL {
            let expected = verdict != Verdict::Unchecked;
            let with = written(summary(verdict));
            assert_eq!(with.is_some(), expected, "{verdict}");
            let without = written(LinkSummary {
                last_ok: None,
                ..summary(verdict)
            });
            // No text is missing, and no placeholder is left.
            for text in [with, without].into_iter().flatten() {
                assert!(text.ends_with('.'), "{text}");
                assert!(
                    !text.contains(" day") && !text.contains("worked,"),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn own_links_have_no_days() {
        for (verdict, expected) in [
            (Verdict::Ok, None),
            (
                Verdict::Failing,
                Some("Leads to a short link that does not exist."),
            ),
            (
                Verdict::Gone,
                Some("Leads to a short link that is no longer in use."),
            ),
        ] {
            let summary = LinkSummary {
                verdict,
                ..LinkSummary::default()
            };
            assert_eq!(written(summary).as_deref(), expected);
        }
    }
}
