"""What it costs to change one entry of a table that is served, until the change is live and after."""

import itertools
import os
import signal
import statistics
import time
from dataclasses import dataclass, replace
from pathlib import Path

from processes import wait_until
from report import Section, count, megabytes, ratio
from tables import FORMS, split

FILES = 256
# A server is done with a change when it has taken no CPU time for so long.
QUIET = 0.5
# The clock of CPU time counts hundredths of a second, so small costs are a mean of many changes. Large
# ones need fewer: after this many, seconds of CPU time are enough.
MIN_CHANGES, ENOUGH = 3, 1


@dataclass
class Change:
    """The costs of one change."""

    cpu: float
    live: float
    before: int
    peak: int


class Changing:
    """A file of a table that is replaced by a rename, each time with another entry in its middle."""

    def __init__(self, path, form, then=lambda: None):
        self.path, self.text = path, path.read_bytes()
        self.form = form
        # What makes the server look at the file.
        self.then = then
        self.codes = (f"the-new-entry-{number}" for number in itertools.count())

    def write(self, code):
        """Writes the next version beside the file; returns its path."""
        middle = self.text.index(b"\n", len(self.text) // 2) + 1
        if self.form == "yaml":
            middle = self.text.index(b"\n- ", middle) + 1
            entry = f"- url: https://www.example.org/{code}\n  short-code: {code}\n"
        else:
            entry = FORMS[self.form][1].format(code=code, url=f"https://www.example.org/{code}")
        beside = self.path.with_suffix(".new")
        beside.write_bytes(self.text[:middle] + entry.encode() + self.text[middle:])
        return beside

    def change(self, server):
        code = next(self.codes)
        beside = self.write(code)
        quiet(server)
        server.forget_peak()
        before, cpu, begun = server.memory(), server.cpu_seconds(), time.monotonic()
        beside.replace(self.path)
        self.then()
        # Its own requests are a part of what it is measured to take: not many.
        server.until(
            lambda: server.answer(f"/{code}")[0] == 302, "the change is live", interval=0.01
        )
        live = time.monotonic() - begun
        quiet(server)
        return Change(server.cpu_seconds() - cpu, live, before, server.memory("VmHWM"))


def quiet(server):
    """Waits until a server has nothing more to do."""
    seen = [server.cpu_seconds(), time.monotonic()]

    def is_quiet():
        cpu, now = server.cpu_seconds(), time.monotonic()
        if cpu != seen[0]:
            seen[:] = cpu, now
        return now - seen[1] > QUIET

    wait_until(is_quiet, "the server is quiet", interval=0.05)


def changes(bench):
    table = bench.table(bench.scale.large)
    section = Section(
        "Changes",
        f"One entry more in the middle of {count(table.entries)} ({megabytes(table.bytes)} of YAML), "
        f"up to {bench.scale.changes} times: the mean CPU time until the server is quiet again, and the "
        "medians of the time from the rename of the changed file to the first answer from it, and of the "
        "memory.\n"
        f"Of {FILES} files, one is changed. nginx and HAProxy get a signal to reload the table; "
        "their memory is that of the largest process.",
        ["", "CPU", "save to live", "resident before", "peak", "per byte of YAML"],
    )
    for name, server, changing in started(bench, table):
        with server:
            laps = changed(changing, server, bench.scale.changes)
        median = {
            what: statistics.median(getattr(lap, what) for lap in laps)
            for what in ("live", "before", "peak")
        }
        cpu = statistics.fmean(lap.cpu for lap in laps)
        section.row(
            name,
            f"{cpu * 1000:.0f} ms",
            f"{median['live'] * 1000:.0f} ms",
            megabytes(median["before"]),
            megabytes(median["peak"]),
            ratio(median["peak"], table.bytes),
        )
    yield section


def changed(changing, server, times):
    """Changes a file that often, or until the CPU time is known well enough; returns the costs."""
    laps = []
    while len(laps) < times:
        laps.append(changing.change(server))
        if len(laps) >= MIN_CHANGES and sum(lap.cpu for lap in laps) >= ENOUGH:
            break
    return laps


def started(bench, table):
    """Yields names, servers that have just started, and what changes their tables."""
    start = bench.servers
    live = copy(bench, table, "yaml")
    yield "Waypost, one file", start.waypost(table, path=live), Changing(live, "yaml")

    directory = split(table, bench.home / "changing", FILES)
    changing = Changing(directory / f"{FILES // 2:03}.yaml", "yaml")
    yield f"Waypost, {FILES} files", start.waypost(table, path=directory), changing

    for form, begin, number in (
        ("nginx", start.nginx, signal.SIGHUP),
        ("haproxy", start.haproxy_with_master, signal.SIGUSR2),
    ):
        live = copy(bench, table, form)
        server = begin(replace(table, files={**table.files, form: live}))
        then = lambda server=server, number=number: server.process.send_signal(number)
        yield server.name, server, Changing(live, form, then)


def copy(bench, table, form):
    """Returns a file of the table that may be replaced."""
    live = bench.home / f"changing.{form}"
    os.link(table.files[form], live)
    return Path(live)
