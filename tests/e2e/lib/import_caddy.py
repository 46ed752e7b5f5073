"""Caddyfiles, imported, and compared with a real Caddy."""

import os
import pathlib
import random
import re
import subprocess
import tempfile

from import_apache import HOST
from import_comparison import compare
from other_servers import free_port, running

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


def in_work(name, text):
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        return compare(name, "caddy", text, NAMES, work, running_caddy(work, free_port(), text))


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
