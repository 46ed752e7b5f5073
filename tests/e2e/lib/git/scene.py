"""A scene: a repository, remotes of it, servers that follow them; and how a case is written.

To add a case, put a function into a file `cases_*.py` beside this one (they are all found), and
import everything from here:

    from scene import case, table, wait_until

    @case("force push")
    def force_push(scene):
        first = scene.push(table("one"))
        server = scene.server("--repo", scene.bare)
        second = scene.push(table("two"), amend=True)
        server.serves("two")                 # waits for it, with a deadline
        assert server.status()["revision"]["commit"] == second

- A case fails by raising; `assert` says why. Its return value does not matter.
- Every table has the link `known`, whose target never changes, and the link `version`, which leads
  to the version's name: `table("two")` is version "two", and `server.version()` is the live one.
- Each server has a loop of requests to `known`, from the first moment its table is live until it is
  asked to stop. The case fails if one of them failed. Every server must stop with status 0.
- Every process is started with `scene.start` and killed at the end, with its process group.
- Several cases run at the same time, as threads of one process: never change the working directory,
  the umask or `os.environ`; everything is under `scene.path`.
- Wait with `wait_until`, never by sleeping a while; assert no duration. If something must *not*
  happen, wait for something that happens after it (two more fetches: `server.after_fetches(2)`).
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

# The longest time that a case waits for anything. Generous: it only matters when a case fails.
TIMEOUT = 45

CASES = {}


def case(name):
    """Registers a function as the case with that name."""

    def register(function):
        assert name not in CASES, f"two cases are named {name!r}"
        CASES[name] = function
        return function

    return register


def table(version, *lines):
    """Returns the text of a table of that version, perhaps with more lines of entries."""
    entries = [
        "- {url: 'https://known.example/', short-code: known}",
        f"- {{url: 'https://version.example/{version}', short-code: version}}",
        *lines,
    ]
    return "\n".join(["base_url: http://w.example/", "mapping:", *entries, ""])


BAD_TABLE = "base_url: http://w.example/\nmapping:\n- {url: 'not an address', short-code: known}\n"


def wait_until(predicate, what, timeout=TIMEOUT):
    """Returns the predicate's value once it is true. An exception counts as not yet."""
    deadline = time.monotonic() + timeout
    last = None
    while True:
        try:
            last = predicate()
            if last:
                return last
        except (AssertionError, KeyError, TypeError, OSError) as error:
            last = error
        assert time.monotonic() < deadline, f"timed out waiting until {what}; at last: {last!r}"
        time.sleep(0.05)


# Below the ephemeral ports of the system: a server that is down for a while must find its port free
# when it restarts.
_ports = iter(random.sample(range(20000, 32000), 12000))


def free_port():
    while True:
        port = next(_ports)
        with socket.socket() as it:
            it.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                it.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


def listens(port):
    """Returns whether someone accepts connections there."""
    with socket.socket() as it:
        it.settimeout(2)
        return it.connect_ex(("127.0.0.1", port)) == 0


