"""Many writers that register links, and edit them, in one bare repository at the same time."""

import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WAYPOST = os.environ["WAYPOST"]
VECTORS = Path(__file__).parents[2] / "vectors/codes.json"
WRITERS = 8
TABLE = "base_url: https://short.code/\nmapping: []\n"
TAKEN = "ERR-000-02-00: URL already registered"

# One entry of each editor, and one that all of them change.
EDITED = (
    "# Kept.\nbase_url: https://short.code/\nmapping:\n"
    "- url: https://shared.example/\n  short-code: shared # by all\n"
    + "".join(f"- url: https://{n}.example/\n  short-code: own-{n}\n" for n in range(WRITERS))
)


class Scene:
    """A bare repository with a table, and a checkout of it for each writer."""

    def __init__(self, path, table):
        path.mkdir()
        self.path = path
        self.bare = path / "links.git"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(path),
            "TMPDIR": str(path),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        identity = "[user]\nname = A. Uthor\nemail = author@example.org\n"
        (path / ".gitconfig").write_text(identity + "[init]\ndefaultBranch = main\n")
        self.git("init", "--quiet", "--bare", self.bare)
        self.git("clone", "--quiet", self.bare, path / "first")
        (path / "first/mapping.yaml").write_text(table)
        self.git("add", "mapping.yaml", cwd="first")
        self.git("commit", "--quiet", "-m", "Begin", cwd="first")
        self.git("push", "--quiet", "origin", "main", cwd="first")
        for writer in range(WRITERS):
            self.git("clone", "--quiet", self.bare, path / str(writer))

    def run(self, *command, cwd="."):
        return subprocess.run(
            [str(it) for it in command],
            cwd=self.path / cwd,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )

    def git(self, *arguments, cwd="."):
        done = self.run("git", *arguments, cwd=cwd)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


