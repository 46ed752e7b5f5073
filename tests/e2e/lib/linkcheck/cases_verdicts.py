"""Checks that verdicts are true, for links to hosts of many kinds, checked three times over six days."""

from collections import Counter

from cases import case
from kinds import DEAD, FOUND, KINDS, LIVE, LOST
from program import links, summary
from proof import assert_polite

#: The days of three checks, as times for the program.
DAYS = (None, "+3d", "+6d")


@case
def each_link_gets_its_verdict(scene):
    kinds = {target: kind for kind in KINDS.values() for target in kind.targets()}
    table = scene.table(kinds)
    mark = len(scene.farm.log)
    for check, day in enumerate(DAYS):
        scene.behaviour.check = check
        today = len(scene.farm.log)
        run = table.check("--recheck", "1d", time=day)
        found = links(run)
        wrong = Counter()
        for target, kind in kinds.items():
            link = found[target]
            is_right = link["verdict"] == kind.verdicts[check]
            if kind.detail and check == 0:
                is_right = is_right and kind.detail in (link["detail"] or "")
            if not is_right:
                wrong[kind.name, kind.verdicts[check], kind.detail, link["verdict"], link["detail"]] += 1
        print(f"  check {check + 1}: {summary(run)}")
        assert not wrong, "\n".join(f"{number} × {it}" for it, number in wrong.items())
        polite = assert_polite(scene.farm.since(today), table.delay)
        print(f"  {polite}")
    truths = {truth: [found[target]["verdict"] for target, kind in kinds.items() if kind.truth == truth] for truth in (LIVE, LOST)}
    dead = truths[LIVE].count(DEAD)
    lost = sum(verdict in FOUND for verdict in truths[LOST])
    print(f"  {len(kinds)} links: {dead} of {len(truths[LIVE])} live ones called dead, {lost} of {len(truths[LOST])} lost ones found")
    assert dead == 0 and lost >= 0.99 * len(truths[LOST])
    assert len(kinds) >= 2000
    only_there(scene.farm.since(mark))
    for target, kind in kinds.items():
        moved = found[target]["moved_to"]
        if kind.verdicts[2] == "moved":
            assert moved and "/new-" in moved, found[target]
        else:
            assert moved is None, found[target]


def only_there(log):
    """Fails if any connection went to a forbidden address."""
    astray = [str(visit) for visit in log if not visit.address.startswith(("11.", "2606:4700:"))]
    assert not astray, astray
