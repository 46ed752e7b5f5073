//! Rules about what the hosts of targets answer, which only a link check finds.

use super::description::{Description, Example};
use super::severity::Severity::Warning;

pub(super) const DEAD: Description = Description {
    name: "link-dead",
    severity: Warning,
    meaning: "A target has failed several times, over days.",
    explanation: "`waypost linkcheck` reports it after three failures at least three days apart, without a success in between; the last one is not one that this machine's network may have caused.\nBoth numbers can be configured.",
    wrong: Example::Words("An entry whose target answers 404, and has done so for a week."),
    right: Example::Words("An entry whose target works."),
    remedy: "Lead the code to where the content is now, or retire the entry and name an archived copy as its `archive`.",
};

pub(super) const GONE: Description = Description {
    name: "link-gone",
    severity: Warning,
    meaning: "The host of a target says that it is gone for good.",
    explanation: "The status 410 is only sent on purpose, so it does not need to be seen again.",
    wrong: Example::Words("An entry whose target answers 410."),
    right: Example::Words("An entry whose target works."),
    remedy: "Lead the code to where the content is now, or retire the entry and name an archived copy as its `archive`.",
};

pub(super) const FAILING: Description = Description {
    name: "link-failing",
    severity: Warning,
    meaning: "A target does not work, but not for long enough to be called dead.",
    explanation: "Hosts fail for hours and come back.\nThe message says what was seen: a status, or at which step the connection failed.",
    wrong: Example::Words("An entry whose target answers 500 today."),
    right: Example::Words("An entry whose target works."),
    remedy: "Wait for the next checks, or look whether the URL is right if the entry is new.",
};

pub(super) const MOVED: Description = Description {
    name: "link-moved",
    severity: Warning,
    meaning: "The host of a target says that it has another URL for good.",
    explanation: "The target works, over redirects that are all permanent (301 or 308) up to the URL that the hint proposes.",
    wrong: Example::Words("An entry whose target answers 301."),
    right: Example::Words("An entry with the URL that it leads to."),
    remedy: "Write the new URL; if the code is derived from the old one, write it out as `short-code` first, so that it stays.",
};

pub(super) const SOFT_404: Description = Description {
    name: "link-soft-404",
    severity: Warning,
    meaning: "The host of a target answers as it does for pages that it never had.",
    explanation: "Its status is a success, but a random name next to the target leads to the same page, or several targets of the host end at one page.",
    wrong: Example::Words("An entry whose target redirects to an error page with status 200."),
    right: Example::Words("An entry whose target works."),
    remedy: "Look at the target with a browser, and lead the code to where the content is now.",
};

pub(super) const INSECURE: Description = Description {
    name: "link-insecure",
    severity: Warning,
    meaning: "The host of a target has no certificate that can be trusted, or no TLS that is still in use.",
    explanation: "Browsers warn their users instead of showing the page.",
    wrong: Example::Words("An entry whose target is at a host with an expired certificate."),
    right: Example::Words("An entry whose target works."),
    remedy: "Ask the operator of the host to renew the certificate, or lead the code elsewhere.",
};

pub(super) const BLOCKED: Description = Description {
    name: "link-blocked",
    severity: Warning,
    meaning: "The host of a target lets no program see it.",
    explanation: "It answers 401, 403, 407, 429 or 451, or with a challenge for programs.\nThe link may well work for people, so this is never a step towards `link-dead`.",
    wrong: Example::Words("An entry whose target answers 403."),
    right: Example::Words("An entry whose target works for programs too."),
    remedy: "Look at the target with a browser.",
};

pub(super) const ROBOTS_DISALLOWED: Description = Description {
    name: "link-robots-disallowed",
    severity: Warning,
    meaning: "The robots.txt of a target's host does not permit the question.",
    explanation: "The target was not asked; the link may well work.\nA robots.txt that is answered with a status from 500 on permits nothing (RFC 9309).",
    wrong: Example::Words("An entry whose target is under a path that robots.txt disallows."),
    right: Example::Words("An entry whose target may be asked."),
    remedy: "Look at the target with a browser.",
};
