"""Other servers that redirect: their processes, and what they answer."""

import contextlib
import http.client
import socket
import subprocess

from serving import end_process, wait_until


def answers(address, host, asked, fields=()):
    """Returns the status and the location of each path, requested with further header fields."""
    found = answers_to(address, {"Host": host} | dict(fields), [(path, None) for path in asked])
    return {path: answer[:2] for (path, _), answer in found.items()}


def answers_to(address, fields, asked):
    """Returns the status, the location and the field `Vary` for each path and value of `Accept`,
    requested with further header fields."""
    connection = http.client.HTTPConnection(*address, timeout=10)
    found = {}
    for path, accept in asked:
        named = {} if accept is None else {"Accept": accept}
        connection.request("GET", path, headers=fields | named)
        response = connection.getresponse()
        response.read()
        vary = response.headers.get("Vary") if "Location" in response.headers else None
        found[path, accept] = (response.status, response.headers.get("Location"), vary)
    return found


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def running(command, port, log, **options):
    """Runs a server until it has been asked everything."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, **options)
    try:
        with contextlib.suppress(AssertionError):
            wait_until(
                lambda: process.poll() is not None
                or socket.create_connection(("127.0.0.1", port)).close() is None,
                "it listens",
            )
        assert process.poll() is None, log.read_text()
        yield ("127.0.0.1", port)
    finally:
        end_process(process)


def running_apache(host, work, port, modules, documents):
    """Runs Apache with some modules, and the lines that say what it serves."""
    loaded = "\n".join(f"LoadModule {it}_module /usr/lib/apache2/modules/mod_{it}.so" for it in modules)
    (work / "apache.conf").write_text(
        f"""ServerRoot {work}
DefaultRuntimeDir {work}
PidFile {work}/apache.pid
Listen 127.0.0.1:{port}
ServerName {host}
MaxKeepAliveRequests 0
{loaded}
User www-data
Group www-data
ErrorLog {work}/apache.log
{documents}
"""
    )
    command = ["apache2", "-X", "-f", work / "apache.conf"]
    return running(command, port, work / "apache.out")


def running_nginx(work, port, outside, inside):
    """Runs nginx with some lines outside of its server, and some inside."""
    kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    temporary = "".join(f"{kind}_temp_path {work}/{kind};" for kind in kinds)
    (work / "nginx.conf").write_text(
        f"""daemon off; pid {work}/nginx.pid; events {{}}
http {{ access_log off; {temporary}
{outside}
server {{ listen 127.0.0.1:{port}; keepalive_requests 100000; root {work}/nothing;
{inside}
}} }}"""
    )
    return running(["nginx", "-e", "stderr", "-c", work / "nginx.conf"], port, work / "nginx.log")
