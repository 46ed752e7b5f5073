"""Clients that register links over HTTP, while the remote goes away and the server is killed."""

import concurrent.futures
import contextlib
import hashlib
import http.client
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from serving import TIMEOUT, Serving, wait_until

WAYPOST = os.environ["WAYPOST"]
VECTORS = Path(__file__).parents[2] / "vectors/codes.json"
CLIENTS = 16
# The requests of each client: URLs of its own, and URLs that other clients register as well.
OWN, SHARED = 40, 15
TABLE = "base_url: https://short.code/\nmapping: []\n"
# How long the measurement lasts, in seconds.
MEASURED = 5


class Scene:
    """A bare repository with an empty table, and tokens of four owners."""

    def __init__(self, path):
        self.path = path
        self.bare = path / "links.git"
        os.environ.update(HOME=str(path), TMPDIR=str(path), GIT_CONFIG_NOSYSTEM="1")
        identity = "[user]\nname = A. Uthor\nemail = author@example.org\n"
        (path / ".gitconfig").write_text(identity + "[init]\ndefaultBranch = main\n")
        self.git("init", "--quiet", "--bare", self.bare)
        self.git("clone", "--quiet", self.bare, path / "first")
        (path / "first/mapping.yaml").write_text(TABLE)
        self.git("add", "mapping.yaml", cwd="first")
        self.git("commit", "--quiet", "-m", "Begin", cwd="first")
        self.git("push", "--quiet", "origin", "main", cwd="first")
        self.tokens = [secrets.token_urlsafe(32) for _ in range(4)]
        hashes = [hashlib.sha256(token.encode()).hexdigest() for token in self.tokens]
        lines = [f"owner{number} {known}\n" for number, known in enumerate(hashes)]
        (path / "tokens").write_text("".join(lines))

    def run(self, *command, cwd="."):
        command = [str(it) for it in command]
        return subprocess.run(command, cwd=self.path / cwd, capture_output=True, text=True)

    def git(self, *arguments, cwd="links.git"):
        done = self.run("git", *arguments, cwd=cwd if self.bare.exists() else ".")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def serve(self, url):
        options = ["--registrations", "--registrations-tokens", self.path / "tokens"]
        state = ["--state-dir", self.path / "state", "--git-timeout", "5s"]
        return Serving(self.path, "--repo", url, *options, *state).serving()


