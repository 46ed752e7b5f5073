"""Clients that make a library log, and readers of the log that pause: nothing waits for either."""

import contextlib
import http.client
import itertools
import json
import os
import signal
import socket
import ssl
import struct
import subprocess

from serving import HOST, TIMEOUT, wait_until

from .scene import FOUND, attack, replace, table

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, PING = 4, 6
ACK = 1
# 34 KB each: two connections that sent these once hung a server.
ACKS = 2000


def frame(kind, flags, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + bytes(4) + payload


def certify(directory):
    """Makes a certificate and a table, and returns the arguments of a server that speaks TLS."""
    (directory / "mapping.yaml").write_text(table("x"))
    files = (directory / "cert.pem", directory / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "2", "-subj", f"/CN={HOST}", "-out", files[0], "-keyout", files[1]]
    subprocess.run(command, check=True, capture_output=True)
    return "--tls-cert", files[0], "--tls-key", files[1]


def connect(server, protocol):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols([protocol])
    return context.wrap_socket(server.connect(), server_hostname=HOST)


def acknowledge(client, count):
    """Sends acknowledgements of pings that were never sent, and waits until they have been read."""
    last = b"the last"
    frames = frame(PING, ACK, b"unasked!") * count + frame(PING, 0, last)
    client.sendall(PREFACE + frame(SETTINGS, 0) + frames)
    heard = b""
    while frame(PING, ACK, last) not in heard:
        some = client.recv(1 << 16)
        assert some, f"the server hung up: {heard[-100:]}"
        heard += some


def follow(client):
    """Follows a link over a connection, and returns (status, location)."""
    connection = http.client.HTTPConnection(HOST)
    connection.sock = client
    connection.request("GET", "/x", headers={"Host": HOST})
    answer = connection.getresponse()
    answer.read()
    return answer.status, answer.headers.get("Location")


class Pipe:
    """A pipe that is read only on request."""

    def __init__(self, path):
        self.path, self.read = path, b""
        os.mkfifo(path)
        self.reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.writer = os.open(path, os.O_WRONLY)

    def lines(self):
        """Reads what is there, and returns the lines of the log that have been read."""
        with contextlib.suppress(BlockingIOError):
            for some in iter(lambda: os.read(self.reader, 1 << 16), b""):
                self.read += some
        whole = self.read[: self.read.rfind(b"\n") + 1]
        return [json.loads(line) for line in whole.splitlines() if line.startswith(b"{")]

    def fill(self):
        """Fills the pipe to the last byte."""
        # Opened again, so that O_NONBLOCK is not set for the server, too.
        filler = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
        for size in (4096, 1):
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(filler, b"\n" * size)
        os.close(filler)

    def close(self):
        os.close(self.reader)
        os.close(self.writer)


def begin(start, pipe, *arguments, **options):
    """Starts a server that logs to a pipe, and fills the pipe."""
    server = start("--threads", 2, *arguments, stdout=pipe.writer, **options)
    said = lambda: [line for line in pipe.lines() if line["message"] == "serving"]  # noqa: E731
    line = wait_until(said, "it serves")[0]
    server.public, server.admin = (("127.0.0.1", int(line[it].rsplit(":", 1)[1])) for it in ("public", "admin"))
    pipe.fill()
    return server


@attack
def unasked_ping_acks(directory, start):
    """A library's warnings are not logged unless they are enabled."""
    arguments = certify(directory)
    server = start(*arguments).serving()
    lines = len(server.log())
    with connect(server, "h2") as client:
        acknowledge(client, 20_000)
    assert len(server.log()) == lines, server.log()
    server.stop()

    server = start(*arguments, env={"WAYPOST_LOG": "h2=warn"}).serving()
    with connect(server, "h2") as client:
        acknowledge(client, 10)
    warned = lambda: [it for it in server.log() if it.get("target", "").startswith("h2::")]  # noqa: E731
    wait_until(lambda: len(warned()) >= 10, "they are logged if they are enabled")
    server.stop()


@attack
def paused_log(directory, start):
    """The reader of the log pauses, while clients make it grow: everything else continues."""
    arguments = certify(directory)
    faulty = table("x") + "- {url: nothing}\n" * 30
    for number, (both, resumes) in enumerate(itertools.product((False, True), repeat=2)):
        pipe = Pipe(directory / f"log-{number}")
        stderr = pipe.writer if both else None
        replace(directory / "mapping.yaml", table("x"))
        server = begin(start, pipe, *arguments, stderr=stderr, env={"WAYPOST_LOG": "h2=warn"})
        dropped = lambda: server.metrics()["waypost_log_dropped_total"]  # noqa: B023, E731
        assert dropped() == 0
        # Each goes to the thread with the fewest connections, so both threads have some.
        with contextlib.ExitStack() as clients:
            crowd = [clients.enter_context(connect(server, "h2")) for _ in range(4)]
            for client in crowd:
                acknowledge(client, ACKS)
            assert dropped() > 0
            for _ in range(4):
                assert follow(clients.enter_context(connect(server, "http/1.1"))) == FOUND
            replace(directory / "mapping.yaml", faulty)
            assert "rejected" in server.operate("/-/reload", "POST")
            assert server.operate("/readyz") == "ok\n"
            assert follow(clients.enter_context(connect(server, "http/1.1"))) == FOUND
        server.quiet()
        if resumes:
            missing = dropped()
            notes = lambda: [it for it in pipe.lines() if "dropped" in it["message"]]  # noqa: B023, E731
            lines = wait_until(notes, "it is logged how many lines are missing")
            assert [line["missing"] for line in lines] == [missing], lines
        server.stop()
        if resumes:
            assert pipe.lines()[-1]["message"] == "stopped", pipe.lines()[-1]
        pipe.close()


@attack
def stuck_standard_error(directory, start):
    """A server that cannot start exits, even if nobody reads its log."""
    (directory / "mapping.yaml").write_text(table("x") + "- {url: nothing}\n" * 30)
    pipe = Pipe(directory / "errors")
    pipe.fill()
    server = start(stdout=pipe.writer, stderr=pipe.writer)
    status = server.process.wait(TIMEOUT)
    assert status == 1, f"it ended with status {status}"
    # A server that is still fetching its first table exits at a signal.
    with socket.create_server(("127.0.0.1", 0)) as remote:
        url = f"git://127.0.0.1:{remote.getsockname()[1]}/links.git"
        server = start("--repo", url, stdout=pipe.writer, stderr=pipe.writer)
        remote.settimeout(TIMEOUT)
        with remote.accept()[0]:
            server.process.send_signal(signal.SIGTERM)
            status = server.process.wait(TIMEOUT)
            assert status == 0, f"it ended with status {status}"
    pipe.close()
