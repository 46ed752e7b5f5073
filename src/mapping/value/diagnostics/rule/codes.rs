//! Rules about codes on their own, and about codes that are claimed more than once.

use super::description::{Description, Example};
use super::severity::Severity::{Error, Warning};

pub(super) const EMPTY: Description = Description {
    name: "code-empty",
    severity: Error,
    meaning: "A code is empty.",
    explanation: "The base URL without a code is the landing page.",
    wrong: Example::Entries("- url: https://example.org/\n  short-code: ''\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: example\n"),
    remedy: "Write at least one character, or remove the key to derive the code from the URL.",
};

pub(super) const TOO_LONG: Description = Description {
    name: "code-too-long",
    severity: Error,
    meaning: "A code has more than 255 bytes.",
    explanation: "A short link should be short, and file systems limit names to this length.",
    wrong: Example::Entries(concat!(
        "- url: https://example.org/\n  short-code: ",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "\n",
    )),
    right: Example::Entries("- url: https://example.org/\n  short-code: aaaa\n"),
    remedy: "Choose a shorter code.",
};

pub(super) const NOT_NFC: Description = Description {
    name: "code-not-nfc",
    severity: Error,
    meaning: "A code is not in Unicode normalisation form C (NFC).",
    explanation: "The same letters can be written with different characters: `é` is one character in NFC, and two in other forms.\nRequests are normalised to NFC, so another form would never be found.",
    wrong: Example::Entries("- url: https://example.org/\n  short-code: \"cafe\\u0301\"\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: \"caf\\u00e9\"\n"),
    remedy: "Write the composed form from the hint.",
};

pub(super) const EMPTY_SEGMENT: Description = Description {
    name: "code-empty-segment",
    severity: Error,
    meaning: "A code begins or ends with a slash, or has two in a row.",
    explanation: "A code with a trailing slash leads to the same link, and many programs merge slashes.",
    wrong: Example::Entries("- url: https://example.org/\n  short-code: docs/\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: docs\n"),
    remedy: "Write single slashes, and only between segments.",
};

pub(super) const FORBIDDEN_SEGMENT: Description = Description {
    name: "code-forbidden-segment",
    severity: Error,
    meaning: "A segment of a code is `.`, `..` or `-`.",
    explanation: "Browsers resolve dot segments before they send a request, and `-` is the prefix of the server's own pages.",
    wrong: Example::Entries("- url: https://example.org/\n  short-code: docs/../guide\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: docs/guide\n"),
    remedy: "Write another segment.",
};

pub(super) const FORBIDDEN_CHARACTER: Description = Description {
    name: "code-forbidden-character",
    severity: Error,
    meaning: "A code contains a forbidden character.",
    explanation: "A code consists of letters, digits and marks of any script, and `-`, `.`, `_`, `~`; slashes separate its segments.\nOther characters have a meaning in URLs, or are lost when a link is copied; a final `+` requests the preview page.",
    wrong: Example::Entries("- url: https://example.org/\n  short-code: 50% off\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: 50-percent-off\n"),
    remedy: "Replace the character.",
};

pub(super) const RESERVED: Description = Description {
    name: "code-reserved",
    severity: Error,
    meaning: "The first segment of a code is reserved.",
    explanation: "The server uses these paths itself, or programs request them from every host: `-`, `.well-known`, `healthz`, `livez`, `readyz`, `metrics`, `robots.txt`, `favicon.ico` and `sitemap.xml`.",
    wrong: Example::Entries("- url: https://example.org/\n  short-code: metrics\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: our-metrics\n"),
    remedy: "Choose another code.",
};

pub(super) const TAKEN: Description = Description {
    name: "code-taken",
    severity: Error,
    meaning: "Another entry of the site already has the code.",
    explanation: "A code leads to one target; the first entry, in the order of files and lines, keeps the code.\nThe codes of retired entries stay taken, and two URLs may share an auto code.",
    wrong: Example::Entries(
        "- url: https://example.org/\n  short-code: example\n- url: https://example.com/\n  short-code: example\n",
    ),
    right: Example::Entries(
        "- url: https://example.org/\n  short-code: example\n- url: https://example.com/\n  short-code: example-2\n",
    ),
    remedy: "Choose another code, or merge the two entries if they lead to the same target.\nFor an auto code, write the code from the hint as the `short-code` of the later entry.",
};

pub(super) const DIFFERS_IN_CASE: Description = Description {
    name: "code-differs-in-case",
    severity: Error,
    meaning: "A short code or alias differs only in case from another one, in a site with `case: fold`.",
    explanation: "Requests find codes in any case there, so nothing would decide which of the two entries a third spelling leads to.\nAuto codes and numbers do not count: they are found only as they are.",
    wrong: Example::Document(
        "base_url: https://short.code/\ncase: fold\nmapping:\n- url: https://example.org/\n  short-code: example\n- url: https://example.com/\n  short-code: Example\n",
    ),
    right: Example::Document(
        "base_url: https://short.code/\ncase: fold\nmapping:\n- url: https://example.org/\n  short-code: example\n- url: https://example.com/\n  short-code: example-2\n",
    ),
    remedy: "Choose another code, or leave out an alias that differs from the code of its own entry only in case.\nIf both links are published, the site must keep `case: exact`.",
};

pub(super) const MIXED_SCRIPTS: Description = Description {
    name: "code-mixed-scripts",
    severity: Warning,
    meaning: "A segment of a code mixes letters of different scripts.",
    explanation: "Letters of different scripts can look the same, so one code can pass for another.",
    wrong: Example::Entries("- url: https://example.org/\n  short-code: \"p\\u0430ypal\"\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: paypal\n"),
    remedy: "Write each segment in one script.",
};

pub(super) const ENDS_IN_FULL_STOP: Description = Description {
    name: "code-ends-in-full-stop",
    severity: Warning,
    meaning: "A code ends in a full stop.",
    explanation: "Programs that turn addresses into links treat the full stop as the end of the sentence, and omit it.",
    wrong: Example::Entries("- url: https://example.org/\n  short-code: example.\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: example\n"),
    remedy: "Choose a code without a full stop; keep a code that is already published.",
};

pub(super) const ALIAS_TWICE: Description = Description {
    name: "alias-twice",
    severity: Warning,
    meaning: "An alias repeats a code that its entry already has.",
    explanation: "The alias has no effect; it may be a misspelling of another code.",
    wrong: Example::Entries(
        "- url: https://example.org/\n  short-code: example\n  aliases: [example]\n",
    ),
    right: Example::Entries("- url: https://example.org/\n  short-code: example\n"),
    remedy: "Remove the alias.",
};

pub(super) const ENTRY_TWICE: Description = Description {
    name: "entry-twice",
    severity: Warning,
    meaning: "The table has the same entry twice.",
    explanation: "The second entry has no effect; line-based merges often leave such entries.",
    wrong: Example::Entries("- url: https://example.org/\n- url: https://example.org/\n"),
    right: Example::Entries("- url: https://example.org/\n"),
    remedy: "Remove one of the two.",
};
