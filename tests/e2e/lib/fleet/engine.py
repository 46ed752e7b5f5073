"""A real redis-server with a user as documented, and its failures."""

import contextlib
import hashlib
import re
import signal
import socket
import subprocess
import threading
from pathlib import Path

from serving import wait_until

PASSWORD = "fleet-password-for-tests"
DOCUMENT = Path(__file__).parents[4] / "docs/operations.md"


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def documented_permissions():
    """Returns the documented permissions of the user of a fleet."""
    return re.search(r"^user waypost on #\S*\$\(.*?\) (~\{waypost:fleet.*)$", DOCUMENT.read_text(), re.MULTILINE)[1]


class Engine:
    """A server that gets the same port again after it was killed."""

    def __init__(self, path):
        self.path, self.port = path, free_port()
        digest = hashlib.sha256(PASSWORD.encode()).hexdigest()
        users = ["user default on nopass ~* &* +@all", f"user waypost on #{digest} {documented_permissions()}"]
        (path / "users.acl").write_text("\n".join(users) + "\n")
        (path / "fleet-password").write_text(PASSWORD)
        (path / "fleet-password").chmod(0o600)
        self.process = None
        self.start()

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    @property
    def login(self):
        return {
            "WAYPOST_FLEET_USERNAME": "waypost",
            "WAYPOST_FLEET_PASSWORD_FILE": str(self.path / "fleet-password"),
        }

    def start(self):
        options = ["--port", self.port, "--bind", "127.0.0.1", "--dir", self.path, "--save", ""]
        options += ["--aclfile", self.path / "users.acl"]
        self.process = subprocess.Popen(
            ["redis-server", *map(str, options)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until(lambda: self.ask("PING") == "+PONG", "the server of the fleet answers")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def ask(self, *command):
        """Returns the first line of the answer to a command."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as client:
            client.sendall(b" ".join(str(it).encode() for it in command) + b"\r\n")
            return client.makefile("rb").readline().decode().strip()

    def first_key(self, pattern):
        """Returns one of the keys that match."""
        return self.first_of(f"KEYS {pattern}")

    def first_of(self, command):
        """Returns the first string of the answer to a command."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as client:
            client.sendall(f"{command}\r\n".encode())
            answer = client.makefile("rb")
            return [answer.readline().decode().strip() for _ in range(3)][2]

    def flood(self, channel, message, times):
        """Publishes a message again and again, as fast as the server reads."""
        head = f"*3\r\n$7\r\nPUBLISH\r\n${len(channel)}\r\n{channel}\r\n${len(message)}\r\n"
        at_once = min(1000, times)
        commands = (head.encode() + message + b"\r\n") * at_once
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as client:
            # Otherwise its answers would have to be read.
            client.sendall(b"CLIENT REPLY OFF\r\n")
            for _ in range(times // at_once):
                client.sendall(commands)

    def subscribers(self):
        """Returns the identifiers of the connections that are subscribed to channels."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as client:
            client.sendall(b"CLIENT LIST TYPE pubsub\r\n")
            answer = client.makefile("rb")
            length = int(answer.readline().decode().removeprefix("$"))
            return re.findall(r"^id=(\d+)", answer.read(length).decode(), re.MULTILINE)

    def channel(self):
        """Returns the channel of the fleet."""
        return self.first_of("PUBSUB CHANNELS *:look")

    def end(self):
        if self.process.poll() is None:
            self.kill()


class Babbler:
    """Something else on the port, which answers everything with garbage."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", port), reuse_port=False)
        threading.Thread(target=self.babble, daemon=True).start()

    def babble(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                with client, contextlib.suppress(OSError):
                    client.recv(1000)
                    client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n\x00\xff" * 100)

    def end(self):
        # A thread that waits in `accept` would keep the port in use.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Boaster(Babbler):
    """Something else on the port, which announces an answer of half a gigabyte and sends all of it."""

    def babble(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client, contextlib.suppress(OSError):
                client.recv(1000)
                client.sendall(b"$536870912\r\n")
                for _ in range(512):
                    client.sendall(bytes(1 << 20))
