"""Requests a path exactly as it is written, over plain HTTP or over TLS."""

import http.client
import socket
import ssl
from dataclasses import dataclass, field

TIMEOUT = 15


@dataclass
class Answer:
    status: int
    headers: dict = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def location(self):
        return self.headers.get("location")


def _ask(connection, method, host, target, headers):
    try:
        # Bytes are sent unchanged: nothing here repairs or encodes a path.
        connection._encode_request = lambda request: request.encode("utf-8")
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": host, **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, found, answer.read())
    finally:
        connection.close()


def plainly(target, host="short.code", port=8080, method="GET", **headers):
    """Sends a request over HTTP: to the server itself, or to a proxy on port 80."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    return _ask(connection, method, host, target, headers)


def securely(authority, target, host="short.code", method="GET", **headers):
    """Sends a request to a proxy over HTTPS, and trusts only that authority."""
    context = ssl.create_default_context(cafile=authority)
    raw = socket.create_connection(("127.0.0.1", 443), timeout=TIMEOUT)
    connection = http.client.HTTPConnection("127.0.0.1", timeout=TIMEOUT)
    connection.sock = context.wrap_socket(raw, server_hostname=host)
    return _ask(connection, method, host, target, headers)
