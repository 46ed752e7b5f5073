//! Rules about sites, their base URLs, and the tests written in a table.

use super::description::{Description, Example};
use super::severity::Severity::Error;

const RIGHT: Example = Example::Document("base_url: https://short.code/go/\nmapping: []\n");

pub(super) const BASE_URL_QUERY: Description = Description {
    name: "base-url-query",
    severity: Error,
    meaning: "A base URL has a query or a fragment.",
    explanation: "Codes are appended to the base URL, and would become part of its query or fragment.",
    wrong: Example::Document("base_url: https://short.code/go/?to=\nmapping: []\n"),
    right: RIGHT,
    remedy: "Remove everything from the `?` or `#` on.",
};

pub(super) const BASE_URL_RESERVED: Description = Description {
    name: "base-url-reserved",
    severity: Error,
    meaning: "The path of a base URL begins with `/-/`.",
    explanation: "The server uses these paths itself, so no link below them would work.",
    wrong: Example::Document("base_url: https://short.code/-/go/\nmapping: []\n"),
    right: RIGHT,
    remedy: "Choose another path.",
};

pub(super) const BASE_URL_SLASH_MISSING: Description = Description {
    name: "base-url-slash-missing",
    severity: Error,
    meaning: "The path of a base URL does not end in a slash.",
    explanation: "Codes are appended to the base URL exactly as it is written.",
    wrong: Example::Document("base_url: https://short.code/go\nmapping: []\n"),
    right: RIGHT,
    remedy: "Add the slash.",
};

pub(super) const NAME_INVALID: Description = Description {
    name: "name-invalid",
    severity: Error,
    meaning: "The `name` of a collection is blank, has several lines or more than 80 characters, or changes the direction of writing.",
    explanation: "Every page shows it in its heading.",
    wrong: Example::Document("base_url: https://short.code/\nname: \" \"\nmapping: []\n"),
    right: Example::Document(
        "base_url: https://short.code/\nname: Links of Example\nmapping: []\n",
    ),
    remedy: "Write a short name, or remove the key.",
};

pub(super) const CONTACT_INVALID: Description = Description {
    name: "contact-invalid",
    severity: Error,
    meaning: "The `contact` of a collection is neither an `https:` address nor a `mailto:` address.",
    explanation: "Pages link to it for reports about links. A `mailto:` address must name one mailbox and no header fields.",
    wrong: Example::Document(
        "base_url: https://short.code/\ncontact: links@example.org\nmapping: []\n",
    ),
    right: Example::Document(
        "base_url: https://short.code/\ncontact: mailto:links@example.org\nmapping: []\n",
    ),
    remedy: "Write `mailto:` before an email address, or `https:` before the address of a page.",
};

pub(super) const PROPOSE_INVALID: Description = Description {
    name: "propose-invalid",
    severity: Error,
    meaning: "`propose` is not a URI template of an `http` or `https` URL with the variables `filename`, `content` and `message`.",
    explanation: "The page for proposals sends a browser there: `content` is the entry, or, if the table is a directory, the text of a new file with the entry; `filename` is the file to change, and `message` is the commit message. The scheme and host cannot contain variables.",
    wrong: Example::Document(
        "base_url: https://short.code/\npropose: https://git.example.org/new?file={file}\nmapping: []\n",
    ),
    right: Example::Document(
        "base_url: https://short.code/\npropose: https://git.example.org/new{?filename,content,message}\nmapping: []\n",
    ),
    remedy: "Write a template as in RFC 6570 with at least the variable `content`, or remove the key.",
};

pub(super) const FALLBACK_URL_ENDING: Description = Description {
    name: "fallback-url-ending",
    severity: Error,
    meaning: "The `fallback` of a site does not end in `/`, or has a query or a fragment.",
    explanation: "The path of a request that is not found is appended to it, and would change its last word, or become part of its query or fragment.",
    wrong: Example::Document(
        "base_url: https://short.code/\nfallback: https://example.org/old\nmapping: []\n",
    ),
    right: Example::Document(
        "base_url: https://short.code/\nfallback: https://example.org/old/\nmapping: []\n",
    ),
    remedy: "Write the URL under which the older service has its links, with the final slash.",
};

