//! Rules about URLs: those of `url`, `variants`, `archive`, `home`, `fallback` and `base_url`.

use super::description::{Description, Example};
use super::severity::Severity::{Error, Warning};

const RIGHT: Example = Example::Entries("- url: https://example.org/docs\n");

pub(super) const NOT_ABSOLUTE: Description = Description {
    name: "url-not-absolute",
    severity: Error,
    meaning: "A URL does not begin with its scheme.",
    explanation: "A browser would treat it as a path of the short link's own site.",
    wrong: Example::Entries("- url: example.org/docs\n"),
    right: RIGHT,
    remedy: "Write the URL with its scheme, as in `https://example.org/`.",
};

pub(super) const SCHEME_UNSUPPORTED: Description = Description {
    name: "url-scheme-unsupported",
    severity: Error,
    meaning: "The scheme of a URL is neither `http` nor `https`.",
    explanation: "Other schemes can run scripts, start programs or open local files.",
    wrong: Example::Entries("- url: ftp://example.org/docs\n"),
    right: RIGHT,
    remedy: "Link to a web page instead.",
};

pub(super) const SLASHES_INVALID: Description = Description {
    name: "url-slashes-invalid",
    severity: Error,
    meaning: "The scheme of a URL is not followed by exactly two slashes.",
    explanation: "Browsers repair such a URL, but other programs read it differently.",
    wrong: Example::Entries("- url: https:/example.org/docs\n"),
    right: RIGHT,
    remedy: "Write `https://` and then the host.",
};

pub(super) const SCHEME_REPEATED: Description = Description {
    name: "url-scheme-repeated",
    severity: Error,
    meaning: "A URL has two schemes.",
    explanation: "The second one is read as the host, so the link would lead to a host called `https`.",
    wrong: Example::Entries("- url: https://https://example.org/docs\n"),
    right: RIGHT,
    remedy: "Write only the second scheme, which belongs to the host.",
};

pub(super) const BACKSLASH: Description = Description {
    name: "url-backslash",
    severity: Error,
    meaning: "A URL contains a backslash.",
    explanation: "Browsers read it as a slash and other programs do not, so the link could lead to different hosts.",
    wrong: Example::Entries("- url: https://example.org\\docs\n"),
    right: RIGHT,
    remedy: "Write `/`, or `%5C` for a real backslash.",
};

pub(super) const HOST_MISSING: Description = Description {
    name: "url-host-missing",
    severity: Error,
    meaning: "A URL has no host.",
    explanation: "Without a host, the URL leads nowhere.",
    wrong: Example::Entries("- url: https://?docs\n"),
    right: RIGHT,
    remedy: "Write the host after the two slashes.",
};

pub(super) const HOST_INVALID: Description = Description {
    name: "url-host-invalid",
    severity: Error,
    meaning: "The host of a URL is not a domain name or an IP address.",
    explanation: "Browsers would not open it.",
    wrong: Example::Entries("- url: https://exa mple.org/docs\n"),
    right: RIGHT,
    remedy: "Correct the host; IPv6 addresses are written in brackets.",
};

pub(super) const PORT_INVALID: Description = Description {
    name: "url-port-invalid",
    severity: Error,
    meaning: "The port of a URL is not a number from 0 to 65535.",
    explanation: "Browsers would not open it.",
    wrong: Example::Entries("- url: https://example.org:99999/docs\n"),
    right: RIGHT,
    remedy: "Correct the port, or remove it.",
};

pub(super) const USER_INFO: Description = Description {
    name: "url-user-info",
    severity: Error,
    meaning: "A URL contains a user name or a password before an `@`.",
    explanation: "The table and its history are public, and text before an `@` can pass for the host.",
    wrong: Example::Entries("- url: https://user:secret@example.org/docs\n"),
    right: RIGHT,
    remedy: "Remove everything up to the `@`, and change a password that was committed.",
};

pub(super) const CONTROL_CHARACTER: Description = Description {
    name: "url-control-character",
    severity: Error,
    meaning: "A URL contains a control character.",
    explanation: "In a response, a line break could start another header; browsers silently drop some of these characters.",
    wrong: Example::Entries("- url: \"https://example.org/\\tdocs\"\n"),
    right: RIGHT,
    remedy: "Remove the character, or percent-encode it if the target needs it.",
};

