"""Checks links against a farm of fake hosts, one for each address of 127.0.0.0/8 that it is asked at."""

import atexit
import collections
import json
import os
import pathlib
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time

DELAY = 0.2
MEMBERS = ("127.0.1.1", "127.0.1.2")

Request = collections.namedtuple("Request", "host begun ended line")


class Farm:
    """Answers on every loopback address at one port, and logs when each request began and ended."""

    def __init__(self, context=None):
        self.log = []
        self.lock = threading.Lock()
        self.context = context
        self.socket = socket.create_server(("0.0.0.0", 0), backlog=512)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.socket.accept()
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        begun = time.monotonic()
        host = connection.getsockname()[0]
        line = ""
        try:
            connection.settimeout(20)
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            text = b""
            while b"\r\n\r\n" not in text:
                part = connection.recv(65536)
                if not part:
                    return
                text += part
            line = text.split(b"\r\n")[0].decode()
            method, path, _ = line.split(" ")
            self.answer(connection, host, method, path)
        except OSError:
            pass
        finally:
            # A probe that sends nothing is a request, too.
            with self.lock:
                self.log.append(Request(host, begun, time.monotonic(), line))
            connection.close()

    def answer(self, connection, host, method, path):
        status, fields, body = 404, [], b"nothing here"
        if path == "/robots.txt":
            if host == "127.0.0.9":
                status, body = 200, b"User-agent: *\nDisallow: /private\n"
        elif path.startswith("/ok") or path in ("/new", "/private"):
            status, body = 200, b"a page: " + path.encode()
        elif path == "/gone":
            status = 410
        elif path == "/moved":
            status, fields = 301, ["Location: /moved-again"]
        elif path == "/moved-again":
            status, fields = 308, [f"Location: http://127.0.1.1:{self.port}/new"]
        elif path == "/elsewhere":
            status, fields = 302, [f"Location: http://127.0.1.2:{self.port}/ok"]
        elif path == "/busy":
            status, fields = 429, ["Retry-After: 7200"]
        elif path == "/wall":
            status = 403
        elif path == "/head":
            status = 404 if method == "HEAD" else 200
        elif path == "/reset":
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            return
        elif path == "/slow":
            time.sleep(6)
            return
        lines = [f"HTTP/1.1 {status} Status", *fields, f"Content-Length: {len(body)}", "", ""]
        connection.sendall("\r\n".join(lines).encode() + (b"" if method == "HEAD" else body))


def group(host):
    return "members" if host in MEMBERS else host


def assert_polite(log):
    """Fails if a group was asked twice at once, or too soon after the answer before."""
    last = {}
    for request in sorted(log, key=lambda it: it.begun):
        before = last.get(group(request.host))
        if before:
            pause = request.begun - before.ended
            assert pause >= DELAY, f"{pause:.3f} s between {before} and {request}"
        last[group(request.host)] = request


def write_table(path, targets):
    lines = ["base_url: https://short.example/", "mapping:"]
    for number, target in enumerate(targets):
        lines += [f"- url: {target}", f"  short-code: c{number}"]
    path.write_text("\n".join(lines) + "\n")


def arguments(folder, *more):
    return [
        os.environ["WAYPOST"], "linkcheck", str(folder / "mapping.yaml"), "--state", str(folder / "state.redb"),
        "--aliases", str(folder / "aliases.yaml"), "--delay", f"{int(DELAY * 1000)}ms", "--timeout", "1500ms",
        "--allow-private", "--max-time", "50s", *([] if "--format" in more else ["--format", "json"]), *more,
    ]


def check(folder, *more, status=0):
    run = subprocess.run(arguments(folder, *more), capture_output=True, text=True)
    assert run.returncode == status, (run.returncode, run.stdout, run.stderr)
    return run


def verdicts(run):
    document = json.loads(run.stdout)
    assert document["version"] == 1
    return {link["target"]: link for link in document["links"]}


def certificate(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=other.example", "-days", "1",
         "-keyout", folder / "key.pem", "-out", folder / "certificate.pem"],
        check=True, capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return context


def prepared():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="waypost-linkcheck-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    members = ", ".join(f'"{host}"' for host in MEMBERS)
    (folder / "aliases.yaml").write_text(f"members: [{members}]\n")
    return folder


