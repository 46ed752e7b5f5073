"""Rolls out one image after another behind HAProxy, under load, then kills replicas.

HAProxy probes /readyz of each replica. It has two listeners: `strict` passes every failure on to the
client, `patient` repeats a failed request. The rollouts must not lose a request on `strict`;
the kills are done on both: on `strict` to check that a lost request is counted, on `patient` to see
what HAProxy cannot hide.

Two replicas serve, each in a slot (a pair of ports) that HAProxy knows; a rollout starts the new
ones in the two other slots, waits until they are ready, and stops the old ones.
"""

import argparse
import http.client
import json
import random
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "git"))

from scene import free_port, wait_until  # noqa: E402

CONNECTIONS = 32

# wrk waits this long between two requests of a connection: a few thousand requests a second.
PAUSE_MS = 8

SCRIPT = """
local threads = {}
function setup(thread) table.insert(threads, thread) end
function init(args) wrong = 0 end
function delay() return %d end
function response(status, headers)
  -- HAProxy writes the names of headers in lower case.
  if status ~= 302 or headers["location"] ~= "https://known.example/" then wrong = wrong + 1 end
end
function done(summary)
  local e, wrong = summary.errors, 0
  for _, thread in ipairs(threads) do wrong = wrong + thread:get("wrong") end
  print(string.format('RESULT {"requests": %%d, "wrong": %%d, "connect": %%d, "read": %%d, "write": %%d, "timeout": %%d}',
    summary.requests, wrong, e.connect, e.read, e.write, e.timeout))
end
""" % PAUSE_MS


class Balancer:
    """HAProxy in front of four slots."""

    def __init__(self, work):
        self.slots = {name: (free_port(), free_port()) for name in "abcd"}
        self.strict, self.patient = free_port(), free_port()
        self.stats = work / "haproxy.sock"
        lines = [
            "global",
            f"  stats socket {self.stats} level admin",
            "defaults",
            "  mode http",
            # wrk first connects without a request, which would count as a bad one.
            "  option http-ignore-probes",
            "  timeout connect 2s",
            "  timeout client 30s",
            "  timeout server 10s",
        ]
        for name, port in ("strict", self.strict), ("patient", self.patient):
            lines += [f"frontend {name}", f"  bind 127.0.0.1:{port}", f"  default_backend {name}"]
        lines += ["backend strict", "  retries 0", "  option httpchk GET /readyz"]
        for name, (public, admin) in self.slots.items():
            check = f"check port {admin} inter 500ms fall 2 rise 1"
            lines.append(f"  server {name} 127.0.0.1:{public} {check}")
        lines += ["backend patient", "  retries 3", "  option redispatch 1"]
        lines.append("  retry-on all-retryable-errors")
        for name, (public, _) in self.slots.items():
            lines.append(f"  server {name} 127.0.0.1:{public} track strict/{name}")
        config = work / "haproxy.cfg"
        config.write_text("\n".join([*lines, ""]))
        with (work / "haproxy.log").open("w") as log:
            self.process = subprocess.Popen(["haproxy", "-db", "-f", config], stderr=log)

    def rows(self):
        """Returns its counters, by the name of listener or backend and server."""
        with socket.socket(socket.AF_UNIX) as it:
            it.connect(str(self.stats))
            it.sendall(b"show stat\n")
            text = b"".join(iter(lambda: it.recv(65536), b"")).decode()
        names, *rows = [line.split(",") for line in text.lstrip("# ").splitlines() if line]
        rows = [dict(zip(names, row)) for row in rows]
        return {(row["pxname"], row["svname"]): row for row in rows}

    def serving(self):
        """Returns the slots that HAProxy sends requests to."""
        rows = self.rows()
        return {it for it in self.slots if rows["strict", it]["status"].startswith("UP")}