pub(super) const SURROUNDING_SPACE: Description = Description {
    name: "url-surrounding-space",
    severity: Error,
    meaning: "A URL begins or ends with white space.",
    explanation: "Browsers drop the white space, but the code would be derived from it.",
    wrong: Example::Entries("- url: 'https://example.org/docs '\n"),
    right: RIGHT,
    remedy: "Remove the white space.",
};

pub(super) const TOO_LONG: Description = Description {
    name: "url-too-long",
    severity: Error,
    meaning: "A URL has more than 8,192 bytes, as written or percent-encoded.",
    explanation: "Common servers and browsers refuse header lines that are only slightly longer.",
    wrong: Example::Words("- url: https://example.org/?q=… with 8,200 bytes\n"),
    right: RIGHT,
    remedy: "Link to a page with a shorter address.",
};

pub(super) const FRAGMENT_COMMENT: Description = Description {
    name: "url-fragment-comment",
    severity: Warning,
    meaning: "What looks like the fragment of a URL is a comment.",
    explanation: "YAML reads a `#` after a space as the start of a comment, so the link leads to the page without its fragment.\nA comment that has a space after its `#` is not reported.",
    wrong: Example::Entries("- url: https://example.org/docs #install\n"),
    right: Example::Entries("- url: \"https://example.org/docs#install\"\n"),
    remedy: "Quote the URL with its fragment, or add a space after the `#` of the comment.",
};

pub(super) const NOT_CANONICAL: Description = Description {
    name: "url-not-canonical",
    severity: Warning,
    meaning: "A URL is not written in its canonical form.",
    explanation: "The canonical form is the one that browsers convert a URL to, and that redirects send.\nAn auto code is derived from the URL as written, so two forms of one URL get two codes.",
    wrong: Example::Entries("- url: https://EXAMPLE.org/docs\n"),
    right: RIGHT,
    remedy: "Write the URL from the hint.\nIf the code is derived from the URL and already published, keep it by adding the `short-code` from the hint.",
};

pub(super) const PRIVATE_ADDRESS: Description = Description {
    name: "url-private-address",
    severity: Warning,
    meaning: "The host of a URL is a private or loopback address.",
    explanation: "Such an address leads to a different machine in every network.\nA table that serves one network may need such addresses, and can allow the rule.",
    wrong: Example::Entries("- url: http://192.168.0.10/docs\n"),
    right: Example::Entries("- url: http://wiki.example/docs\n"),
    remedy: "Use a name that everyone who follows the link can resolve.",
};

pub(super) const ARCHIVE_WITHOUT_URL: Description = Description {
    name: "archive-without-url",
    severity: Warning,
    meaning: "A retired entry names an archived copy, but no URL.",
    explanation: "An entry without a URL was taken down, and its former target is no longer named.\nThe address of an archived copy usually contains that target, so the copy is not shown.",
    wrong: Example::Entries(
        "- short-code: docs\n  retired: true\n  archive: https://web.archive.org/web/2026/https://example.org/docs\n",
    ),
    right: Example::Entries("- short-code: docs\n  retired: true\n"),
    remedy: "Remove `archive`, or restore the `url` if the link was not taken down.",
};

pub(super) const BELOW_WITHOUT_URL: Description = Description {
    name: "below-without-url",
    severity: Warning,
    meaning: "A retired entry has `below`, but no URL.",
    explanation: "An entry without a URL was taken down: all paths below its code are gone, too, and where they led is no longer named.",
    wrong: Example::Entries(
        "- short-code: docs\n  retired: true\n  below: https://docs.example.org/\n",
    ),
    right: Example::Entries("- short-code: docs\n  retired: true\n"),
    remedy: "Remove `below`, or restore the `url` if the link was not taken down.",
};

pub(super) const VARIANTS_WITHOUT_URL: Description = Description {
    name: "variants-without-url",
    severity: Error,
    meaning: "A retired entry has variants, but no URL.",
    explanation: "An entry without a URL was taken down, and its former targets are no longer named.",
    wrong: Example::Entries(
        "- short-code: data\n  retired: true\n  variants:\n  - accept: text/turtle\n    url: https://example.org/data.ttl\n",
    ),
    right: Example::Entries("- short-code: data\n  retired: true\n"),
    remedy: "Remove `variants`, or restore the `url` if the link was not taken down.",
};
