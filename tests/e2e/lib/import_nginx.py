"""Configurations of nginx, imported, and compared with a real nginx: where Waypost answers, nginx gives the
same status and location.

Differences that are understood, and documented in docs/importing.md:
- a code also answers with a slash after it, and without, where nginx redirects nowhere, or only adds this
  slash, or as it does for every path that nothing names;
- a path with a query answers where nginx compares both with the keys of a map, and finds none;
- a query is not appended to a fragment, and a URL does not end in an empty query."""

import os
import pathlib
import random
import re
import tempfile
import urllib.parse

from import_apache import BASE, HOST, canonical, export, waypost
from other_servers import answers, free_port, running_nginx
from serving import Serving

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "data/import/nginx-server.conf"
GENERATED = 20
# A path that nothing names.
UNKNOWN = "~unknown~"

NAMES = ["a", "b", "c", "ab", "v1", "x.y", "A"]
TARGETS = ["{t}", "{t}/", "{t}?x=1", "{t}#f", "{t}?", "?{t}="]
STATUSES = ["301", "302", "303", "307", "308"]
LOCATIONS = ["= /{n}", "= /{n}/", "= /{n}/{m}", "/{n}", "/{n}/", "/{n}/{m}/", "^~ /{n}/", "^~ /{n}/{m}", "~ ^/{n}$",
             "~ ^/{n}/?$", "~ ^/{n}/(.*)$", "~* ^/{n}$", "~ ^/({n}|{m})$", "~ ^/{n}(/.*)?$", "~ ^/{n}", "~ /{n}$", "/"]  # fmt: skip
REWRITES = ["^/{n}$", "^/{n}/?$", "^/{n}/(.*)$", "^/{n}/{m}/(.*)$", "^/({n}|{m})/(.*)$", "^/{n}", "/{n}$",
            "^/{n}(/.*)?$", "^/{n}.{m}$", "^/(.*)$", "!x"]  # fmt: skip
CONDITIONS = ["$uri = /{n}", "$uri ~ ^/{n}/", "$uri ~* ^/{n}$", "$host = other", "$args", "$arg_q = 1", "$first", "$second",
              "$args ~ ^(.)", "$host ~ ^(s)", "$args !~ (=)", "$of_host", "$of_host = x"]  # fmt: skip
# What changes the answers of other directives.
CHANGES = ["set $first https://e.example/set;", "set $args '';", "if ($uri ~ ^/(?<second>.*)) { break; }", "error_page 410 /{n};",
           "error_page 410 =302 https://e.example/s;", "error_page 301 302 https://e.example/s;", "error_page 404 410 /{n}/x;",
           "if ($args ~ ^(.)) { break; }", "if ($args) { break; }", "error_page 410 @named;", "merge_slashes on;"]  # fmt: skip
PASSES = ["location /{n}/ { proxy_pass http://127.0.0.1:9; }", "location = /{n}/ { proxy_pass http://127.0.0.1:9; }",
          "location ^~ /{n}/{m}/ { proxy_pass http://127.0.0.1:9; }"]  # fmt: skip


def url(source):
    return "https://e.example/" + source.choice(TARGETS).replace("{t}", source.choice("stu"))


def directive(source, inside):
    """Returns a directive of the rewrite module."""
    names = lambda text: text.replace("{n}", source.choice(NAMES)).replace("{m}", source.choice(NAMES))  # noqa: E731
    tail = source.choice(["", "", "", "$1", "$uri", "$request_uri", "$is_args$args", "?$args"])
    kind = source.random()
    if kind < 0.55 and inside:
        return f'return {source.choice(STATUSES)} "{url(source)}{tail}";'
    if kind < 0.6 and inside:
        return source.choice(["return 410;", "return 404;", "return 200 ok;", "break;", "return 302 /{n};"]).replace("{n}", "s")
    if kind < 0.85:
        flag = source.choice(["permanent", "redirect", ""])
        tail = source.choice(["", "", "$1", "$1?", "$2"])
        return f'rewrite "{names(source.choice(REWRITES))}" "{url(source)}{tail}" {flag};'.replace(" ;", ";")
    if kind < 0.95:
        return f"if ({names(source.choice(CONDITIONS))}) {{ return {source.choice(STATUSES)} {url(source)}; }}"
    return source.choice(["return 302 $first;", "return 301 $second;"]) if inside else "break;"


def mapped(source, name, of):
    """Returns a map of a few paths."""
    keys = {}
    for _ in range(source.randrange(5)):
        first, second = source.choice(NAMES), source.choice(NAMES)
        key = source.choice([f"/{first}", f"/{first}/{second}", f"~^/{first}/(.*)$", f"~^/{first}/?$", f"~*^/{first}$"])
        keys.setdefault(key.lower() if key[0] == "/" else key, f'  "{key}" "{url(source)}{"$1" if "(" in key else ""}";')
    if source.random() < 0.2:
        keys["default"] = f"  default {source.choice(['0', url(source)])};"
    return "\n".join([f"map ${of} ${name} {{", *keys.values(), "}"])


