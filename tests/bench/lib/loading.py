"""The cost of a table: checking, loading, memory, replacement; and the time until the first redirect."""

import itertools
import os
import shutil
import statistics
import time

from load import Asking
from processes import SERVER_CORES, Failure, finish, measure
from report import Section, count, megabytes, ratio, seconds
from servers import free_port
from tables import split, write_changed

# The most text that `waypost check` accepts by default.
CHECKED = 256 << 20
# How many files a large table is split into.
FILES = 256
# How many times the table of many files is changed.
RELOADS = 5
# The number of entries for nginx: it compares each with one in 10,007 of the preceding ones, so
# that ten times as many are a hundred times the work.
LOADED_BY_NGINX = 1_000_000


def loading(bench):
    """Yields two sections: the time to load tables, and the memory of loaded tables."""
    cpu = Section(
        "Loading",
        "CPU time on one core: of `waypost check`, of `waypost serve` until it is ready, and of "
        "`nginx -t` with the same table as a `map`.\n"
        f"`check` takes {CHECKED >> 20} MiB by default, and nginx would take minutes for more than "
        f"{count(LOADED_BY_NGINX)} entries.",
        ["entries", "YAML", "check", "serve until ready", "nginx -t", "serve to nginx"],
    )
    memory = Section(
        "Memory",
        "Resident memory once the table is loaded, and how many bytes that is per byte of YAML; anonymous "
        "memory is that without the pages of the program's file, which the system can drop.",
        ["entries", "YAML", "waypost", "per byte", "anonymous", "per byte", "nginx", "per byte"],
    )
    for size in bench.scale.loaded:
        table = bench.table(size)
        # The largest one is slow, and varies little.
        laps = [load_once(bench, table) for _ in range(3 if size <= 1_000_000 else 1)]
        check, serve, resident, anonymous, nginx, nginx_resident = (
            None if None in figures else statistics.median(figures)
            for figures in zip(*laps, strict=True)
        )
        about = count(size), megabytes(table.bytes)
        cpu.row(*about, seconds(check), seconds(serve), seconds(nginx), ratio(serve, nginx))
        figures = (
            figure
            for held in (resident, anonymous, nginx_resident)
            for figure in (megabytes(held), ratio(held, table.bytes))
        )
        memory.row(*about, *figures)
    yield cpu
    yield memory


def load_once(bench, table):
    """Returns seconds of `check`, seconds, bytes and anonymous bytes of `serve`, seconds and bytes of nginx.

    What a program cannot do is none.
    """
    start = bench.servers
    check = nginx = nginx_resident = None
    if table.bytes <= CHECKED:
        _, check = finish([start.waypost_program, "check", table.files["yaml"]], SERVER_CORES)
    with start.waypost(table) as server:
        serve, resident, anonymous = server.cpu_seconds(), server.memory(), server.memory("RssAnon")
    if table.entries <= LOADED_BY_NGINX:
        _, nginx = finish([*start.nginx_command(table, free_port()), "-t"], SERVER_CORES)
        with start.nginx(table) as server:
            nginx_resident = server.memory()
    return check, serve, resident, anonymous, nginx, nginx_resident


def compiling(bench):
    """Yields the cost of a first compilation: of a check on all cores, and of a server until it is ready."""
    section = Section(
        "The first compilation",
        "`waypost check` on all cores, and `waypost serve` until it is ready: the memory is per byte of YAML.",
        ["table", "YAML", "check, CPU", "check, wall", "check, peak", "serve, peak", "serve, resident"],
    )
    for size in bench.scale.loaded:
        table = bench.table(size)
        name = f"{count(size)} entries"
        section.row(name, megabytes(table.bytes), *compile_once(bench, table, table.files["yaml"]))
        if size == bench.scale.large:
            parts = split(table, bench.home / "split", FILES)
            section.row(f"{name}, {FILES} files", megabytes(table.bytes), *compile_once(bench, table, parts))
    yield section


def compile_once(bench, table, path):
    start = bench.servers
    limit = ["--max-table-bytes", max(table.bytes, CHECKED)]
    laps = [measure([start.waypost_program, "check", *limit, path]) for _ in range(3)]
    cpu, wall, peak = (statistics.median(figures) for figures in zip(*laps, strict=True))
    with start.waypost(table, path=path) as server:
        most, resident = server.memory("VmHWM"), server.memory()
    memory = [ratio(figure, table.bytes) for figure in (peak, most, resident)]
    return [seconds(cpu), seconds(wall), *memory]


