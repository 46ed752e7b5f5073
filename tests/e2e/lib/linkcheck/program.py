"""Runs of the program, on a table of the farm's links."""

import json
import os
import subprocess
from collections import Counter

from certificates import at


class Table:
    """A folder with a table and the state of its links."""

    def __init__(self, folder, authority, targets=(), delay=0.02, aliases=None):
        self.folder, self.authority, self.delay = folder, authority, delay
        folder.mkdir()
        self.path = folder / "mapping.yaml"
        if targets:
            self.write(targets)
        if aliases:
            lines = [f"{name}: [{', '.join(members)}]\n" for name, members in aliases.items()]
            (folder / "aliases.yaml").write_text("".join(lines))

    def write(self, targets):
        lines = ["base_url: https://short.example/", "mapping:"]
        for number, target in enumerate(targets):
            lines += [f'- url: "{target}"', f"  short-code: c{number}"]
        self.path.write_text("\n".join(lines) + "\n")

    def command(self, *more):
        aliases = self.folder / "aliases.yaml"
        return [
            os.environ["WAYPOST"], "linkcheck", self.path,
            *([] if {"--base", "--state", "--store"} & set(more) else ["--state", self.folder / "state.redb"]),
            *(["--aliases", aliases] if aliases.exists() else []),
            "--delay", f"{round(self.delay * 1000)}ms",
            "--timeout", "1500ms", *([] if "--concurrency" in more else ["--concurrency", "256"]), *([] if "--max-time" in more else ["--max-time", "90s"]),
            *([] if "--format" in more else ["--format", "json"]), *more,
        ]

    def environment(self, time=None, variables=()):
        return {**at(time), "SSL_CERT_FILE": str(self.authority.certificate), **dict(variables)}

    def start(self, *more, variables=(), **options):
        return subprocess.Popen(self.command(*more), env=self.environment(None, variables), **options)

    def check(self, *more, status=0, time=None, variables=()):
        """Runs it to its end, at another time if one is given, such as `+3d`."""
        run = subprocess.run(
            self.command(*more), env=self.environment(time, variables), capture_output=True, text=True, cwd=self.folder,
        )
        assert run.returncode == status, (run.returncode, run.stdout[-3000:], run.stderr[-3000:])
        return run


def links(run):
    """Returns what a run reported of each target."""
    document = json.loads(run.stdout)
    assert document["version"] == 1
    return {link["target"]: link for link in document["links"]}


def summary(run):
    return run.stderr.strip().splitlines()[-1]


def count(found):
    return ", ".join(f"{number} {name}" for name, number in sorted(Counter(found).items()))
