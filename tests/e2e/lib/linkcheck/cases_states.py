"""Errors about an unusable state or unusable aliases, without loss of data."""

import os
import subprocess
import time

from cases import case
from program import links
from proof import assert_polite

TARGETS = [f"http://{word}-{host}.farm.example/page-{page}" for word in ("plain", "missing") for host in (1, 2) for page in range(1, 9)]


def refused(run, *said):
    """Fails unless a run's error contains all these words, in a line or two without internal text."""
    for part in said:
        assert part in run.stderr, (part, run.stderr)
    assert "panicked" not in run.stderr and len(run.stderr.splitlines()) <= 3, run.stderr


@case
def a_state_that_cannot_be_used_is_left_as_it_is(scene):
    table = scene.table(TARGETS)
    good = table.check()
    state = table.folder / "state.redb"
    kept = state.read_bytes()
    # Another kind of file, one of another program, a truncated one, and a damaged one.
    for content, said in (
        (b"this is something else", "not a state file of the link checker"),
        (b"\x7fELF" + bytes(20_000), "not a state file of the link checker"),
        (kept[:100], "state.redb"),
        (kept[: len(kept) // 2], "state.redb"),
        (kept[:4096] + bytes(len(kept) - 4096), "state.redb"),
    ):
        state.write_bytes(content)
        refused(table.check(status=3), said)
        assert state.read_bytes() == content, "a file that was refused was changed"
    state.write_bytes(kept)
    assert links(table.check()) == links(good)
    for path, said in (
        (table.folder, "cannot be opened"),
        (table.folder / "mapping.yaml/state.redb", "cannot be opened"),
        (table.folder / "nowhere/state.redb", "cannot be opened"),
    ):
        refused(table.check("--state", path, status=3), said)
    # Nor can two processes use it at the same time.
    table.write([*TARGETS, *(f"http://slow-1.farm.example/page-{page}" for page in range(9))])
    first = table.start(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    asked = len(scene.farm.log)
    while len(scene.farm.log) == asked and first.poll() is None:
        time.sleep(0.01)
    refused(table.check(status=3), "another process is using this file")
    assert first.wait() == 0


@case
def a_full_or_read_only_disk_costs_nothing_that_is_known(scene):
    table = scene.table(TARGETS)
    disk = table.folder / "disk"
    disk.mkdir()
    state = ("--state", disk / "state.redb")
    mark = len(scene.farm.log)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1200k", "disk", disk], check=True)
    (disk / "ballast").write_bytes(bytes(64 << 10))
    first = table.check(*state, "--max-time", "1s")
    known = {target for target, link in links(first).items() if link["verdict"] != "unchecked"}
    room = os.statvfs(disk)
    (disk / "ballast").write_bytes(bytes((64 << 10) + room.f_bavail * room.f_frsize))
    targets = [*TARGETS, *(f"http://plain-{host}.farm.example/page-{'x' * 1000}-{page}" for host in (1, 2, 3) for page in range(300))]
    table.write(targets)
    refused(table.check(*state, status=3), "cannot keep the results of link checks", "No space left on device")
    (disk / "ballast").unlink()
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    refused(table.check(*state, status=3), "Read-only file system")
    subprocess.run(["mount", "-o", "remount,rw,size=64m", disk], check=True)
    table.write(TARGETS)
    last = links(table.check(*state))
    subprocess.run(["umount", disk], check=True)
    assert all(link["verdict"] in ("ok", "failing") for link in last.values()), last
    assert known and all(links(first)[target] == last[target] for target in known)
    print(f"  {assert_polite(scene.farm.since(mark), table.delay)}")


@case
def aliases_that_cannot_be_used_are_refused(scene):
    table = scene.table(TARGETS)
    asked = len(scene.farm.log)
    aliases = table.folder / "aliases.yaml"
    for text, said in (
        ("plain.example: [x.example]\n", "is not an alias"),
        ("a: [x.example]\nb: [X.example.]\n", "both a and b"),
        ("a: [x.example]\nb: [x.example:443]\n", "both a and b"),
        ("a: ['http://x.example/']\n", "is not a host"),
        ("a: [bücher.example]\n", "is not a host"),
        ("a: [x.example]\na: [y.example]\n", "line 2, column 1: write `ALIAS: ["),
        ("a: x.example\n", "line 1, column 4"),
        ("- a\n", "write `ALIAS: ["),
        ("a: [x.example\n", "line 1, column 4"),
    ):
        aliases.write_text(text)
        refused(table.check(status=2), said)
    aliases.write_bytes(b"a: [\xff]")
    refused(table.check(status=3), "cannot read", "UTF-8")
    aliases.unlink()
    refused(table.check("--aliases", "nowhere.yaml", status=3), "cannot read nowhere.yaml")
    assert not (table.folder / "state.redb").exists()
    assert len(scene.farm.log) == asked, "a host was contacted before the aliases were read"