def wishes(writer, count):
    """Returns the links that a writer adds: (URL, further arguments), in random order."""
    pairs = json.loads(VECTORS.read_text())["sha256_collisions"]
    colliding = [url for pair in pairs for url in pair["urls"]]
    shared = [f"https://shared.example/{n}" for n in range(count // 4)]
    own = [f"https://{writer}.example/{n}" for n in range(count - len(shared) - len(colliding))]
    found = [(url, ["--number", "next"] if n % 2 else []) for n, url in enumerate(own)]
    found += [(url, []) for url in shared + colliding]
    random.Random(writer).shuffle(found)
    return found


def write(scene, writer, count):
    """Adds all links of a writer, and returns the URLs and short links of those that were accepted."""
    where = ["--push"] if writer % 2 else ["--repo", scene.bare]
    given = {}
    for url, arguments in wishes(writer, count):
        done = scene.run(WAYPOST, "add", url, *arguments, *where, cwd=str(writer))
        if done.returncode == 0:
            given[url] = done.stdout.strip()
        else:
            assert done.returncode == 1 and TAKEN in done.stderr, (url, done)
    return given


def check_history(scene):
    """Checks that each commit is valid, has one parent, and adds one entry."""
    commits = scene.git("rev-list", "--reverse", "main", cwd=scene.bare).split()
    assert scene.git("rev-list", "--merges", "main", cwd=scene.bare) == ""
    for entries, commit in enumerate(commits):
        done = scene.run(WAYPOST, "check", "--rev", f"{commit}:mapping.yaml", cwd=scene.bare)
        assert done.returncode == 0, (commit, done.stdout)
        noun = "entry" if entries == 1 else "entries"
        assert done.stderr.startswith(f"{entries} {noun}: no problems"), (commit, done.stderr)
    return len(commits) - 1


def at_once(act):
    """Runs all writers, and returns their results and the seconds that they took."""
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
        results = list(pool.map(act, range(WRITERS)))
    return results, time.monotonic() - began


def race_of_adds(path, count):
    scene = Scene(path / "adds", TABLE)
    results, took = at_once(lambda writer: write(scene, writer, count))
    urls = [url for given in results for url in given]
    links = [link for given in results for link in given.values()]
    wished = {url for writer in range(WRITERS) for url, _ in wishes(writer, count)}
    assert sorted(urls) == sorted(wished), "not every URL was registered exactly once"
    assert len(set(links)) == len(links), "a link was given twice"
    assert check_history(scene) == len(links), "not one commit for each link"
    table = scene.git("show", "main:mapping.yaml", cwd=scene.bare)
    numbers = [int(line.split()[-1]) for line in table.splitlines() if "number:" in line]
    assert sorted(numbers) == list(range(1, len(numbers) + 1)) and numbers, numbers
    print(
        f"{WRITERS} writers, {WRITERS * count} adds: {len(links)} links in {took:.0f} s, "
        f"{len(numbers)} of them numbered"
    )


def edits(writer):
    """Returns the edits of an editor, in order: of an entry of its own, and of a shared one."""
    own = f"own-{writer}"
    return [
        ["set", "shared", "--alias", f"a-{writer}"],
        ["retarget", own, f"https://{writer}.example/new"],
        ["set", "https://short.code/shared", "--owner", "team"],
        ["set", own, "--title", f"No. {writer}", "--tag", "edited"],
        ["retire", own, "--archive", f"https://archive.example/{writer}"],
        ["set", f"a-{writer}", "--alias", f"b-{writer}"],
        ["restore", own],
    ]


def edit(scene, writer):
    """Makes all edits of a writer, and returns how many of them changed something."""
    where = ["--push"] if writer % 2 else ["--repo", scene.bare]
    changes = 0
    for arguments in edits(writer):
        done = scene.run(WAYPOST, *arguments, *where, cwd=str(writer))
        assert done.returncode == 0, (arguments, done)
        assert done.stderr.startswith(("changed at ", "nothing to change: ")), (arguments, done)
        changes += done.stderr.startswith("changed at ")
    return changes


def race_of_edits(path):
    scene = Scene(path / "edits", EDITED)
    results, took = at_once(lambda writer: edit(scene, writer))
    # Only one of them gave the shared entry its owner.
    expected = WRITERS * (len(edits(0)) - 1) + 1
    commits = int(scene.git("rev-list", "--count", "main", cwd=scene.bare)) - 1
    assert sum(results) == commits == expected, (results, commits, expected)
    assert scene.git("rev-list", "--merges", "main", cwd=scene.bare) == ""
    scene.git("clone", "--quiet", scene.bare, scene.path / "last")
    done = scene.run(WAYPOST, "check", "--history", "--deny", "warnings", cwd="last")
    assert done.returncode == 0, ("a change of a target was not declared", done)

    table = (scene.path / "last/mapping.yaml").read_text()
    assert table.startswith(EDITED[: EDITED.index("- url")]), table
    assert "short-code: shared # by all\n" in table, table
    done = scene.run(WAYPOST, "export", "--format", "jsonl", cwd="last")
    assert done.returncode == 0, done
    links = {link["short-code"]: link for link in map(json.loads, done.stdout.splitlines())}
    shared = links.pop("shared")
    aliases = {f"{kind}-{writer}" for kind in "ab" for writer in range(WRITERS)}
    assert set(shared["aliases"]) == aliases and shared["owner"] == "team", shared
    assert len(links) == WRITERS, links
    for writer in range(WRITERS):
        link = links[f"own-{writer}"]
        found = [link.get(key) for key in ("url", "title", "tags", "archive", "retired")]
        assert found == [
            f"https://{writer}.example/new",
            f"No. {writer}",
            ["edited"],
            f"https://archive.example/{writer}",
            None,
        ], link
    print(f"{WRITERS} writers, {WRITERS * len(edits(0))} edits: {commits} commits in {took:.0f} s")


def main():
    with tempfile.TemporaryDirectory(prefix="waypost-register-") as path:
        path = Path(path).resolve()
        race_of_adds(path, int(sys.argv[1]))
        race_of_edits(path)


if __name__ == "__main__":
    main()
