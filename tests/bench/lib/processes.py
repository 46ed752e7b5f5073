"""Measured programs: their cores, CPU time, memory and exit."""

import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

# The longest time to wait for anything; it only matters when something fails.
TIMEOUT = 120

CORES = sorted(os.sched_getaffinity(0))
# One core for the server and one for the load, so that they do not compete.
SERVER_CORES, LOAD_CORES = CORES[:1], CORES[-1:]

TICK = os.sysconf("SC_CLK_TCK")


class Failure(Exception):
    """A failure that invalidates the figures."""


def on_cores(cores, command):
    return ["taskset", "--cpu-list", ",".join(map(str, cores)), *map(str, command)]


def wait_until(predicate, what, timeout=TIMEOUT, interval=0.02):
    """Returns the predicate's value once it is true. A refused connection counts as not yet."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        try:
            if last := predicate():
                return last
        except OSError:
            pass
        time.sleep(interval)
    raise Failure(f"timed out waiting until {what}")


def finish(command, cores=None):
    """Runs a command to its end, and returns (its standard output, user and system CPU seconds)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        on_cores(cores or CORES, command), capture_output=True, text=True, timeout=600
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise Failure(f"{command[0]} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# Runs a command in a process of its own, so that the memory of this one does not count as its peak.
MEASURE = """
import resource, subprocess, sys, time
begun = time.monotonic()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
wall = time.monotonic() - begun
spent = resource.getrusage(resource.RUSAGE_CHILDREN)
print(spent.ru_utime + spent.ru_stime, wall, spent.ru_maxrss * 1024)
"""


def measure(command, cores=None):
    """Runs a command to its end, and returns (CPU seconds, wall seconds, peak of memory in bytes)."""
    output, _ = finish([sys.executable, "-c", MEASURE, *command], cores)
    cpu, wall, peak = output.split()
    return float(cpu), float(wall), int(peak)


class Server:
    """A program that runs until the end of a `with` block, with all processes that it starts."""

    def __init__(self, command, log, cores=None, env=None):
        self.log = Path(log)
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                on_cores(cores or SERVER_CORES, command),
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def until(self, predicate, what, **how):
        """Waits, and fails with the log if the program exits meanwhile."""

        def alive_and():
            if self.process.poll() is not None:
                raise Failure(f"{self.process.args[3]} ended: {self.log.read_text()[-2000:]}")
            return predicate()

        return wait_until(alive_and, what, **how)

    def pids(self):
        """Yields the ids of the processes of its session, with their statistics."""
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                # The fields after the name, which may contain anything.
                fields = path.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == self.process.pid:
                yield int(path.parent.name), fields

    def cpu_seconds(self):
        """Returns its user and system time, with that of children that have ended."""
        return sum(int(ticks) for _, fields in self.pids() for ticks in fields[11:15]) / TICK

    def memory(self, what="VmRSS"):
        """Returns the bytes of its largest process, which shares most pages with any others."""
        pattern = re.compile(rf"^{what}:\s*(\d+) kB", re.MULTILINE)
        statuses = [Path(f"/proc/{pid}/status").read_text() for pid, _ in self.pids()]
        return max(int(pattern.search(status)[1]) for status in statuses) * 1024

    def forget_peak(self):
        """Makes `memory("VmHWM")` the peak from now on."""
        for pid, _ in self.pids():
            Path(f"/proc/{pid}/clear_refs").write_text("5")
