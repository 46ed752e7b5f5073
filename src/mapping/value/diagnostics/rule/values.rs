//! Rules about the values of keys: their types, and what may be written for them.

use super::description::{Description, Example};
use super::severity::Severity::{Error, Warning};

pub(super) const MISSING: Description = Description {
    name: "value-missing",
    severity: Error,
    meaning: "A key has no value.",
    explanation: "A missing value could mean an empty string, a default or an unfinished edit.",
    wrong: Example::Entries("- url: https://example.org/\n  title:\n"),
    right: Example::Entries("- url: https://example.org/\n"),
    remedy: "Write a value, or remove the key.",
};

pub(super) const WRONG_TYPE: Description = Description {
    name: "value-wrong-type",
    severity: Error,
    meaning: "A value has the wrong type: a string, a list or a map where another one is required.",
    explanation: "Documents, entries and tests are maps; `mapping`, `aliases`, `tags` and `tests` are lists; most other values are strings.",
    wrong: Example::Entries("- url: https://example.org/\n  aliases: example\n"),
    right: Example::Entries("- url: https://example.org/\n  aliases: [example]\n"),
    remedy: "Write a list as `[a, b]` or with each item on its own line after `- `, and a map with each key on its own line.",
};

pub(super) const UNKNOWN: Description = Description {
    name: "value-unknown",
    severity: Error,
    meaning: "A value is not one of those that its key allows.",
    explanation: "This applies to `status`, `forward`, `code-scheme` and `new`; the message lists the possible values.\nA `status` is a number without quotes.",
    wrong: Example::Entries("- url: https://example.org/\n  status: 200\n"),
    right: Example::Entries("- url: https://example.org/\n  status: 301\n"),
    remedy: "Write one of the values in the message, or remove the key.",
};

pub(super) const NUMBER_INVALID: Description = Description {
    name: "number-invalid",
    severity: Error,
    meaning: "A value is not a whole number in plain decimal digits.",
    explanation: "YAML versions disagree on other forms: some readers take `010` as eight, others as ten.",
    wrong: Example::Entries("- url: https://example.org/\n  number: 007\n"),
    right: Example::Entries("- url: https://example.org/\n  number: 7\n"),
    remedy: "Write decimal digits only: no quotes, sign, fraction, unit or leading zero.",
};

pub(super) const NUMBER_TOO_LARGE: Description = Description {
    name: "number-too-large",
    severity: Error,
    meaning: "A number is larger than its key allows.",
    explanation: "A `number` is at most 18446744073709551615, and `cache-max-age` at most 2147483648.",
    wrong: Example::Entries("- url: https://example.org/\n  cache-max-age: 9999999999\n"),
    right: Example::Entries("- url: https://example.org/\n  cache-max-age: 86400\n"),
    remedy: "Write a smaller number.",
};

pub(super) const DATE_INVALID: Description = Description {
    name: "date-invalid",
    severity: Error,
    meaning: "The value of `expires` or `retired` is not a valid date.",
    explanation: "Dates follow RFC 3339, with or without a time; a time requires its offset from UTC.\n`retired` can also be `true`; an entry that is not retired omits the key.",
    wrong: Example::Entries("- url: https://example.org/\n  expires: 31.12.2026\n"),
    right: Example::Entries("- url: https://example.org/\n  expires: 2026-12-31\n"),
    remedy: "Write it as in `2026-12-31` or `2026-12-31T12:00:00Z`.",
};

pub(super) const MEDIA_TYPE_INVALID: Description = Description {
    name: "media-type-invalid",
    severity: Error,
    meaning: "The `accept` of a variant is not a media type.",
    explanation: "A variant is chosen by types that a request names, so a wildcard never chooses one.\nParameters are ignored in requests, and a type with parameters would promise more than that.",
    wrong: Example::Entries(
        "- url: https://example.org/\n  variants:\n  - accept: text/*\n    url: https://example.org/data.ttl\n",
    ),
    right: Example::Entries(
        "- url: https://example.org/\n  variants:\n  - accept: text/turtle\n    url: https://example.org/data.ttl\n",
    ),
    remedy: "Write a type and a subtype, as in `application/ld+json`, or a list of them.",
};

pub(super) const MEDIA_TYPE_TWICE: Description = Description {
    name: "media-type-twice",
    severity: Error,
    meaning: "The variants of an entry have a media type twice.",
    explanation: "The first variant would always take precedence. Case does not matter in media types.",
    wrong: Example::Entries(
        "- url: https://example.org/\n  variants:\n  - accept: text/turtle\n    url: https://example.org/a.ttl\n  - accept: [text/n3, text/turtle]\n    url: https://example.org/b.n3\n",
    ),
    right: Example::Entries(
        "- url: https://example.org/\n  variants:\n  - accept: text/turtle\n    url: https://example.org/a.ttl\n  - accept: text/n3\n    url: https://example.org/b.n3\n",
    ),
    remedy: "Keep the type in one variant.",
};

pub(super) const TEXT_DIRECTION: Description = Description {
    name: "text-direction",
    severity: Warning,
    meaning: "A title, an owner or a tag contains a character that changes the direction of writing.",
    explanation: "An embedding, override or isolate (U+202A to U+202E, U+2066 to U+2069) can make a text look like another one.",
    wrong: Example::Entries("- url: https://example.org/\n  title: \"Docs \\u202Egro.live\"\n"),
    right: Example::Entries("- url: https://example.org/\n  title: Docs\n"),
    remedy: "Remove the character.",
};
