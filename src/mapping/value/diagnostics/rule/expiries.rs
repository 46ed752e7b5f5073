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
    meaning: "An entry that is new, or has a new `expires`, has already expired.",
    explanation: "The link is gone as soon as it is published.\nUnchanged entries cause no warning.",
    wrong: Example::Change {
        published: UNDATED,
        proposed: "- url: https://example.org/\n  short-code: example\n  expires: 2020-12-31\n",
    },
    right: LATER,
    remedy: "Correct the date, or write `retired: true` if the link should be gone.",
};

pub(super) const NEAR: Description = Description {
    name: "expiry-near",
    severity: Warning,
    meaning: "An entry that is new, or has a new `expires`, expires within 30 days.",
    explanation: "People follow a short link long after it was printed or sent, and a date this near is often a mistake in the year.\nUnchanged entries cause no warning.",
    wrong: Example::Change {
        published: UNDATED,
        proposed: "# on 2026-11-21\n- url: https://example.org/\n  short-code: example\n  expires: 2026-12-15\n",
    },
    right: LATER,
    remedy: "Correct the date, or keep it if the link is intended to be short-lived.",
};
