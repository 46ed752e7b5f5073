"""Fixes of a table, with copies from an archive, which is one more host of the farm."""

import json
from contextlib import contextmanager

from cases import case
from program import links
from proof import assert_polite

ARCHIVE = "archive.farm.example"


@contextmanager
def archive(farm):
    """Makes one host answer like the Wayback Machine's availability interface: it has every first page."""
    usual = farm.behave

    def behave(visit):
        if visit.host != ARCHIVE or visit.path == "/robots.txt":
            return usual(visit)
        snapshots = {}
        if visit.path.endswith("page-1"):
            url = f"http://web.{ARCHIVE}/web/2020/x"
            snapshots = {"closest": {"status": "200", "available": True, "url": url}}
        return visit.answer(200, body=json.dumps({"archived_snapshots": snapshots}).encode())

    farm.behave = behave
    try:
        yield
    finally:
        farm.behave = usual


@case
def only_what_is_certain_is_fixed(scene):
    moved = "http://status301-1.farm.example/page-1"
    targets = [moved, *(f"http://missing-1.farm.example/page-{number}" for number in (1, 2))]
    table = scene.table(targets)
    mark = len(scene.farm.log)
    for day in (None, "+4d", "+8d"):
        scene.behaviour.check = 0
        run = table.check("--recheck", "1d", time=day)
    found = links(run)
    assert [found[target]["verdict"] for target in targets] == ["moved", "dead", "dead"], found
    before = table.path.read_text()
    with archive(scene.farm):
        asking = (f"--archive=http://{ARCHIVE}/wayback/available", "--recheck", "1d")
        copy = f"http://web.{ARCHIVE}/web/2020/x"
        looked_up = links(table.check(*asking, time="+8d"))
        assert [looked_up[target]["archive"] for target in targets] == [None, copy, None], looked_up
        shown = table.check(*asking, "--fix", "--dry-run", "--format", "human", time="+8d")
        assert f"c1: none → {copy}" in shown.stdout and table.path.read_text() == before, shown
        fixed = table.check(*asking, "--fix", time="+8d")
    after = before.replace(moved, found[moved]["moved_to"])
    after = after.replace("  short-code: c1\n", f"  short-code: c1\n  archive: {copy}\n")
    assert table.path.read_text() == after, (table.path.read_text(), fixed.stderr)
    assert "not fixed: http://missing-1.farm.example/page-2: it is dead, and the archive has no copy" in fixed.stderr
    log = scene.farm.since(mark)
    asked = [visit.path for visit in log if visit.host == ARCHIVE]
    # Look-ups are remembered for a while: nothing is looked up twice.
    assert len(asked) == 3 and asked[0] == "/robots.txt", asked
    print(f"  {assert_polite(log, table.delay)}")
