"""A farm of fake hosts, which logs when each request began and ended, as the host sees it."""

import errno
import select
import socket
import struct
import threading
from dataclasses import dataclass, field

from network import now

#: Ports at which hosts answer, with TLS or without.
PLAIN, SECURE = 80, 443
#: A port at which hosts neither accept nor refuse connections.
STALLED = 82

# Linux only: the kernel's time of arrival of the received data.
SO_TIMESTAMPNS = SCM_TIMESTAMPNS = 35


@dataclass
class Visit:
    """A connection and its request, if it sent one. Each is answered once and closed."""

    connection: socket.socket
    address: str
    port: int
    begun: float
    host: str | None = None
    method: str = ""
    path: str = ""
    fields: dict = field(default_factory=dict)
    #: When the request was there, after the handshake if there is one.
    asked: float | None = None
    ended: float | None = None
    #: When the client was last known to be there.
    seen: float | None = None
    #: Whether the client was gone before the answer was.
    is_lost: bool = False
    status: int | None = None
    retry_after: float = 0
    crawl_delay: float | None = None

    def __str__(self):
        ended = "?" if self.ended is None else f"{self.ended:.6f}"
        return f"{self.host}: {self.method} {self.path}, {self.begun:.6f} to {ended}, {self.status}"

    @property
    def is_secure(self):
        return self.port % 1000 == SECURE % 1000

    @property
    def is_head(self):
        return self.method == "HEAD"

    def end(self):
        """Notes the end. Nothing waits for data that is sent after it."""
        if self.ended is None:
            self.ended = now()

    def lose(self):
        """Notes that the client is gone, which is noticed late: it left after it was last seen."""
        if self.ended is None:
            self.ended, self.is_lost = self.seen or self.begun, True

    def send(self, data, is_last=True):
        if is_last:
            self.end()
        self.connection.sendall(data)

    def answer(self, status, *fields, body=b"a page that says nothing\n"):
        self.status = status
        if status in (204, 304):
            body = b""
        lines = [f"HTTP/1.1 {status} Status", *fields, f"Content-Length: {len(body)}", "", ""]
        self.send("\r\n".join(lines).encode() + (b"" if self.is_head else body))

    def page(self, *fields):
        """Answers with a unique page."""
        self.answer(200, *fields, body=f"{self.host} has {self.path}\n".encode())

    def redirect(self, status, location):
        self.answer(status, f"Location: {location}")

    def wait(self, seconds):
        """Waits while the client is connected, and returns whether it still is."""
        poll = select.poll()
        poll.register(self.connection, select.POLLRDHUP | select.POLLHUP | select.POLLERR)
        deadline = now() + seconds
        while True:
            seen = now()
            if poll.poll(max(0, min(deadline - seen, 0.01)) * 1000):
                self.lose()
                return False
            self.seen = seen
            if seen >= deadline:
                return True

    def reset(self):
        self.end()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


class Farm:
    """Answers at every address that is routed here."""

    def __init__(self, names, behave, context_of):
        """`behave` answers a visit; `context_of` returns the TLS context of a host, or bytes to send instead."""
        self.names, self.behave, self.context_of = names, behave, context_of
        self.log = []
        self.lock = threading.Lock()
        for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
            for port in (PLAIN, SECURE):
                # For tests that a name with another port is another host.
                for port in (port, 8000 + port):
                    listener = socket.socket(family)
                    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    listener.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
                    if family == socket.AF_INET6:
                        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                    listener.bind((address, port))
                    listener.listen(1024)
                    threading.Thread(target=self.accept, args=[listener], daemon=True).start()
        # The queue of connections is full after two that are not accepted.
        self.stalled = [socket.create_server(("0.0.0.0", STALLED), backlog=0)]
        for _ in range(2):
            client = socket.socket()
            client.setblocking(False)
            assert client.connect_ex(("127.0.0.1", STALLED)) in (0, errno.EINPROGRESS)
            self.stalled.append(client)

    def since(self, mark):
        """Returns the log after the first `mark` visits."""
        with self.lock:
            return self.log[mark:]

    def accept(self, listener):
        while True:
            connection, _ = listener.accept()
            accepted = now()
            threading.Thread(target=self.serve, args=[connection, accepted], daemon=True).start()

    def serve(self, connection, accepted):
        address, port = connection.getsockname()[:2]
        visit = Visit(connection, address, port, accepted)
        visit.host = host_of(self.names.host_at(address), port)
        with self.lock:
            self.log.append(visit)
        try:
            connection.settimeout(20)
            visit.begun = arrival(connection) or accepted
            if visit.is_secure:
                self.secure(visit)
            if read(visit):
                visit.asked = now() if visit.is_secure else visit.begun
                self.behave(visit)
        except OSError:
            visit.lose()
        finally:
            visit.end()
            visit.connection.close()

    def secure(self, visit):
        context = self.context_of((visit.host or "").split(":")[0])
        if isinstance(context, bytes):
            visit.send(context)
            visit.reset()
            raise ConnectionError("it does not use TLS")
        visit.connection = context.wrap_socket(visit.connection, server_side=True)


def host_of(name, port):
    return name if port in (PLAIN, SECURE) else f"{name}:{port}"


def arrival(connection):
    """Returns the time when the first byte of a connection arrived, by the kernel's clock."""
    _, ancillary, _, _ = connection.recvmsg(1, 256, socket.MSG_PEEK)
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, SCM_TIMESTAMPNS):
            seconds, nanoseconds = struct.unpack("ll", data)
            return seconds + nanoseconds / 1e9
    return None


def read(visit):
    """Reads the request, and returns whether there was one."""
    text = b""
    while b"\r\n\r\n" not in text:
        part = visit.connection.recv(65536)
        if not part:
            visit.lose()
            return False
        text += part
    first, *lines = text.split(b"\r\n\r\n")[0].decode().split("\r\n")
    visit.method, visit.path, _ = first.split(" ")
    visit.fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    name = visit.fields["host"].rsplit(":", 1)[0] if visit.port not in (PLAIN, SECURE) else visit.fields["host"]
    visit.host = host_of(name, visit.port)
    return True