def commands(bench):
    """Yields what commands that read a whole table cost, compared with `check`."""
    table = bench.table(bench.scale.large)
    section = Section(
        "Commands",
        f"Of {count(table.entries)} entries in one file ({megabytes(table.bytes)} of YAML): its entries are not "
        "sorted before `fmt`, and with one entry more than in the commit of `check --base`, which the command "
        "inflates. CPU on all cores, medians of three; the peak is per byte of YAML.",
        ["command", "CPU", "CPU to `check`", "peak"],
    )
    program, copy = bench.servers.waypost_program, bench.home / "commands.yaml"
    unsorted, added = table.files["yaml"], "https://www.example.org/added"
    sorted_copy = bench.home / "sorted.yaml"
    shutil.copyfile(unsorted, sorted_copy)
    finish([program, "fmt", sorted_copy])
    proposed = repository(bench, unsorted)
    with_addition = bench.home / "with-addition.yaml"
    write_changed(table, with_addition)
    laps = {
        "check": (unsorted, ["check", copy]),
        "check --base": (with_addition, ["check", "--base", "main", proposed]),
        "add": (unsorted, ["add", added, "--table", copy]),
        "fmt": (unsorted, ["fmt", copy]),
        "fmt --check": (sorted_copy, ["fmt", "--check", copy]),
    }
    base = None
    for name, (original, command) in laps.items():
        figures = []
        for _ in range(3):
            shutil.copyfile(original, command[-1])
            figures.append(measure([program, *command]))
        cpu, _, peak = (statistics.median(column) for column in zip(*figures, strict=True))
        base = base or cpu
        section.row(f"`{name}`", seconds(cpu), ratio(cpu, base), ratio(peak, table.bytes))
    yield section


def repository(bench, table):
    """Commits a table to a new repository; returns its path there."""
    path = bench.home / "proposed/table.yaml"
    path.parent.mkdir()
    shutil.copyfile(table, path)
    git = ["git", "-C", path.parent, "-c", "user.name=A. Uthor", "-c", "user.email=author@example.org"]
    for command in ["init", "--quiet", "--initial-branch=main"], ["add", "."], ["commit", "--quiet", "-m", "All"]:
        finish([*git, *command])
    return path


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
        """Replaces the table, and returns the seconds until the server has loaded it."""
        begun = time.monotonic()
        reloaded(server, self.put)
        return time.monotonic() - begun


def reloaded(server, change):
    """Changes the table, and waits until a server has loaded it."""
    reloads = server.metric('waypost_reloads_total{result="success"}')
    change()
    server.until(
        lambda: server.metric('waypost_reloads_total{result="success"}') > reloads,
        "the changed table is served",
    )


def reload_memory(bench):
    table = bench.table(bench.scale.large)
    swapping = Swapping(bench, table)
    section = Section(
        "Memory of a reload",
        f"Waypost with {count(table.entries)} entries ({megabytes(table.bytes)} of YAML) while a "
        "changed table is repeatedly renamed into place.",
        ["", "resident before", "peak", "resident after", "peak per byte of YAML"],
    )
    with bench.servers.waypost(table, path=swapping.live) as server:
        for lap in range(1, 4):
            before = server.memory()
            server.forget_peak()
            swapping.swap(server)
            peak, after = server.memory("VmHWM"), server.memory()
            cells = megabytes(before), megabytes(peak), megabytes(after)
            section.row(f"reload {lap}", *cells, ratio(peak, table.bytes))
    yield section


def memory_of_files(bench):
    """Yields the memory of a table of many files, with the settings of the allocator and without."""
    table = bench.table(2 * bench.scale.large)
    directory = split(table, bench.home / "files", FILES)
    section = Section(
        f"Memory of {FILES} files",
        f"Waypost with {count(table.entries)} entries ({megabytes(table.bytes)} of YAML): the peak is that of "
        f"{RELOADS} reloads, each of which follows a change of another file. The settings are those of the "
        "systemd unit, for the allocator of the C library.",
        ["settings", "resident", "per byte of YAML", "peak", "per byte of YAML"],
    )
    changed = iter(sorted(directory.iterdir()))
    for name, env in ("unit", None), ("none", {}):
        with bench.servers.waypost(table, path=directory, env=env) as server:
            resident = server.memory()
            server.forget_peak()
            for path in itertools.islice(changed, RELOADS):
                beside = path.with_suffix(".new")
                beside.write_text(f"{path.read_text()}- url: https://www.example.org/{path.name}\n")
                reloaded(server, lambda path=path, beside=beside: beside.replace(path))
            peak = server.memory("VmHWM")
        figures = (cell for held in (resident, peak) for cell in (megabytes(held), ratio(held, table.bytes)))
        section.row(name, *figures)
    yield section


def starting(bench):
    table = bench.table(bench.scale.small)
    figures = []
    for _ in range(bench.scale.starts):
        begun = time.monotonic()
        path, url = next(iter(table.targets.items()))
        with bench.servers.waypost(table) as server:
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
    with bench.servers.waypost(table, path=swapping.live) as server:
        server.check_answers()
        asking = Asking(server, connections=16)
        for _ in range(bench.scale.latency_rounds):
            replies["no"].append(asking.http1(bench.scale.latency_seconds))
            with bench.meanwhile(lambda: swapping.swap(server), every=5):
                replies["every 5 s"].append(asking.http1(bench.scale.latency_seconds))
    section = Section(
        "Latency while the table is replaced",
        f"{count(table.entries)} entries, 16 connections that ask as fast as they are answered; "
        "the core that serves also loads the new tables.",
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
