//! Rules about YAML: its syntax, and the parts of it that a table may not use.

use super::description::{Description, Example};
use super::severity::Severity::Error;

pub(super) const INVALID: Description = Description {
    name: "yaml-invalid",
    severity: Error,
    meaning: "A file of the table is not valid YAML.",
    explanation: "Nothing after this position can be read, so further problems may appear once this one is fixed.",
    wrong: Example::Entries("- url: https://example.org/\n  title: Docs: the guide\n"),
    right: Example::Entries("- url: https://example.org/\n  title: 'Docs: the guide'\n"),
    remedy: "Quote values that contain `: ` or ` #`, or that begin with a special character.\nStart all keys of an entry in the same column.",
};

pub(super) const UNCLOSED: Description = Description {
    name: "yaml-unclosed",
    severity: Error,
    meaning: "A quote or a bracket is never closed.",
    explanation: "A file that was truncated during a write also looks like this.",
    wrong: Example::Entries("- url: https://example.org/\n  aliases: [docs\n"),
    right: Example::Entries("- url: https://example.org/\n  aliases: [docs]\n"),
    remedy: "Close the quote or the bracket, and check that the file is complete.",
};

pub(super) const TAB: Description = Description {
    name: "yaml-tab",
    severity: Error,
    meaning: "A line is indented with a tab.",
    explanation: "YAML does not allow tabs, because they have no fixed width.",
    wrong: Example::Entries("- url: https://example.org/\n\tshort-code: example\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: example\n"),
    remedy: "Indent with spaces.",
};

pub(super) const LOOKALIKE: Description = Description {
    name: "yaml-lookalike",
    severity: Error,
    meaning: "A character only looks like the space, hyphen or colon that YAML needs.",
    explanation: "Word processors, web pages and chat programs replace plain characters with no-break spaces, dashes and full-width colons.\nIn titles and other strings they are fine.",
    wrong: Example::Entries("\u{2013} url: https://example.org/\n"),
    right: Example::Entries("- url: https://example.org/\n"),
    remedy: "Type the character that the hint names in a plain-text editor.",
};

pub(super) const TOO_DEEP: Description = Description {
    name: "yaml-too-deep",
    severity: Error,
    meaning: "Lists and maps are nested more than 16 levels deep.",
    explanation: "A table needs four levels; the limit protects readers from crafted files.",
    wrong: Example::Document(
        "base_url: https://short.code/\nmapping: []\ntests: [[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]\n",
    ),
    right: Example::Document("base_url: https://short.code/\nmapping: []\ntests: []\n"),
    remedy: "Write the entries as one flat list.",
};

pub(super) const SECOND_DOCUMENT: Description = Description {
    name: "yaml-second-document",
    severity: Error,
    meaning: "A file contains more than one YAML document.",
    explanation: "A `---` line starts another document, which many YAML readers would ignore.",
    wrong: Example::Document(
        "base_url: https://short.code/\nmapping:\n- url: https://example.org/a\n---\nmapping:\n- url: https://example.org/b\n",
    ),
    right: Example::Files(&[
        (
            "a.yaml",
            "base_url: https://short.code/\nmapping:\n- url: https://example.org/a\n",
        ),
        ("b.yaml", "mapping:\n- url: https://example.org/b\n"),
    ]),
    remedy: "Move the document to its own file, in the same directory.",
};

pub(super) const DIRECTIVE: Description = Description {
    name: "yaml-directive",
    severity: Error,
    meaning: "A file contains a YAML directive.",
    explanation: "A directive, a line that begins with `%`, could change how the rest is read.",
    wrong: Example::Document("%YAML 1.2\n---\nbase_url: https://short.code/\nmapping: []\n"),
    right: Example::Document("---\nbase_url: https://short.code/\nmapping: []\n"),
    remedy: "Remove the line, or quote a value that begins with `%`.",
};

pub(super) const ANCHOR: Description = Description {
    name: "yaml-anchor",
    severity: Error,
    meaning: "A value has a YAML anchor.",
    explanation: "With anchors (`&`), the meaning of an entry would depend on other lines, which a diff does not show.",
    wrong: Example::Entries("- url: &docs https://example.org/docs\n"),
    right: Example::Entries("- url: https://example.org/docs\n"),
    remedy: "Write the value out where it is needed, or quote a value that begins with `&`.",
};

pub(super) const ALIAS: Description = Description {
    name: "yaml-alias",
    severity: Error,
    meaning: "A value is a YAML alias.",
    explanation: "An alias (`*`) refers to a value on another line, which a diff does not show.\nYAML aliases are unrelated to the key `aliases`.",
    wrong: Example::Entries("- url: *docs\n"),
    right: Example::Entries("- url: https://example.org/docs\n"),
    remedy: "Write the value out, or quote a value that begins with `*`.",
};

pub(super) const TAG: Description = Description {
    name: "yaml-tag",
    severity: Error,
    meaning: "A value has a YAML tag.",
    explanation: "Tags (`!`) change the type of a value, and some programs run code for them.",
    wrong: Example::Entries("- url: https://example.org/\n  short-code: !!str 2024\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: 2024\n"),
    remedy: "Remove the tag, or quote a value that begins with `!`.",
};

pub(super) const MERGE_KEY: Description = Description {
    name: "yaml-merge-key",
    severity: Error,
    meaning: "A map has a YAML merge key.",
    explanation: "A merge key (`<<`) adds keys that are written elsewhere, and not all YAML readers support it.",
    wrong: Example::Entries("- url: https://example.org/\n  <<: {status: 301}\n"),
    right: Example::Entries("- url: https://example.org/\n  status: 301\n"),
    remedy: "Write the keys out, or set them under `defaults`.",
};
