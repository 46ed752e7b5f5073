//! Rules about permissions to change entries, which `check --author` applies to a proposal.

use super::description::{Description, Example};
use super::severity::Severity::Error;

const OWNERS: &str = "admins: [root]\nowners:\n  library: [alice]\n";
const OWNED: &str = "- url: https://example.org/\n  short-code: example\n  owner: library\n";

pub(super) const ENTRY_CHANGED: Description = Description {
    name: "owner-entry-changed",
    severity: Error,
    meaning: "The author of a proposal may not change the entry that it changes.",
    explanation: "The owners file lists the accounts that act for each owner: only they and admins may change, retire, remove or give away an entry of the owner, or take over its paths.\nOnly admins may change an entry without an owner.",
    wrong: Example::Proposal {
        owners: OWNERS,
        author: "bob",
        published: OWNED,
        proposed: "- url: https://example.org/\n  short-code: example\n  title: An example\n  owner: library\n",
    },
    right: Example::Proposal {
        owners: OWNERS,
        author: "alice",
        published: OWNED,
        proposed: "- url: https://example.org/\n  short-code: example\n  title: An example\n  owner: library\n",
    },
    remedy: "Ask one of the people that the hint names to propose the change.",
};

pub(super) const ENTRY_ADDED: Description = Description {
    name: "owner-entry-added",
    severity: Error,
    meaning: "A proposal adds an entry for an owner that its author does not act for.",
    explanation: "A link that names a team as its owner should come from that team.",
    wrong: Example::Proposal {
        owners: OWNERS,
        author: "bob",
        published: OWNED,
        proposed: "- url: https://example.org/\n  short-code: example\n  owner: library\n- url: https://example.com/\n  short-code: more\n  owner: library\n",
    },
    right: Example::Proposal {
        owners: OWNERS,
        author: "bob",
        published: OWNED,
        proposed: "- url: https://example.org/\n  short-code: example\n  owner: library\n- url: https://example.com/\n  short-code: more\n",
    },
    remedy: "Remove `owner`, name an owner that you act for, or ask one of the people that the hint names to propose the entry.",
};

pub(super) const FILE_CHANGED: Description = Description {
    name: "owner-file-changed",
    severity: Error,
    meaning: "A proposal changes the owners file, and its author is not an admin.",
    explanation: "The admins are read from the branch that the proposal would change, so no proposal can permit itself.",
    wrong: Example::Words("A proposal by \"alice\" adds \"alice\" to the admins in owners.yaml.\n"),
    right: Example::Words(
        "A proposal by \"root\", who is already an admin, adds \"alice\" to the admins in owners.yaml.\n",
    ),
    remedy: "Ask an admin to propose the change.",
};
