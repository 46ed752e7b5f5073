//! Rules about the keys of documents, entries, defaults and tests.

use super::description::{Description, Example};
use super::severity::Severity::Error;

pub(super) const UNKNOWN: Description = Description {
    name: "key-unknown",
    severity: Error,
    meaning: "A map has a key that does not exist.",
    explanation: "If a misspelt key were ignored, the link would not do what its entry says.",
    wrong: Example::Entries("- url: https://example.org/\n  short_code: example\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: example\n"),
    remedy: "Correct the spelling, or remove the key.\nThe reference of the mapping table (docs/mapping-format.md) lists all keys.",
};

pub(super) const TWICE: Description = Description {
    name: "key-twice",
    severity: Error,
    meaning: "A map has the same key twice.",
    explanation: "Some YAML readers take the first value and some the last.",
    wrong: Example::Entries("- url: https://example.org/\n  url: https://example.com/\n"),
    right: Example::Entries("- url: https://example.org/\n- url: https://example.com/\n"),
    remedy: "Keep one of the two.\nA missing dash between two entries is a common cause.",
};

pub(super) const MISSING: Description = Description {
    name: "key-missing",
    severity: Error,
    meaning: "A required key is missing.",
    explanation: "A document requires `mapping`; a table requires `base_url` in one of its documents, and in each of them if it has several sites.\nAn entry requires `url`, unless it is retired and has a `short-code` or a `number`.\nA test requires `from` and `to`.",
    wrong: Example::Entries("- short-code: example\n  title: An example\n"),
    right: Example::Entries(
        "- url: https://example.org/\n  short-code: example\n  title: An example\n",
    ),
    remedy: "Add the key that the message names.",
};

pub(super) const NOT_A_WORD: Description = Description {
    name: "key-not-a-word",
    severity: Error,
    meaning: "A key is a list or a map.",
    explanation: "YAML allows this, but every key of a table is a word.",
    wrong: Example::Entries("- url: https://example.org/\n  [short-code]: example\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: example\n"),
    remedy: "Write the key as a word, or quote it if it begins with a bracket.",
};

pub(super) const CODE_AND_NUMBER: Description = Description {
    name: "code-and-number",
    severity: Error,
    meaning: "An entry has both a `short-code` and a `number`.",
    explanation: "Each of them sets the entry's code, and an entry has only one.",
    wrong: Example::Entries("- url: https://example.org/\n  short-code: example\n  number: 1\n"),
    right: Example::Entries("- url: https://example.org/\n  number: 1\n  aliases: [example]\n"),
    remedy: "Keep one of them, and list further codes under `aliases`.",
};

pub(super) const BELOW_AND_FORWARD: Description = Description {
    name: "below-and-forward",
    severity: Error,
    meaning: "An entry has both `below` and a `forward` that is about paths.",
    explanation: "Each of them sets where paths below the code lead.\nOnly if a variant has no `below`, the entry may have `forward: all` for it.\nWith such a `forward` under `defaults`, it is reported at each entry concerned.",
    wrong: Example::Entries(
        "- url: https://example.org/\n  short-code: docs\n  below: https://docs.example.org/\n  forward: path-and-query\n",
    ),
    right: Example::Entries(
        "- url: https://example.org/\n  short-code: docs\n  below: https://docs.example.org/\n  forward: query\n",
    ),
    remedy: "Keep `below` with `forward: query` or `forward: none`, or keep `forward` alone.",
};

pub(super) const BELOW_OF_VARIANT_ONLY: Description = Description {
    name: "below-of-variant-only",
    severity: Error,
    meaning: "A variant has `below`, but its entry leads no paths below the code anywhere.",
    explanation: "Requests that name none of the types of a variant would not be found there.\nThe entry needs `below` or `forward: all`, which its own lines must name, and not the `defaults`.",
    wrong: Example::Entries(
        "- url: https://example.org/\n  variants:\n  - accept: text/turtle\n    url: https://example.org/data.ttl\n    below: https://example.org/data/\n",
    ),
    right: Example::Entries(
        "- url: https://example.org/\n  below: https://example.org/pages/\n  variants:\n  - accept: text/turtle\n    url: https://example.org/data.ttl\n    below: https://example.org/data/\n",
    ),
    remedy: "Add `below` to the entry.",
};
