//! Rules about the dates that a change sets, which `check --base` compares with.

use super::description::{Description, Example};
use super::severity::Severity::Warning;

const UNDATED: &str = "- url: https://example.org/\n  short-code: example\n";
const LATER: Example = Example::Change {
    published: UNDATED,
    proposed: "- url: https://example.org/\n  short-code: example\n  expires: 2199-12-31\n",
};

pub(super) const PAST: Description = Description {
    name: "expiry-past",
    severity: Warning,
    meaning: "An entry that a change adds, or gives a new `expires`, has expired already.",
    explanation: "The link is gone as soon as it is published.\nEntries that the change leaves as they are give no warning.",
    wrong: Example::Change {
        published: UNDATED,
        proposed: "- url: https://example.org/\n  short-code: example\n  expires: 2020-12-31\n",
    },
    right: LATER,
    remedy: "Correct the date, or write `retired: true` if the link is meant to be gone.",
};

pub(super) const NEAR: Description = Description {
    name: "expiry-near",
    severity: Warning,
    meaning: "An entry that a change adds, or gives a new `expires`, expires within 30 days.",
    explanation: "A short link is followed long after it was printed or sent, and such a date is often a slip of the year.\nEntries that the change leaves as they are give no warning.",
    wrong: Example::Change {
        published: UNDATED,
        proposed: "# on 2026-11-21\n- url: https://example.org/\n  short-code: example\n  expires: 2026-12-15\n",
    },
    right: LATER,
    remedy: "Correct the date, or leave it as it is if the link is meant to be short-lived.",
};
