"""Remotes on loopback: real Git servers, and proxies in front of them."""

import base64
import getpass
import http.client
import select
import shutil
import signal
import socket
import socketserver
import ssl
import tempfile
import threading
import time
from pathlib import Path

from scene import free_port, listens, wait_until


class Remote:
    """A server that can be taken down and brought up again at the same port."""

    def __init__(self, scene, port=None):
        self.scene = scene
        self.port = port or free_port()
        self.process = None

    def up(self):
        """Starts it and waits until it listens. A port that was taken meanwhile is an error."""
        self.process = self.scene.start(self.name, *self.command(), env=self.environment())
        ready = lambda: listens(self.port) or not self.process.running()  # noqa: E731
        wait_until(ready, f"{self.name} listens")
        assert self.process.running(), f"{self.name} did not start: {self.process.text()}"
        return self

    def down(self):
        self.process.kill()
        wait_until(lambda: not listens(self.port), f"{self.name} is down")

    def environment(self):
        return {}


class GitDaemon(Remote):
    """`git daemon`, for all repositories of a scene."""

    name = "git-daemon"

    def url(self, repository="links.git", port=None):
        return f"git://127.0.0.1:{port or self.port}/{repository}"

    def command(self):
        return [
            "git", "daemon", "--reuseaddr", "--export-all", "--listen=127.0.0.1",
            f"--port={self.port}", f"--base-path={self.scene.repos}", self.scene.repos,
        ]  # fmt: skip


