//! Rules about links that affect each other: codes that hide the paths of others, targets that lead
//! back into the table, and forwarded paths.

use super::description::{Description, Example};
use super::severity::Severity::{Error, Warning};

pub(super) const HIDES_SPELLING: Description = Description {
    name: "code-hides-spelling",
    severity: Warning,
    meaning: "A code is also another spelling of an auto code.",
    explanation: "The server also finds an auto code in the standard alphabet of base64, with `+` and `/` in place of `-` and `_`.\nHere that spelling leads to another entry.",
    wrong: Example::Entries(
        "- url: https://example.org/3\n- url: https://example.org/docs\n  short-code: pVmgO/W4\n",
    ),
    right: Example::Entries(
        "- url: https://example.org/3\n- url: https://example.org/docs\n  short-code: docs\n",
    ),
    remedy: "Choose another code, unless no one writes the auto code that way.",
};

pub(super) const HIDES_TRUNCATION: Description = Description {
    name: "code-hides-truncation",
    severity: Warning,
    meaning: "A code is also an auto code that has lost its last character.",
    explanation: "Programs that turn addresses into links drop a final `-` or `_`, which the server repairs.\nHere the shortened address leads to another entry.",
    wrong: Example::Entries(
        "- url: https://example.org/29\n- url: https://example.org/docs\n  short-code: qE3XwWW\n",
    ),
    right: Example::Entries(
        "- url: https://example.org/29\n- url: https://example.org/docs\n  short-code: docs\n",
    ),
    remedy: "Choose another code.",
};

pub(super) const HIDES_FULL_STOP: Description = Description {
    name: "code-hides-full-stop",
    severity: Warning,
    meaning: "A code is another code with a full stop after it.",
    explanation: "A link at the end of a sentence is often copied with the full stop, which the server repairs.\nHere that address leads to another entry.\nSuch a code also violates `code-ends-in-full-stop`.",
    wrong: Example::Entries(
        "- url: https://example.org/docs\n  short-code: docs\n- url: https://example.org/guide\n  short-code: docs.\n",
    ),
    right: Example::Entries(
        "- url: https://example.org/docs\n  short-code: docs\n- url: https://example.org/guide\n  short-code: guide\n",
    ),
    remedy: "Choose another code.",
};

pub(super) const HIDES_PATH: Description = Description {
    name: "code-hides-path",
    severity: Warning,
    meaning: "A code is below another code that forwards its path.",
    explanation: "The longer code takes precedence, so the entry of the shorter code never receives that path.",
    wrong: Example::Entries(
        "- url: https://example.org/docs/\n  short-code: docs\n  forward: path\n- url: https://example.org/guide\n  short-code: docs/guide\n",
    ),
    right: Example::Entries(
        "- url: https://example.org/docs/\n  short-code: docs\n  forward: path\n- url: https://example.org/guide\n  short-code: guide\n",
    ),
    remedy: "Choose another code, unless the path is intended as an exception.",
};

pub(super) const UNREACHABLE: Description = Description {
    name: "code-unreachable",
    severity: Warning,
    meaning: "A code is below the path of another site of the table.",
    explanation: "The site with the longer path takes precedence, so the entry is never reached.",
    wrong: Example::Files(&[
        (
            "a.yaml",
            "base_url: https://short.code/\nmapping:\n- url: https://example.org/\n  short-code: team/docs\n",
        ),
        (
            "b.yaml",
            "base_url: https://short.code/team/\nmapping: []\n",
        ),
    ]),
    right: Example::Files(&[
        ("a.yaml", "base_url: https://short.code/\nmapping: []\n"),
        (
            "b.yaml",
            "base_url: https://short.code/team/\nmapping:\n- url: https://example.org/\n  short-code: docs\n",
        ),
    ]),
    remedy: "Move the entry to the other site, or choose another code.",
};

