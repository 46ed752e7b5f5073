"""A Valkey or Redis server for a case, which can be killed and started again."""

import atexit
import shutil
import socket
import subprocess
import time

PASSWORD = "correct horse"


class Server:
    """Has each operation written to disk before it is answered."""

    def __init__(self, folder, port=6379):
        self.folder, self.port = folder, port
        self.url = f"redis://127.0.0.1:{port}"
        self.environment = {"WAYPOST_LINKCHECK_STORE_PASSWORD": PASSWORD}
        folder.mkdir()
        self.start()
        atexit.register(self.kill)

    def start(self):
        program = shutil.which("valkey-server") or shutil.which("redis-server")
        self.process = subprocess.Popen(
            [program, "--port", str(self.port), "--bind", "127.0.0.1", "--requirepass", PASSWORD, "--dir", self.folder,
             "--appendonly", "yes", "--appendfsync", "always", "--save", ""],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 30
        while not self.is_there():
            assert self.process.poll() is None and time.monotonic() < deadline, "the server does not start"
            time.sleep(0.01)

    def is_there(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                connection.sendall(f"AUTH \"{PASSWORD}\"\r\nPING\r\n".encode())
                answer = b""
                while answer.count(b"\r\n") < 2:
                    part = connection.recv(1024)
                    if not part:
                        return False
                    answer += part
                return b"PONG" in answer
        except OSError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Stops it as an operator does: it still answers the operations that it has completed."""
        self.process.terminate()
        self.process.wait()
