"""Clients that search a server as fast as it answers, until standard input ends.

    search_clients.py PORT CLIENTS

Prints a line once they begin, and a report at the end, in JSON: how many lists they were given, how
often the server was busy, and how many answers were neither, or wrong.
"""

import http.client
import itertools
import json
import sys
import threading

# The minimum number of links in each answer; a number makes each search unique.
QUERIES = (
    ("q=no-such-word-{}", 0),
    ("q=https://no-such-host.example/{}", 0),
    ("tag=no-such-tag-{}", 0),
    ("state=expired&q=no-such-word-{}", 0),
    ("q=https&owner=&utm={}", 50),
)

# How long a client waits after an answer with Retry-After, in seconds: less than requested, so
# that there are always more clients than searches.
PAUSE = 0.02


def search(port, over, counts):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for number in itertools.count():
        if over.is_set():
            return
        query, least = QUERIES[number % len(QUERIES)]
        path = "/-/links?" + query.format(number)
        try:
            connection.request("GET", path, headers={"Accept": "application/json"})
            response = connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException):
            counts["failed"] += 1
            connection.close()
            continue
        if response.status == 503 and response.headers["Retry-After"]:
            counts["busy"] += 1
            over.wait(PAUSE)
        elif response.status == 200 and len(json.loads(body)["links"]) >= least:
            counts["found"] += 1
        else:
            counts["failed"] += 1


def main():
    port, clients = map(int, sys.argv[1:])
    over = threading.Event()
    # One for each, so that nothing is counted twice at once.
    counts = [{"found": 0, "busy": 0, "failed": 0} for _ in range(clients)]
    threads = [threading.Thread(target=search, args=(port, over, own)) for own in counts]
    for thread in threads:
        thread.start()
    print("begun", flush=True)
    sys.stdin.read()
    over.set()
    for thread in threads:
        thread.join()
    print(json.dumps({what: sum(own[what] for own in counts) for what in counts[0]}))


main()
