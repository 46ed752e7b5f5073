"""Malicious remotes, and secrets that are echoed or typed in the wrong place."""

import base64
import contextlib
import hashlib
import os
import re
import resource
import socketserver
import subprocess
import threading
import urllib.parse
import zlib

from serving import wait_until

from .scene import attack, git, table

ID = "1" * 40
SECRET = 's3cr3t/"Word+1'
BOUND = 32 << 20


def packet(text):
    text = text if isinstance(text, bytes) else text.encode()
    return b"%04x" % (len(text) + 4) + text


@contextlib.contextmanager
def serving(answer):
    """Answers each connection in a thread of its own; yields the port."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError, ValueError):
                answer(self.rfile, self.wfile)

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def read(lines):
    length = int(lines.read(4), 16)
    return lines.read(length - 4) if length else b""


def offer(lines, out):
    """Offers one branch over Git's own protocol, and reads what is requested."""
    read(lines)
    out.write(packet(f"{ID} HEAD\0ofs-delta shallow symref=HEAD:refs/heads/main\n"))
    out.write(packet(f"{ID} refs/heads/main\n") + b"0000")
    said = b""
    while not said.startswith(b"done"):
        said = read(lines)
        if said.startswith(b"deepen"):
            out.write(packet(f"shallow {ID}") + b"0000")
    out.write(packet("NAK\n"))


