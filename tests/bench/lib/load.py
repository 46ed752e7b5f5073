"""Load on servers, and what it costs them: CPU time per request, in interleaved rounds."""

import json
import re
import statistics
from dataclasses import dataclass
from pathlib import Path

from processes import LOAD_CORES, Failure, finish

WRK = Path(__file__).with_name("wrk.lua")


@dataclass(frozen=True)
class Asking:
    """A server, and what it is asked for: codes of its table, or codes that are not in it."""

    server: object
    misses: bool = False
    cores: tuple = tuple(LOAD_CORES)
    connections: int = 64

    def http1(self, seconds):
        """Runs wrk for so many seconds, and returns its report. Raises any failure."""
        table = self.server.table
        threads = len(self.cores)
        command = ["wrk", "-t", threads, "-c", self.connections, "-d", f"{seconds}s", "-s", WRK]
        command += [f"http://127.0.0.1:{self.server.port}", "--"]
        output, _ = finish(command + [table.misses if self.misses else table.hits], self.cores)
        report = json.loads(output.splitlines()[-1])
        refused = report["requests"] if self.misses else 0
        if not report["requests"] or report["broken"] or report["refused"] != refused:
            raise Failure(f"{self.server.name}: requests failed: {report}")
        return report

    def http2(self, requests):
        """Runs h2load with so many requests, over TLS. Raises any failure."""
        uris = self.server.table.hits.with_suffix(".uris")
        paths = self.server.table.hits.read_text().split()
        uris.write_text("".join(f"https://127.0.0.1:{self.server.port}{path}\n" for path in paths))
        command = ["h2load", "-c", 16, "-m", 8, "-n", requests, "-i", uris]
        output, _ = finish(command, self.cores)
        if f" {requests} 3xx," not in output or "Application protocol: h2" not in output:
            raise Failure(f"{self.server.name}: requests failed: {output}")
        seconds = re.search(r"finished in ([\d.]+)(m?s)", output)
        scale = 1_000 if seconds[2] == "ms" else 1_000_000
        return {"requests": requests, "microseconds": float(seconds[1]) * scale}


@dataclass(frozen=True)
class Cost:
    """CPU microseconds per request, a figure a round; and requests per second."""

    rounds: list
    rates: list

    @property
    def median(self):
        return statistics.median(self.rounds)

    @property
    def rate(self):
        return statistics.median(self.rates)

    def to(self, base):
        """Returns the median ratio to another cost of the same round.

        What other machines on the same processor do changes from minute to minute, and by more than the
        servers differ.
        """
        pairs = zip(self.rounds, base.rounds, strict=True)
        return statistics.median(cost / other for cost, other in pairs)


def compare(askings, rounds, ask):
    """Returns the cost of each asking, by its key. `ask` is called with one, and asks.

    The rounds are interleaved: whatever else the machine does meets all alike. The first one warms
    up, and does not count.
    """
    costs = {key: Cost([], []) for key in askings}
    for asking in askings.values():
        asking.server.check_answers()
    for lap in range(rounds + 1):
        for key, asking in askings.items():
            before = asking.server.cpu_seconds()
            report = ask(asking)
            spent = asking.server.cpu_seconds() - before
            if lap:
                costs[key].rounds.append(spent / report["requests"] * 1e6)
                costs[key].rates.append(report["requests"] / report["microseconds"] * 1e6)
    return costs