pub(super) const TARGET_SHARED: Description = Description {
    name: "target-shared",
    severity: Warning,
    meaning: "Two entries that are not retired lead to the same URL.",
    explanation: "Someone may have registered the URL without noticing that it already has a code.\nSeveral codes for one URL can be one entry, which is easier to change.",
    wrong: Example::Entries(
        "- url: https://example.org/\n  short-code: example\n- url: https://example.org/\n  short-code: ex\n",
    ),
    right: Example::Entries(
        "- url: https://example.org/\n  short-code: example\n  aliases: [ex]\n",
    ),
    remedy: "List further codes under `aliases` of the first entry.",
};

pub(super) const TARGET_CHAIN: Description = Description {
    name: "target-chain",
    severity: Warning,
    meaning: "The target of an entry, or the `home` or `fallback` of a site, is a short link of the table itself.",
    explanation: "Each visit takes two redirects, and changing the other link changes this one too.",
    wrong: Example::Entries(
        "- url: https://example.org/\n  short-code: example\n- url: https://short.code/example\n  short-code: ex\n",
    ),
    right: Example::Entries(
        "- url: https://example.org/\n  short-code: example\n  aliases: [ex]\n",
    ),
    remedy: "Link to the final target, or make the code an alias of the other entry.",
};

pub(super) const TARGET_RETIRED: Description = Description {
    name: "target-retired",
    severity: Warning,
    meaning: "The target of an entry, or the `home` of a site, is a retired link of the table.",
    explanation: "Visitors are redirected to a page that says the link is gone.",
    wrong: Example::Entries(
        "- url: https://example.org/\n  short-code: example\n  retired: true\n- url: https://short.code/example\n  short-code: ex\n",
    ),
    right: Example::Entries(
        "- url: https://example.org/\n  short-code: example\n  retired: true\n- url: https://example.com/\n  short-code: ex\n",
    ),
    remedy: "Retire this entry too, or change its target.",
};

pub(super) const TARGET_UNKNOWN: Description = Description {
    name: "target-unknown",
    severity: Warning,
    meaning: "The target of an entry, or the `home` of a site, is a short link that the table does not have.",
    explanation: "Visitors are redirected to a page that says the link was not found.",
    wrong: Example::Entries("- url: https://short.code/exmaple\n  short-code: ex\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: ex\n"),
    remedy: "Correct the target, or add the missing link.",
};

pub(super) const TARGET_LOOP: Description = Description {
    name: "target-loop",
    severity: Error,
    meaning: "The target of an entry, or the `home` or `fallback` of a site, leads into a loop of short links of the table, or through more than 20 of them.",
    explanation: "Browsers give up after a number of redirects and show an error.",
    wrong: Example::Entries("- url: https://short.code/example\n  short-code: example\n"),
    right: Example::Entries("- url: https://example.org/\n  short-code: example\n"),
    remedy: "Change the target of one of the links in the hint to a page outside the table.",
};

pub(super) const FORWARD_URL_ENDING: Description = Description {
    name: "forward-url-ending",
    severity: Error,
    meaning: "An entry forwards paths to a URL that nothing can be appended to.",
    explanation: "Appended text would change the last word of the URL, or even its host.\nThe same applies to the URL of `below`.\nWith `forward: path` under `defaults`, it is reported at each entry concerned.",
    wrong: Example::Entries(
        "- url: https://example.org/docs\n  short-code: docs\n  forward: path\n",
    ),
    right: Example::Entries(
        "- url: https://example.org/docs/\n  short-code: docs\n  forward: path\n",
    ),
    remedy: "End the URL in `/`, `=`, `:` or `#`, or write `forward: none`.",
};

pub(super) const FORWARD_URL_FRAGMENT: Description = Description {
    name: "forward-url-fragment",
    severity: Error,
    meaning: "An entry forwards both path and query to a URL that ends in `#`.",
    explanation: "The query belongs before the `#` and the path after it, so they would be separated.",
    wrong: Example::Entries(
        "- url: https://example.org/docs#\n  short-code: docs\n  forward: path-and-query\n",
    ),
    right: Example::Entries(
        "- url: https://example.org/docs#\n  short-code: docs\n  forward: path\n",
    ),
    remedy: "Forward only one of them.",
};
