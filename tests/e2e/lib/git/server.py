"""`waypost serve` for cases: its listeners, its log, and a loop of requests."""

import http.client
import json
import os
import re
import signal
import threading

from scene import TIMEOUT, wait_until

HOST = "w.example"
KNOWN = (302, "https://known.example/")


def command(arguments):
    """Returns the command line of a server, with short intervals unless others are given."""
    arguments = [str(it) for it in arguments]
    defaults = {
        "--listen": "127.0.0.1:0",
        "--admin-listen": "127.0.0.1:0",
        "--log-format": "json",
        "--pull-interval": "200ms",
        "--poll-interval": "200ms",
        "--git-timeout": "20s",
        "--threads": "2",
    }
    if "--repo" not in arguments:
        del defaults["--pull-interval"]
    more = [it for pair in defaults.items() if pair[0] not in arguments for it in pair]
    return [os.environ["WAYPOST"], "serve", *arguments, *more]


class Server:
    """A running server. Made by `Scene.server`."""

    def __init__(self, scene, arguments, env, live, requests=True, within=()):
        self.scene = scene
        # A wrapper that is started first and executes it: `setpriv`, `unshare`.
        self.within = within
        self.arguments = arguments
        self.env = env
        self.live = live
        self.requests = requests
        self.name = f"waypost-{len(scene.servers) + 1}"
        self.failures = []
        self.followed = 0
        self._over = threading.Event()
        self._loop = None
        self.stopped = False

    def begin(self):
        self.process = self.scene.start(
            self.name, *self.within, *command(self.arguments), env=self.env
        )
        serving = wait_until(self._serving, "the server serves, or exits")
        assert serving != "ended", f"the server ended with {self.process.wait()}: {self.text()}"
        self.public = self._port(serving["public"])
        self.admin = self._port(serving["admin"])
        if self.requests:
            self._loop = threading.Thread(target=self._follow, daemon=True)
            self._loop.start()

    def _serving(self):
        ended = not self.process.running()
        found = [line for line in self.log() if line.get("message") == "serving"]
        return found[0] if found else "ended" if ended else None

    @staticmethod
    def _port(address):
        return int(address.rsplit(":", 1)[1])

    # The loop of requests

    def _follow(self):
        live = self.live
        while not self._over.wait(0.02):
            try:
                got = self.get("/known")
            except (OSError, http.client.HTTPException) as error:
                got = repr(error)
            if got == KNOWN:
                live = True
                self.followed += 1
            elif live:
                self.failures.append(got)

    def end_requests(self):
        self._over.set()
        if self._loop and self._loop.is_alive():
            self._loop.join(TIMEOUT)

    # Requests

    def _ask(self, port, method, path, body=None, headers=()):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
        try:
            headers = dict(headers)
            if port == self.public:
                headers.setdefault("Host", HOST)
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read().decode(errors="replace")
        finally:
            connection.close()

    def get(self, path):
        """Follows a short link: returns (status, location)."""
        status, headers, _ = self._ask(self.public, "GET", path)
        return status, headers.get("Location")

    def post(self, path, body=b"", headers=()):
        """Posts to the public listener: returns (status, text). For the hook."""
        status, _, text = self._ask(self.public, "POST", path, body, headers)
        return status, text

    def version(self):
        """Returns which version of the table is live, or None."""
        status, location = self.get("/version")
        return location.rsplit("/", 1)[1] if status == 302 else None

    def status(self):
        return json.loads(self._ask(self.admin, "GET", "/-/status")[2])

    def ready(self):
        return self._ask(self.admin, "GET", "/readyz")[0] == 200

    def metrics_text(self):
        return self._ask(self.admin, "GET", "/metrics")[2]

    def metrics(self):
        """Returns the samples: `name` or `name{labels}` → number."""
        lines = (line.rsplit(" ", 1) for line in self.metrics_text().splitlines())
        return {line[0]: float(line[1]) for line in lines if len(line) == 2 and line[0][0] != "#"}

    def fetches(self, *results):
        """Returns the number of fetches with this result (of all fetches by default)."""
        samples = self.metrics()
        counts = {
            re.search('"(.*)"', name)[1]: count
            for name, count in samples.items()
            if name.startswith("waypost_git_fetches_total{")
        }
        return int(sum(counts[it] for it in results or counts))

    def reload(self):
        """Requests a reload, which fetches, and waits for it: returns (status, text)."""
        status, _, text = self._ask(self.admin, "POST", "/-/reload")
        return status, text

    def remote(self):
        return self.status()["remote"]

    def fetch_error(self):
        """Returns the error of the last fetch, or None."""
        return self.remote()["last_error"]

    # Its log

    def text(self):
        return self.process.text()

    def log(self):
        """Returns the lines of the log, each a dictionary."""
        lines = []
        for line in self.text().splitlines():
            try:
                lines.append(json.loads(line))
            except ValueError:
                lines.append({"message": line})
        return lines

    def everything(self):
        """Returns everything that it reports: log, status, metrics."""
        return self.text() + json.dumps(self.status()) + self.metrics_text()

    # Waiting

    def serves(self, version, commit=None):
        """Waits until a version is live, at that commit if one is given."""
        wait_until(lambda: self.version() == version, f"version {version} is live")
        if commit:
            live = lambda: self.status()["revision"]["commit"] == commit  # noqa: E731
            wait_until(live, f"commit {commit} is live")

    def after_fetches(self, count=2, *results):
        """Waits until so many more fetches have ended (with this result)."""
        target = self.fetches(*results) + count
        what = f"{count} more fetches ended {results or ''}"
        wait_until(lambda: self.fetches(*results) >= target, what)

    def fails_to_fetch(self, *words):
        """Waits until a fetch fails with these words in its error, and returns the error."""

        def failed():
            error = self.fetch_error()
            return error if error and all(word in error for word in words) else None

        try:
            return wait_until(failed, f"a fetch fails with {words}")
        except AssertionError as error:
            raise AssertionError(f"{error}; the status reports {self.fetch_error()!r}") from None

    # Ending it

    def send(self, number):
        self.process.send(number)

    def stop(self, number=signal.SIGTERM):
        """Stops the requests, then the server; raises if a request failed or the server did not exit with 0."""
        if self.stopped:
            return
        self.stopped = True
        if self.live and self.requests:
            wait_until(lambda: self.followed or self.failures, "a request was answered")
        self.end_requests()
        assert self.process.running(), f"the server exited on its own with {self.process.wait()}"
        self.send(number)
        status = self.process.wait()
        assert status == 0, f"the server ended with status {status}"
        assert not self.failures, (
            f"{len(self.failures)} requests failed (and {self.followed} did not): {self.failures[0]}"
        )

    def kill(self):
        """Kills the server as a crash would, with the process that fetches."""
        self.stopped = True
        self.end_requests()
        self.process.kill()
        assert not self.failures, f"{len(self.failures)} requests failed: {self.failures[0]}"
