//! Rules about the layout of a document, which `fmt`, `add` and `merge-driver` need to change it and
//! keep the rest. They do not apply to tables that are only read.

use super::description::{Description, Example};
use super::severity::Severity::Error;

pub(super) const FLOW_STYLE: Description = Description {
    name: "layout-flow-style",
    severity: Error,
    meaning: "An entry, the list of entries or the document is written in brackets or braces.",
    explanation: "Entries are moved and inserted as whole lines, together with their comments, so each entry needs its own lines.",
    wrong: Example::Entries("- {url: https://example.org/, short-code: example}\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: example\n"),
    remedy: "Write each key on its own line, the first one after `- `.",
};

pub(super) const BLOCK_TEXT: Description = Description {
    name: "layout-block-text",
    severity: Error,
    meaning: "An entry contains a block scalar (`|` or `>`).",
    explanation: "The end of a block scalar depends on the lines that follow, so the entry cannot be moved; nor can another entry be inserted after it if the file does not end with a line break.",
    wrong: Example::Entries("- url: https://example.org/\n  title: >-\n    An\n    example\n"),
    right: Example::Entries("- url: https://example.org/\n  title: An example\n"),
    remedy: "Write the text on one line, quoted if needed.",
};

pub(super) const DASH_ALONE: Description = Description {
    name: "layout-dash-alone",
    severity: Error,
    meaning: "The first key of an entry is not on the line of its dash, right after it.",
    explanation: "It would be unclear whether lines between the dash and the first key, such as comments, belong to the entry.",
    wrong: Example::Entries("-\n  url: https://example.org/\n  short-code: example\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: example\n"),
    remedy: "Write the first key on the line of the dash.",
};

pub(super) const LIST_APART: Description = Description {
    name: "layout-list-apart",
    severity: Error,
    meaning: "The brackets of an empty list of entries are not on the line of their key.",
    explanation: "Inserting the first entry replaces the brackets, which is possible only if nothing else is on these lines.",
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
    remedy: "Use the same line ending everywhere.",
};
