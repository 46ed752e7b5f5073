"""How many links a server registers a second, in a bare repository on the same machine.

Each client keeps a connection and sends its next link once the one before is answered, so that the
server sees as many waiting requests as there are clients. Beside it: what `git commit` and
`git push` take for the same change in a checkout, and what `git receive-pack` alone takes for it, which
every push to a path has to wait for. Nothing is asserted of speed.
"""

import argparse
import contextlib
import hashlib
import json
import os
import random
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import receiving
import tables
from unit import unit_environment

sys.path.insert(0, str(Path(__file__).parents[2] / "e2e/lib"))
from serving import Serving  # noqa: E402

TOKEN = "benchmark"
TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid):
    """Returns the processor time of a process so far, and that of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    own, children = (sum(map(int, fields[at : at + 2])) / TICKS for at in (11, 13))
    return own, children


class Scene:
    """A bare repository with a table, a checkout of it, and a server that registers in it."""

    def __init__(self, path, entries, files):
        self.path, self.bare, self.checkout = path, path / "links.git", path / "checkout"
        self.entries, self.files = entries, files
        # The files in which clients register, in turn.
        self.names = [f"{number:03}.yaml" for number in range(files)] if files > 1 else []
        os.environ.update(HOME=str(path), TMPDIR=str(path), GIT_CONFIG_NOSYSTEM="1")
        os.environ.update(unit_environment())
        identity = "[user]\nname = A. Uthor\nemail = author@example.org\n"
        (path / ".gitconfig").write_text(identity + "[init]\ndefaultBranch = main\n")
        self.git(path, "init", "--quiet", "--bare", self.bare)
        self.git(path, "clone", "--quiet", self.bare, self.checkout)
        self.write_table()
        self.git(self.checkout, "add", "--all")
        self.git(self.checkout, "commit", "--quiet", "-m", "Begin")
        self.git(self.checkout, "push", "--quiet", "origin", "HEAD:refs/heads/main")
        known = hashlib.sha256(TOKEN.encode()).hexdigest()
        (path / "tokens").write_text(f"bench {known}\n")

    def write_table(self):
        directory = self.checkout / "table" if self.files > 1 else self.checkout
        directory.mkdir(exist_ok=True)
        paths = [directory / name for name in self.names or ["mapping.yaml"]]
        with contextlib.ExitStack() as stack:
            written = [stack.enter_context(path.open("w")) for path in paths]
            for number, file in enumerate(written):
                file.write(f"base_url: {tables.BASE_URL}\n" if number == 0 else "")
                file.write("mapping:\n")
            for number, (_, custom, url) in enumerate(tables.entries(self.entries)):
                code = f"  short-code: {custom}\n" if custom else ""
                written[number * self.files // self.entries].write(f"- url: {url}\n{code}")
        self.table = "table" if self.files > 1 else "mapping.yaml"
        self.edited = paths[-1]

    def git(self, directory, *arguments):
        command = ["git", *map(str, arguments)]
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commits(self):
        return int(self.git(self.bare, "rev-list", "--count", "main"))

    def stock(self, times):
        """Returns the seconds that a commit and a push of one more link take."""
        took = []
        for number in range(times):
            with self.edited.open("a") as file:
                file.write(f"- url: https://stock.example/{number}\n")
            began = time.monotonic()
            self.git(self.checkout, "commit", "--quiet", "--all", "-m", "Add")
            self.git(self.checkout, "push", "--quiet", "origin", "HEAD:refs/heads/main")
            took.append(time.monotonic() - began)
        return statistics.median(took)

    def ready(self, times):
        """Commits one more link, that many times, and yields each commit as (old id, new id, pack); it is
        pushed before the next is made."""
        for number in range(times):
            old = self.git(self.checkout, "rev-parse", "HEAD")
            with self.edited.open("a") as file:
                file.write(f"- url: https://ready.example/{number}\n")
            self.git(self.checkout, "commit", "--quiet", "--all", "-m", "Add")
            new = self.git(self.checkout, "rev-parse", "HEAD")
            pack = subprocess.run(
                ["git", "pack-objects", "--revs", "--thin", "--stdout", "--quiet"],
                cwd=self.checkout,
                input=f"{new}\n^{old}\n".encode(),
                capture_output=True,
                check=True,
            )
            yield old, new, pack.stdout

    def serve(self):
        options = ["--registrations", "--registrations-tokens", self.path / "tokens"]
        place = ["--repo", f"file://{self.bare}", "--path", self.table]
        state = ["--state-dir", self.path / "state", "--pull-interval", "1h"]
        return Serving(self.path, *place, *options, *state).serving()


class Client:
    """One connection, and its successive requests."""

    def __init__(self, address, name, files):
        self.name, self.number, self.read, self.took = name, 0, b"", []
        self.files = files
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self):
        link = {"url": f"https://{self.name}.example/{self.number}"}
        if self.files:
            link["file"] = random.choice(self.files)
        body = json.dumps(link).encode()
        head = (
            f"POST /-/api/links HTTP/1.1\r\nHost: short.example\r\nAuthorization: Bearer {TOKEN}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.began = time.monotonic()
        self.socket.sendall(head.encode() + body)
        self.number += 1

    def answered(self):
        """Reads what has arrived, and returns whether the answer is complete."""
        self.read += self.socket.recv(1 << 16)
        head, end, body = self.read.partition(b"\r\n\r\n")
        if not end:
            return False
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        if len(body) < int(fields[b"content-length"]):
            return False
        assert head.startswith(b"HTTP/1.1 201 "), self.read
        self.took.append(time.monotonic() - self.began)
        self.read = b""
        return True


def load(server, clients, seconds, label, files):
    """Registers for some seconds, and returns how long each answer took, and all of it."""
    here = [Client(server.public, f"{label}-{number}", files) for number in range(clients)]
    began = time.monotonic()
    with selectors.DefaultSelector() as selector:
        for client in here:
            selector.register(client.socket, selectors.EVENT_READ, client)
            client.send()
        while selector.get_map():
            for key, _ in selector.select():
                client = key.data
                if not client.answered():
                    continue
                if time.monotonic() - began < seconds:
                    client.send()
                else:
                    selector.unregister(client.socket)
                    client.socket.close()
    return [took for client in here for took in client.took], time.monotonic() - began


def measure(scene, clients, seconds, label):
    server = scene.server
    before, cpu = scene.commits(), processor_seconds(server.process.pid)
    took, elapsed = load(server, clients, seconds, label, scene.names)
    own, children = (b - a for a, b in zip(cpu, processor_seconds(server.process.pid), strict=True))
    commits = scene.commits() - before
    took.sort()
    percentile = [took[int(len(took) * share)] * 1000 for share in (0.5, 0.99)]
    print(
        f"| {scene.entries} in {scene.files} | {clients} | {len(took) / elapsed:.1f} "
        f"| {percentile[0]:.1f} / {percentile[1]:.1f} ms | {len(took) / commits:.1f} "
        f"| {own / commits * 1000:.1f} + {children / commits * 1000:.1f} ms |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000)
    parser.add_argument("--files", type=int, default=1)
    parser.add_argument("--clients", type=int, nargs="*", default=[1, 64])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--stock", type=int, default=5, help="how many stock commits are timed")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="waypost-registering-") as path:
        scene = Scene(Path(path).resolve(), arguments.entries, arguments.files)
        if arguments.stock:
            print(f"git commit and git push: {scene.stock(arguments.stock):.3f} s", flush=True)
            commits = scene.ready(4 * arguments.stock)
            started, waiting = receiving.seconds(scene.bare, "refs/heads/main", commits)
            print(
                f"git receive-pack alone, of a pack that is ready: {started * 1000:.1f} ms; "
                f"if it was started before: {waiting * 1000:.1f} ms",
                flush=True,
            )
        scene.server = scene.serve()
        print("| entries | clients | links a second | p50 / p99 | a commit | CPU of a commit: server + Git |")
        print("| --- | --- | --- | --- | --- | --- |")
        for number, clients in enumerate(arguments.clients):
            measure(scene, clients, arguments.seconds, f"c{number}")
        scene.server.stop()


if __name__ == "__main__":
    main()
