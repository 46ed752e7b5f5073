//! Rules about published links, which `check --base` and `check --history` compare with.

use super::description::{Description, Example};
use super::severity::Severity::Error;

const PUBLISHED: &str = "- url: https://example.org/\n  short-code: example\n";
const RETIRED: &str = "- url: https://example.org/\n  short-code: example\n  retired: true\n";

pub(super) const CODE_GONE: Description = Description {
    name: "published-code-gone",
    severity: Error,
    meaning: "A published code no longer exists.",
    explanation: "Links in emails, documents and printed pages would stop working, and the code could later get another target.",
    wrong: Example::Change {
        published: PUBLISHED,
        proposed: "- url: https://example.org/\n  short-code: renamed\n",
    },
    right: Example::Change {
        published: PUBLISHED,
        proposed: RETIRED,
    },
    remedy: "Restore the entry, with `retired: true` if the link should no longer work.\nIf the entry now has another code, add the old code to its `aliases`.",
};

pub(super) const CODE_RETARGETED: Description = Description {
    name: "published-code-retargeted",
    severity: Error,
    meaning: "A published code leads to another target.",
    explanation: "People who published or bookmarked the link rely on where it leads.\nSo do programs that a variant leads elsewhere: it may neither be removed nor get another target.\nThe same applies to `below`, of the entry and of its variants: paths below the code must lead where they did, unless they were only appended to the target by `forward`.",
    wrong: Example::Change {
        published: PUBLISHED,
        proposed: "- url: https://example.com/\n  short-code: example\n",
    },
    right: Example::Change {
        published: PUBLISHED,
        proposed: "- url: https://example.org/\n  short-code: example\n- url: https://example.com/\n  short-code: example-2\n",
    },
    remedy: "Choose another code for the new target.\nIf the change is intended, declare it at the end of the commit message: `Waypost-Allow: retarget CODE`.",
};

pub(super) const PATH_SHADOWED: Description = Description {
    name: "published-path-shadowed",
    severity: Error,
    meaning: "A new code or site changes the target of a path that belongs to another published link.",
    explanation: "Paths below a forwarding code, alternative spellings of auto codes, and repaired addresses are published links too.\nA new site takes all paths that begin with its base URL.",
    wrong: Example::Change {
        published: "- url: https://example.org/docs/\n  short-code: docs\n  forward: path\n",
        proposed: "- url: https://example.org/docs/\n  short-code: docs\n  forward: path\n- url: https://example.com/\n  short-code: docs/guide\n",
    },
    right: Example::Change {
        published: "- url: https://example.org/docs/\n  short-code: docs\n  forward: path\n",
        proposed: "- url: https://example.org/docs/\n  short-code: docs\n  forward: path\n- url: https://example.com/\n  short-code: guide\n",
    },
    remedy: "Choose another code, or another base URL.\nIf the change is intended, declare it at the end of the commit message: `Waypost-Allow: retarget CODE`.",
};

pub(super) const RETIRED_CODE_RETARGETED: Description = Description {
    name: "retired-code-retargeted",
    severity: Error,
    meaning: "A retired code gets another target.",
    explanation: "A retired code stays taken forever, so that old links never lead to something unrelated: neither the code, nor the types of its variants, nor the paths below it.\nNo declaration in a commit message allows this.",
    wrong: Example::Change {
        published: RETIRED,
        proposed: "- url: https://example.com/\n  short-code: example\n",
    },
    right: Example::Change {
        published: RETIRED,
        proposed: "- url: https://example.org/\n  short-code: example\n  retired: true\n- url: https://example.com/\n  short-code: example-2\n",
    },
    remedy: "Choose another code, or restore the former target.",
};

pub(super) const RETIRED_CODE_REFILLED: Description = Description {
    name: "retired-code-refilled",
    severity: Error,
    meaning: "A code that was retired without a target gets one.",
    explanation: "Nothing in the published table shows whether the target is the one that the code had before.",
    wrong: Example::Change {
        published: "- short-code: example\n  retired: true\n",
        proposed: "- url: https://example.org/\n  short-code: example\n",
    },
    right: Example::Change {
        published: "- short-code: example\n  retired: true\n",
        proposed: "- short-code: example\n  retired: true\n- url: https://example.org/\n  short-code: example-2\n",
    },
    remedy: "Choose another code.\nIf this is the former target, declare it at the end of the commit message: `Waypost-Allow: retarget CODE`.",
};

pub(super) const CASE_EXACT: Description = Description {
    name: "published-case-exact",
    severity: Error,
    meaning: "A site that found codes in any case no longer does.",
    explanation: "Links that people wrote in another case, in print or by hand, would stop working.\nNo declaration in a commit message allows this.",
    wrong: Example::Change {
        published: "base_url: https://short.code/\ncase: fold\nmapping: []\n",
        proposed: "base_url: https://short.code/\nmapping: []\n",
    },
    right: Example::Change {
        published: "base_url: https://short.code/\ncase: fold\nmapping: []\n",
        proposed: "base_url: https://short.code/\ncase: fold\nname: Links of Example\nmapping: []\n",
    },
    remedy: "Restore `case: fold`.",
};
