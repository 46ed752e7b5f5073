"""Floods a server with handmade HTTP/2 frames, and measures its memory; standard library only.

The server must end each flood, and all of them together must not make it grow.
"""

import argparse
import itertools
import re
import select
import socket
import ssl
import struct

ROUNDS = 20
# The most that one flood may send, in bytes: more than the socket buffers of both sides.
MOST = 16 << 20
# In KiB. A server that kept what one such flood sends would grow by more.
ALLOWED_GROWTH = 16 << 10

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, _, PING, GOAWAY, _, CONTINUATION = range(10)
END_STREAM, END_HEADERS = 1, 4


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def fields(*pairs):
    block = b""
    for name, value in pairs:
        block += b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
    return block


GET = fields((":method", "GET"), (":scheme", "https"), (":authority", "short.code"), (":path", "/x"))


def streams():
    return range(1, 1 << 31, 2)


def rapid_reset():
    for stream in streams():
        yield frame(HEADERS, END_STREAM | END_HEADERS, stream, GET)
        yield frame(RST_STREAM, 0, stream, struct.pack(">I", 8))


def broken_requests():
    for stream in streams():
        yield frame(HEADERS, END_STREAM | END_HEADERS, stream, GET + fields(("connection", "close")))


def without_windows():
    yield frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0))
    for stream in streams():
        yield frame(HEADERS, END_STREAM | END_HEADERS, stream, GET[:-3] + b"\1/")


def continuation():
    yield frame(HEADERS, END_STREAM, 1, GET)
    yield from itertools.repeat(frame(CONTINUATION, 0, 1, fields(("a", "b"))))


def empty_continuation():
    yield frame(HEADERS, END_STREAM, 1, GET)
    yield from itertools.repeat(frame(CONTINUATION, 0, 1))


def pings():
    yield from itertools.repeat(frame(PING, 0, 0, bytes(8)))


def settings():
    yield from itertools.repeat(frame(SETTINGS, 0, 0, struct.pack(">HIHI", 1, 0, 1, 4096)))


def priorities():
    for stream in streams():
        yield frame(PRIORITY, 0, stream, struct.pack(">IB", 0, 9))


FLOODS = [rapid_reset, broken_requests, without_windows, continuation, empty_continuation, pings, settings, priorities]


def in_pieces(frames, size=64 << 10):
    """Joins an endless run of frames into pieces worth sending."""
    while True:
        piece = b""
        while len(piece) < size:
            piece += next(frames)
        yield piece


def flood(address, context, make):
    """Floods until the server closes the connection; returns how much was sent and what was received.

    Fails if the server takes more than sockets can hold, or leaves the client waiting.
    """
    name = make.__name__
    raw = socket.create_connection(address, timeout=60)
    sent, heard = 0, b""
    try:
        with context.wrap_socket(raw, server_hostname="short.code") as connection:
            connection.sendall(PREFACE + frame(SETTINGS, 0, 0))
            connection.settimeout(0)
            pieces, pending = in_pieces(make()), b""
            while sent < MOST:
                try:
                    some = connection.recv(65536)
                    if not some:
                        return sent, heard
                    heard = (heard + some)[-65536:]
                    continue
                except ssl.SSLWantReadError:
                    pass
                pending = pending or next(pieces)
                try:
                    taken = connection.send(pending)
                except ssl.SSLWantWriteError:
                    if not wait_writable(connection):
                        raise SystemExit(f"FAILED: {name}: neither taken nor ended after {sent} bytes")
                    continue
                sent, pending = sent + taken, pending[taken:]
    except (ConnectionError, ssl.SSLError):
        # The server has closed the connection while there was more to send.
        return sent, heard
    raise SystemExit(f"FAILED: {name}: the server accepted {sent} bytes and did not close")


def wait_writable(connection):
    return any(select.select([connection], [connection], [], 60))


def peak(pid):
    """Returns the peak resident memory of the process, in KiB."""
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"^VmHWM:\s+(\d+) kB", status.read(), re.M)[1])


def main():
    arguments = argparse.ArgumentParser()
    for name in ("public", "pid", "authority"):
        arguments.add_argument(f"--{name}", required=True)
    arguments = arguments.parse_args()
    host, port = arguments.public.rsplit(":", 1)
    context = ssl.create_default_context(cafile=arguments.authority)
    context.set_alpn_protocols(["h2"])

    before = peak(arguments.pid)
    for make in FLOODS:
        rounds = [flood((host, int(port)), context, make) for _ in range(ROUNDS)]
        most = max(sent for sent, _ in rounds)
        # The last frame, if it is GOAWAY and was not lost on the way.
        heard = rounds[-1][1]
        goaway = heard.rfind(bytes([GOAWAY, 0, 0, 0, 0, 0]))
        ending = f"GOAWAY {struct.unpack('>I', heard[goaway + 10 : goaway + 14])[0]}" if goaway >= 3 else "closed"
        grown = peak(arguments.pid) - before
        name = make.__name__.replace("_", " ")
        print(f"passed: {ROUNDS} floods of {name}: {ending} after at most {most >> 10} KiB; peak {before} + {grown} KiB")
        if grown > ALLOWED_GROWTH:
            raise SystemExit(f"FAILED: {grown} KiB more memory at its peak after {name}")


main()