def make_ca(scene, name="ca"):
    """Creates an authority, and a certificate of it for 127.0.0.1, localhost and git.invalid.

    Returns (the authority's certificate, a file with the server's certificate and key).
    """
    path = scene.path / name
    path.mkdir()

    def openssl(*arguments):
        done = scene.run("openssl", *arguments, cwd=path)
        assert done.returncode == 0, done.stderr

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
            "-subj", f"/CN=authority {name}")  # fmt: skip
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    (path / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:git.invalid\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-out", "server.pem", "-days", "2", "-extfile", "names")  # fmt: skip
    both = path / "both.pem"
    both.write_text((path / "server.pem").read_text() + (path / "server.key").read_text())
    return path / "ca.pem", both


class SmartHttp(Remote):
    """`git http-backend` behind lighttpd.

    `users` are those that may fetch, with their passwords (no login if that is None), and
    may be changed at any time by `set_users`; `certificate` makes it use TLS; `moved` are
    repositories that it redirects, with their new name or address.
    """

    name = "lighttpd"

    def __init__(self, scene, users=None, certificate=None, port=None, moved=()):
        super().__init__(scene, port)
        self.moved = dict(moved)
        self.certificate = certificate
        self.marks = 0
        self.path = Path(tempfile.mkdtemp(prefix="lighttpd-", dir=scene.path))
        self.users = users
        if users is not None:
            self.set_users(users)

    def set_users(self, users):
        """Replaces the users in one step; they are read again at each request."""
        aside = self.path / "users.new"
        aside.write_text("".join(f"{name}:{password}\n" for name, password in users.items()))
        aside.rename(self.path / "users")

    def url(self, repository="links.git", login="", host="127.0.0.1"):
        scheme = "https" if self.certificate else "http"
        return f"{scheme}://{login}{host}:{self.port}/git/{repository}"

    def requests(self):
        """Returns the requests so far: `STATUS USER METHOD PATH`."""
        self.marks += 1
        mark = f" HEAD /mark-{self.marks}"
        self._ask("HEAD", mark.split()[1])
        log = self.path / "access.log"

        def lines():
            # A signal makes it write its buffer.
            self.process.send(signal.SIGHUP)
            text = log.read_text() if log.exists() else ""
            return text.splitlines() if mark in text else None

        found = wait_until(lines, "the web server has logged its requests")
        return [line for line in found if " HEAD /mark-" not in line]

    def _ask(self, method, path):
        if self.certificate:
            context = ssl._create_unverified_context()
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request(method, path)
        connection.getresponse().read()
        connection.close()

    def command(self):
        backend = Path(self.scene.git("--exec-path")) / "git-http-backend"
        modules = [
            "mod_auth", "mod_authn_file", "mod_alias", "mod_setenv", "mod_cgi", "mod_accesslog"
        ]  # fmt: skip
        lines = [
            f'server.document-root = "{self.path}"',
            'server.bind = "127.0.0.1"',
            f"server.port = {self.port}",
            f'accesslog.filename = "{self.path}/access.log"',
            'accesslog.format = "%s %u %m %U"',
            f'alias.url = ("/git/" => "{backend}/")',
            'cgi.assign = ("" => "")',
            "setenv.add-environment = ("
            f'"GIT_PROJECT_ROOT" => "{self.scene.repos}", "GIT_HTTP_EXPORT_ALL" => "1",'
            ' "GIT_CONFIG_GLOBAL" => "/dev/null", "GIT_CONFIG_NOSYSTEM" => "1")',
        ]
        if self.moved:
            modules.insert(0, "mod_redirect")
            to = lambda new: new if "://" in new else f"/git/{new}"  # noqa: E731
            rules = (f'"^/git/{old}(.*)" => "{to(new)}$1"' for old, new in self.moved.items())
            lines.append(f"url.redirect = ({', '.join(rules)})")
        if self.users is not None:
            lines += [
                'auth.backend = "plain"',
                f'auth.backend.plain.userfile = "{self.path}/users"',
                'auth.require = ("/git/" => ("method" => "basic", "realm" => "git",'
                ' "require" => "valid-user"))',
            ]
        if self.certificate:
            modules.append("mod_openssl")
            lines += ['ssl.engine = "enable"', f'ssl.pemfile = "{self.certificate}"']
        listed = ", ".join(f'"{it}"' for it in modules)
        config = self.path / "lighttpd.conf"
        config.write_text("\n".join([f"server.modules = ({listed})", *lines, ""]))
        # It is in sbin, which is not in every user's PATH.
        program = shutil.which("lighttpd") or "/usr/sbin/lighttpd"
        return [program, "-D", "-f", config]


class Sshd(Remote):
    """OpenSSH's server with keys of its own, which accepts one key of the same user.

    `key` is the private key to come with, `known_hosts` the file that knows the host.
    """

    name = "sshd"

    def __init__(self, scene, port=None):
        super().__init__(scene, port)
        self.path = scene.path / f"sshd-{self.port}"
        self.path.mkdir()
        self.key = self.make_key("user")
        self.known_hosts = self.path / "known_hosts"
        self.change_host_key()
        self.trust()

    def make_key(self, name, passphrase=""):
        file = self.path / name
        for it in (file, file.with_suffix(".pub")):
            it.unlink(missing_ok=True)
        done = self.scene.run("ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", file)
        assert done.returncode == 0, done.stderr
        return file

    def change_host_key(self):
        """Creates another host key, which is used from the next start on."""
        self.host_key = self.make_key("host")

    def trust(self):
        """Writes the current host key into the file of known hosts."""
        public = self.host_key.with_suffix(".pub").read_text().split()
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {public[0]} {public[1]}\n")

    def fingerprint(self):
        return self.scene.run("ssh-keygen", "-l", "-f", self.host_key).stdout.split()[1]

    def url(self, repository="links.git"):
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}{self.scene.repos}/{repository}"

    def command(self):
        config = self.path / "sshd_config"
        config.write_text(
            f"""ListenAddress 127.0.0.1
Port {self.port}
HostKey {self.host_key}
PidFile none
AuthorizedKeysFile {self.key}.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
LogLevel VERBOSE
SetEnv GIT_CONFIG_GLOBAL=/dev/null
"""
        )
        return [shutil.which("sshd") or "/usr/sbin/sshd", "-D", "-e", "-f", config]


