"""Runs all measurements and writes the report. See `run` beside this directory."""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import changing
import chart
import connections
import loading
import polling
import redirects
import report
import searching
import tables
from load import compare
from processes import LOAD_CORES, Failure
from servers import Servers

ROOT = Path(__file__).resolve().parents[3]

# In the order of the report. Each takes a `Bench` and yields sections.
MEASUREMENTS = (
    redirects.servers,
    redirects.sizes,
    redirects.misses,
    redirects.http2_over_tls,
    redirects.threads,
    loading.loading,
    loading.compiling,
    loading.commands,
    loading.reload_memory,
    loading.memory_of_files,
    changing.changes,
    polling.polls,
    loading.reload_latency,
    searching.search_latency,
    connections.idle,
    loading.starting,
)

# A package of its own, so that Waypost's dependencies are not its.
AXUM = (
    *("--manifest-path", ROOT / "tests/bench/axum/Cargo.toml"),
    *("--target-dir", ROOT / "target/bench-axum"),
)

# After how many seconds the whole run is given up.
BOUND = 20 * 60


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    small: int
    large: int
    sizes: tuple
    loaded: tuple
    rounds: int
    seconds: int
    http2_requests: int
    idle: int
    starts: int
    changes: int
    polled_files: int
    polled_seconds: int
    latency_rounds: int
    latency_seconds: int


FULL = Scale(
    small=1_000,
    large=1_000_000,
    sizes=(1_000, 10_000, 100_000, 1_000_000, 10_000_000),
    loaded=(100_000, 1_000_000, 10_000_000),
    rounds=11,
    seconds=1,
    http2_requests=30_000,
    idle=10_000,
    starts=20,
    changes=10,
    polled_files=8_000,
    polled_seconds=60,
    latency_rounds=2,
    latency_seconds=15,
)
QUICK = Scale(
    small=1_000,
    large=20_000,
    sizes=(1_000, 20_000),
    loaded=(20_000,),
    rounds=2,
    seconds=1,
    http2_requests=30_000,
    idle=1_000,
    starts=3,
    changes=1,
    polled_files=100,
    polled_seconds=6,
    latency_rounds=1,
    latency_seconds=6,
)


class Bench:
    """What every measurement uses: the scale, the tables, the measured servers."""

    def __init__(self, scale, home, programs):
        self.scale, self.home = scale, home
        self.servers = Servers(home, *programs)
        self.tables = {}

    def table(self, size):
        """Returns the table of so many entries, written on first use."""
        if size in self.tables:
            return self.tables[size]
        forms = ["yaml"]
        forms += ["nginx"] * (size <= loading.LOADED_BY_NGINX)
        forms += ["haproxy"] * (size == self.scale.large)
        forms += ["caddy"] * (size == self.scale.small)
        self.tables[size] = tables.write(self.home, size, forms)
        return self.tables[size]

    def http1(self, asking):
        return asking.http1(self.scale.seconds)

    def http2(self, asking):
        return asking.http2(self.scale.http2_requests)

    def cost(self, asking):
        """Returns the cost of one asking on its own."""
        return compare({"": asking}, self.scale.rounds, self.http1)[""].median

    @contextlib.contextmanager
    def meanwhile(self, act, every):
        """Acts every so many seconds until the end of a `with` block, and passes on its exceptions."""
        over, failures = threading.Event(), []

        def run():
            try:
                while not over.wait(every):
                    act()
            except Failure as failure:
                failures.append(failure)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
        if failures:
            raise failures[0]


def measure(bench, only):
    """Returns the sections of the report. Names the current measurement on standard error."""
    begun = time.monotonic()
    sections = []
    for measurement in MEASUREMENTS:
        if only not in (None, measurement.__name__):
            continue
        about = measurement.__name__.replace("_", " ")
        print(f"{time.monotonic() - begun:4.0f} s  {about}", file=sys.stderr, flush=True)
        sections += measurement(bench)
    return sections


def build(*arguments):
    """Builds a program of the repository, and returns its path."""
    command = ["cargo", "build", "--release", "--locked", "--message-format=json", *map(str, arguments)]
    built = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    messages = map(json.loads, built.stdout.splitlines())
    return [message["executable"] for message in messages if message.get("executable")][-1]


def stop(signal_number, _frame):
    raise Failure("out of time" if signal_number == signal.SIGALRM else "stopped")


def main():
    parser = argparse.ArgumentParser(prog="tests/bench/run")
    parser.add_argument("--quick", action="store_true", help="small tables and short rounds")
    parser.add_argument("--output", type=Path, help="file for the report [standard output]")
    parser.add_argument("--chart", type=Path, help="file for the chart, an SVG [none]")
    parser.add_argument("--waypost", type=Path, help="the program to measure [built]")
    parser.add_argument("--floor", type=Path, help="the example epoll_floor [built]")
    parser.add_argument("--axum", type=Path, help="the program of tests/bench/axum [built]")
    names = [measurement.__name__ for measurement in MEASUREMENTS]
    parser.add_argument("--only", choices=names, help="the only measurement to make [all]")
    options = parser.parse_args()

    waypost = (options.waypost or Path(build("--bin", "waypost"))).resolve()
    floor = (options.floor or Path(build("--example", "epoll_floor"))).resolve()
    axum = (options.axum or Path(build(*AXUM))).resolve()
    for number in signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
        signal.signal(number, stop)
    signal.alarm(BOUND)
    # The measurements run on another core than the measured program.
    os.sched_setaffinity(0, LOAD_CORES)
    home = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        bench = Bench(QUICK if options.quick else FULL, home, (waypost, floor, axum))
        about = [*report.machine(), ("Programs", bench.servers.versions())]
        sections = measure(bench, options.only)
    finally:
        shutil.rmtree(home)
    if options.chart:
        options.chart.write_text(chart.draw(sections))
    beside = options.chart and os.path.relpath(options.chart, (options.output or Path("-")).parent)
    text = report.markdown(about, sections, beside)
    options.output.write_text(text) if options.output else print(text, end="")


try:
    main()
except (Failure, subprocess.SubprocessError) as failure:
    sys.exit(f"tests/bench/run: {failure}")
