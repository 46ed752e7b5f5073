"""A configuration of nginx or Caddy, imported, and compared with the server itself: where Waypost answers, the
server gives the same status and location.

Differences that are understood, and documented in docs/importing.md:
- a code also answers with a slash after it, and without, where the server redirects nowhere, or as it does for
  every path that nothing names;
- a URL is in canonical form, and does not end in an empty query."""

import re
import urllib.parse

from import_apache import BASE, HOST, canonical, export, waypost
from other_servers import answers
from serving import Serving

# A path that nothing names.
UNKNOWN = "~unknown~"


def paths(names, text, links):
    """Returns the paths to request: those of links, what is next to them, those of names, and those that a
    configuration names."""
    named = {urllib.parse.quote(it["short-code"]) for it in links} | set(names)
    named |= {f"{first}/{second}" for first in names for second in names}
    named |= set(re.findall(r"/([\w.-]+(?:/[\w.-]+)*)", text))
    asked = set()
    for path in named:
        asked.update(path + it for it in ("", "/", "?q=1", "/?q=1&r", "/x1", "/x1/y.z?a=b", "x1", "/b", "/a/x"))
    return sorted("/" + it for it in asked if "//" not in it)


def plain(answer):
    """Returns an answer without an empty query, and with a canonical location."""
    status, location = answer
    if location and location.startswith("/"):
        location = BASE + location[1:]
    return status, location and re.sub(r"[?&]$", "", canonical(location))


def is_redirect(answer):
    status, location = answer
    return 300 <= status < 400 and bool(location) or status == 410


def difference(path, theirs, ours, is_nothing):
    """Returns whether Waypost answers otherwise than the server, in a way that is not understood."""
    found, expected = ours[path], theirs[path]
    if found[0] == 404 or found == expected:
        return False
    page, _, query = path.partition("?")
    other = page[:-1] if page.endswith("/") else page + "/"
    mark = f"?{query}" if query else ""
    known = [theirs[it] for it in (other + mark, page, other)]
    status, location = theirs[f"/{UNKNOWN}{mark}"]
    of_all = status, location and location.replace(UNKNOWN, page[1:])
    leads = is_redirect(expected) and expected != of_all and not is_nothing(page, expected)
    return leads or found not in known


def compare(name, form, text, names, work, running, is_nothing=lambda page, answer: False):
    """Imports a text, and compares all answers with those of a server that is running with it; `is_nothing` says
    whether a redirect stands for none. Returns the links, and how many paths were answered."""
    (work / "imported").write_text(text)
    table = work / "mapping.yaml"
    done = waypost("import", work / "imported", "--format", form, "--base-url", BASE, "--table", table)
    assert done.returncode in (0, 1), done.stderr
    links = export(table)
    asked = paths(names, text, links)
    split = [path.partition("?") for path in asked]
    other = {(p[:-1] if p.endswith("/") else p + "/") + q + query for p, q, query in split}
    other |= {path.partition("?")[0] for path in {*asked, *other}}
    other |= {f"/{UNKNOWN}{q}{query}" for _, q, query in split}
    serving = Serving(work, "--table", table).serving()
    try:
        ours = {path: plain(it) for path, it in answers(serving.public, HOST, asked).items()}
    finally:
        serving.end()
    with running as address:
        theirs = {path: plain(it) for path, it in answers(address, HOST, sorted({*asked, *other} - {""})).items()}
    wrong = [path for path in asked if difference(path, theirs, ours, is_nothing)]
    for path in wrong[:60]:
        print(f"{name}: {path}: {ours[path]}, {form} answers {theirs[path]}")
    answered = sum(it[0] != 404 for it in ours.values())
    print(f"{name}: {len(links)} links, {len(asked)} paths, {answered} of them answered, {len(wrong)} otherwise")
    assert not wrong, f"{text}\n{done.stderr}"
    return links, answered
