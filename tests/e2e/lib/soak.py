"""A soak test: everything that may happen to a server that follows a remote, all at once, for a while.

Load, churn, commits and kills are threads that run until time is up. They count their actions,
and the counts are compared with the server's metrics.
"""

import contextlib
import http.client
import os
import random
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

from serving import HOST, TIMEOUT, Serving, end_process, wait_until

# The number of steady clients, and how long each waits between two requests.
CLIENTS, PACE = 4, 0.02
# The table: a million entries in files, of which a commit changes two. SOAK_ENTRIES makes it smaller.
ENTRIES, FILES = int(os.environ.get("SOAK_ENTRIES", "1000000")), 256
# The part of the time before the disturbances, with which redirects are compared.
QUIET = 0.1
# The allowed growth from the second third of the time to the last one. Memory: variation of the
# allocator and the page cache of packs. Descriptors: a fetch that is just under way.
MORE_MEMORY, MORE_DESCRIPTORS = (1.08, 3072), 4

KNOWN = (302, "https://known.example/")


HEAD = f"base_url: http://{HOST}/\nmapping:\n"


def first_file(version, bad=False):
    """Returns the file that each commit changes."""
    entries = [("https://known.example/", "known"), (f"https://version.example/{version}", "version")]
    text = HEAD + "".join(f"- url: {url}\n  short-code: {code}\n" for url, code in entries)
    return text + (f"- url: nothing {version}\n" if bad else "")


def other_file(number, version):
    """Returns another file; the version is in one of its entries."""
    entries = range(number, ENTRIES, FILES)
    changed = entries[version % len(entries)] if entries else None
    urls = ((it, f"{it}/{version}" if it == changed else it) for it in entries)
    return HEAD + "".join(f"- url: https://e.example/{url}\n  short-code: e{it}\n" for it, url in urls)