pub(super) const INDISTINCT: Description = Description {
    name: "sites-indistinct",
    severity: Error,
    meaning: "The base URLs of two documents differ only in scheme or port.",
    explanation: "The server chooses a site by host and path, so it could not distinguish them.",
    wrong: Example::Files(&[
        ("a.yaml", "base_url: https://short.code/\nmapping: []\n"),
        ("b.yaml", "base_url: http://short.code/\nmapping: []\n"),
    ]),
    right: Example::Files(&[
        ("a.yaml", "base_url: https://short.code/\nmapping: []\n"),
        ("b.yaml", "base_url: https://short.code/\nmapping: []\n"),
    ]),
    remedy: "Write both base URLs the same way.",
};

pub(super) const DOCUMENTS_DISAGREE: Description = Description {
    name: "documents-disagree",
    severity: Error,
    meaning: "Documents of one site disagree on a key that describes the site.",
    explanation: "All documents of a site that have `code-scheme`, `name`, `repository`, `contact`, `propose`, `home`, `fallback` or `case` must agree on it: every auto code depends on the first, every page shows the next four, and the last three decide where the base URL and unknown paths lead, and in which case codes are found.",
    wrong: Example::Files(&[
        (
            "a.yaml",
            "base_url: https://short.code/\ncode-scheme: sha256\nmapping: []\n",
        ),
        ("b.yaml", "code-scheme: crc64-xz\nmapping: []\n"),
    ]),
    right: Example::Files(&[
        (
            "a.yaml",
            "base_url: https://short.code/\ncode-scheme: sha256\nmapping: []\n",
        ),
        ("b.yaml", "mapping: []\n"),
    ]),
    remedy: "Keep the key in one document of the site.",
};

pub(super) const TEST_FROM_INVALID: Description = Description {
    name: "test-from-invalid",
    severity: Error,
    meaning: "The `from` of a test is not a path that begins with `/`.",
    explanation: "A test requests a path that starts at the root of the site's host, with the base path, and a query if needed.",
    wrong: Example::Document(
        "base_url: https://short.code/\nmapping: []\ntests:\n- from: example\n  to: not-found\n",
    ),
    right: Example::Document(
        "base_url: https://short.code/\nmapping: []\ntests:\n- from: /example\n  to: not-found\n",
    ),
    remedy: "Write the path as a browser requests it.",
};

pub(super) const TEST_TO_INVALID: Description = Description {
    name: "test-to-invalid",
    severity: Error,
    meaning: "The `to` of a test is neither a URL nor `gone` nor `not-found`.",
    explanation: "A URL is subject to the same rules as a target.",
    wrong: Example::Document(
        "base_url: https://short.code/\nmapping: []\ntests:\n- from: /example\n  to: nothing\n",
    ),
    right: Example::Document(
        "base_url: https://short.code/\nmapping: []\ntests:\n- from: /example\n  to: not-found\n",
    ),
    remedy: "Write the expected URL, `gone` or `not-found`.",
};

pub(super) const TEST_ACCEPT_INVALID: Description = Description {
    name: "test-accept-invalid",
    severity: Error,
    meaning: "The `accept` of a test names no media type.",
    explanation: "It is the value of the field `Accept` of a request. Members that are not well-formed are ignored, as in a request.",
    wrong: Example::Document(
        "base_url: https://short.code/\nmapping: []\ntests:\n- from: /example\n  accept: turtle\n  to: not-found\n",
    ),
    right: Example::Document(
        "base_url: https://short.code/\nmapping: []\ntests:\n- from: /example\n  accept: text/turtle, */*;q=0.1\n  to: not-found\n",
    ),
    remedy: "Write it as a client sends it, as in `text/turtle, */*;q=0.1`.",
};

pub(super) const TEST_FAILED: Description = Description {
    name: "test-failed",
    severity: Error,
    meaning: "A test in the table has an unexpected result.",
    explanation: "Tests use the same code that serves the table, and run only if the table has no other error.\nA failed test fails the check, but does not keep a server from loading the table.",
    wrong: Example::Document(
        "base_url: https://short.code/\nmapping:\n- url: https://example.org/\n  short-code: example\ntests:\n- from: /example\n  to: https://example.com/\n",
    ),
    right: Example::Document(
        "base_url: https://short.code/\nmapping:\n- url: https://example.org/\n  short-code: example\ntests:\n- from: /example\n  to: https://example.org/\n",
    ),
    remedy: "Correct the entry, or the test if the new result is intended.",
};
