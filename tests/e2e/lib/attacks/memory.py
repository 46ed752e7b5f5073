"""Tables too large for the available memory: refused if that can be known, survived if not.

The server runs in a memory control group, as in a container, and the kernel kills it. If no such
group can be created, `RLIMIT_AS` limits it instead.

The limit of the manifests, 512 MiB, is enough for these tables. To be killed, a server gets so
little that what is read from the repository fills most of it.
"""

import contextlib
import json
import os
import signal
import time
from pathlib import Path

from serving import HOST, TIMEOUT, wait_until

from .scene import FOUND, attack, git, table

LIMIT = 512 << 20
KILLING = 192 << 20
ALL = ("--max-table-bytes", "256MiB")
CGROUP = Path("/sys/fs/cgroup")


def entries(size):
    """Returns a table of at least so many bytes, of entries that take the most memory per byte."""
    head = f"base_url: https://{HOST}/\nmapping:\n"
    count = size // len("- {url: http://a/, number: 1000000}\n") + 1
    return head + "".join(f"- {{url: http://a/, number: {1_000_000 + it}}}\n" for it in range(count))


class Repository:
    """A followed repository, with one small table committed."""

    def __init__(self, directory):
        self.work = directory / "links"
        self.work.mkdir()
        self.state = directory / "state"
        git(self.work, "init", "--quiet", "--initial-branch=main")
        git(self.work, "config", "core.compression", "1")
        self.commit({"links/a.yaml": table("x")})

    def commit(self, files):
        for path, text in files.items():
            (self.work / path).parent.mkdir(exist_ok=True)
            (self.work / path).write_text(text)
        git(self.work, "add", "--all")
        git(self.work, "commit", "--quiet", "--message=Change")

    def one_file(self):
        """163 MB of entries."""
        self.commit({"links/b.yaml": entries(163_000_000)})

    def identical_files(self):
        """245 MB, stored only once in the repository."""
        text = entries(4_900_000)
        self.commit({f"links/b{number}.yaml": text for number in range(50)})

    def options(self):
        return ("--repo", self.work, "--path", "links", "--state-dir", self.state, "--pull-interval", "1s")

    def attempt(self):
        """Returns the record of an attempt, if there is one."""
        try:
            return json.loads((self.state / "attempt.json").read_text())
        except FileNotFoundError:
            return None


@contextlib.contextmanager
def memory(directory, limit):
    """Limits the total memory of the servers that are started meanwhile; returns a function that reports their
    peak, if that is known."""
    name = f"waypost-memory-{os.getpid()}"
    version_2 = (CGROUP / "cgroup.controllers").exists()
    group = CGROUP / name if version_2 else CGROUP / "memory" / name
    limits, peak = (
        ({"memory.max": limit, "memory.swap.max": 0}, "memory.peak")
        if version_2
        else ({"memory.limit_in_bytes": limit}, "memory.max_usage_in_bytes")
    )
    try:
        group.mkdir()
    except OSError as error:
        print(f"    no memory cgroup can be created ({error}): using RLIMIT_AS instead", flush=True)
        # Includes what threads reserve and do not use.
        with started_by(directory, f"ulimit -v {limit + (704 << 20) >> 10}"):
            yield lambda: None
        return
    try:
        for file, value in limits.items():
            with contextlib.suppress(FileNotFoundError):
                (group / file).write_text(str(value))
        with started_by(directory, f"echo $$ >{group}/cgroup.procs"):
            yield lambda: int((group / peak).read_text())
    finally:
        wait_until(lambda: removed(group), "the group is empty")


@contextlib.contextmanager
def started_by(directory, command):
    """Has a shell run a command in the process of each server before the program starts."""
    program = os.environ["WAYPOST"]
    script = directory / "confined"
    script.write_text(f'#!/bin/sh\n{command}\nexec {program} "$@"\n')
    script.chmod(0o755)
    os.environ["WAYPOST"] = str(script)
    try:
        yield
    finally:
        os.environ["WAYPOST"] = program


