//! Rules about the answers of targets' hosts, which only a link check finds.

use super::description::{Description, Example};
use super::severity::Severity::Warning;

pub(super) const DEAD: Description = Description {
    name: "link-dead",
    severity: Warning,
    meaning: "A target has failed several times over several days.",
    explanation: "`waypost linkcheck` reports it after three failures at least three days apart, without a success in between.\nThe last failure must be one that the local network cannot have caused.\nBoth numbers can be configured.",
    wrong: Example::Words("An entry whose target answers 404, and has done so for a week.\n"),
    right: Example::Words("An entry whose target works.\n"),
    remedy: "Change the target to the new location of the content, or retire the entry and name an archived copy as its `archive`.",
};

pub(super) const GONE: Description = Description {
    name: "link-gone",
    severity: Warning,
    meaning: "The host of a target reports that it is permanently gone.",
    explanation: "Hosts send the status 410 only on purpose, so one answer is enough.",
    wrong: Example::Words("An entry whose target answers 410.\n"),
    right: Example::Words("An entry whose target works.\n"),
    remedy: "Change the target to the new location of the content, or retire the entry and name an archived copy as its `archive`.",
};

pub(super) const FAILING: Description = Description {
    name: "link-failing",
    severity: Warning,
    meaning: "A target does not work, but not for long enough to be dead.",
    explanation: "Hosts often fail for hours and recover.\nThe message gives the status, or the step at which the connection failed.",
    wrong: Example::Words("An entry whose target answers 500 today.\n"),
    right: Example::Words("An entry whose target works.\n"),
    remedy: "Wait for the next checks; if the entry is new, check its URL.",
};

pub(super) const MOVED: Description = Description {
    name: "link-moved",
    severity: Warning,
    meaning: "The host of a target redirects it permanently to another URL.",
    explanation: "The target works, and all redirects up to the URL that the hint proposes are permanent (301 or 308).",
    wrong: Example::Words("An entry whose target answers 301.\n"),
    right: Example::Words("An entry with the URL that the redirect leads to.\n"),
    remedy: "Write the new URL.\nIf the code is derived from the old URL, write it as `short-code` first, so that the short link keeps working.",
};

pub(super) const SOFT_404: Description = Description {
    name: "link-soft-404",
    severity: Warning,
    meaning: "A target is probably a \"not found\" page.",
    explanation: "Its host reports success, but gives the same page for a random name next to the target, or redirects several targets to one page.",
    wrong: Example::Words("An entry whose target redirects to an error page with status 200.\n"),
    right: Example::Words("An entry whose target works.\n"),
    remedy: "Open the target in a browser, and change it to the new location of the content.",
};

pub(super) const INSECURE: Description = Description {
    name: "link-insecure",
    severity: Warning,
    meaning: "The host of a target has an invalid certificate, or only obsolete versions of TLS.",
    explanation: "Browsers warn their users instead of showing the page.",
    wrong: Example::Words("An entry whose target is at a host with an expired certificate.\n"),
    right: Example::Words("An entry whose target works.\n"),
    remedy: "Ask the operator of the host to renew the certificate, or change the target.",
};

pub(super) const BLOCKED: Description = Description {
    name: "link-blocked",
    severity: Warning,
    meaning: "The host of a target blocks automated requests.",
    explanation: "It answers 401, 402, 403, 407, 429 or 451, with a status above 599, or with a bot challenge.\nThe link may well work in a browser, so this never counts towards `link-dead`.",
    wrong: Example::Words("An entry whose target answers 403.\n"),
    right: Example::Words("An entry whose target answers automated requests.\n"),
    remedy: "Open the target in a browser.",
};

pub(super) const ROBOTS_DISALLOWED: Description = Description {
    name: "link-robots-disallowed",
    severity: Warning,
    meaning: "The robots.txt of a target's host does not allow Waypost to check it.",
    explanation: "The target was not requested; the link may well work.\nA host that answers a request for robots.txt with a status of 500 or above allows nothing (RFC 9309).",
    wrong: Example::Words("An entry whose target is under a path that robots.txt disallows.\n"),
    right: Example::Words("An entry whose target robots.txt allows.\n"),
    remedy: "Open the target in a browser.",
};
