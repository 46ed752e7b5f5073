"""The real server behind a proxy, and the table that it serves."""

import os
import subprocess
import time
import urllib.request

# Each code shows something that a proxy might change.
LONG = "https://long.example/?" + "x" * (8192 - 22)
TABLE = f"""---
base_url: https://short.code/
mapping:
- {{url: "https://www.gnu.org/", short-code: gnu-home}}
- {{url: "https://framasoft.org/", short-code: "a/b"}}
- {{url: "https://paths.example/", short-code: to, forward: path-and-query}}
- {{url: "https://verbs.example/", short-code: any-verb, status: 307}}
- {{url: "https://umlaut.example/", short-code: "ä"}}
- {{url: "{LONG}", short-code: long}}
---
base_url: https://go.example/
mapping:
- {{url: "https://golang.example/", short-code: gnu-home}}
"""


def write_table(directory):
    """Writes the table, one file for each site, because a file has one document."""
    os.mkdir(directory)
    for number, text in enumerate(TABLE.split("---\n")[1:]):
        with open(f"{directory}/{number}.yaml", "w", encoding="utf-8") as file:
            file.write(text)


def wait_for(condition, what, seconds=30):
    """Polls until a condition holds; on a timeout, reports the condition."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"timed out after {seconds} s: {what}")
        time.sleep(0.05)
    return value


class Backend:
    """One `waypost serve`, public on PORT and admin on the port after it."""

    def __init__(self, port, work):
        self.port = port
        self.command = [
            os.environ["WAYPOST"], "serve", "--table", f"{work}/table",
            "--listen", f"127.0.0.1:{port}", "--admin-listen", f"127.0.0.1:{port + 1}",
            "--drain-delay", "2s",
        ]  # fmt: skip
        self.log = open(f"{work}/waypost-{port}.log", "ab")
        self.process = None

    def start(self):
        environment = {**os.environ, "WAYPOST_HOOK_SECRET": "a secret"}
        self.process = subprocess.Popen(
            self.command, env=environment, stdout=self.log, stderr=self.log
        )
        wait_for(self.ready, f"waypost on port {self.port} to be ready")

    def stop(self):
        self.process.terminate()
        status = self.process.wait(60)
        assert status == 0, f"waypost exited with {status}"

    def admin(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port + 1}{path}") as answer:
            return answer.read().decode()

    def ready(self):
        assert self.process.poll() is None, f"waypost on port {self.port} did not start"
        try:
            return self.admin("/readyz") is not None
        except OSError:
            return False

    def requests(self):
        """Returns the number of answered requests."""
        lines = self.admin("/metrics").splitlines()
        counts = (line.split()[1] for line in lines if line.startswith("waypost_requests_total{"))
        return sum(int(count) for count in counts)
