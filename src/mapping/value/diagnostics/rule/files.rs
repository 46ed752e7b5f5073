//! Rules about a file as a whole, before it is read as YAML.

use super::description::{Description, Example};
use super::severity::Severity::Error;

pub(super) const EMPTY: Description = Description {
    name: "file-empty",
    severity: Error,
    meaning: "A file of the table has no content.",
    explanation: "A file that was truncated during a write looks like this, so it is never treated as an empty table.",
    wrong: Example::Document("# Nothing but a comment.\n"),
    right: Example::Document("base_url: https://short.code/\nmapping: []\n"),
    remedy: "Write `base_url:` and `mapping:`, or delete the file.",
};

pub(super) const NOT_UTF8: Description = Description {
    name: "file-not-utf-8",
    severity: Error,
    meaning: "A file of the table is not encoded in UTF-8.",
    explanation: "In other encodings, the same bytes mean different characters.\nA byte order mark at the start is allowed.",
    wrong: Example::Bytes(
        b"base_url: https://short.code/\nmapping:\n- url: https://example.org/\n  title: Caf\xe9\n",
    ),
    right: Example::Document(
        "base_url: https://short.code/\nmapping:\n- url: https://example.org/\n  title: Café\n",
    ),
    remedy: "Save the file as UTF-8.",
};

pub(super) const WITH_NUL: Description = Description {
    name: "file-with-nul",
    severity: Error,
    meaning: "A file of the table contains a NUL character.",
    explanation: "A file system can leave NUL characters in a file that was being written when the machine stopped.",
    wrong: Example::Bytes(
        b"base_url: https://short.code/\nmapping:\n- url: https://example.org/\n\0\0\0\n",
    ),
    right: Example::Document(
        "base_url: https://short.code/\nmapping:\n- url: https://example.org/\n",
    ),
    remedy: "Remove the character, and check that the file is complete.",
};

pub(super) const SYMLINK: Description = Description {
    name: "file-symlink",
    severity: Error,
    meaning: "A file of the table is a symbolic link in the repository.",
    explanation: "A proposed change could link to any file that the checking machine can read, and the history would contain only the link.\nThis is reported only when published links are checked too.",
    wrong: Example::Words("mapping.yaml -> ../elsewhere/mapping.yaml\n"),
    right: Example::Words("mapping.yaml\n"),
    remedy: "Commit the file itself.",
};

pub(super) const CONFLICT_UNRESOLVED: Description = Description {
    name: "conflict-unresolved",
    severity: Error,
    meaning: "A file of the table contains a merge conflict.",
    explanation: "Git marks lines that both sides of a merge changed with `<<<<<<<`, `=======` and `>>>>>>>`.\nWith Waypost's merge driver, links added on both sides do not conflict.",
    wrong: Example::Entries(
        "<<<<<<< HEAD\n- url: https://framasoft.org/\n=======\n- url: https://www.gnu.org/\n>>>>>>> theirs\n",
    ),
    right: Example::Entries("- url: https://framasoft.org/\n- url: https://www.gnu.org/\n"),
    remedy: "Keep the entries of both sides that are right, and remove the marker lines.",
};

pub(super) const TABLE_TOO_LARGE: Description = Description {
    name: "table-too-large",
    severity: Error,
    meaning: "The files of the table have more than 900,000,000 bytes in total.",
    explanation: "A table in memory uses 32-bit offsets into its text.\nA lower, configurable limit usually applies first.",
    wrong: Example::Words("links/ with files of 1 GB\n"),
    right: Example::Words("links/ with files of 256 MB\n"),
    remedy: "Split the table into several, each with its own server.",
};
