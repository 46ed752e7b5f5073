"""Measures how long a push takes to go live at 20 replicas on one machine."""

import http.client
import time

from fleet import cases

REPLICAS, PUSHES = 20, 10


def twenty(scene):
    """Measures pushes that are announced by a hook at one of 20 replicas, and prints them."""
    scene.replicas(REPLICAS, cases.NEVER)
    connections = [http.client.HTTPConnection(*server.public) for server in scene.servers]

    def is_live(connection, code):
        connection.request("GET", f"/{code}")
        answer = connection.getresponse()
        answer.read()
        return answer.status == 302

    before, first, last = scene.total("waypost_git_fetches_total"), [], []
    for _ in range(PUSHES):
        # Longer than the pause between two fetches for hooks.
        time.sleep(1.5)
        code, _ = scene.push()
        began = time.monotonic()
        scene.hook()
        waiting = list(connections)
        while waiting:
            left = [connection for connection in waiting if not is_live(connection, code)]
            if len(left) < len(waiting) == REPLICAS:
                first.append(time.monotonic() - began)
            waiting = left
            time.sleep(0.005)
        last.append(time.monotonic() - began)
    fetches = scene.total("waypost_git_fetches_total") - before
    for name, seconds in (("first", sorted(first)), ("all", sorted(last))):
        print(
            f"{REPLICAS} replicas, {PUSHES} pushes, from the hook to live at {name}: "
            f"{seconds[len(seconds) // 2]:.2f} s (median), {seconds[-1]:.2f} s (longest)"
        )
    print(f"{fetches / PUSHES:.1f} fetches a push")
