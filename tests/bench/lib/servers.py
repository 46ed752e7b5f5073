"""The measured servers: how each is set up to answer from a table, on a port of its own.

All get one thread or worker, keep connections forever, and log no request. Waypost gets the
allocator's settings of its systemd unit; units of the others have none. Each is a function that starts
one, and returns a `TableServer` once it answers.
"""

import http.client
import random
import socket
import ssl

from processes import Failure, Server, finish
from unit import unit_environment

# The constant answer of examples/epoll_floor.rs.
FLOOR_TARGET = "https://www.example.org/as/long/as/the/targets/of/the/tables-are"

NGINX = """\
daemon off;
worker_processes 1;
pid {home}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path {home}/nginx-temporary;
    proxy_temp_path {home}/nginx-temporary;
    fastcgi_temp_path {home}/nginx-temporary;
    uwsgi_temp_path {home}/nginx-temporary;
    scgi_temp_path {home}/nginx-temporary;
    include {table};
    server {{
        listen 127.0.0.1:{port}{tls};
        {certificate}
        location / {{
            if ($target = "") {{ return 404; }}
            return 302 $target;
        }}
    }}
}}
"""

HAPROXY = """\
global
    nbthread 1
    maxconn 4096
defaults
    mode http
    timeout client 75s
    timeout server 75s
    timeout connect 75s
frontend bench
    bind 127.0.0.1:{port}
    http-request set-var(txn.target) path,map_str({table})
    http-request redirect location %[var(txn.target)] code 302 if {{ var(txn.target) -m found }}
    http-request return status 404
"""

CADDY = """\
{{
    admin off
    auto_https off
    log {{
        level ERROR
    }}
}}
{scheme}://127.0.0.1:{port} {{
    bind 127.0.0.1
    {certificate}
    import {table}
    @known not vars {{target}} ""
    redir @known {{target}} 302
    respond 404
}}
"""


class TableServer(Server):
    """A server that answers from a table at `port`, perhaps over TLS."""

    def __init__(self, name, table, port, command, home, tls=False, **how):
        log = home / f"{name.split()[0].lower()}-{port}.log"
        super().__init__(command, log, **how)
        self.name, self.table, self.port, self.tls = name, table, port, tls

    def started(self):
        """Waits until it answers, and returns it."""
        try:
            self.until(lambda: self.answer("/-"), f"{self.name} answers", interval=0.002)
        except BaseException:
            self.__exit__()
            raise
        return self

    def connection(self):
        if not self.tls:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        # Signed by itself: whom it belongs to is not what is measured.
        context = ssl._create_unverified_context()
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=10, context=context)

    def answer(self, path, connection=None):
        """Returns (status, location)."""
        connection = connection or self.connection()
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        return response.status, response.headers.get("Location")

    def check_answers(self):
        """Raises `Failure` unless 100 hits and 10 misses are answered as the table says."""
        floor = self.name == "floor"
        hits = random.Random(1).sample(sorted(self.table.targets), 100)
        targets = self.table.targets
        expected = [(path, 302, FLOOR_TARGET if floor else targets[path]) for path in hits]
        if not floor:
            misses = self.table.misses.read_text().split()[:10]
            expected += [(path, 404, None) for path in misses]
        connection = self.connection()
        for path, status, location in expected:
            if (got := self.answer(path, connection)) != (status, location):
                raise Failure(f"{self.name} answers {path} with {got}, not {(status, location)}")
        connection.close()


