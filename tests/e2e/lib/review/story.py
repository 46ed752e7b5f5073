"""Plays the story: proposes every branch, and merges them in random orders."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from proposals import ADMIN, prepare, proposals

WAYPOST = os.environ["WAYPOST"]
TABLES = Path(__file__).parents[3] / "data/obo"
SEEDS = os.environ.get("STORY_SEEDS", "1 2 3").split()
FOLDER = "config"

# The hook of a table's own repository: everything pushed to the main branch is checked.
HOOK = f"""#!/bin/sh
while read -r old new name; do
    [ "$name" = refs/heads/main ] || continue
    '{WAYPOST}' check --rev "$new:{FOLDER}" --base "$old" --author "$PUSHED_BY" || exit 1
done
"""


def run(command, cwd, status=0):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if status is not None and done.returncode != status:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}, not {status}\n{said}")
    return done.returncode, done.stdout, done.stderr


def git(cwd, *arguments, status=0):
    return run(["git", *arguments], cwd, status)


def check(cwd, base, author=ADMIN):
    """Checks the work tree of an author against a base; returns the errors."""
    command = [WAYPOST, "check", FOLDER, "--base", base, "--author", author, "--format", "json"]
    status, out, err = run(command, cwd, None)
    assert status in (0, 1), err
    errors = [it for it in json.loads(out)["diagnostics"] if it["severity"] == "error"]
    assert status == (1 if errors else 0), (status, errors)
    return errors


def hold(proposal, errors, tree):
    """Compares the errors of a proposal with the expected ones."""
    refusal = proposal.refusal
    if refusal is None:
        assert not errors, (proposal.name, errors)
        return
    assert len(errors) == 1, (proposal.name, errors)
    (error,) = errors
    assert refusal.message in error["message"], (proposal.name, error)
    assert error["file"] == os.path.normpath(f"{FOLDER}/{refusal.file}"), (proposal.name, error)
    line = (tree / refusal.file).read_text().splitlines()[error["line"] - 1]
    assert line == refusal.line, (proposal.name, error, line)


def links(tree):
    """Reads all links of the tables, without using the program."""
    found = {}
    for path in sorted(tree.glob("*.yaml")):
        for entry in yaml.safe_load(path.read_text())["mapping"]:
            code = entry["short-code"].removeprefix("obo/")
            assert code not in found, f"{code} twice"
            found[code] = None if entry.get("retired") else entry["url"]
    return found


def clone(bare, to):
    git(bare, "clone", "--quiet", str(bare), str(to))
    git(to, "config", "user.name", "Somebody")
    git(to, "config", "user.email", "somebody@example.org")


def install_driver(clone):
    run([WAYPOST, "merge-driver", "--install", "--table", FOLDER], clone)


def found(bare, work):
    """Creates the bare repository with the tables."""
    git(work, "init", "--quiet", "--bare", "--initial-branch=main", str(bare))
    first = work / "first"
    clone(bare, first)
    shutil.copytree(TABLES, first / FOLDER)
    prepare(first / FOLDER)
    install_driver(first)
    git(first, "add", "--all")
    git(first, "commit", "--quiet", "--message=tables")
    git(first, "push", "--quiet", "origin", "HEAD:main")
    hook = bare / "hooks/pre-receive"
    hook.write_text(HOOK)
    hook.chmod(0o755)
    return first


def propose(proposal, clone):
    """Creates the branch of a proposal, checks it like a pull request, and pushes it."""
    tree = clone / FOLDER
    git(clone, "checkout", "--quiet", "-b", proposal.name, "origin/main")
    proposal.edit(tree)
    git(clone, "add", "--all")
    trailer = [f"--trailer=Waypost-Allow: {proposal.states}"] if proposal.states else []
    git(clone, "commit", "--quiet", f"--message={proposal.name}", *trailer)
    hold(proposal, check(clone, "origin/main", proposal.by), tree)
    if proposal.refusal:
        os.environ["PUSHED_BY"] = proposal.by
        _, _, err = git(clone, "push", "origin", "HEAD:main", status=1)
        os.environ["PUSHED_BY"] = ADMIN
        assert proposal.refusal.message in err, (proposal.name, err)
    git(clone, "push", "--quiet", "origin", f"HEAD:{proposal.name}")


def merge(proposal, clone, is_second):
    """Merges a branch; returns whether that was possible."""
    tip = git(clone, "rev-parse", "HEAD")[1].strip()
    message = f"--message=Merge {proposal.name}"
    status, out, err = git(
        clone, "merge", "--no-ff", message, f"origin/{proposal.name}", status=None
    )
    conflicts = is_second and proposal.conflicts
    assert (status == 1) == conflicts, (proposal.name, status, out, err)
    if conflicts:
        hold_conflict(proposal, clone, err)
        git(clone, "merge", "--abort")
        return False
    errors = check(clone, tip)
    if is_second:
        assert len(errors) == 1 and errors[0]["rule"] == "code-taken", errors
        git(clone, "reset", "--quiet", "--hard", tip)
        return False
    assert not errors, (proposal.name, errors)
    git(clone, "push", "--quiet", "origin", "HEAD:main")
    return True


def hold_conflict(proposal, clone, err):
    """A conflict is at the one contested entry, and is explained."""
    (code,) = proposal.links
    assert code in err, (proposal.name, err)
    conflicted = git(clone, "diff", "--name-only", "--diff-filter=U")[1].splitlines()
    (path,) = conflicted
    text = (clone / path).read_text()
    assert text.count("\n<<<<<<< ") == text.count("\n>>>>>>> ") == 1, text
    inside = text.partition("\n<<<<<<< ")[2].partition("\n>>>>>>> ")[0]
    assert {line for line in inside.splitlines() if "short-code" in line} == {
        f'  short-code: "obo/{code}"'
    }, inside
    status, out, _ = run([WAYPOST, "check", FOLDER], clone, 1)
    assert "conflict" in out, out


def play(seed, branches, bare, work):
    """Merges all branches from the start, in the order of that seed."""
    order = list(branches)
    random.Random(seed).shuffle(order)
    print(f"seed {seed}: {' '.join(proposal.name for proposal in order)}")
    again = work / f"bare-{seed}"
    shutil.copytree(bare, again)
    here = work / f"maintainer-{seed}"
    clone(again, here)
    install_driver(here)
    expected = links(here / FOLDER)
    won = set()
    for proposal in order:
        if proposal.refusal:
            continue
        is_second = proposal.rivalry in won
        if merge(proposal, here, is_second):
            expected |= proposal.links
            won |= {proposal.rivalry} - {None}
    actual = links(here / FOLDER)
    assert actual == expected, set(actual.items()) ^ set(expected.items())
    merged = (here / FOLDER / "go.yaml").read_text()
    assert "title: The Gene Ontology\n" in merged and "tags: [gene, release]\n" in merged
    run([WAYPOST, "check", FOLDER, "--history"], here)
    assert git(again, "rev-parse", "main")[1] == git(here, "rev-parse", "HEAD")[1]


def main():
    # The user's own configuration is not used.
    os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    os.environ["PUSHED_BY"] = ADMIN
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        bare = work / "tables.git"
        first = found(bare, work)
        branches = proposals(lambda path: run([WAYPOST, "fmt", str(path)], work))
        for proposal in branches:
            propose(proposal, first)
        refused = sum(1 for proposal in branches if proposal.refusal)
        print(f"{len(branches)} branches proposed, {refused} refused at the line that is wrong")
        for seed in SEEDS:
            play(seed, branches, bare, work)


main()
