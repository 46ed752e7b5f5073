//! Rules about who may change what, by which `check --author` judges a proposal.

use super::description::{Description, Example};
use super::severity::Severity::Error;

const OWNERS: &str = "admins: [root]\nowners:\n  library: [alice]\n";
const OWNED: &str = "- url: https://example.org/\n  short-code: example\n  owner: library\n";

pub(super) const ENTRY_CHANGED: Description = Description {
    name: "owner-entry-changed",
    severity: Error,
    meaning: "A proposal changes an entry, and its author may not.",
    explanation: "The file of owners says who acts for the owner of an entry: only they and admins may change, retire, remove or give away the entry, or take over its paths.\nAn entry without an owner is changed by admins alone.",
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
    remedy: "Ask one of those whom the hint names to propose the change.",
};

pub(super) const ENTRY_ADDED: Description = Description {
    name: "owner-entry-added",
    severity: Error,
    meaning: "A proposal adds an entry of an owner for whom its author does not act.",
    explanation: "A link in the name of a team should come from that team.",
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
    remedy: "Leave out `owner`, name an owner for whom you act, or ask one of those whom the hint names to propose the entry.",
};

pub(super) const FILE_CHANGED: Description = Description {
    name: "owner-file-changed",
    severity: Error,
    meaning: "A proposal changes the file of owners, and its author is no admin.",
    explanation: "Who is an admin is read from the branch that the proposal is to change, so no proposal permits itself.",
    wrong: Example::Words("A proposal by \"alice\" adds \"alice\" to the admins in owners.yaml.\n"),
    right: Example::Words(
        "A proposal by \"root\", who is an admin already, adds \"alice\" to the admins in owners.yaml.\n",
    ),
    remedy: "Ask an admin to propose the change.",
};
