"""How long a `git receive-pack` takes for a push that is ready: the bound of each push to a path.

A minimal client of it (gitprotocol-pack(5), "Pushing Data To a Server"): the pack was made before,
nothing is decided, and no other process is started by the client.
"""

import os
import statistics
import subprocess
import time

# As the server starts it: without housekeeping, and without the branches of borrowed repositories.
COMMAND = ["git", "-c", "core.alternateRefsCommand=true", "-c", "receive.autogc=false"]


def read_packets(stream):
    """Returns the contents of packets up to the next flush packet, or to the end."""
    contents = b""
    while (length := int(stream.read(4) or b"0", 16)) > 0:
        contents += stream.read(length - 4)
    return contents


def seconds(repository, branch, pushes):
    """Pushes commits, each as (old id, new id, pack); returns two medians of seconds: from the start of
    the process to its end, and from the request to the report if the process was already waiting."""
    took = {"started": [], "waiting": []}
    for number, (old, new, pack) in enumerate(pushes):
        kind = "waiting" if number % 2 else "started"
        began = time.monotonic()
        process = subprocess.Popen(
            [*COMMAND, "receive-pack", str(repository)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C"},
        )
        read_packets(process.stdout)
        if kind == "waiting":
            began = time.monotonic()
        command = f"{old} {new} {branch}\0 report-status side-band-64k quiet".encode()
        process.stdin.write(b"%04x%s0000" % (len(command) + 4, command) + pack)
        process.stdin.close()
        report = read_packets(process.stdout)
        if kind == "started":
            process.wait()
        took[kind].append(time.monotonic() - began)
        process.wait()
        assert b"ok " + branch.encode() in report, report
    return statistics.median(took["started"]), statistics.median(took["waiting"])