def generate(source):
    """Returns the lines outside of a server, and those inside."""
    outside = mapped(source, "first", "uri") + "\n" + mapped(source, "second", "request_uri")
    outside += "\nmap $host $of_host {\n  ~^s(h) x;\n}"
    uses = ["if ($first) { return 301 $first; }", "if ($second) { return 302 $second; }"]
    inside = [it for it in uses if source.random() < 0.6]
    inside += [directive(source, False) for _ in range(source.randrange(3))]
    names = lambda text: text.replace("{n}", source.choice(NAMES)).replace("{m}", source.choice(NAMES))  # noqa: E731
    if source.random() < 0.3:
        inside.insert(source.randrange(len(inside) + 1), names(source.choice(CHANGES)))
    if any("@named" in it for it in inside):
        inside.append("location @named { return 302 https://e.example/named; }")
    locations = {}
    for _ in range(source.randrange(1, 8)):
        where = source.choice(LOCATIONS).replace("{n}", source.choice(NAMES)).replace("{m}", source.choice(NAMES))
        body = " ".join(directive(source, True) for _ in range(source.choice([1, 1, 1, 2])))
        # The same path twice is an error, with or without its mark.
        locations.setdefault(where.replace("^~ ", ""), f"location {where} {{ {body} }}")
    if source.random() < 0.3:
        passed = names(source.choice(PASSES))
        locations.setdefault(passed[9:].partition(" {")[0].replace("^~ ", ""), passed)
    inside += locations.values()
    return outside, "\n".join(inside)


def paths(text, links):
    """Returns the paths to request: those of links, what is next to them, and those that directives name."""
    asked = set()
    named = {urllib.parse.quote(it["short-code"]) for it in links} | set(NAMES)
    named |= {f"{first}/{second}" for first in NAMES for second in NAMES if f"{first}/{second}" in text}
    named |= set(re.findall(r"/([\w.-]+(?:/[\w.-]+)*)", text))
    for path in named:
        asked.update(path + it for it in ("", "/", "?q=1", "/?q=1&r", "/x1", "/x1/y.z?a=b", "x1", "/b", "/a/x"))
    return sorted("/" + it for it in asked if "//" not in it)


def plain(answer):
    """Returns an answer without an empty query, and with a canonical location."""
    status, location = answer
    return status, location and re.sub(r"[?&]$", "", canonical(location))


def is_redirect(answer):
    return 300 <= answer[0] < 400 or answer[0] == 410


def difference(path, theirs, ours):
    """Returns whether Waypost answers otherwise than nginx, in a way that is not understood."""
    found, expected = ours[path], theirs[path]
    if found[0] == 404 or found == expected:
        return False
    page, _, query = path.partition("?")
    other = page[:-1] if page.endswith("/") else page + "/"
    mark = f"?{query}" if query else ""
    known = [theirs[it] for it in (other + mark, page, other)]
    status, location = theirs[f"/{UNKNOWN}{mark}"]
    of_all = status, location and location.replace(UNKNOWN, page[1:])
    added = urllib.parse.urlsplit(expected[1] or "")
    adds_slash = expected[0] == 301 and (added.hostname, added.path) == (HOST, urllib.parse.quote(page) + "/")
    return is_redirect(expected) and expected != of_all and not adds_slash or found not in known


def compare(name, outside, inside, work):
    """Imports a configuration, and compares all answers; returns the links, and how many were answered."""
    (work / "imported.conf").write_text(f"{outside}\nserver {{\n{inside}\n}}\n")
    table = work / "mapping.yaml"
    done = waypost("import", work / "imported.conf", "--format", "nginx", "--base-url", BASE, "--table", table)
    assert done.returncode in (0, 1), done.stderr
    links = export(table)
    asked = paths(outside + inside, links)
    split = [path.partition("?") for path in asked]
    other = {(p[:-1] if p.endswith("/") else p + "/") + q + query for p, q, query in split}
    other |= {path.partition("?")[0] for path in {*asked, *other}}
    other |= {f"/{UNKNOWN}{q}{query}" for _, q, query in split}
    serving = Serving(work, "--table", table).serving()
    try:
        ours = {path: plain(it) for path, it in answers(serving.public, HOST, asked).items()}
    finally:
        serving.end()
    with running_nginx(work, free_port(), outside, inside) as address:
        theirs = {path: plain(it) for path, it in answers(address, HOST, sorted({*asked, *other} - {""})).items()}
    wrong = [path for path in asked if difference(path, theirs, ours)]
    for path in wrong[:60]:
        print(f"{name}: {path}: {ours[path]}, nginx answers {theirs[path]}")
    answered = sum(it[0] != 404 for it in ours.values())
    print(f"{name}: {len(links)} links, {len(asked)} paths, {answered} of them answered, {len(wrong)} otherwise")
    assert not wrong, f"{outside}\n{inside}\n{done.stderr}"
    return links, answered


def in_work(name, outside, inside):
    with tempfile.TemporaryDirectory() as work:
        # Workers run as another user.
        os.chmod(work, 0o755)
        return compare(name, outside, inside, pathlib.Path(work))


def main():
    example = EXAMPLE.read_text()
    outside, _, inside = example.partition("server {\n")
    links, _ = in_work("examples", outside, inside.rstrip().removesuffix("}"))
    found = {it["short-code"]: it["forward"] for it in links}
    expected = dict(re.findall(r"# becomes (\S+) (\S+)$", example, re.MULTILINE))
    assert found == expected, (found, expected)
    seed = int(os.environ.get("IMPORT_SEED", "1"))
    answered = 0
    for number in range(GENERATED):
        source = random.Random(f"nginx {seed} {number}")
        answered += in_work(f"seed {seed}, configuration {number}", *generate(source))[1]
    # Otherwise all directives would have been refused.
    assert answered > 8 * GENERATED, answered


if __name__ == "__main__":
    main()