def removed(group):
    """Ends the remaining processes of a group that this created, and removes it."""
    for process in (group / "cgroup.procs").read_text().split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(process), signal.SIGKILL)
    with contextlib.suppress(OSError):
        group.rmdir()
    return not group.exists()


def ended(server):
    """Waits until the server was killed; fails if it exited on its own."""
    status = wait_until(lambda: server.process.poll(), "it is killed", 4 * TIMEOUT)
    # SIGKILL by the kernel, or SIGABRT where an allocation fails.
    assert status in (-signal.SIGKILL, -signal.SIGABRT), status


def survives(directory, start, name):
    repository = Repository(directory)
    with memory(directory, KILLING):
        server = start(*repository.options(), *ALL).serving()
        assert server.follow() == FOUND
        assert repository.attempt() is None
        getattr(repository, name)()
        ended(server)
        assert repository.attempt()["under_way"], repository.attempt()

        # It may have been a power cut: the last good commit first, then the new one again.
        server = start(*repository.options(), *ALL).serving()
        assert server.follow() == FOUND
        ended(server)
        for restart in range(3):
            server = start(*repository.options(), *ALL).serving()
            assert server.follow() == FOUND
            fetched = lambda: server.status()["remote"]["last_success"]  # noqa: E731
            wait_until(fetched, "it has fetched")
            error = server.status()["last_error"]
            assert error and "ended unexpectedly 2 times" in error["message"], error
            assert server.metrics()["waypost_table_last_reload_successful"] == 0
            assert len(server.lines("cannot load the table")) == 1, server.log()
            if restart < 2:
                server.process.kill()
                server.process.wait()
        assert repository.attempt()["unclean_ends"] == 2, repository.attempt()

        # A fixed commit is served, and no record is left.
        git(repository.work, "revert", "--no-edit", "HEAD")
        repository.commit({"links/a.yaml": table("x", "y")})
        wait_until(lambda: server.follow("/y") == FOUND, "the next commit is served")
        wait_until(lambda: repository.attempt() is None, "the record is gone")
        assert server.status()["last_error"] is None
        server.stop()


@attack
def memory_of_one_file(directory, start):
    """163 MB of entries: killed twice, and then the last good commit is served at every start."""
    survives(directory, start, "one_file")


@attack
def memory_of_identical_files(directory, start):
    """A small repository that unpacks to 245 MB of identical files: the same."""
    survives(directory, start, "identical_files")


@attack
def memory_refused(directory, start):
    """The derived limit refuses both before they are read, and nothing is killed."""
    repository = Repository(directory)
    with memory(directory, LIMIT) as peak:
        server = start(*repository.options()).serving()
        assert server.lines("the size of tables is limited by memory"), server.log()
        for name in ("one_file", "identical_files"):
            getattr(repository, name)()
            error = wait_until(lambda: server.status()["last_error"], "it is refused")["message"]
            assert "--max-table-bytes" in error and "it has " in error, error
            assert "cgroup" in error or "RLIMIT_AS" in error, error
            assert server.follow() == FOUND
            git(repository.work, "revert", "--no-edit", "HEAD")
            wait_until(lambda: server.status()["last_error"] is None, "the next commit is served")
        if peak():
            print(f"    at most {peak() >> 20} MiB, including the page cache", flush=True)
        server.stop()
        (directory / "large.yaml").write_text(entries(163_000_000))
        server = start("--table", directory / "large.yaml")
        assert server.process.wait(TIMEOUT) == 3
        assert "--max-table-bytes" in server.log_file.read_text()


@attack
def memory_stopped(directory, start):
    """A server that is stopped while it loads exits cleanly: that is not a failed attempt."""
    repository = Repository(directory)
    server = start(*repository.options(), *ALL).serving()
    repository.one_file()
    wait_until(repository.attempt, "it loads")
    began = time.monotonic()
    server.stop()
    print(f"    stopped in {time.monotonic() - began:.1f} s", flush=True)
    assert repository.attempt() is None, repository.attempt()
