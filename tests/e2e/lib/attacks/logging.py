"""Clients who make a library log."""

import ssl
import struct
import subprocess

from serving import HOST, wait_until

from .scene import attack, table

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, PING = 4, 6
ACK = 1


def frame(kind, flags, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + bytes(4) + payload


def certify(directory):
    """Makes a certificate and a table, and returns what a server that speaks TLS is told."""
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
    """Sends acknowledgements of pings that nobody sent, and waits until they have been read."""
    last = b"the last"
    frames = frame(PING, ACK, b"unasked!") * count + frame(PING, 0, last)
    client.sendall(PREFACE + frame(SETTINGS, 0) + frames)
    heard = b""
    while frame(PING, ACK, last) not in heard:
        some = client.recv(1 << 16)
        assert some, f"the server hung up: {heard[-100:]}"
        heard += some


@attack
def unasked_ping_acks(directory, start):
    """A library's warnings are no business of the log, unless they are asked for."""
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
    wait_until(lambda: len(warned()) >= 10, "they are logged where they are asked for")
    server.stop()
