"""Follows a link until it is stopped, and counts the requests that get no redirect.

Half the clients connect for each request, half keep their connection as browsers do. Every
connection must be accepted and every request on a new one answered; a kept one may be
closed by the server between two requests (RFC 9112 section 9.5), and is then opened again.

    load.py HOST PORT PATH STOP      until the file STOP exists
"""

import os
import socket
import sys
import threading
import time

host, port, path, stop = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
lock = threading.Lock()
answered, renewed, slowest, failures = 0, 0, 0.0, []


def answer(connection):
    """Returns the head of the next answer; empty if the connection ended instead."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        more = connection.recv(4096)
        if not more:
            if head:
                raise OSError("the answer was cut off")
            return head
        head += more
    return head


def client(keeps):
    global answered, renewed, slowest
    connection = None
    close = "keep-alive" if keeps else "close"
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: {close}\r\n\r\n".encode()
    while not os.path.exists(stop):
        began, kept, head = time.monotonic(), connection is not None, b""
        try:
            if connection is None:
                connection = socket.create_connection((host, port), timeout=60)
            connection.sendall(request)
            head = answer(connection)
        except OSError as error:
            if not kept:
                with lock:
                    failures.append(repr(error))
        with lock:
            if head.startswith(b"HTTP/1.1 302 "):
                answered += 1
                slowest = max(slowest, time.monotonic() - began)
            elif head:
                failures.append(head.split(b"\r\n")[0].decode())
            elif kept:
                renewed += 1
            else:
                failures.append("no answer")
        if not head or not keeps or b"\r\nConnection: close\r\n" in head:
            if connection is not None:
                connection.close()
            connection = None
        # A steady load that does not occupy the machine.
        time.sleep(0.002)


clients = [threading.Thread(target=client, args=(n % 2 == 0,)) for n in range(8)]
for one in clients:
    one.start()
for one in clients:
    one.join()
print(f"{answered} answered, {renewed} kept connections opened again, {len(failures)} failed, slowest {slowest:.2f} s")
for failure in failures[:10]:
    print(f"failed: {failure}")
sys.exit(1 if failures or not answered else 0)
