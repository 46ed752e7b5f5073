"""Configurations of nginx, imported, and compared with a real nginx.

Further differences that are understood, and documented in docs/importing.md:
- a code also answers with a slash after it where nginx only adds this slash;
- a path with a query answers where nginx compares both with the keys of a map, and finds none;
- a query is not appended to a fragment."""

import os
import pathlib
import random
import re
import tempfile
import urllib.parse

from import_apache import HOST
from import_comparison import compare
from other_servers import free_port, running_nginx

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "data/import/nginx-server.conf"
GENERATED = 20

NAMES = ["a", "b", "c", "ab", "v1", "x.y", "A"]
TARGETS = ["{t}", "{t}/", "{t}?x=1", "{t}#f", "{t}?", "?{t}="]
STATUSES = ["301", "302", "303", "307", "308"]
LOCATIONS = ["= /{n}", "= /{n}/", "= /{n}/{m}", "/{n}", "/{n}/", "/{n}/{m}/", "^~ /{n}/", "^~ /{n}/{m}", "~ ^/{n}$",
             "~ ^/{n}/?$", "~ ^/{n}/(.*)$", "~* ^/{n}$", "~ ^/({n}|{m})$", "~ ^/{n}(/.*)?$", "~ ^/{n}", "~ /{n}$", "/"]  # fmt: skip
INNER = ["= {outer}{m}", "^~ {outer}{m}", "{outer}{m}", "~ {m}$"]
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
        if where.startswith("/") and source.random() < 0.3:
            inner = names(source.choice(INNER).replace("{outer}", where))
            body += f" location {inner} {{ {directive(source, True)} }}"
        # The same path twice is an error, with or without its mark.
        locations.setdefault(where.replace("^~ ", ""), f"location {where} {{ {body} }}")
    if source.random() < 0.3:
        passed = names(source.choice(PASSES))
        locations.setdefault(passed[9:].partition(" {")[0].replace("^~ ", ""), passed)
    inside += locations.values()
    return outside, "\n".join(inside)


def adds_slash(page, answer):
    """Returns whether a redirect only adds the slash to a path."""
    added = urllib.parse.urlsplit(answer[1] or "")
    return answer[0] == 301 and (added.hostname, added.path) == (HOST, urllib.parse.quote(page) + "/")


def in_work(name, outside, inside):
    with tempfile.TemporaryDirectory() as work:
        # Workers run as another user.
        os.chmod(work, 0o755)
        work = pathlib.Path(work)
        text = f"{outside}\nserver {{\n{inside}\n}}\n"
        return compare(name, "nginx", text, NAMES, work, running_nginx(work, free_port(), outside, inside), adds_slash)


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
