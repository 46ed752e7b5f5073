"""`waypost serve` for attacks and loads: its process, its listeners, its log."""

import contextlib
import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import time

# The longest time to wait for anything; it only matters when a test fails.
TIMEOUT = 60

HOST = "w.example"


def wait_until(predicate, what, timeout=TIMEOUT):
    """Returns the predicate's value once it is true. A failed connection counts as not yet."""
    deadline = time.monotonic() + timeout
    last = None
    while time.monotonic() < deadline:
        try:
            last = predicate()
            if last:
                return last
        except (OSError, http.client.HTTPException) as error:
            last = error
        time.sleep(0.05)
    raise AssertionError(f"timed out waiting until {what}; at last: {last!r}")


def end_process(process):
    """Ends a process, by force if it does not end soon."""
    process.terminate()
    try:
        process.wait(30)
    except BaseException:
        process.kill()
        process.wait()
        raise


class Serving:
    """A server in a directory of its own. `files` are its (soft, hard) limit of open files.

    What it writes goes to a file, unless descriptors for it are given.
    """

    def __init__(
        self, directory, *arguments, env=None, files=None, admin="127.0.0.1:0", stdout=None, stderr=None
    ):
        self.log_file = directory / f"waypost-{len(list(directory.glob('waypost-*.log')))}.log"
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, files)) if files else None
        with self.log_file.open("wb") as log:
            self.process = subprocess.Popen(
                [os.environ["WAYPOST"], "serve", "--listen", "127.0.0.1:0", "--admin-listen", admin]
                + ["--log-format", "json", *map(str, arguments)],
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=log if stdout is None else stdout,
                stderr=log if stderr is None else stderr,
                preexec_fn=limit,
                cwd=directory,
            )
        self.public = self.admin = None

    def serving(self):
        """Waits until it serves, and returns it; ends it if it does not."""
        try:
            line = wait_until(lambda: self.lines("serving") or self.process.poll() is not None, "it serves")
            assert line is not True, f"it exited: {self.log_file.read_text()}"
        except BaseException:
            self.end()
            raise
        self.public, self.admin = (
            ("127.0.0.1", int(line[0][name].rsplit(":", 1)[1])) for name in ("public", "admin")
        )
        return self

    def log(self):
        """Returns the lines of the log, each a dictionary."""
        lines = []
        for line in self.log_file.read_text().splitlines():
            try:
                lines.append(json.loads(line))
            except ValueError:
                lines.append({"message": line})
        return lines

    def lines(self, message):
        return [line for line in self.log() if line["message"] == message]

    # Requests

    def connect(self, timeout=TIMEOUT):
        return socket.create_connection(self.public, timeout=timeout)

    def say(self, data, timeout=TIMEOUT):
        """Sends bytes and returns all that comes back until the server closes."""
        with self.connect(timeout) as client:
            client.sendall(data)
            return b"".join(iter(lambda: client.recv(1 << 16), b""))

    def follow(self, path="/x", timeout=TIMEOUT):
        """Returns (status, location)."""
        connection = http.client.HTTPConnection(*self.public, timeout=timeout)
        with contextlib.closing(connection):
            connection.request("GET", path, headers={"Host": HOST, "Connection": "close"})
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.headers.get("Location")

    def operate(self, path, method="GET"):
        connection = http.client.HTTPConnection(*self.admin, timeout=TIMEOUT)
        with contextlib.closing(connection):
            connection.request(method, path)
            return connection.getresponse().read().decode()

    def metrics(self):
        """Returns the samples: `name` or `name{labels}` → number."""
        lines = (line.rsplit(" ", 1) for line in self.operate("/metrics").splitlines())
        return {line[0]: float(line[1]) for line in lines if len(line) == 2 and line[0][0] != "#"}

    def counted(self, metrics=None):
        """Returns the number of answered requests, whatever the outcome."""
        samples = (metrics or self.metrics()).items()
        return sum(value for name, value in samples if name.startswith("waypost_requests_total{"))

    def status(self):
        return json.loads(self.operate("/-/status"))

    def quiet(self):
        """Waits until no client is connected any more."""
        wait_until(lambda: self.metrics()["waypost_connections"] == 0, "every connection is closed")

    # Resources

    def resident(self, what="VmRSS"):
        """Returns its memory in KiB; with `VmHWM`, its peak."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(rf"^{what}:\s*(\d+) kB", status.read(), re.MULTILINE)[1])

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        """Stops it as an operator would, and raises if it does not exit with 0."""
        assert self.process.poll() is None, f"it exited on its own: {self.log_file.read_text()}"
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(TIMEOUT)
        assert status == 0, f"it ended with status {status}"

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