class Load:
    """Requests the link `known`, until it is stopped."""

    def __init__(self, work, port):
        script = work / "load.lua"
        script.write_text(SCRIPT)
        self.process = subprocess.Popen(
            ["wrk", "-t1", f"-c{CONNECTIONS}", "-d1h", "--timeout", "10s", "-s", script,
             f"http://127.0.0.1:{port}/known"],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def stop(self):
        """Returns the counts of requests and of each kind of failure."""
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate(timeout=60)[0]
        line = next((it for it in said.splitlines() if it.startswith("RESULT ")), None)
        assert line, f"wrk did not report its counts: {said}"
        return json.loads(line.removeprefix("RESULT "))


def failures(counts):
    return sum(number for kind, number in counts.items() if kind != "requests")


class Fleet:
    """The replicas, by slot."""

    def __init__(self, podman, name, balancer):
        self.command = podman
        self.name = name
        self.balancer = balancer
        self.version = {}
        self.number = 0
        self.containers = {}

    def podman(self, *arguments):
        done = subprocess.run([*self.command, *arguments], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"podman {' '.join(arguments)}: {done.stderr}"
        return done.stdout.strip()

    def start(self, slot, version):
        """Starts a replica in an empty slot."""
        public, admin = self.balancer.slots[slot]
        self.number += 1
        container = f"{self.name}-{self.number}"
        self.podman(
            "run", "--detach", "--name", container, "--network", "host", "--read-only",
            "--cap-drop=all", "--security-opt=no-new-privileges",
            "--env", f"WAYPOST_LISTEN=127.0.0.1:{public}",
            "--env", f"WAYPOST_ADMIN_LISTEN=127.0.0.1:{admin}",
            f"localhost/{self.name}:{version}",
        )  # fmt: skip
        self.containers[slot] = container

    def stop(self, slots):
        """Stops replicas with SIGTERM; each must exit on its own with 0."""
        gone = [self.containers.pop(slot) for slot in slots]
        self.podman("stop", "--time", "60", *gone)
        statuses = self.podman("inspect", "--format", "{{.State.ExitCode}}", *gone).split()
        assert statuses == ["0"] * len(gone), f"the stopped replicas ended with {statuses}"
        self.podman("rm", *gone)

    def kill(self, slot):
        container = self.containers.pop(slot)
        self.podman("kill", "--signal", "KILL", container)
        self.podman("rm", "--force", "--time", "0", container)

    def ready(self):
        """Waits until HAProxy sends requests to the current replicas, and to no others."""
        wait_until(lambda: self.balancer.serving() == set(self.containers), "the replicas are ready")

    def roll_out(self, version):
        old = list(self.containers)
        new = [slot for slot in self.balancer.slots if slot not in old][:2]
        for slot in new:
            self.start(slot, version)
        self.ready()
        if old:
            self.stop(old)


def leads(port, code):
    """Returns where a link leads, requested at a port of HAProxy."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", f"/{code}")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.getheader("Location")


def rollouts(work, fleet, number):
    """Rolls out versions 1 to `number`, and expects that no request fails and each link is found."""
    balancer = fleet.balancer
    load = Load(work, balancer.strict)
    for version in range(1, number + 1):
        fleet.roll_out(version)
        for _ in range(4):
            got = leads(balancer.patient, f"added-{version}")
            assert got == (302, f"https://added.example/{version}"), f"rollout {version}: {got}"
    counts = load.stop()
    print(f"{number} rollouts: {counts}")
    assert counts["requests"] > 1000 * number, "there was too little load"
    assert failures(counts) == 0, "requests failed"
    # HAProxy has counted too; at the end, a request of each connection may be on its way.
    rows = balancer.rows()
    answered = int(rows["strict", "FRONTEND"]["hrsp_3xx"])
    assert counts["requests"] <= answered <= counts["requests"] + CONNECTIONS, answered
    for row, kind in ("FRONTEND", "hrsp_4xx"), ("FRONTEND", "hrsp_5xx"), ("BACKEND", "econ"), ("BACKEND", "eresp"):
        assert int(rows["strict", row][kind]) == 0, f"HAProxy counts {kind}: {rows['strict', row][kind]}"


def kills(work, fleet, number, version):
    """Kills one replica at a time, under load, and expects full recovery after each."""
    balancer = fleet.balancer
    for listener, port in ("patient", balancer.patient), ("strict", balancer.strict):
        load = Load(work, port)
        for _ in range(number):
            slot = random.choice(list(fleet.containers))
            fleet.kill(slot)
            fleet.ready()
            fleet.start(slot, version)
            fleet.ready()
        counts = load.stop()
        print(f"{number} kills, {listener} listener: {counts}")
        if listener == "strict":
            assert failures(counts) > 0, "a lost request is not counted, so that zero means nothing"
        redirects = lambda: int(balancer.rows()[listener, "FRONTEND"]["hrsp_3xx"])  # noqa: B023, E731
        before, after = redirects(), Load(work, port)
        wait_until(lambda: redirects() > before + 1000, "requests are answered again")  # noqa: B023
        counts = after.stop()
        assert failures(counts) == 0, f"requests fail after the kills are over: {counts}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--podman", type=shlex.split, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rollouts", type=int, required=True)
    parser.add_argument("--kills", type=int, default=3)
    options = parser.parse_args()

    balancer = Balancer(options.work)
    try:
        fleet = Fleet(options.podman, options.name, balancer)
        wait_until(lambda: balancer.stats.exists() and not balancer.serving(), "HAProxy has probed each slot")
        fleet.roll_out(0)
        rollouts(options.work, fleet, options.rollouts)
        kills(options.work, fleet, options.kills, options.rollouts)
        fleet.stop(list(fleet.containers))
    finally:
        balancer.process.kill()
        balancer.process.wait()


main()
