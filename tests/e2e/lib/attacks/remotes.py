"""Remotes that mean harm."""

import contextlib
import os
import socketserver
import subprocess
import threading

from serving import wait_until

from .scene import attack, git, table


@contextlib.contextmanager
def serving(answer):
    """Answers each connection in a thread of its own; gives the port."""

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


@attack
def branch_names_that_are_not_text(directory, start):
    """Anyone's branch, by whatever name, does not keep the followed one from going live."""
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
        # The link is taken down.
        publish("y")
        for server in servers:
            gone = lambda: server.follow("/x")[0] == 404  # noqa: B023, E731
            wait_until(gone, f"the take-down is live: {server.log()[-1]}")
        for it in arguments:
            servers.append(start(*it).serving())
            assert servers[-1].follow("/x")[0] == 404
        for server in servers:
            assert server.metrics()['waypost_git_fetches_total{result="failed"}'] == 0
            server.stop()
