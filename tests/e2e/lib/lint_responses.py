"""Checks every kind of response of a running server with httplint."""

import socket
import sys
import time
from pathlib import Path

from httplint import HttpRequestLinter, HttpResponseLinter
from httplint.note import levels
from serving import Serving

TABLES = {
    "a": """base_url: https://a.example/
mapping:
- {url: 'https://e.example/', short-code: x, title: A title, owner: someone, tags: [one, two]}
- {url: 'https://e.example/a', short-code: unkept, cache-max-age: 0}
- {url: 'https://e.example/p/', short-code: p, forward: path-and-query}
- {url: 'https://e.example/old', short-code: old, retired: true}
- {url: 'https://e.example/moved', short-code: moved, status: 308}
""",
    # A second site, so that a host can be wrong.
    "b": "base_url: https://b.example/\nmapping: []\n",
}

HTML, JSON = "Accept: text/html\r\n", "Accept: application/json\r\n"

# Listener, method, path, further header lines, and the expected status.
REQUESTS = [
    ("public", "GET", "/x", "", 302),
    ("public", "GET", "/unkept", "", 302),
    ("public", "GET", "/moved", "", 308),
    ("public", "POST", "/moved", "", 308),
    ("public", "GET", "/p/a?b=c", "", 302),
    ("public", "GET", "/x.", "", 302),
    ("public", "GET", "/x+", HTML, 200),
    ("public", "GET", "/x+", JSON, 200),
    ("public", "GET", "/", HTML, 200),
    ("public", "GET", "/", JSON, 200),
    ("public", "GET", "/none", HTML, 404),
    ("public", "GET", "/none", JSON, 404),
    ("public", "GET", "/none", "", 404),
    ("public", "GET", "/-/none", "", 404),
    ("public", "GET", "/old", HTML, 410),
    ("public", "GET", "/old", JSON, 410),
    ("public", "POST", "/x", "", 405),
    ("public", "OPTIONS", "*", "", 405),
    ("public", "GET", "x", "", 400),
    ("public", "GET", "/x y", "", 400),
    ("public", "GET", "/" + "x" * 20000, "", 431),
    ("public", "GET", "/x", "Host: b.example\r\n", 400),
    ("public", "GET", "http://elsewhere.example/x", "", 421),
    ("public", "GET", "/healthz", "", 200),
    ("public", "GET", "/robots.txt", "", 200),
    ("public", "GET", "/favicon.ico", "", 200),
    ("public", "GET", "/-/hook", "", 405),
    ("public", "POST", "/-/hook", "", 403),
    ("admin", "GET", "/livez", "", 200),
    ("admin", "GET", "/readyz", "", 200),
    ("admin", "GET", "/metrics", "", 200),
    ("admin", "GET", "/-/status", "", 200),
    ("admin", "POST", "/-/reload", "", 200),
    ("admin", "POST", "/-/reload", "Origin: null\r\n", 403),
    ("admin", "GET", "/none", "", 404),
    ("admin", "POST", "/metrics", "", 405),
]
# Each GET is repeated as HEAD.
REQUESTS += [
    (where, "HEAD", path, headers, status)
    for where, method, path, headers, status in REQUESTS
    if method == "GET"
]

# Warnings of httplint that are accepted: a function of (path, status) says where.
ACCEPTED = {
    # The design fixes `public, max-age=N`: it states that shared caches are welcome, even where
    # that is the default.
    "STORE_PUBLIC_UNNECESSARY": lambda path, status: status in (302, 308) or path in ("/robots.txt", "/favicon.ico"),
    # Pages are always fetched again, and are too small for a validator to be worth its bytes.
    "FRESHNESS_NO_CACHE_NO_VALIDATOR": lambda path, status: (path, status) in (("/", 200), ("/x+", 200), ("/old", 410)),
    # It only says that the request was bad, which is intended.
    "STATUS_BAD_REQUEST": lambda path, status: status == 400,
}


def ask(address, method, path, headers, name="a.example"):
    host = "" if path.startswith("http:") and "Host:" in headers else f"Host: {name}\r\n"
    request = f"{method} {path} HTTP/1.1\r\n{host}{headers}Content-Length: 0\r\nConnection: close\r\n\r\n"
    if method in ("GET", "HEAD"):
        request = request.replace("Content-Length: 0\r\n", "")
    with socket.create_connection(address, timeout=30) as client:
        client.sendall(request.encode())
        return request, b"".join(iter(lambda: client.recv(1 << 16), b""))


def lint(method, path, reply):
    """Returns the notes on a complete response."""
    head, content = reply.split(b"\r\n\r\n", 1)
    first, *lines = head.split(b"\r\n")
    protocol, status, phrase = first.split(b" ", 2)
    assert protocol == b"HTTP/1.1", first
    request = HttpRequestLinter()
    request.process_request_topline(method.encode(), path.encode(), b"1.1")
    response = HttpResponseLinter(start_time=time.time())
    response.request = request
    response.is_head_response = method == "HEAD"
    response.process_response_topline(b"1.1", status, phrase)
    response.process_headers([tuple(line.split(b": ", 1)) for line in lines])
    if content:
        response.feed_content(content)
    response.finish_content(True)
    return int(status), list(response.notes)


def with_children(notes):
    for note in notes:
        yield note
        yield from with_children(note.subnotes)


def main():
    directory = Path(sys.argv[1])
    for name, text in TABLES.items():
        (directory / f"{name}.yaml").write_text(text)
    tables = [it for name in TABLES for it in ("--table", directory / f"{name}.yaml")]
    server = Serving(directory, *tables, env={"WAYPOST_HOOK_SECRET": "secret"}).serving()
    wrong, used, good = [], set(), 0
    try:
        for where, method, path, headers, expected in REQUESTS:
            # The admin listener answers only under allowed names.
            name = {"public": "a.example", "admin": "localhost"}[where]
            asked, reply = ask(getattr(server, where), method, path, headers, name)
            name = f"{where}: {method} {path[:40]} {headers.strip()}"
            status, notes = lint(method, path, reply)
            if status != expected:
                wrong.append(f"{name}: {status}, not {expected}")
            for note in with_children(notes):
                kind = type(note).__name__
                good += note.level == levels.GOOD
                if note.level not in (levels.WARN, levels.BAD):
                    continue
                if kind in ACCEPTED and ACCEPTED[kind](path, status):
                    used.add(kind)
                    continue
                wrong.append(f"{name}: {status} [{note.level.value}] {kind}: {note.summary}")
    finally:
        server.stop()
    wrong += [f"{kind} is accepted, but does not occur" for kind in ACCEPTED.keys() - used]
    print(f"{len(REQUESTS)} answers, {good} good notes, {len(wrong)} faults")
    print("\n".join(wrong))
    assert good > len(REQUESTS), "the linter found nothing to note"
    sys.exit(bool(wrong))


main()
