"""A repository behind a git daemon, replicas that follow it, and an HAProxy in front of them."""

import concurrent.futures
import contextlib
import hashlib
import hmac
import http.client
import json
import os
import secrets
import signal
import subprocess
from pathlib import Path

from fleet.engine import Engine, free_port
from serving import TIMEOUT, Serving, wait_until

TABLE = "base_url: https://short.code/\nmapping:\n"
SECRET = "hook-secret-for-tests"
OWNERS = 4
PROXY = Path(__file__).parents[4] / "deploy/haproxy/haproxy.cfg"


class Scene:
    """Everything except the replicas, which `replicas` starts."""

    def __init__(self, path):
        self.path, self.bare = path, path / "links.git"
        os.environ.update(HOME=str(path), TMPDIR=str(path), GIT_CONFIG_NOSYSTEM="1")
        identity = "[user]\nname = A. Uthor\nemail = author@example.org\n"
        (path / ".gitconfig").write_text(identity + "[init]\ndefaultBranch = main\n")
        self.git("init", "--quiet", "--bare", self.bare, cwd=path)
        self.git("clone", "--quiet", self.bare, path / "checkout", cwd=path)
        self.count = 0
        self.push()
        self.tokens = [secrets.token_urlsafe(32) for _ in range(OWNERS)]
        hashes = [hashlib.sha256(token.encode()).hexdigest() for token in self.tokens]
        (path / "tokens").write_text("".join(f"owner{n} {known}\n" for n, known in enumerate(hashes)))
        (path / "tokens").chmod(0o600)
        self.engine = Engine(path)
        self.daemon_port, self.daemon = free_port(), None
        self.start_daemon()
        self.servers, self.proxy = [], None

    def git(self, *arguments, cwd=None):
        command = ["git", *map(str, arguments)]
        done = subprocess.run(command, cwd=cwd or self.bare, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def push(self):
        """Pushes a new link, as a person does; returns its code and commit."""
        self.count += 1
        code = f"pushed-{self.count}"
        entry = f"- url: https://pushed.example/{self.count}\n  short-code: {code}\n"
        return code, self.change(lambda text: text + entry)

    def change(self, edit):
        """Pushes an edit of the table, again if a replica was faster; returns the commit."""
        checkout = self.path / "checkout"
        table = checkout / "mapping.yaml"
        while True:
            if table.exists():
                self.git("fetch", "--quiet", cwd=checkout)
                self.git("reset", "--quiet", "--hard", "origin/main", cwd=checkout)
            table.write_text(edit(table.read_text() if table.exists() else TABLE))
            self.git("add", "mapping.yaml", cwd=checkout)
            self.git("commit", "--quiet", "-m", "Change the table", cwd=checkout)
            pushing = ["git", "push", "--quiet", "origin", "main"]
            if subprocess.run(pushing, cwd=checkout, capture_output=True).returncode == 0:
                return self.git("rev-parse", "main", cwd=checkout)

    def start_daemon(self):
        path = self.git("--exec-path", cwd=self.path)
        options = ["--export-all", "--reuseaddr", "--enable=receive-pack", "--listen=127.0.0.1"]
        place = [f"--port={self.daemon_port}", f"--base-path={self.path}", "--max-connections=0"]
        self.daemon = subprocess.Popen(
            [f"{path}/git-daemon", *options, *place], stderr=subprocess.DEVNULL, start_new_session=True
        )

    def pause_daemon(self):
        os.killpg(self.daemon.pid, signal.SIGSTOP)

    def resume_daemon(self):
        os.killpg(self.daemon.pid, signal.SIGCONT)

    # The replicas

    def replicas(self, count, interval):
        """Starts so many replicas behind a proxy, which fetch at the given interval."""
        self.end_replicas()
        for number in range(count):
            place = self.path / f"replica-{len(list(self.path.glob('replica-*')))}"
            place.mkdir()
            options = ["--repo", f"git://127.0.0.1:{self.daemon_port}/links.git", "--threads", "1"]
            options += ["--pull-interval", interval, "--git-timeout", "10s", "--fleet", self.engine.url]
            options += ["--registrations", "--registrations-tokens", self.path / "tokens"]
            self.servers.append(
                Serving(place, *options, env={"WAYPOST_HOOK_SECRET": SECRET, **self.engine.login})
            )
        for server in self.servers:
            server.serving()
        self.start_proxy()
        self.until_up(1)

    def start_proxy(self):
        """Starts the proxy with the backend of our own configuration."""
        port = free_port()
        backend = PROXY.read_text().split("backend waypost\n")[1].split("    # waypost@one")[0]
        backend = backend.replace("    log global\n", "")
        servers = "".join(f"    server r{n} 127.0.0.1:{it.public[1]}\n" for n, it in enumerate(self.servers))
        text = "defaults\n    mode http\n    timeout connect 1s\n    timeout client 60s\n    timeout server 60s\n"
        text += f"frontend http\n    bind 127.0.0.1:{port}\n    default_backend waypost\n"
        (self.path / "haproxy.cfg").write_text(f"{text}backend waypost\n{backend}{servers}")
        self.proxy_address = ("127.0.0.1", port)
        self.proxy = subprocess.Popen(
            ["haproxy", "-q", "-f", self.path / "haproxy.cfg"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until(lambda: self.ask("GET", "/pushed-1")[0] == 302, "the proxy forwards")

    def end_replicas(self):
        for server in self.servers:
            server.end()
        self.servers = []
        if self.proxy:
            self.proxy.kill()
            self.proxy.wait()

    def end(self):
        self.end_replicas()
        os.killpg(self.daemon.pid, signal.SIGKILL)
        self.daemon.wait()
        self.engine.resume()
        self.engine.end()

    # What they are asked

    def ask(self, method, path, body=None, headers=None, server=None):
        """Sends a request to a replica, or through the proxy to any; returns the status and the content."""
        address = server.public if server else self.proxy_address
        connection = http.client.HTTPConnection(*address, timeout=TIMEOUT)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()

    def hook(self, server=None):
        body = b"{}"
        signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        headers = {"X-Hub-Signature-256": f"sha256={signature}"}
        assert self.ask("POST", "/-/hook", body, headers, server)[0] == 202

    def register(self, wish, key=None, server=None, owner=0):
        """Registers a link, and retries as long as that may help."""
        headers = {"Authorization": f"Bearer {self.tokens[owner]}", "Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key

        def answered():
            status, content = self.ask("POST", "/-/api/links", json.dumps(wish), headers, server)
            content = json.loads(content)
            is_passing = status == 503 or "under-way" in content.get("type", "")
            return None if is_passing else (status, content)

        # On a busy machine, replicas that push at the same time reject each other's pushes for a
        # long time.
        return wait_until(answered, "a registration is answered", 4 * TIMEOUT)

    def until_live(self, path):
        """Waits until a path redirects at every replica."""

        def lives(server):
            wait_until(lambda: self.ask("GET", path, server=server)[0] == 302, f"{path} is live")

        with concurrent.futures.ThreadPoolExecutor(len(self.servers)) as pool:
            list(pool.map(lives, self.servers))

    def until_up(self, up):
        for server in self.servers:
            wait_until(lambda: server.metrics()["waypost_fleet_up"] == up, f"the fleet's server is {up}")

    def total(self, metric):
        """Returns the sum of a metric with any labels over all replicas."""
        samples = [sample for server in self.servers for sample in server.metrics().items()]
        return sum(value for name, value in samples if name.split("{")[0] == metric)

    def urls(self):
        """Returns the URLs in the branch, with duplicates."""
        lines = self.git("show", "main:mapping.yaml").splitlines()
        return [line.removeprefix("- url: ") for line in lines if line.startswith("- url: ")]
