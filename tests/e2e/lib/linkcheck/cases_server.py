"""A server that checks its links: it publishes what the command reports, and is as polite."""

import json
import os
import re
import subprocess
import time
import urllib.request

from cases import case
from program import links
from proof import assert_polite

WORDS = ("plain", "missing", "removed", "status301")
WORKING = ("ok", "unchecked")


class Server:
    """`waypost serve --linkcheck` on a table."""

    def __init__(self, table):
        self.log_file = table.folder / "log"
        command = [
            os.environ["WAYPOST"], "serve", "--table", table.path, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
            "--linkcheck", "--state-dir", table.folder / "state", "--linkcheck-delay", f"{round(table.delay * 1000)}ms",
            "--log-format", "json",
        ]
        with self.log_file.open("wb") as log:
            self.process = subprocess.Popen(command, env=table.environment(), stdout=log, stderr=log)
        line = wait_for(lambda: re.search(r'^.*"serving".*$', self.log_file.read_text(), re.MULTILINE), "the server")
        self.addresses = json.loads(line[0])

    def get(self, listener, path):
        with urllib.request.urlopen(f"http://{self.addresses[listener]}{path}", timeout=20) as reply:
            return reply.read().decode()

    def counts(self):
        """Returns how many links have each verdict."""
        counts = re.findall(r'^waypost_links\{verdict="([\w-]+)"\} (\d+)$', self.get("admin", "/metrics"), re.MULTILINE)
        return {verdict: int(count) for verdict, count in counts if count != "0"}

    def listed(self):
        lines = self.get("public", "/-/linkcheck.jsonl").splitlines()
        return {link["target"]: link for link in map(json.loads, lines)}

    def stop(self):
        self.process.terminate()
        assert self.process.wait(20) == 0, self.log_file.read_text()


def wait_for(condition, what):
    deadline = time.monotonic() + 60
    while not (value := condition()):
        assert time.monotonic() < deadline, f"timed out waiting for {what}"
        time.sleep(0.05)
    return value


@case
def a_server_publishes_what_the_command_reports(scene):
    targets = [f"http://{word}-{host}.farm.example/page-{page}" for word in WORDS for host in (1, 2) for page in (1, 2)]
    # A host that sends Retry-After with hours is requested once.
    targets.append("http://busyhours-1.farm.example/page-1")
    table = scene.table(targets)
    mark = len(scene.farm.log)
    server = Server(table)
    wait_for(lambda: "unchecked" not in server.counts(), "all links to be checked")
    counts, listed = server.counts(), server.listed()
    asked = len(scene.farm.log)
    server.stop()
    assert sum(counts.values()) == len(targets)
    assert len(listed) == len(targets) - counts["ok"]
    print(f"  {assert_polite(scene.farm.since(mark), table.delay)}")

    reported = links(table.check("--state", table.folder / "state/linkcheck.redb"))
    assert {target: link for target, link in reported.items() if link["verdict"] not in WORKING} == listed
    # It continues from there.
    server = Server(table)
    wait_for(lambda: server.counts() == counts, f"{counts}")
    assert server.listed() == listed
    server.stop()
    assert len(scene.farm.log) == asked, "a link was requested again immediately"
