"""What a push of one line costs a server that follows the repository, and a stock `git fetch`.

Both fetch the same pushes from the same remote, one after the other: the server when a hook reports the
push, and Git in a shallow clone. CPU time is that of the fetching side alone, with the processes that it
starts; upload-pack is a child of the daemon, or for a path, of the fetching side.
"""

import argparse
import contextlib
import hashlib
import hmac
import http.client
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import tables
from processes import measure

sys.path.insert(0, str(Path(__file__).parents[2] / "e2e/lib"))
from serving import Serving, end_process, wait_until  # noqa: E402

SECRET = "a secret of hooks for measuring"
TICKS = os.sysconf("SC_CLK_TCK")
# A server is done with a push when it and its processes have taken no CPU time for so long, in seconds:
# longer than the pause before packs are merged.
QUIET = 0.6


def git(directory, *arguments):
    command = ["git", "-C", str(directory), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class Remote:
    """A bare repository that keeps packs as they are pushed, a checkout of it, and a daemon."""

    def __init__(self, directory, table):
        self.bare, self.checkout = directory / "links.git", directory / "checkout"
        git(directory, "init", "--quiet", "--bare", "--initial-branch=main", self.bare)
        git(self.bare, "config", "receive.unpackLimit", "1")
        git(directory, "clone", "--quiet", self.bare, self.checkout)
        git(self.checkout, "symbolic-ref", "HEAD", "refs/heads/main")
        if table.is_dir():
            shutil.copytree(table, self.checkout / "links")
        else:
            (self.checkout / "links").mkdir()
            shutil.copy(table, self.checkout / "links/000.yaml")
        files = sorted((self.checkout / "links").iterdir())
        self.changed = files[len(files) // 2]
        self.push()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.daemon = subprocess.Popen(
            [f"{git(directory, '--exec-path')}/git-daemon", "--export-all", "--listen=127.0.0.1"]
            + [f"--port={self.port}", f"--base-path={directory}", directory],
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_until(lambda: socket.create_connection(("127.0.0.1", self.port)).close() or True, "it listens")
        except BaseException:
            self.end()
            raise

    def url(self, transport):
        return f"git://127.0.0.1:{self.port}/links.git" if transport == "git" else f"file://{self.bare}"

    def push(self):
        who = ("-c", "user.name=A. Uthor", "-c", "user.email=author@example.org")
        git(self.checkout, "add", "--all")
        git(self.checkout, *who, "commit", "--quiet", "--message=Change")
        git(self.checkout, "push", "--quiet", "origin", "HEAD:refs/heads/main")

    def push_entry(self, code):
        """Pushes one entry more in the middle of one file."""
        text = self.changed.read_bytes()
        middle = text.index(b"\n- ", len(text) // 2) + 1
        entry = f"- url: https://www.example.org/{code}\n  short-code: {code}\n".encode()
        self.changed.write_bytes(text[:middle] + entry + text[middle:])
        self.push()

    def end(self):
        end_process(self.daemon)


class Follower(Serving):
    """A server that only a hook makes fetch."""

    def __init__(self, directory, url):
        self.state = directory / "state"
        options = ["--repo", url, "--path", "links", "--state-dir", self.state]
        super().__init__(
            directory, *options, "--pull-interval", "1h", env={"WAYPOST_HOOK_SECRET": SECRET}
        )

    def hook(self):
        signature = hmac.new(SECRET.encode(), b"{}", hashlib.sha256).hexdigest()
        connection = http.client.HTTPConnection(*self.public, timeout=60)
        with contextlib.closing(connection):
            connection.request("POST", "/-/hook", b"{}", {"X-Hub-Signature-256": f"sha256={signature}"})
            assert connection.getresponse().status == 202

    def seconds(self):
        """Returns the CPU time of the server and of its processes that have ended."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:15])) / TICKS

    def forget_peak(self):
        """Makes the peak of its memory that from now on."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def until_quiet(self):
        last = [self.seconds(), time.monotonic()]

        def is_quiet():
            seconds, now = self.seconds(), time.monotonic()
            children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
            if seconds != last[0] or children:
                last[:] = seconds, now
            return now - last[1] > QUIET

        wait_until(is_quiet, "the server is quiet", 120)

    def is_live(self, connection, code):
        connection.request("GET", f"/{code}", headers={"Host": "short.example"})
        answer = connection.getresponse()
        answer.read()
        return answer.status == 302


def size(directory):
    """Returns the bytes of all files below a directory, some of which may be removed meanwhile."""
    total = 0
    for path, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += os.lstat(f"{path}/{name}").st_size
    return total


@dataclass
class Push:
    """The costs of one push: seconds, and bytes of the state directory once the server is quiet."""

    live: float
    live_cpu: float
    fetch: float
    fetch_cpu: float
    state: int
    largest: int


def follow(server, remote, clone, code):
    remote.push_entry(code)
    largest, before = size(server.state), server.seconds()
    connection = http.client.HTTPConnection(*server.public, timeout=60)
    with contextlib.closing(connection):
        begun = time.monotonic()
        server.hook()
        while not server.is_live(connection, code):
            assert time.monotonic() < begun + 120, f"the push of {code} is not served"
            time.sleep(0.01)
        live, live_cpu = time.monotonic() - begun, server.seconds() - before
    largest = max(largest, size(server.state))
    server.until_quiet()
    fetch_cpu, fetch, _ = measure(["git", "-C", clone, "-c", "gc.auto=0", "fetch", "--quiet"])
    state = size(server.state)
    return Push(live, live_cpu, fetch, fetch_cpu, state, max(largest, state))


def rows(directory, table, transport, pushes):
    """Returns what the pushes of one table cost over one transport."""
    remote = Remote(directory, table)
    server = None
    try:
        url, clone = remote.url(transport), directory / "clone.git"
        git(directory, "clone", "--quiet", "--bare", "--depth=1", url, clone)
        git(clone, "config", "remote.origin.fetch", "+refs/heads/*:refs/heads/*")
        packed = size(clone / "objects/pack")
        server = Follower(directory, url).serving()
        server.until_quiet()
        memory = [server.resident("VmHWM")]
        server.forget_peak()
        costs = [follow(server, remote, clone, f"pushed-{number}") for number in range(pushes)]
        memory += [server.resident(), server.resident("VmHWM")]
        server.stop()
        return packed, costs, memory
    finally:
        if server:
            server.end()
        remote.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--files", type=int, nargs="+", default=[1, 256])
    parser.add_argument("--remotes", nargs="+", choices=["git", "path"], default=["git", "path"])
    parser.add_argument("--pushes", type=int, default=5)
    options = parser.parse_args()
    os.environ |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    print("|  | push to live | CPU | `git fetch` | CPU | state per push | most, of the packed table | peak of the start | resident | peak of a push |")
    print("| --- " + "| ---: " * 9 + "|")
    with tempfile.TemporaryDirectory(prefix="waypost-following.") as home:
        home = Path(home)
        table = tables.write(home, options.entries)
        for files in options.files:
            path = table.files["yaml"] if files == 1 else tables.split(table, home / f"{files}", files)
            for transport in options.remotes:
                directory = home / f"{files}-{transport}"
                directory.mkdir()
                packed, costs, memory = rows(directory, path, transport, options.pushes)
                median = lambda what: statistics.median(getattr(cost, what) for cost in costs)  # noqa: B023, E731
                each = (costs[-1].state - packed) / len(costs) / 1e3
                most = max(cost.largest for cost in costs) / packed
                print(
                    f"| {files} file{'s' * (files > 1)}, {transport} "
                    f"| {median('live'):.2f} s | {median('live_cpu'):.2f} s "
                    f"| {median('fetch'):.2f} s | {median('fetch_cpu'):.2f} s "
                    f"| {each:.0f} KB | {most:.2f} "
                    + "".join(f"| {kib * 1024 / 1e6:.0f} MB " for kib in memory)
                    + "|",
                    flush=True,
                )
                shutil.rmtree(directory)


main()
