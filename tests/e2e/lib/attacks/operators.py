"""The admin listener: clients that would starve probes, web pages that would read or change something
there, a recorded hook that is replayed."""

import hashlib
import hmac
import http.client
import socket
import threading
import time

from serving import TIMEOUT, wait_until

from .scene import FOUND, HEAD, SECRET, attack, disperse, git, table

# Several times the common timeout of a probe, for a busy machine.
PROBE_TIMEOUT = 5


def ask(server, line, *fields):
    """Returns the status and the text of an answer of the admin listener."""
    with socket.create_connection(server.admin, timeout=TIMEOUT) as client:
        client.sendall("\r\n".join([line, *fields, "Connection: close", "", ""]).encode())
        head, _, body = b"".join(iter(lambda: client.recv(1 << 16), b"")).decode().partition("\r\n\r\n")
        return int(head.split(" ")[1]), body


@attack
def starved_probes(directory, start):
    """Silent connections, more than are accepted, starve no probe."""
    (directory / "mapping.yaml").write_text(table("x"))
    server = start().serving()
    silent = [socket.create_connection(server.admin, timeout=TIMEOUT) for _ in range(64)]
    over = threading.Event()
    opened = []

    def open_more():
        while not over.is_set() and len(opened) < 2000:
            opened.append(socket.create_connection(server.admin, timeout=TIMEOUT))
            # Fast, but not so fast that this interpreter starves the probe.
            time.sleep(0.001)
            if len(opened) > 200:
                opened[-200].close()

    thread = threading.Thread(target=open_more)
    thread.start()
    slowest = probes = 0
    try:
        while probes < 50 or len(opened) < 300:
            probes += 1
            began = time.monotonic()
            probe = http.client.HTTPConnection(*server.admin, timeout=PROBE_TIMEOUT)
            probe.request("GET", "/livez")
            assert probe.getresponse().read() == b"ok\n"
            probe.close()
            slowest = max(slowest, time.monotonic() - began)
    finally:
        over.set()
        thread.join()
    print(f"    {len(opened)} silent connections, the slowest of {probes} probes took {slowest:.3f} s", flush=True)
    disperse((*silent, *opened))
    assert server.follow() == FOUND
    assert len(server.log()) == 2, server.log()
    server.stop()


@attack
def dns_rebinding(directory, start):
    """A web page whose name resolves to the listener's address (DNS rebinding) reads and changes nothing there."""
    (directory / "mapping.yaml").write_text(table("x"))
    server = start(env={"WAYPOST_ADMIN_HOST": "ops.example,admin.example"}).serving()
    port = server.admin[1]
    for _ in range(100):
        for line in ("GET /-/status HTTP/1.1", "POST /-/reload HTTP/1.1", "GET / HTTP/1.1"):
            status, text = ask(server, line, f"Host: evil.example:{port}")
            assert status == 421 and "admin host" in text and "evil" not in text, (status, text)
    # Nor does a web page that uses the address itself.
    for field in ("Origin: https://evil.example", "Sec-Fetch-Site: cross-site"):
        status, _ = ask(server, "POST /-/reload HTTP/1.1", f"Host: 127.0.0.1:{port}", field)
        assert status == 403, (field, status)
    for host in ("127.0.0.1", "localhost", "admin.example", "ops.example", "[::1]"):
        status, _ = ask(server, "GET /-/status HTTP/1.1", f"Host: {host}:{port}")
        assert status == 200, (host, status)
    for path in ("/livez", "/readyz", "/healthz", "/metrics"):
        assert ask(server, f"GET {path} HTTP/1.1", "Host: waypost.links.svc")[0] == 200, path
        assert ask(server, f"GET {path} HTTP/1.0")[0] == 200, path
    assert server.metrics()['waypost_reloads_total{result="unchanged"}'] == 0
    assert len(server.log()) == 2, server.log()
    server.stop()


@attack
def replayed_hook(directory, start):
    """A recorded hook, replayed again and again: one fetch a second."""
    work = directory / "links"
    work.mkdir()
    git(work, "init", "--quiet", "--initial-branch=main")
    (work / "mapping.yaml").write_text(table("x"))
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "--message=Links")
    following = ("--repo", work, "--pull-interval", "1h", "--poll-interval", "1h")
    server = start(*following, env={"WAYPOST_HOOK_SECRET": SECRET}).serving()
    body = b'{"ref":"refs/heads/main"}'
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest().encode()
    hook = b"POST /-/hook HTTP/1.1\r\n" + HEAD + b"X-Hub-Signature-256: sha256=" + signature
    hook += b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    def fetches():
        samples = server.metrics().items()
        return sum(value for name, value in samples if name.startswith("waypost_git_fetches_total{"))

    before, began, sent = fetches(), time.monotonic(), 0
    while time.monotonic() - began < 3:
        with server.connect() as client:
            for _ in range(20):
                client.sendall(hook)
                assert client.recv(1 << 16).startswith(b"HTTP/1.1 202")
                sent += 1
    wait_until(lambda: fetches() > before, "one of them is followed")
    most = 2 + int(time.monotonic() - began)
    made = fetches() - before
    print(f"    {sent} hooks made {made:.0f} fetches", flush=True)
    assert made <= most, (made, most)
    server.stop()


@attack
def readable_secrets(directory, start):
    """Secrets in world-readable files are reported, each with its fix."""
    work = directory / "links"
    work.mkdir()
    git(work, "init", "--quiet", "--initial-branch=main")
    (work / "mapping.yaml").write_text(table("x"))
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "--message=Links")
    password, hook, tokens, key = (directory / name for name in ("password", "hook", "tokens", "key"))
    for file in (password, hook, key):
        file.write_text("s3cret-words\n")
    tokens.write_text("ada " + hashlib.sha256(b"token").hexdigest() + "\n")
    env = {"WAYPOST_GIT_PASSWORD_FILE": str(password), "WAYPOST_HOOK_SECRET_FILE": str(hook)}
    author = ("--git-author", "Links <links@example.org>", "--ssh-key", key)
    for mode in (0o644, 0o440, 0o600):
        for file in (password, hook, tokens, key):
            file.chmod(mode)
        server = start("--repo", work, "--registrations", "--registrations-tokens", tokens, *author, env=env)
        server.serving()
        warned = [line for line in server.log() if "everyone on this machine can read" in line["message"]]
        named = sorted(line["file"] for line in warned if "chmod 600" in line["message"])
        exposed = sorted(map(str, (password, hook, tokens, key))) if mode == 0o644 else []
        assert named == exposed and len(warned) == len(exposed), (oct(mode), server.log())
        assert "s3cret" not in server.log_file.read_text()
        server.stop()
