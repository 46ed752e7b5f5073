"""Measures redirects while a soak test runs, in a process of its own, so that the test does not slow it down.

    soak_latency.py HOST PORT FILE      until its standard input ends

Requests one link on one connection, at a steady pace. Writes a line for each answer to the file: when the
request was sent, on the clock of `time.monotonic`, and how long its answer took, in seconds. Fails on an
answer that is no redirect.
"""

import http.client
import select
import sys
import time

PACE = 0.005


def main():
    host, port, path = sys.argv[1:]
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    with open(path, "w", encoding="ascii") as out:
        while not select.select([sys.stdin], [], [], PACE)[0]:
            sent = time.monotonic()
            connection.request("GET", "/known", headers={"Host": "w.example"})
            answer = connection.getresponse()
            answer.read()
            out.write(f"{sent} {time.monotonic() - sent}\n")
            assert answer.status == 302, answer.status


main()