class Daemon:
    """A git daemon that takes pushes from anyone, on a port of its own."""

    def __init__(self, scene):
        self.scene = scene
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    def start(self):
        path = subprocess.run(["git", "--exec-path"], capture_output=True, text=True).stdout.strip()
        options = ["--export-all", "--reuseaddr", "--enable=receive-pack", "--listen=127.0.0.1"]
        place = [f"--port={self.port}", f"--base-path={self.scene.path}"]
        # With its children in a process group of its own, which is killed as a whole.
        self.process = subprocess.Popen(
            [f"{path}/git-daemon", *options, *place],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        wait_until(lambda: socket.create_connection(("127.0.0.1", self.port)), "the daemon answers").close()

    def cut(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def url(self):
        return f"git://127.0.0.1:{self.port}/links.git"


class Client:
    """A client that registers links, and retries until it succeeds."""

    def __init__(self, run, number):
        self.run, self.number = run, number
        self.created = {}
        self.tries = self.existing = self.taken = 0
        self.connection = None

    def post(self, wish, key):
        """Returns (status, content), or None if the connection is lost."""
        headers = {
            "Authorization": f"Bearer {self.run.scene.tokens[self.number % 4]}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(*self.run.server.public, timeout=TIMEOUT)
            self.connection.request("POST", "/-/api/links", json.dumps(wish), headers)
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException):
            self.connection = None
            return None

    def register(self, wish):
        key = secrets.token_hex(8)
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            self.tries += 1
            answer = self.post(wish, key)
            status, content = answer or (None, None)
            if status in (200, 201, 409, 422) and "under-way" not in content.get("type", ""):
                return status, content
            assert status in (None, 409, 503), answer
            self.run.troubled.set()
            time.sleep(0.05)
        raise AssertionError(f"{wish} was never answered")

    def work(self):
        for wish in self.run.wishes(self.number):
            status, content = self.register(wish)
            if status == 201:
                # It redirects as soon as the answer has arrived.
                self.created[content["url"]] = content
            elif status == 409 and "code-taken" in content["type"]:
                self.taken += 1
                del wish["short_code"]
                status, content = self.register(wish)
                assert status in (201, 409), content
                if status == 201:
                    self.created[content["url"]] = content
            else:
                self.existing += 1
                existing = content.get("existing", content)
                assert existing["url"] == wish["url"], (wish, content)
            self.run.done()
        return self


class Run:
    """A race of clients, and its disturbances."""

    def __init__(self, scene):
        self.scene = scene
        self.daemon = Daemon(scene)
        self.server = scene.serve(self.daemon.url)
        self.count, self.lock = 0, threading.Lock()
        self.troubled = threading.Event()

    def wishes(self, number):
        pairs = json.loads(VECTORS.read_text())["sha256_collisions"]
        shared = [f"https://shared.example/{n}" for n in range(SHARED - len(pairs))]
        shared += [pair["urls"][number % 2] for pair in pairs]
        found = [{"url": url, "get_or_create": number % 2 == 0} for url in shared]
        own = [{"url": f"https://{number}.example/{n}"} for n in range(OWN)]
        for n, wish in enumerate(own):
            if n % 3 == 0:
                wish["number"] = "next"
            elif n % 10 == 1:
                wish["short_code"] = f"c{number // 2}-{n}"
        found += own
        random.Random(number).shuffle(found)
        return found

    def done(self):
        with self.lock:
            self.count += 1

    def until(self, share):
        count = share * CLIENTS * (OWN + SHARED)
        wait_until(lambda: self.count >= count, f"{share:.0%} are done")

    def disturb(self):
        self.until(0.25)
        self.troubled.clear()
        self.daemon.cut()
        assert self.troubled.wait(TIMEOUT), "no client noticed that the remote was cut"
        self.daemon.start()
        self.until(0.6)
        self.server.process.kill()
        self.server.process.wait()
        self.server = self.scene.serve(self.daemon.url)

    def go(self):
        with concurrent.futures.ThreadPoolExecutor(CLIENTS + 1) as pool:
            clients = [pool.submit(Client(self, number).work) for number in range(CLIENTS)]
            pool.submit(self.disturb).result()
            return [client.result() for client in clients]


def entries(scene):
    """Returns the URLs and codes of the remote's table."""
    table = scene.path / "table.yaml"
    table.write_text(scene.git("show", "main:mapping.yaml") + "\n")
    done = scene.run(WAYPOST, "export", "--format", "urlteam", "--table", table)
    assert done.returncode == 0, done.stderr
    lines = [line.split("|", 1) for line in done.stdout.splitlines() if not line.startswith("#")]
    return [(url, code) for code, url in lines]


def check_history(scene):
    """Checks that each commit is valid, has one parent, and only adds entries; returns their number."""
    assert scene.git("rev-list", "--merges", "main") == ""
    commits = scene.git("rev-list", "--reverse", "main").split()
    for commit in commits:
        done = scene.run(WAYPOST, "check", "--rev", f"{commit}:mapping.yaml", cwd=scene.bare)
        assert done.returncode == 0, (commit, done.stdout)
    for line in scene.git("log", "--numstat", "--format=", f"{commits[1]}..main").splitlines():
        added, removed, name = line.split("\t")
        assert (int(removed), name) == (0, "mapping.yaml") and int(added) > 0, line
    return len(commits) - 1


def race(scene):
    run = Run(scene)
    began = time.monotonic()
    clients = run.go()
    took = time.monotonic() - began
    run.server.stop()
    run.daemon.cut()
    log = "".join(file.read_text() for file in scene.path.glob("waypost-*.log"))
    assert not any(token in log for token in scene.tokens), "a token was logged"

    table = entries(scene)
    by_url = dict(table)
    created = {}
    for client in clients:
        for url, link in client.created.items():
            assert url not in created, f"{url} was created twice"
            assert by_url[url] == link["code"], (url, link)
            created[url] = link
    wished = {wish["url"] for number in range(CLIENTS) for wish in run.wishes(number)}
    assert len(by_url) == len(table) and set(by_url) == wished, "not each URL once"
    text = scene.git("show", "main:mapping.yaml")
    numbers = [int(line.split()[-1]) for line in text.splitlines() if " number: " in line]
    assert sorted(numbers) == list(range(1, len(numbers) + 1)) and numbers, sorted(numbers)
    commits = check_history(scene)
    tries = sum(client.tries for client in clients)
    print(
        f"{CLIENTS} clients, {tries} requests in {took:.0f} s: {len(table)} links, {len(created)} of "
        f"them answered 201, {len(numbers)} numbered, in {commits} commits"
    )


def measure(scene):
    """Measures how many links are registered per second in a repository on this machine."""
    server = scene.serve(f"file://{scene.bare}")
    end = time.monotonic() + MEASURED

    def work(number):
        connection = http.client.HTTPConnection(*server.public, timeout=TIMEOUT)
        headers = {"Authorization": f"Bearer {scene.tokens[0]}", "Content-Type": "application/json"}
        done = 0
        with contextlib.closing(connection):
            while time.monotonic() < end:
                body = json.dumps({"url": f"https://{number}.example/measured/{done}"})
                connection.request("POST", "/-/api/links", body, headers)
                answer = connection.getresponse()
                answer.read()
                assert answer.status == 201, answer.status
                done += 1
        return done

    for clients in (1, CLIENTS, 64):
        end = time.monotonic() + MEASURED
        before = int(scene.git("rev-list", "--count", "main"))
        with concurrent.futures.ThreadPoolExecutor(clients) as pool:
            done = sum(pool.map(lambda number: work(f"{clients}-{number}"), range(clients)))
        commits = int(scene.git("rev-list", "--count", "main")) - before
        print(f"{clients} clients: {done / MEASURED:.0f} links per second, {done / commits:.1f} per commit")
    server.stop()


def main():
    with tempfile.TemporaryDirectory(prefix="waypost-registrations-") as path:
        scene = Scene(Path(path).resolve())
        race(scene)
        measure(scene)


if __name__ == "__main__":
    main()
