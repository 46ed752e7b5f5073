"""Checks that workers that share a server stay polite and lose nothing if any process is killed."""

import random
import subprocess
import tempfile
import time

from cases import case
from cases_kills import ALIASES, assert_repeated
from cases_states import TARGETS, refused
from kinds import KINDS
from network import now
from program import links
from proof import assert_polite
from server import Server

WORKERS, KILLS = 4, 50

#: How many hosts there are of each kind; each has six links.
HOSTS = {"plain": 250, "threesteps": 4, "head404": 30, "status301": 30, "movedaway": 30, "missing": 50, "secure": 30, "anyname": 20, "crawldelay": 4}


def targets():
    for word, hosts in HOSTS.items():
        scheme = "https" if word == "secure" else "http"
        for host in range(1, hosts + 1):
            for page in range(1, 7):
                yield f"{scheme}://{word}-{host}.farm.example/page-{page}"


@case(nightly=True)
def four_workers_on_a_server_that_is_killed_are_polite(scene):
    chance = random.Random(scene.seed)
    table = scene.table(targets(), delay=0.03, aliases=ALIASES)
    server = Server(table.folder / "server")
    # With few leases at a time, because those of a killed worker last for a minute.
    more = ("--store", server.url, "--max-time", "300s", "--concurrency", "2")
    mark = len(scene.farm.log)

    def start():
        errors = tempfile.TemporaryFile()
        process = table.start(*more, stdout=subprocess.DEVNULL, stderr=errors, variables=server.environment)
        process.errors = errors
        return process

    workers = [start() for _ in range(WORKERS)]
    kills, reported = [], 0
    for number in range(KILLS):
        if number in (KILLS // 3, 2 * KILLS // 3):
            server.kill()
            time.sleep(chance.uniform(0, 1))
            server.start()
        time.sleep(chance.uniform(0, 0.5))
        worker = chance.randrange(WORKERS)
        workers[worker].kill()
        workers[worker].wait()
        kills.append(now())
        reported += said_so(workers[worker])
        workers[worker] = start()
    statuses = [worker.wait() for worker in workers]
    for worker, status in zip(workers, statuses):
        # One that is started while the server is down does not wait for it.
        assert status == 0 or (status == 3 and b"cannot be reached" in errors_of(worker)), errors_of(worker)
        reported += said_so(worker)
    assert 0 in statuses
    found = links(table.check(*more, variables=server.environment))
    server.stop()
    log = scene.farm.since(mark)
    polite = assert_polite(log, table.delay, ALIASES.values(), kills)
    repeated = assert_repeated(log, kills)
    amid = sum(any(0 <= kill - visit.begun < 0.1 for visit in log) for kill in kills)
    print(f"  {polite}; {repeated} requests repeated over {len(kills)} kills, {amid} of them amid requests; "
          f"{len(found)} verdicts, {reported} outages reported")
    assert amid >= KILLS // 5, "most kills came while no request was under way"
    for target, link in found.items():
        assert link["verdict"] == KINDS[target.split("/")[2].split("-")[0]].verdicts[0], link
    assert reported, "no worker reported that it waited for the server"


def errors_of(worker):
    worker.errors.seek(0)
    return worker.errors.read()


def said_so(worker):
    """Returns whether a worker reported an outage of the server."""
    return b"waiting for the results of link checks" in errors_of(worker)


@case
def a_server_that_goes_away_is_waited_for(scene):
    table = scene.table(TARGETS, delay=0.1)
    server = Server(table.folder / "server")
    mark = len(scene.farm.log)
    with tempfile.TemporaryFile() as errors:
        process = table.start("--store", server.url, stdout=subprocess.PIPE, stderr=errors, variables=server.environment)
        while len(scene.farm.log) == mark:
            assert process.poll() is None
            time.sleep(0.01)
        server.stop()
        deadline = time.monotonic() + 30
        said = b""
        while b"waiting for the results of link checks" not in said:
            assert process.poll() is None and time.monotonic() < deadline, said
            time.sleep(0.05)
            errors.seek(0)
            said = errors.read()
        server.start()
        document, _ = process.communicate(timeout=80)
        errors.seek(0)
        said = errors.read()
    assert process.returncode == 0, said
    assert b"can be read and written again" in said, said
    log = scene.farm.since(mark)
    print(f"  {assert_polite(log, table.delay)}; {assert_repeated(log, [])} repeated")
    assert b"unchecked" not in document, document


@case
def a_server_that_cannot_be_used_is_reported(scene):
    table = scene.table(TARGETS[:1])
    server = Server(table.folder / "server")
    store = ("--store", server.url)
    refused(table.check(*store, status=3, variables={"WAYPOST_LINKCHECK_STORE_PASSWORD": "wrong"}), "refuses this user or password")
    refused(table.check(*store, status=3, variables={}), "refuses this user or password")
    refused(table.check(*store, status=3, variables={**server.environment, "WAYPOST_LINKCHECK_STORE_USERNAME": "nobody"}), "refuses this user or password")
    refused(table.check("--store", f"redis://:secret@127.0.0.1:{server.port}", status=2), "WAYPOST_LINKCHECK_STORE_PASSWORD")
    # Nothing listens there; and another kind of server.
    for address in ("redis://127.0.0.1:6390", "redis://127.0.0.1:80"):
        run = table.check("--store", address, status=3, variables=server.environment)
        refused(run, address.split("/")[-1], "cannot be reached")
        assert "secret" not in run.stderr and "horse" not in run.stderr
    links(table.check(*store, variables=server.environment))
    server.stop()
