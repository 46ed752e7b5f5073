//! Rules about the layout of a document, which `fmt`, `add` and `merge-driver` need to change it and
//! keep the rest. They do not apply to tables that are only read.

use super::description::{Description, Example};
use super::severity::Severity::Error;

pub(super) const FLOW_STYLE: Description = Description {
    name: "layout-flow-style",
    severity: Error,
    meaning: "An entry, the list of entries or the document is written in brackets or braces.",
    explanation: "Entries are moved and inserted as whole lines, together with their comments, so each needs lines of its own.",
    wrong: Example::Entries("- {url: https://example.org/, short-code: example}\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: example\n"),
    remedy: "Write each key on a line of its own, the first after `- `.",
};

pub(super) const BLOCK_TEXT: Description = Description {
    name: "layout-block-text",
    severity: Error,
    meaning: "An entry has a text after `|` or `>`.",
    explanation: "Where such a text ends depends on the lines after it, so the entry cannot be moved; nor can another be inserted after it if the file ends without a line break.",
    wrong: Example::Entries("- url: https://example.org/\n  title: >-\n    An\n    example\n"),
    right: Example::Entries("- url: https://example.org/\n  title: An example\n"),
    remedy: "Write the text on one line, in quotes if needed.",
};

pub(super) const DASH_ALONE: Description = Description {
    name: "layout-dash-alone",
    severity: Error,
    meaning: "The first key of an entry is not on the line of its dash, right after it.",
    explanation: "Lines between the dash and the first key, such as comments, would belong to two places at once.",
    wrong: Example::Entries("-\n  url: https://example.org/\n  short-code: example\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: example\n"),
    remedy: "Write the first key on the line of the dash.",
};

pub(super) const LIST_APART: Description = Description {
    name: "layout-list-apart",
    severity: Error,
    meaning: "The brackets of an empty list of entries are not on the line of their key.",
    explanation: "The brackets are replaced when the first entry is inserted, which is done only if nothing else is on these lines.",
    wrong: Example::Document("base_url: https://short.code/\nmapping:\n  []\n"),
    right: Example::Document("base_url: https://short.code/\nmapping: []\n"),
    remedy: "Write `mapping: []`.",
};

pub(super) const CARRIAGE_RETURN: Description = Description {
    name: "layout-carriage-return",
    severity: Error,
    meaning: "A line contains a carriage return that is not followed by a line feed.",
    explanation: "Some programs end a line there and others do not, so lines cannot be moved or inserted safely.",
    wrong: Example::Bytes(
        b"base_url: https://short.code/\nmapping:\n- url: https://example.org/\r  short-code: example\n",
    ),
    right: Example::Document(
        "base_url: https://short.code/\nmapping:\n- url: https://example.org/\n  short-code: example\n",
    ),
    remedy: "End every line in the same way.",
};