class Remote:
    """A repository behind `git daemon`, which can be killed and restarted at the same port."""

    def __init__(self, directory):
        self.bare, self.work = directory / "repos/links.git", directory / "work"
        self.bare.parent.mkdir()
        self.git(directory, "init", "--quiet", "--bare", "--initial-branch=main", self.bare)
        self.git(directory, "clone", "--quiet", self.bare, self.work)
        self.git(self.work, "symbolic-ref", "HEAD", "refs/heads/main")
        with socket.create_server(("127.0.0.1", 0)) as it:
            self.port = it.getsockname()[1]
        self.url = f"git://127.0.0.1:{self.port}/links.git"
        self.process = None

    @staticmethod
    def git(directory, *arguments):
        who = ("-c", "user.name=A. Uthor", "-c", "user.email=author@example.org")
        command = ["git", *who, *map(str, arguments)]
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=TIMEOUT)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout.strip()

    def push(self, files):
        """Pushes files of the table, by their numbers."""
        (self.work / "links").mkdir(exist_ok=True)
        for number, text in files.items():
            (self.work / f"links/{number:03}.yaml").write_text(text)
        self.git(self.work, "add", "--all")
        self.git(self.work, "commit", "--quiet", "--message=Change")
        self.git(self.work, "push", "--quiet", "origin", "HEAD:refs/heads/main")
        return self.git(self.work, "rev-parse", "HEAD")

    def up(self):
        # Retried, in case another process had the port for a moment.
        def listens():
            if self.process is None or self.process.poll() is not None:
                self.process = subprocess.Popen(
                    ["git", "daemon", "--reuseaddr", "--export-all", "--listen=127.0.0.1",
                     f"--port={self.port}", f"--base-path={self.bare.parent}", self.bare.parent],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )  # fmt: skip
            socket.create_connection(("127.0.0.1", self.port), 2).close()
            return True

        wait_until(listens, "the remote listens")

    def kill(self):
        """Kills it, whatever it is doing."""
        if self.process:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Soak:
    def __init__(self, directory, seconds):
        self.seconds = seconds
        self.remote = Remote(directory)
        everything = {number + 1: other_file(number, 0) for number in range(FILES)}
        self.remote.push({0: first_file(0), **everything})
        try:
            self.remote.up()
            self.server = Serving(
                directory, "--repo", self.remote.url, "--path", "links", "--state-dir", directory / "state",
                "--pull-interval", "500ms", "--poll-interval", "500ms", "--git-timeout", "10s",
            ).serving()  # fmt: skip
        except BaseException:
            self.remote.kill()
            raise
        self.latencies = directory / "latencies"
        self.over = threading.Event()
        self.lock = threading.Lock()
        # By outcome: requests that were answered as expected, and those that were abandoned.
        self.answered, self.left = Counter(), Counter()
        self.did = Counter()
        self.failures = []
        self.samples = []

    # Disturbances

    def load(self, seed):
        """Follows links and reads pages at a steady rate, over connections that are kept a while."""
        chance = random.Random(seed)
        kinds = [
            ("/known", "redirect", KNOWN),
            ("/known.", "repaired", KNOWN),
            ("/known+", "preview", (200, None)),
            ("/none", "not_found", (404, None)),
            ("/healthz", "page", (200, None)),
            ("/version", "redirect", None),
        ]
        connection, seen = None, 0
        while not self.over.wait(PACE):
            path, outcome, expected = chance.choice(kinds)
            connection = connection or http.client.HTTPConnection(*self.server.public, timeout=TIMEOUT)
            connection.request("GET", path, headers={"Host": HOST})
            answer = connection.getresponse()
            answer.read()
            got = answer.status, answer.headers.get("Location")
            if expected:
                assert got == expected, f"{path} got {got}"
            else:
                version = int(got[1].rsplit("/", 1)[1])
                assert version >= seen, f"version {version} after {seen}"
                seen = version
            with self.lock:
                self.answered[outcome] += 1
            if chance.random() < 0.02:
                connection.close()
                connection = None
        if connection:
            connection.close()

    def churn(self, seed):
        """Opens connections and abandons them in every possible state."""
        chance = random.Random(seed)
        request = f"GET /known HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()
        waiting = []
        while not self.over.wait(0.02):
            client = self.server.connect()
            how = chance.choice(["silent", "begun", "aborted", "reset", "half closed", "held"])
            self.did[how] += 1
            if how in ("begun", "reset"):
                client.sendall(request[: chance.randrange(1, len(request) - 1)])
            if how in ("aborted", "half closed"):
                client.sendall(request)
            if how == "aborted":
                self.left["redirect"] += 1
            if how in ("aborted", "reset"):
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if how == "half closed":
                client.shutdown(socket.SHUT_WR)
                reply = b"".join(iter(lambda: client.recv(1 << 16), b""))
                assert reply.startswith(b"HTTP/1.1 302"), reply
                with self.lock:
                    self.answered["redirect"] += 1
            if how == "held":
                # Few enough to make no difference between the thirds of the time.
                waiting.append(client)
                client = waiting.pop(0) if len(waiting) > 20 else None
            if client:
                client.close()
        for client in waiting:
            client.close()

    def commit(self, seed):
        """Changes two files every second or so; one in ten changes is bad, and the next one good again."""
        chance = random.Random(seed)
        version = 0
        while not self.over.wait(chance.uniform(0.5, 1.5)):
            version += 1
            bad = version % 10 == 5
            other = chance.randrange(FILES)
            self.remote.push({0: first_file(version, bad), other + 1: other_file(other, version)})
            self.did["bad table" if bad else "table"] += 1
            if bad:
                # The bad table must be seen, however long the remote is down.
                before = self.rejected()
                seen = lambda: self.rejected() > before or self.over.is_set()  # noqa: E731
                wait_until(seen, "a bad table is rejected")

    def rejected(self):
        return self.server.metrics()['waypost_reloads_total{result="rejected"}']

    def kill(self, seed):
        """Kills the remote, and restarts it."""
        chance = random.Random(seed)
        while not self.over.wait(chance.uniform(2, 8)):
            self.remote.kill()
            self.over.wait(chance.uniform(0.1, 2))
            self.remote.up()
            self.did["kill"] += 1

    def watch(self, began):
        """Records the server's resources, and prints the progress."""
        printed = 0
        while not self.over.wait(0.5):
            at = time.monotonic() - began
            self.samples.append((at, self.server.resident(), self.server.descriptors()))
            if at - printed >= 10:
                printed = at
                _, memory, files = self.samples[-1]
                answered = sum(self.answered.values())
                print(f"{at:5.0f} s: {answered} answered, {memory} KiB, {files} descriptors, {dict(self.did)}", flush=True)

    def guarded(self, function, argument):
        try:
            function(argument)
        except Exception:  # noqa: BLE001
            self.failures.append(traceback.format_exc())
            self.over.set()

    @contextlib.contextmanager
    def measuring(self):
        """Measures redirects meanwhile, and counts them."""
        host, port = self.server.public
        command = [sys.executable, "lib/soak_latency.py", host, str(port), self.latencies]
        process = subprocess.Popen(command, stdin=subprocess.PIPE)
        try:
            yield
        finally:
            try:
                process.stdin.close()
                status = process.wait(TIMEOUT)
            except BaseException:
                end_process(process)
                raise
        assert status == 0, "a measured redirect failed"
        self.answered["redirect"] += len(self.latencies.read_text().splitlines())

    def run(self):
        with self.measuring():
            self.over.wait(self.seconds * QUIET)
            self.disturbed = time.monotonic()
            self.disturb(self.seconds * (1 - QUIET))
        self.report_latencies()

    def disturb(self, seconds):
        began = time.monotonic()
        work = [(self.load, it) for it in range(CLIENTS)]
        work += [(self.churn, 100), (self.commit, 200), (self.kill, 300), (self.watch, began)]
        threads = [threading.Thread(target=self.guarded, args=it, daemon=True) for it in work]
        for thread in threads:
            thread.start()
        self.over.wait(seconds)
        self.over.set()
        for thread in threads:
            thread.join(2 * TIMEOUT)
            assert not thread.is_alive(), "a thread hangs"
        assert not self.failures, "\n".join(self.failures)

    def report_latencies(self):
        """Prints how long redirects took before the disturbances and with them; no time is a failure."""
        lines = [tuple(map(float, line.split())) for line in self.latencies.read_text().splitlines()]
        parts = {
            "quiet": [took for sent, took in lines if sent < self.disturbed],
            "disturbed": [took for sent, took in lines if sent >= self.disturbed],
        }
        slow = {}
        for name, times in parts.items():
            assert times, f"no redirect was measured while it was {name}"
            slow[name] = sorted(times)[int(len(times) * 0.999)]
            middle = statistics.median(times) * 1000
            print(f"{name}: {len(times)} redirects, median {middle:.2f} ms, p99.9 {slow[name] * 1000:.2f} ms")
        print(f"p99.9 is {slow['disturbed'] / slow['quiet']:.2f} times that of the quiet time (the goal is 1.5)")

    # Final checks

    def check(self):
        self.remote.up()
        last = self.remote.push({0: first_file("1000000")})
        live = lambda: self.server.status()["revision"]["commit"] == last  # noqa: E731
        wait_until(live, "the last table is live")
        assert self.server.follow("/version")[1].endswith("/1000000")
        self.answered["redirect"] += 1
        self.server.quiet()
        samples = self.server.metrics()
        self.check_requests(samples)
        self.check_reloads(samples)
        self.check_flat()
        for name in ("table", "bad table", "kill", "aborted", "held"):
            assert self.did[name], f"there was no {name}: {self.did}"

    def check_requests(self, samples):
        total = 0
        for name, counted in samples.items():
            if not name.startswith("waypost_requests_total{"):
                continue
            outcome = name.split('"')[1]
            total += counted
            least = self.answered[outcome]
            most = least + self.left[outcome]
            assert least <= counted <= most, f"{outcome}: {counted}, not {least} to {most}"
        assert total == samples["waypost_request_duration_seconds_count"], total
        assert total >= sum(self.answered.values()) > 0

    def check_reloads(self, samples):
        def results(name):
            start = f"waypost_{name}_total{{"
            return {it.split('"')[1]: count for it, count in samples.items() if it.startswith(start)}

        reloads, fetches = results("reloads"), results("git_fetches")
        assert sum(reloads.values()) == samples["waypost_reload_duration_seconds_count"], reloads
        assert reloads["rejected"] >= self.did["bad table"], (reloads, self.did)
        # Some commits are fetched together with the next one.
        assert 1 < reloads["success"] <= self.did["table"] + 2, (reloads, self.did)
        assert fetches["updated"] >= reloads["success"] and fetches["failed"], (fetches, reloads)
        assert not fetches["refused"], fetches
        assert samples["waypost_table_last_reload_successful"] == 1
        assert samples["waypost_table_entries"] == ENTRIES + 2
        assert len([it for it in samples if it.startswith("waypost_table_info{")]) == 1
        lines = self.server.lines("table rejected")
        assert len(lines) <= self.did["bad table"], "a bad table was logged twice"
        print(f"reloads {reloads}, fetches {fetches}")

    def check_flat(self):
        end = self.samples[-1][0]
        thirds = [[it for it in self.samples if low <= it[0] / end * 3 <= low + 1] for low in range(3)]
        typical = lambda third, what: statistics.median(it[what] for it in thirds[third])  # noqa: E731
        factor, more = MORE_MEMORY
        before, after = typical(1, 1), typical(2, 1)
        print(f"memory {typical(0, 1):.0f}, {before:.0f}, {after:.0f} KiB; ", end="")
        assert after <= before * factor + more, f"memory grew from {before} to {after} KiB"
        before, after = typical(1, 2), typical(2, 2)
        print(f"descriptors {typical(0, 2):.0f}, {before:.0f}, {after:.0f}, by thirds of the time")
        assert after <= before + MORE_DESCRIPTORS, f"descriptors grew from {before} to {after}"


def main():
    seconds = float(sys.argv[1])
    directory = Path(tempfile.mkdtemp(prefix="waypost-soak."))
    soak = None
    try:
        soak = Soak(directory, seconds)
        soak.run()
        soak.check()
        soak.server.stop()
        answered = sum(soak.answered.values())
        print(f"{answered} requests answered in {seconds:.0f} s, none failed; {dict(soak.did)}")
    except BaseException:
        for log in directory.glob("waypost-*.log"):
            print("".join(log.read_text().splitlines(True)[-20:]))
        raise
    finally:
        if soak:
            soak.over.set()
            soak.server.end()
            soak.remote.kill()
        shutil.rmtree(directory, ignore_errors=True)


main()