class Process:
    """A program in a process group of its own, with its output in a file."""

    def __init__(self, scene, name, arguments, env=None, cwd=None):
        self.name = name
        self.log = scene.path / f"{name}.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(it) for it in arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**scene.env, **(env or {})},
                cwd=cwd or scene.path,
                start_new_session=True,
            )

    @property
    def pid(self):
        return self.process.pid

    def running(self):
        return self.process.poll() is None

    def text(self):
        return self.log.read_text(errors="replace")

    def send(self, number):
        self.process.send_signal(number)

    def wait(self, timeout=TIMEOUT):
        return self.process.wait(timeout)

    def kill(self):
        """Kills it with all processes that it has started, and waits for their end."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(TIMEOUT)


class Scene:
    """A temporary directory with a bare repository and a clone to work in, for one case.

    `bare` is the repository that is followed, `work` the clone from which `push` pushes.
    """

    def __init__(self, name, parent):
        self.name = name
        self.path = Path(tempfile.mkdtemp(dir=parent)).resolve()
        self.home = self.path / "home"
        self.temp = self.path / "tmp"
        self.repos = self.path / "repos"
        for directory in (self.home, self.temp, self.repos):
            directory.mkdir()
        # The whole environment of programs. The mark finds those that a case has left running.
        self.env = {
            "PATH": os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"),
            "HOME": str(self.home),
            "TMPDIR": str(self.temp),
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_AUTHOR_NAME": "A. Uthor",
            "GIT_AUTHOR_EMAIL": "author@example.org",
            "GIT_COMMITTER_NAME": "A. Uthor",
            "GIT_COMMITTER_EMAIL": "author@example.org",
            "WAYPOST_E2E_SCENE": str(self.path),
        }
        self.processes = []
        self.closers = []
        self.servers = []
        self.bare = self.repos / "links.git"
        self.work = self.path / "work"
        self.make_repository(self.bare, self.work)

    # Repositories

    def git(self, *arguments, cwd=None, env=None, check=True):
        """Runs git, by default in the work clone, and returns its output."""
        done = subprocess.run(
            ["git", *(str(it) for it in arguments)],
            cwd=cwd or self.work,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        if check and done.returncode:
            raise AssertionError(f"git {' '.join(map(str, arguments))}: {done.stderr or done.stdout}")
        return done.stdout.strip()

    def make_repository(self, bare, work):
        """Creates an empty bare repository with the branch main, and a clone of it."""
        self.git("init", "--quiet", "--bare", "--initial-branch=main", bare, cwd=self.path)
        self.git("clone", "--quiet", bare, work, cwd=self.path)
        self.git("symbolic-ref", "HEAD", "refs/heads/main", cwd=work)

    def write(self, text, path="mapping.yaml", work=None):
        file = (work or self.work) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def commit(self, text=None, path="mapping.yaml", message="Change", amend=False, work=None, sign=()):
        """Commits a table (or whatever changed) in the work clone, and returns the commit's id.

        `sign` are further arguments of `git`, before `commit`: ("-c", "commit.gpgSign=true", …).
        """
        work = work or self.work
        if text is not None:
            self.write(text, path, work)
        self.git("add", "--all", cwd=work)
        amend = ("--amend",) if amend else ()
        self.git(*sign, "commit", "--quiet", "--allow-empty", "-m", message, *amend, cwd=work)
        return self.head(work)

    def head(self, work=None, name="HEAD"):
        return self.git("rev-parse", f"{name}^{{commit}}", cwd=work or self.work)

    def push(self, text=None, path="mapping.yaml", branch="main", amend=False, work=None, sign=()):
        """Commits and pushes to a branch, by force, and returns the commit's id."""
        commit = self.commit(text, path, amend=amend, work=work, sign=sign)
        self.push_commit(commit, branch, work)
        return commit

    def push_commit(self, commit, branch="main", work=None):
        """Moves a branch of the bare repository to a commit, by force."""
        self.git("push", "--quiet", "--force", "origin", f"{commit}:refs/heads/{branch}", cwd=work)

    def delete_branch(self, branch, work=None):
        # A remote refuses to delete the branch that its HEAD names.
        self.git("update-ref", "-d", f"refs/heads/{branch}", cwd=self.bare)

    def tag(self, name, commit="HEAD", annotated=False):
        """Creates or moves a tag and pushes it."""
        how = ("-a", "-m", name) if annotated else ()
        self.git("tag", "--force", *how, name, commit)
        self.git("push", "--quiet", "--force", "origin", f"refs/tags/{name}")

    # Programs

    def start(self, name, *arguments, env=None, cwd=None):
        """Starts a program that is killed at the end of the scene."""
        process = Process(self, name, arguments, env, cwd)
        self.processes.append(process)
        return process

    def run(self, *arguments, env=None, cwd=None, input=None):
        """Runs a program to its end and returns its `CompletedProcess`, with text."""
        return subprocess.run(
            [str(it) for it in arguments],
            env={**self.env, **(env or {})},
            cwd=cwd or self.path,
            input=input if input is not None else "",
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )

    def server(self, *arguments, env=None, live=True, **options):
        """Starts `waypost serve` with these arguments; a table must be live, unless `live=False`."""
        from server import Server

        server = Server(self, arguments, env or {}, live, **options)
        self.servers.append(server)
        server.begin()
        return server

    def refusal(self, *arguments, env=None, within=()):
        """Runs a `waypost serve` that must exit on its own, and returns (status, all output)."""
        from server import command

        done = self.run(*within, *command(arguments), env=env)
        return done.returncode, done.stdout + done.stderr

    def let_others_in(self):
        """Lets other users reach the files in here, as far as the modes of these allow."""
        for directory in (self.path, *self.path.parents):
            mode = directory.stat().st_mode
            if not mode & 0o001:
                directory.chmod(mode & 0o7777 | 0o011)

    def on_close(self, function):
        self.closers.append(function)

    def check(self):
        """Stops every server that still runs, and raises if one failed."""
        for server in self.servers:
            server.stop()

    def logs(self):
        """Returns the end of each program's output."""
        text = ""
        for log in sorted(self.path.glob("*.log")):
            lines = log.read_text(errors="replace").splitlines()[-12:]
            text += "".join(f"    {log.stem}: {line[:600]}\n" for line in lines)
        return text

    def close(self):
        """Kills all started programs and removes all written files."""
        for server in self.servers:
            server.end_requests()
        for process in reversed(self.processes):
            process.kill()
        for closer in reversed(self.closers):
            closer()
        shutil.rmtree(self.path, ignore_errors=True)


# Re-exported for cases; at the end, because these modules import this one.
from remotes import GitDaemon, HttpProxy, SmartHttp, Sshd, TcpProxy, make_ca  # noqa: E402,F401
