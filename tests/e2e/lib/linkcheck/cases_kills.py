"""Checks that the program stays polite and loses nothing if it is killed at any instant."""

import random
import signal
import subprocess
import time

from cases import case
from kinds import KINDS
from network import now
from program import links
from proof import assert_polite

#: Two hosts that share one allowance, and one that has none of its own to wait for.
ALIASES = {"members": ["plain-1.farm.example", "plain-2.farm.example", "threesteps-3.farm.example"]}

#: How many hosts there are of each kind, and how many links each may have.
HOSTS = {
    "plain": (6, 30), "threesteps": (4, 15), "head404": (3, 20), "status301": (2, 20), "movedaway": (3, 20),
    "slow": (2, 10), "crawldelay": (2, 10), "robotsmoved": (2, 50), "missing": (3, 30), "secure": (2, 30),
    "v6down": (1, 50), "anyname": (2, 30),
}
KILLS = 50


def targets(pages):
    """Returns links to the first pages of all hosts."""
    for word, (hosts, most) in HOSTS.items():
        scheme = "https" if word == "secure" else "http"
        for host in range(1, hosts + 1):
            for page in range(1, min(pages, most) + 1):
                yield f"{scheme}://{word}-{host}.farm.example/page-{page}"


@case
def is_polite_over_50_kills(scene):
    chance = random.Random(scene.seed)
    table = scene.table(delay=0.03, aliases=ALIASES)
    mark = len(scene.farm.log)
    kills, rounds = [], 0
    while len(kills) < KILLS:
        # Each run has new links to check.
        rounds += 1
        table.write(targets(rounds))
        process = table.start(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seen = len(scene.farm.log)
        # Some kills while it opens the file and queues the links, most while it sends requests.
        is_early = chance.random() < 0.2
        while not is_early and len(scene.farm.log) == seen and process.poll() is None:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.3))
        process.kill()
        status = process.wait()
        # It may send requests until it ends, a few milliseconds after the signal.
        if status == -signal.SIGKILL:
            kills.append(now())
        else:
            assert status == 0, status
        assert rounds < 2 * KILLS, "it mostly exits before it is killed"
    found = links(table.check())
    log = scene.farm.since(mark)
    polite = assert_polite(log, table.delay, ALIASES.values(), kills)
    repeated = assert_repeated(log, kills)
    print(f"  {polite}; {repeated} requests repeated over {len(kills)} kills, {len(found)} verdicts")
    for target, link in found.items():
        assert link["verdict"] == KINDS[target.split("/")[2].split("-")[0]].verdicts[0], link


def assert_repeated(log, kills):
    """Fails if a request was repeated that was not under way at a kill, and returns how many were."""
    last, repeated = {}, 0
    for visit in sorted(log, key=lambda it: it.begun):
        if not visit.method:
            continue
        request = visit.host, visit.method, visit.path
        before = last.get(request)
        if before:
            repeated += 1
            assert any(before.begun <= kill <= visit.begun for kill in kills), f"{visit} repeats {before}"
        last[request] = visit
    return repeated
