"""The effect of searches on the latency of concurrent redirects."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

from load import Asking
from processes import LOAD_CORES, TIMEOUT, Failure, on_cores
from report import Section, count, ratio

CLIENTS = 8


class Searching:
    """Clients that search a server until the end of a `with` block, each as fast as it is answered."""

    def __init__(self, server):
        # They run with a lower priority than the load of redirects, whose latency is measured.
        command = ["nice", "-n", "19", sys.executable, Path(__file__).with_name("search_clients.py")]
        self.command = on_cores(LOAD_CORES, [*command, server.port, CLIENTS])
        self.report = None

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        # They report when they have begun.
        self.process.stdout.readline()
        return self

    def __exit__(self, *_):
        try:
            output, _ = self.process.communicate("", timeout=TIMEOUT)
        finally:
            self.process.kill()
        self.report = json.loads(output)
        if self.report["failed"] or not self.report["found"]:
            raise Failure(f"searches failed: {self.report}")


def search_latency(bench):
    """Raises `Failure` if a request fails, or a search does."""
    table = bench.table(bench.scale.large)
    replies = {"none": [], f"{CLIENTS} clients": []}
    searches = []
    with bench.servers.waypost(table) as server:
        server.check_answers()
        asking = Asking(server, connections=16)
        for _ in range(bench.scale.latency_rounds):
            replies["none"].append(asking.http1(bench.scale.latency_seconds))
            with Searching(server) as searching:
                replies[f"{CLIENTS} clients"].append(asking.http1(bench.scale.latency_seconds))
            searches.append(searching.report)
    middle = {
        name: {what: statistics.median(run[what] for run in runs) for what in runs[0]}
        for name, runs in replies.items()
    }
    found, busy = (sum(report[what] for report in searches) for what in ("found", "busy"))
    section = Section(
        "Latency while links are searched",
        f"{count(table.entries)} entries, 16 connections that ask as fast as they are answered, while "
        f"{CLIENTS} clients search `/-/links` as fast as they are answered, mostly for words that are "
        "in no link; the core that serves also searches.\n"
        f"They got {count(found)} lists, and {count(busy)} times were asked to retry later.",
        ["searches", "p50", "p99", "p99.9", "longest", "p99.9 to none", "redirects/s", "failed"],
    )
    for name, run in middle.items():
        cells = [f"{run[what] / 1000:.2f} ms" for what in ("p50", "p99", "p99.9", "max")]
        cells.append(ratio(run["p99.9"], middle["none"]["p99.9"]))
        rate = run["requests"] / run["microseconds"] * 1e6
        # A failed request is a `Failure`: there is no report with another figure.
        section.row(name, *cells, count(round(rate)), 0)
    yield section