class Waypost(TableServer):
    """Waypost, with the metrics of its admin listener."""

    def __init__(self, *arguments, admin, **how):
        super().__init__(*arguments, **how)
        self.admin = admin

    def metric(self, name):
        connection = http.client.HTTPConnection("127.0.0.1", self.admin, timeout=10)
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
        return next(float(line.split()[-1]) for line in lines if line.startswith(f"{name} "))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Servers:
    """Starts the measured servers: the programs `waypost`, `floor` and `axum`, with files under `home`."""

    def __init__(self, home, waypost, floor, axum):
        self.home, self.axum_program = home, axum
        self.waypost_program, self.floor_program = waypost, floor
        self.certificate, self.key = home / "certificate.pem", home / "key.pem"
        command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
        command += " -subj /CN=bench -addext subjectAltName=IP:127.0.0.1"
        finish([*command.split(), "-keyout", self.key, "-out", self.certificate])

    def floor(self, table):
        port = free_port()
        command = [self.floor_program, f"127.0.0.1:{port}"]
        return TableServer("floor", table, port, command, self.home).started()

    def waypost(self, table, *, tls=False, threads=1, path=None, env=None, **how):
        """Starts one, by default with the environment of its systemd unit."""
        port, admin = free_port(), free_port()
        command = [self.waypost_program, "serve", "--table", path or table.files["yaml"]]
        command += ["--listen", f"127.0.0.1:{port}", "--admin-listen", f"127.0.0.1:{admin}"]
        command += ["--threads", threads, "--max-connections", 12000, "--max-table-bytes", 900_000_000]
        if tls:
            command += ["--tls-cert", self.certificate, "--tls-key", self.key]
        env = unit_environment() if env is None else env
        return Waypost(
            "waypost", table, port, command, self.home, tls=tls, admin=admin, env=env, **how
        ).started()

    def nginx_command(self, table, port, tls=False):
        lines = f"ssl_certificate {self.certificate}; ssl_certificate_key {self.key};"
        configuration = self.home / f"nginx-{port}.conf"
        configuration.write_text(
            NGINX.format(
                home=self.home,
                port=port,
                table=table.files["nginx"],
                tls=" ssl http2" if tls else "",
                certificate=lines if tls else "",
            )
        )
        return ["nginx", "-e", "stderr", "-p", self.home, "-c", configuration]

    def nginx(self, table, tls=False, name="nginx", env=None):
        port = free_port()
        command = self.nginx_command(table, port, tls)
        return TableServer(name, table, port, command, self.home, tls=tls, env=env).started()

    def nginx_with_huge_pages(self, table):
        """Starts one with the allocator's settings of Waypost."""
        return self.nginx(table, name="nginx, huge pages", env=unit_environment())

    def haproxy(self, table):
        return self.haproxy_by(table, "-db")

    def haproxy_with_master(self, table):
        """Starts one whose master process reloads the configuration at SIGUSR2."""
        return self.haproxy_by(table, "-W", "-db")

    def haproxy_by(self, table, *how):
        port = free_port()
        configuration = self.home / f"haproxy-{port}.cfg"
        configuration.write_text(HAPROXY.format(port=port, table=table.files["haproxy"]))
        command = ["haproxy", *how, "-f", configuration]
        return TableServer("HAProxy", table, port, command, self.home).started()

    def axum(self, table):
        port = free_port()
        command = [self.axum_program, f"127.0.0.1:{port}", table.files["haproxy"]]
        return TableServer("axum", table, port, command, self.home).started()

    def caddy(self, table, tls=False):
        port = free_port()
        configuration = self.home / f"caddy-{port}.Caddyfile"
        configuration.write_text(
            CADDY.format(
                scheme="https" if tls else "http",
                port=port,
                table=table.files["caddy"],
                certificate=f"tls {self.certificate} {self.key}" if tls else "",
            )
        )
        command = ["caddy", "run", "--adapter", "caddyfile", "--config", configuration]
        # It keeps state in the home directory.
        home = {"HOME": str(self.home), "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}
        return TableServer("Caddy", table, port, command, self.home, tls=tls, env=home).started()

    def versions(self):
        """Returns names and versions, in one line."""
        # nginx reports its own on standard error.
        nginx = finish(["sh", "-c", "nginx -v 2>&1"])[0].partition("/")[2]
        haproxy = finish(["haproxy", "-v"])[0].split()[2]
        caddy = finish(["caddy", "version"])[0].split()[0]
        waypost = finish([self.waypost_program, "--version"])[0]
        return f"{waypost.strip()}, nginx {nginx.split()[0]}, HAProxy {haproxy}, Caddy {caddy}"
