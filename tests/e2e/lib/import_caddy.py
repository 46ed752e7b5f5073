"""Caddyfiles, imported, and compared with a real Caddy: where Waypost answers, Caddy gives the same status and
location.

Differences that are understood, and documented in docs/importing.md:
- a code also answers with a slash after it, and without, where Caddy redirects nowhere, or as it does for every path
  that nothing names;
- a URL is in canonical form, and does not end in an empty query."""

import os
import pathlib
import random
import re
import subprocess
import tempfile
import urllib.parse

from import_apache import BASE, HOST, canonical, export, waypost
from import_nginx import UNKNOWN, is_redirect
from other_servers import answers, free_port, running
from serving import Serving

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "tests/data/import/Caddyfile"
GENERATED = 24

NAMES = ["a", "b", "c", "ab", "v1", "x.y"]
MATCHERS = ["/{n}", "/{n}", "/{n}", "/{n}/*", "/{n}/*", "/{n}/*", "/{n}*", "/{n}/", "/{n}/{m}", "/{n}/{m}/*", "*", "", "@two", "@one", "@all",
            "@header", "@set", "@set", "/*/{n}", "/{N}"]  # fmt: skip
TARGETS = ["https://e.example/{t}", "https://e.example/{t}", "https://e.example/{t}/", "https://e.example{uri}",
           "https://e.example/{t}{uri}", "https://e.example/{t}{path}", "https://e.example/{t}?{query}", "/{t}", "/{t}{path}",
           "https://e.example/{t}?x=1&{query}", "https://{host}/{t}", '`https://e.example/{t}?a=1`', "{first}",
           "https://e.example/{t}#f", "https://e.example/{http.request.orig_uri.path}"]  # fmt: skip
STATUSES = ["", "", "301", "302", "303", "307", "308", "permanent", "temporary"]
BLOCKS = ["handle /{n}/* {", "handle /{n}* {", "handle {", "handle_path /{n}/* {", "handle_path /{n}/* {", "route {", "route /{n}/* {",
          "handle_path /{n}/{m}/* {", "handle @two {"]  # fmt: skip


def directive(source, depth=0):
    """Returns a directive of a site or of a block."""
    names = lambda text: (  # noqa: E731
        text.replace("{n}", source.choice(NAMES)).replace("{m}", source.choice(NAMES)).replace("{N}", source.choice(NAMES).upper())
    )
    kind = source.random()
    matcher = names(source.choice(MATCHERS))
    if kind < 0.7:
        target = source.choice(TARGETS).replace("{t}", source.choice("stu"))
        if not matcher and target.startswith("/"):
            matcher = "*"
        return f"redir {matcher} {target} {source.choice(STATUSES)}"
    if kind < 0.78:
        return f"{source.choice(['respond', 'error'])} {matcher} {source.choice(['410', '404', '200'])}"
    if kind < 0.81:
        return names(source.choice(["rewrite /{n} /{m}", "uri strip_prefix /{n}", "header /{n} X y", "respond hello"]))
    if depth > 1:
        return f"redir {names('/{n}')} https://e.example/deep"
    inner = "\n".join(directive(source, depth + 1) for _ in range(source.randrange(1, 4)))
    return f"{names(source.choice(BLOCKS))}\n{inner}\n}}"


def generate(source):
    """Returns the directives of a site."""
    first, second, third = (source.choice(NAMES) for _ in range(3))
    lines = [f"@two path /{first} /{second}/*", f"@one path /{third}/*", "@header header X y", '@set not vars {first} ""']
    lines.append(f"@all {{\npath /{third}\npath /{first}/{second} /{second}\n}}")
    keys = {f"/{source.choice(NAMES)}": source.choice("stu") for _ in range(3)}
    keys |= {f"/{first}/{source.choice(NAMES)}": "nested"} if source.random() < 0.5 else {}
    mapped = "\n".join(f"{key} https://e.example/{value}/m" for key, value in keys.items())
    lines.append(f'map {{path}} {{first}} {{\n{mapped}\ndefault ""\n}}')
    lines += [directive(source) for _ in range(source.randrange(1, 9))]
    return "\n".join(lines)