class TcpProxy:
    """Relays between a client and a server on loopback, and delays or cuts the replies as configured.

    Each setting may be changed at any time: `pause` seconds before each `chunk` of bytes to the client, an
    end after `cut_after` bytes to the client (of each connection), `hold`: nothing is passed on at
    all. Without an upstream, it sends `script` to the client repeatedly, as a slow remote would.
    """

    def __init__(self, scene, upstream=None, pause=0, chunk=65536, cut_after=None, hold=False, script=b""):
        self.upstream = upstream
        self.pause = pause
        self.chunk = chunk
        self.cut_after = cut_after
        self.hold = hold
        self.script = script
        # How many connections there were, how many are open, how many bytes went to clients.
        self.connections = 0
        self.open = 0
        self.sent = 0
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        scene.on_close(self.close)

    def close(self):
        self._over.set()
        self._thread.join(10)
        self._listener.close()

    def _accept(self):
        while not self._over.is_set():
            if select.select([self._listener], [], [], 0.1)[0]:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with self._lock:
            self.connections += 1
            self.open += 1
        try:
            with client:
                self._carry(client)
        except OSError:
            pass
        finally:
            with self._lock:
                self.open -= 1

    def _carry(self, client):
        if self.upstream is None:
            self._drip(client)
            return
        with socket.create_connection(("127.0.0.1", self.upstream), 10) as server:
            sent = 0
            while not self._over.is_set():
                readable = select.select([client, server], [], [], 0.1)[0]
                if self.hold:
                    time.sleep(0.05)
                    continue
                if client in readable:
                    data = client.recv(65536)
                    if not data:
                        return
                    server.sendall(data)
                if server in readable:
                    if self.pause and self._over.wait(self.pause):
                        return
                    data = server.recv(self.chunk)
                    if not data:
                        return
                    if self.cut_after is not None:
                        data = data[: max(0, self.cut_after - sent)]
                    client.sendall(data)
                    sent += len(data)
                    self.sent += len(data)
                    if self.cut_after is not None and sent >= self.cut_after:
                        return

    def _drip(self, client):
        while not self._over.wait(self.pause or 0.1):
            if self.script and not self.hold:
                client.sendall(self.script)
                self.sent += len(self.script)


class HttpProxy:
    """A forward proxy that answers CONNECT, and connects every host name to one port of loopback.

    So a name that cannot be resolved proves that a request went through it. `asked` are the
    requests' first lines; with a `login` ("user:password") it refuses everyone else.
    """

    def __init__(self, scene, upstream, login=None):
        proxy = self
        self.asked = []
        self.refused = 0
        wanted = login and f"basic {base64.b64encode(login.encode()).decode()}"

        class Handler(socketserver.StreamRequestHandler):
            # Nothing may be read beyond the head: it is for the server.
            rbufsize = 0

            def handle(self):
                while self.answer():
                    pass

            def answer(self):
                """Answers a request; returns whether there may be another."""
                first = self.rfile.readline().decode().strip()
                if not first:
                    return False
                headers = http.client.parse_headers(self.rfile)
                proxy.asked.append(first)
                if not first.startswith("CONNECT "):
                    self.wfile.write(b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n")
                    return False
                shown = headers.get("Proxy-Authorization", "")
                kind, _, rest = shown.partition(" ")
                if wanted and f"{kind.lower()} {rest}" != wanted:
                    proxy.refused += 1
                    self.wfile.write(
                        b'HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm="proxy"\r\n'
                        b"Content-Length: 0\r\n\r\n"
                    )
                    return True
                with socket.create_connection(("127.0.0.1", upstream), 10) as server:
                    self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    self.carry(server)
                return False

            def carry(self, server):
                while True:
                    for source in select.select([self.connection, server], [], [], 30)[0]:
                        data = source.recv(65536)
                        if not data:
                            return
                        (server if source is self.connection else self.connection).sendall(data)

        class Listener(socketserver.ThreadingTCPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass

        self._listener = Listener(("127.0.0.1", 0), Handler)
        self.port = self._listener.server_address[1]
        threading.Thread(target=self._listener.serve_forever, args=(0.1,), daemon=True).start()
        scene.on_close(self.close)

    def close(self):
        self._listener.shutdown()
        self._listener.server_close()
