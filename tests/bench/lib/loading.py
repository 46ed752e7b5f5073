"""What a table costs: to check, to load, to hold, to replace; and how soon a server redirects."""

import os
import statistics
import time

from contestants import free_port
from load import Asking
from processes import SERVER_CORES, Failure, finish
from report import Section, count, megabytes, ratio, seconds
from tables import write_changed

# How much text `waypost check` takes by default.
CHECKED = 256 << 20
# How many entries nginx is given: it compares each with one in 10,007 of those before it, so that
# ten times as many are a hundred times the work.
LOADED_BY_NGINX = 1_000_000


def loading(bench):
    """Yields two sections: the time to load tables, and the memory that holds them."""
    cpu = Section(
        "Loading",
        "CPU time on one core: of `waypost check`, of `waypost serve` until it is ready, and of "
        "`nginx -t` with the same table as a `map`.\n"
        f"`check` takes {CHECKED >> 20} MiB unless told otherwise, and nginx would take minutes for more than "
        f"{count(LOADED_BY_NGINX)} entries.",
        ["entries", "YAML", "check", "serve until ready", "nginx -t", "serve to nginx"],
    )
    memory = Section(
        "Memory",
        "Resident memory once the table is loaded, and how many bytes that is per byte of YAML.",
        ["entries", "YAML", "waypost", "per byte", "nginx", "per byte"],
    )
    for size in bench.scale.loaded:
        table = bench.table(size)
        # The largest one takes long, and varies little.
        laps = [load_once(bench, table) for _ in range(3 if size <= 1_000_000 else 1)]
        check, serve, resident, nginx, nginx_resident = (
            None if None in figures else statistics.median(figures)
            for figures in zip(*laps, strict=True)
        )
        about = count(size), megabytes(table.bytes)
        cpu.row(*about, seconds(check), seconds(serve), seconds(nginx), ratio(serve, nginx))
        ours = megabytes(resident), ratio(resident, table.bytes)
        theirs = megabytes(nginx_resident), ratio(nginx_resident, table.bytes)
        memory.row(*about, *ours, *theirs)
    yield cpu
    yield memory


def load_once(bench, table):
    """Returns seconds of `check`, seconds and bytes of `serve`, seconds and bytes of nginx.

    What a program cannot do is none.
    """
    start = bench.contestants
    check = nginx = nginx_resident = None
    if table.bytes <= CHECKED:
        _, check = finish([start.waypost_program, "check", table.files["yaml"]], SERVER_CORES)
    with start.waypost(table) as server:
        serve, resident = server.cpu_seconds(), server.memory()
    if table.entries <= LOADED_BY_NGINX:
        _, nginx = finish([*start.nginx_command(table, free_port()), "-t"], SERVER_CORES)
        with start.nginx(table) as server:
            nginx_resident = server.memory()
    return check, serve, resident, nginx, nginx_resident


class Swapping:
    """A live table that is replaced in place, as a deployment would: by a rename."""

    def __init__(self, bench, table):
        self.live = bench.home / "live.yaml"
        self.versions = [table.files["yaml"], bench.home / "changed.yaml"]
        write_changed(table, self.versions[1])
        self.swapped = 0
        self.put()

    def put(self):
        beside = self.live.with_suffix(".new")
        os.link(self.versions[self.swapped % 2], beside)
        beside.replace(self.live)
        self.swapped += 1

    def swap(self, server):
        """Replaces the table, and returns after how many seconds the server has it."""
        reloads = server.metric('waypost_reloads_total{result="success"}')
        begun = time.monotonic()
        self.put()
        server.until(
            lambda: server.metric('waypost_reloads_total{result="success"}') > reloads,
            "the changed table is served",
        )
        return time.monotonic() - begun


def reload_memory(bench):
    table = bench.table(bench.scale.large)
    swapping = Swapping(bench, table)
    section = Section(
        "Memory of a reload",
        f"Waypost with {count(table.entries)} entries ({megabytes(table.bytes)} of YAML) while a "
        "changed table is renamed into place, again and again.",
        ["", "resident before", "peak", "resident after", "peak per byte of YAML"],
    )
    with bench.contestants.waypost(table, path=swapping.live) as server:
        for lap in range(1, 4):
            before = server.memory()
            server.forget_peak()
            swapping.swap(server)
            peak, after = server.memory("VmHWM"), server.memory()
            cells = megabytes(before), megabytes(peak), megabytes(after)
            section.row(f"reload {lap}", *cells, ratio(peak, table.bytes))
    yield section


def starting(bench):
    table = bench.table(bench.scale.small)
    figures = []
    for _ in range(bench.scale.starts):
        begun = time.monotonic()
        path, url = next(iter(table.targets.items()))
        with bench.contestants.waypost(table) as server:
            if server.answer(path) != (302, url):
                raise Failure("the first redirect is wrong")
            figures.append(time.monotonic() - begun)
    section = Section(
        "From start to the first redirect",
        f"{count(table.entries)} entries, {len(figures)} starts, looked at every 2 ms.",
        ["median", "least", "most"],
    )
    section.row(*(f"{f(figures) * 1000:.0f} ms" for f in (statistics.median, min, max)))
    yield section


def reload_latency(bench):
    """Raises `Failure` if a request fails, or a reload does."""
    table = bench.table(bench.scale.large)
    swapping = Swapping(bench, table)
    replies = {"no": [], "every 5 s": []}
    with bench.contestants.waypost(table, path=swapping.live) as server:
        server.check_answers()
        asking = Asking(server, connections=16)
        for _ in range(bench.scale.latency_rounds):
            replies["no"].append(asking.http1(bench.scale.latency_seconds))
            with bench.meanwhile(lambda: swapping.swap(server), every=5):
                replies["every 5 s"].append(asking.http1(bench.scale.latency_seconds))
    section = Section(
        "Latency while the table is replaced",
        f"{count(table.entries)} entries, 16 connections that ask as fast as they are answered; "
        "the one core that serves also loads the new tables.",
        ["reloads", "p50", "p99", "p99.9", "longest", "redirects/s", "failed"],
    )
    for name, runs in replies.items():
        middle = [statistics.median(run[what] for run in runs) for what in ("p50", "p99", "p99.9")]
        longest = max(run["max"] for run in runs)
        rate = statistics.median(run["requests"] / run["microseconds"] * 1e6 for run in runs)
        cells = [f"{latency / 1000:.2f} ms" for latency in (*middle, longest)]
        # A failed request is a `Failure`: there is no report with another figure.
        section.row(name, *cells, count(round(rate)), 0)
    yield section