def paths(text, links):
    """Returns the paths to request: those of links, what is next to them, and those that directives name."""
    named = {urllib.parse.quote(it["short-code"]) for it in links} | set(NAMES)
    named |= {f"{first}/{second}" for first in NAMES for second in NAMES}
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


def difference(path, theirs, ours):
    """Returns whether Waypost answers otherwise than Caddy, in a way that is not understood."""
    found, expected = ours[path], theirs[path]
    if found[0] == 404 or found == expected:
        return False
    page, _, query = path.partition("?")
    other = page[:-1] if page.endswith("/") else page + "/"
    mark = f"?{query}" if query else ""
    known = [theirs[it] for it in (other + mark, page, other)]
    status, location = theirs[f"/{UNKNOWN}{mark}"]
    of_all = status, location and location.replace(UNKNOWN, page[1:])
    return is_redirect(expected) and bool(expected[1] or expected[0] == 410) and expected != of_all or found not in known


def running_caddy(work, port, text):
    """Runs Caddy with a file of one site."""
    options = "{\nadmin off\nauto_https off\n}\n"
    (work / "running").write_text(options + text.replace(f"{HOST} {{", f"http://{HOST}:{port} {{", 1))
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", work / "running"]
    env = os.environ | {"HOME": str(work), "XDG_DATA_HOME": str(work), "XDG_CONFIG_HOME": str(work)}
    return running(command, port, work / "caddy.log", env=env)


def is_accepted(work, text):
    """Returns whether Caddy accepts a file."""
    (work / "adapted").write_text(text)
    command = ["caddy", "adapt", "--adapter", "caddyfile", "--config", work / "adapted"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def compare(name, text, work):
    """Imports a file of one site, and compares all answers; returns the links, and how many were answered."""
    (work / "imported").write_text(text)
    table = work / "mapping.yaml"
    done = waypost("import", work / "imported", "--format", "caddy", "--base-url", BASE, "--table", table)
    assert done.returncode in (0, 1), done.stderr
    links = export(table)
    asked = paths(text, links)
    split = [path.partition("?") for path in asked]
    other = {(p[:-1] if p.endswith("/") else p + "/") + q + query for p, q, query in split}
    other |= {path.partition("?")[0] for path in {*asked, *other}}
    other |= {f"/{UNKNOWN}{q}{query}" for _, q, query in split}
    serving = Serving(work, "--table", table).serving()
    try:
        ours = {path: plain(it) for path, it in answers(serving.public, HOST, asked).items()}
    finally:
        serving.end()
    with running_caddy(work, free_port(), text) as address:
        theirs = {path: plain(it) for path, it in answers(address, HOST, sorted({*asked, *other} - {""})).items()}
    wrong = [path for path in asked if difference(path, theirs, ours)]
    for path in wrong[:60]:
        print(f"{name}: {path}: {ours[path]}, Caddy answers {theirs[path]}")
    answered = sum(it[0] != 404 for it in ours.values())
    print(f"{name}: {len(links)} links, {len(asked)} paths, {answered} of them answered, {len(wrong)} otherwise")
    assert not wrong, f"{text}\n{done.stderr}"
    return links, answered


def in_work(name, text):
    with tempfile.TemporaryDirectory() as work:
        return compare(name, text, pathlib.Path(work))


def main():
    example = EXAMPLE.read_text()
    links, _ = in_work("examples", example)
    found = {it["short-code"]: it["forward"] for it in links}
    expected = dict(re.findall(r"# becomes (\S+) (\S+)$", example, re.MULTILINE))
    assert found == expected, (found, expected)
    seed = int(os.environ.get("IMPORT_SEED", "1"))
    number = compared = answered = 0
    while compared < GENERATED:
        source = random.Random(f"caddy {seed} {number}")
        text = f"{HOST} {{\n{generate(source)}\n}}\n"
        number += 1
        with tempfile.TemporaryDirectory() as work:
            if not is_accepted(pathlib.Path(work), text):
                continue
        answered += in_work(f"seed {seed}, Caddyfile {number}", text)[1]
        compared += 1
    # Otherwise all directives would have been refused.
    assert answered > 8 * GENERATED, answered


if __name__ == "__main__":
    main()