def number(value):
    """Encodes a number as packs do (gitformat-pack(5))."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def head(kind, size):
    first = kind << 4 | size & 15
    return bytes([first | 0x80]) + number(size >> 4) if size >> 4 else bytes([first])


def endless_pack(lines, out):
    offer(lines, out)
    out.write(b"PACK\0\0\0\2\0\0\0\2" + head(3, 1 << 40) + b"\x78\x01")
    for _ in range(1 << 14):
        out.write(b"\x00\xff\xff\x00\x00" + b"x" * 0xFFFF)


def endless_references(lines, out):
    read(lines)
    out.write(packet(f"{ID} HEAD\0ofs-delta shallow\n"))
    for count in range(2 << 20):
        out.write(packet(f"{ID} refs/heads/{count}/{'x' * 1000}\n"))


def delta_bomb(lines, out):
    size, copies = 0xFFFFFF, 128
    base = bytes(size)
    delta = number(size) + number(size * copies) + b"\xf0\xff\xff\xff" * copies
    pack = b"PACK\0\0\0\2\0\0\0\2" + head(3, size) + zlib.compress(base, 9)
    pack += head(7, len(delta)) + hashlib.sha1(b"blob %d\0" % size + base).digest()
    pack += zlib.compress(delta, 9)
    assert len(pack) < 64 << 10
    offer(lines, out)
    out.write(pack + hashlib.sha1(pack).digest())


def disk(directory):
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())


@attack
def bombs_of_remotes(directory, start):
    """An endless remote uses no more memory and disk than is allowed, and is reported as too large."""
    work = directory / "links"
    work.mkdir()
    git(work, "init", "--quiet", "--initial-branch=main")
    (work / "mapping.yaml").write_text(table("x"))
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "--message=One")
    for bomb in (endless_pack, endless_references, delta_bomb):
        state = directory / bomb.__name__
        largest = [0]

        def answer(lines, out, bomb=bomb, state=state, largest=largest):
            try:
                bomb(lines, out)
            finally:
                largest[0] = max(largest[0], disk(state))

        with serving(answer) as port:
            server = start(
                "--repo", f"git://127.0.0.1:{port}/links.git", "--state-dir", state, "--wait",
                "--pull-interval", "1s", "--max-fetch-bytes", "32MiB",
            ).serving()  # fmt: skip

            def failed(server=server):
                return server.metrics()['waypost_git_fetches_total{result="failed"}'] >= 2

            wait_until(failed, f"{bomb.__name__} has failed twice")
            said = str(server.status())
            assert "max fetch bytes" in said, said
            # Twice, because data may still be on its way to the disk when the connection is closed.
            assert largest[0] < 3 * BOUND, largest
            server.stop()
        assert disk(state) < 1 << 20, disk(state)
    # In KiB: the largest of all children, so the one that reads the references.
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    assert most < 640 << 20, most


@attack
def branch_names_that_are_not_text(directory, start):
    """No branch of another user, whatever its name, prevents the followed one from going live."""
    work, bare = directory / "work", directory / "links.git"
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", bare], check=True)
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", work], check=True)

    def publish(*codes):
        (work / "mapping.yaml").write_text(table(*codes))
        git(work, "add", "--all")
        git(work, "commit", "--quiet", "--message=Change")
        git(work, "push", "--quiet", bare, "main")

    publish("x")
    root = os.fsencode(directory)
    serve = ["git", "upload-pack", "--strict", os.fsdecode(bare)]

    def daemon(lines, out):
        read(lines)
        with subprocess.Popen(serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            def said():
                with contextlib.suppress(OSError, ValueError):
                    while text := lines.read1():
                        process.stdin.write(text)
                        process.stdin.flush()

            threading.Thread(target=said, daemon=True).start()
            while text := process.stdout.read1():
                out.write(text)

    with serving(daemon) as port:
        remotes = (str(bare), f"file://{bare}", f"git://127.0.0.1:{port}/links.git")
        arguments = [("--repo", it, "--pull-interval", "1s") for it in remotes]
        arguments += [(*it, "--ref", "main") for it in arguments]
        servers = [start(*it).serving() for it in arguments]
        tip = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=work)
        with open(root + b"/links.git/refs/heads/caf\xe9", "wb") as branch:
            branch.write(tip)
        # The link is withdrawn.
        publish("y")
        for server in servers:
            gone = lambda: server.follow("/x")[0] == 404  # noqa: B023, E731
            wait_until(gone, f"the withdrawal is live: {server.log()[-1]}")
        for it in arguments:
            servers.append(start(*it).serving())
            assert servers[-1].follow("/x")[0] == 404
        for server in servers:
            assert server.metrics()['waypost_git_fetches_total{result="failed"}'] == 0
            server.stop()


def quoted():
    """Returns the secret percent-encoded, with digits of both cases."""
    upper = urllib.parse.quote(SECRET, safe="")
    return upper, re.sub("%..", lambda it: it[0].lower(), upper)


def shown_in(text):
    """Finds the secret in a text, in any encoding."""
    login = base64.b64encode(f"user:{SECRET}".encode()).decode()
    spellings = [SECRET, login.rstrip("="), *quoted(), urllib.parse.quote(SECRET)]
    return [it for it in spellings if it in text]


@attack
def secrets_in_odd_addresses(directory, start):
    """Text given as an address is not repeated, even if it is not an address."""
    (directory / "mapping.yaml").write_text(table("x"))
    waypost = os.environ["WAYPOST"]
    word = "S3cretWord"
    addresses = [
        f"oauth2:{word}@h.invalid/x", f"{word}@h.invalid/x", f"https:/u:{word}@h.invalid/x",
        f"https:u:{word}@h.invalid/x", f"https//u:{word}@h.invalid/x", f"//u:{word}@h.invalid/x",
        f"https:\\\\u:{word}@h.invalid\\x", f"u\uff1a{word}\uff20h.invalid\uff0fx",
        f"https://u:p/{word}@h.invalid/x", f"u:{word}@https://h.invalid/x",
        f"u:{word}@h.invalid:x", f"ftp://u:{word}@h.invalid/x",
        f"https://u:{word}%40h.invalid/x", f"https%3A%2F%2Fu%3A{word}%40h.invalid/x",
        f"https://127.0.0.1:1/x?token={word}", f"https://127.0.0.1:1/x#{word}", f"{word}@127.0.0.1:1/x",
    ]  # fmt: skip
    for address in addresses:
        for arguments in (
            ["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--repo", address],
            ["serve", address], ["serve", f"--rpo={address}"], ["check", address],
            ["add", "https://e.example/", "--repo", address],
            ["serve", "--table", address, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"],
        ):  # fmt: skip
            done = subprocess.run(
                [waypost, *arguments], cwd=directory, capture_output=True, text=True,
                env={**os.environ, "WAYPOST_GIT_TIMEOUT": "10s"}, timeout=60,
            )  # fmt: skip
            assert done.returncode != 0, (arguments, done)
            assert word not in done.stdout + done.stderr, (arguments, done)


@attack
def secrets_that_a_remote_sends_back(directory, start):
    """A remote that repeats what it received, in any encoding, does not get it into log or status."""
    heard = []

    def echo(lines, out):
        request = lines.readline()
        fields = dict(iter(lambda: lines.readline().decode().strip().partition(": ")[::2], ("", "")))
        credentials = fields.get("Authorization")
        if not credentials:
            out.write(b'HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="x"\r\n')
            out.write(b"Content-Length: 0\r\nConnection: close\r\n\r\n")
            return
        heard.append((request, credentials))
        text = packet("# service=git-upload-pack\n") + b"0000"
        text += packet(f"ERR you said {credentials} and {SECRET} or {' or '.join(quoted())}\n")
        out.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n")
        out.write(b"Content-Type: application/x-git-upload-pack-advertisement\r\n")
        out.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)

    with serving(echo) as port:
        place = f"127.0.0.1:{port}/links.git"
        env = {"WAYPOST_GIT_USERNAME": "user", "WAYPOST_GIT_PASSWORD": SECRET}
        login = f"user:{urllib.parse.quote(SECRET, safe='')}@"
        for address, env in ((f"http://{place}", env), (f"http://{login}{place}", {})):
            done = subprocess.run(
                [os.environ["WAYPOST"], "add", "https://e.example/", "--repo", address],
                env={**os.environ, **env}, capture_output=True, text=True, timeout=60,
            )  # fmt: skip
            assert "you said" in done.stderr and done.returncode == 3, done
            assert not shown_in(done.stdout + done.stderr), (shown_in(done.stderr), done)
            server = start("--repo", address, "--wait", env=env).serving()
            said = lambda: "you said" in str(server.status())  # noqa: B023, E731
            wait_until(said, "the fetch has failed")
            everything = str(server.status()) + server.log_file.read_text()
            assert not shown_in(everything), everything
            server.stop()
    assert len(heard) >= 4 and all("Basic" in credentials for _, credentials in heard), heard