def gives_each_link_its_verdict():
    folder = prepared()
    farm, secure = Farm(), Farm(certificate(folder))

    def at(host, path):
        return f"http://{host}:{farm.port}{path}"

    expected = {
        at("127.0.0.2", "/ok"): ("ok", 200),
        at("127.0.0.2", "/missing"): ("failing", 404),
        at("127.0.0.2", "/gone"): ("gone", 410),
        at("127.0.0.3", "/moved"): ("moved", 200),
        at("127.0.0.3", "/elsewhere"): ("ok", 200),
        at("127.0.0.4", "/wall"): ("blocked", 403),
        at("127.0.0.5", "/busy"): ("blocked", 429),
        at("127.0.0.6", "/reset"): ("failing", None),
        at("127.0.0.7", "/slow"): ("failing", None),
        at("127.0.0.8", "/head"): ("ok", 200),
        at("127.0.0.9", "/private"): ("robots-disallowed", None),
        at("127.0.1.1", "/ok"): ("ok", 200),
        at("127.0.1.2", "/ok"): ("ok", 200),
        f"https://127.0.0.10:{secure.port}/ok": ("insecure", None),
        "http://169.254.169.254/latest": ("unchecked", None),
        "http://127.0.0.11:1/": ("failing", None),
    }
    write_table(folder / "mapping.yaml", expected)
    links = verdicts(check(folder))
    for target, (verdict, status) in expected.items():
        link = links[target]
        assert (link["verdict"], link["status"]) == (verdict, status), (link, farm.log)
    assert links[at("127.0.0.3", "/moved")]["moved_to"] == at("127.0.1.1", "/new")
    assert_polite(farm.log)
    asked = len(farm.log)
    assert not any("/private" in request.line for request in farm.log)

    # Nothing is due, and what is known is still reported; a failing link fails a run on request.
    again = verdicts(check(folder))
    assert again == links and len(farm.log) == asked, "a link was asked again at once"
    refused = check(folder, "--deny", "gone", "--format", "github", status=1)
    assert "::warning" in refused.stdout or "::error" in refused.stdout, refused.stdout
    check(folder, "--deny", "dead")
    report = check(folder, "--format", "markdown").stdout
    assert report.startswith("<!-- waypost linkcheck -->") and "#### gone: 1" in report, report
    print(f"  {asked} requests, {len(expected)} verdicts")


def survives_a_kill():
    folder = prepared()
    farm = Farm()
    hosts = ["127.0.2.1", "127.0.2.2", *MEMBERS]
    targets = [f"http://{host}:{farm.port}/ok{number}" for host in hosts for number in range(6)]
    targets += [f"http://127.0.2.3:{farm.port}/elsewhere", f"http://127.0.2.3:{farm.port}/moved"]
    write_table(folder / "mapping.yaml", targets)
    kills = 0
    for wanted in (5, 12, 20, 30):
        process = subprocess.Popen(arguments(folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 30
        while len(farm.log) < wanted and process.poll() is None:
            assert time.monotonic() < deadline, "no requests"
            time.sleep(0.01)
        if kills == 1:
            second = check(folder, status=3)
            assert "another process is using this file" in second.stderr, second.stderr
        process.kill()
        process.wait()
        kills += 1
    links = verdicts(check(folder))
    assert {link["verdict"] for link in links.values()} == {"ok", "moved"}, links
    assert_polite(farm.log)
    # A request that was under way when the process was killed is repeated, and no other.
    times = collections.Counter((it.host, it.line) for it in farm.log)
    repeated = sum(times.values()) - len(times)
    groups = 4
    assert repeated <= kills * groups, times
    print(f"  {len(farm.log)} requests over {kills} kills, {repeated} of them repeated")


def asks_only_what_a_change_added():
    folder = prepared()
    farm = Farm()
    old, new = (f"http://127.0.3.1:{farm.port}/{name}" for name in ("ok-old", "missing-new"))
    git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@a.example"]
    command = [
        os.environ["WAYPOST"], "linkcheck", "mapping.yaml", "--base", "HEAD", "--delay", f"{int(DELAY * 1000)}ms",
        "--allow-private", "--format", "json", "--deny", "dead",
    ]

    def commit(message):
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "--quiet", "--message", message], check=True)

    def asks_the_new_one_only():
        write_table(folder / "mapping.yaml", [old, new])
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        assert {target: link["verdict"] for target, link in verdicts(run).items()} == {new: "failing"}
        assert not any("ok-old" in request.line for request in farm.log)
        assert_polite(farm.log)
        # Nothing is kept, and so the next run knows of no pause.
        farm.log.clear()
        return run

    subprocess.run([*git, "init", "--quiet"], check=True)
    write_table(folder / "mapping.yaml", [old])
    commit("links")
    asks_the_new_one_only()
    # If the table at the base has errors, the one that was served then counts.
    (folder / "mapping.yaml").write_text("mapping: 1\n")
    commit("errors")
    assert "the table has errors at the base" in asks_the_new_one_only().stderr


def refuses_what_is_no_state():
    folder = prepared()
    write_table(folder / "mapping.yaml", ["https://a.example/"])
    (folder / "state.redb").write_text("this is something else")
    run = check(folder, status=3)
    assert "not a file of the link checker" in run.stderr, run.stderr
    assert (folder / "state.redb").read_text() == "this is something else"
    (folder / "aliases.yaml").write_text("a: [x.example]\nb: [x.example]\n")
    assert "both a and b" in check(folder, status=2).stderr


CASES = [gives_each_link_its_verdict, survives_a_kill, asks_only_what_a_change_added, refuses_what_is_no_state]

if __name__ == "__main__":
    import sys

    names = {case.__name__.replace("_", " "): case for case in CASES}
    if sys.argv[1:] == ["--list"]:
        print("\n".join(names))
        sys.exit()
    for name in sys.argv[1:] or names:
        print(name)
        names[name]()
