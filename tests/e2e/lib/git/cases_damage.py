"""Damage: slow and cut remotes, broken clones, full and read-only disks, foreign owners, limits."""

import json
import os
import random
import shutil
import signal
import subprocess
from pathlib import Path

from scene import GitDaemon, SmartHttp, TcpProxy, case, table, wait_until
from server import command

NOBODY = 65534

# Root without capabilities, restricted by file modes like any other user.
ORDINARY = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")

# Everything is read-only except one small file system for temporary files. PROBE must be
# unwritable.
READ_ONLY_ROOT = (
    "unshare", "--mount", "sh", "-c",
    """
    mount --make-rprivate /
    for place in $(findmnt --raw --noheadings --output TARGET); do
        mount -o remount,bind,ro "$place" 2>/dev/null || true
    done
    mount -t tmpfs -o size=16m tmpfs "$TMPDIR" || exit 99
    touch "$PROBE" 2>/dev/null && exit 98
    exec "$@"
    """,
    "sh",
)  # fmt: skip


def noise(size, seed=1):
    """Returns text that cannot be compressed to much less than half."""
    return random.Random(seed).randbytes(size // 2).hex() + "\n"


def must_be_root():
    assert os.geteuid() == 0, "only root can mount, and give files to another user"


def mount(scene, size):
    """Mounts a small file system, which is removed with the scene."""
    must_be_root()
    place = scene.path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", place], check=True)
    # Lazily: a case that failed may have left something open.
    scene.on_close(lambda: subprocess.run(["umount", "--lazy", place], check=False))
    return place


def fill(file):
    """Writes until the disk is full."""
    with file.open("wb", buffering=0) as filler:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while filler.write(b"x" * size):
                    pass
            except OSError:
                continue


def clone_in(state):
    """Returns the current clone."""
    return state / json.loads((state / "state.json").read_text())["clone"]


def break_packs(clone):
    packs = list((clone / "objects/pack").glob("*.pack"))
    assert packs, f"no pack in {clone}"
    for pack in packs:
        content = bytearray(pack.read_bytes())
        content[12:-20] = b"\xaa" * (len(content) - 32)
        pack.chmod(0o644)
        pack.write_bytes(content)


def proxied(scene, kind=GitDaemon):
    """Returns a proxy in front of a remote, and the remote's address through it."""
    remote = kind(scene).up()
    proxy = TcpProxy(scene, remote.port)
    if kind is GitDaemon:
        return proxy, remote.url(port=proxy.port)
    return proxy, remote.url().replace(f":{remote.port}/", f":{proxy.port}/")


def fetching(server, proxy):
    """Waits until a fetch is under way through it."""
    wait_until(lambda: proxy.open, "a fetch is under way")


def times_out(scene, kind, **treatment):
    scene.push(table("one"))
    proxy, url = proxied(scene, kind)
    server = scene.server("--repo", url, "--git-timeout", "1s")
    for name, value in treatment.items():
        setattr(proxy, name, value)
    second = scene.push(table("two"))
    error = server.fails_to_fetch("longer than 1s", "git timeout")
    server.after_fetches(2, "timed_out")
    assert server.remote()["last_fetch"]["result"] == "timed_out", error
    assert server.version() == "one" and server.ready()
    # It still obeys signals.
    server.send(signal.SIGHUP)
    assert server.remote()["served"]["commit"] != second
    for name, value in {"hold": False, "pause": 0, "chunk": 65536}.items():
        setattr(proxy, name, value)
    server.reload()
    server.serves("two", second)
    # And it stops in the middle of a fetch.
    for name, value in treatment.items():
        setattr(proxy, name, value)
    fetching(server, proxy)
    server.stop()


@case("silent remote, by git")
def silent_git(scene):
    times_out(scene, GitDaemon, hold=True)


@case("silent remote, by http")
def silent_http(scene):
    times_out(scene, SmartHttp, hold=True)


@case("dripping remote, by git")
def dripping_git(scene):
    times_out(scene, GitDaemon, pause=0.3, chunk=1)


@case("dripping remote, by http")
def dripping_http(scene):
    times_out(scene, SmartHttp, pause=0.3, chunk=1)


@case("silent remote at start")
def silent_at_start(scene):
    proxy = TcpProxy(scene)
    url = f"git://127.0.0.1:{proxy.port}/links.git"
    status, said = scene.refusal("--repo", url, "--git-timeout", "1s")
    assert status == 3 and "longer than 1s" in said and "--git-timeout" in said, (status, said)
    # Stopped before there is a table.
    for more in ((), ("--wait",)):
        before = proxy.connections
        waiting = scene.start("waiting", *command(["--repo", url, "--git-timeout", "1h", *more]))
        wait_until(lambda: proxy.connections > before, "it fetches")  # noqa: B023
        waiting.send(signal.SIGTERM)
        assert waiting.wait() == 0, waiting.text()
        assert not list(scene.temp.glob("waypost-*")), "the temporary clone is left behind"


@case("SIGTERM in the middle of a fetch")
def stopped(scene):
    scene.push(table("one"))
    proxy, url = proxied(scene)
    server = scene.server("--repo", url, "--git-timeout", "1h")
    proxy.hold = True
    fetching(server, proxy)
    server.stop()
    assert not list(scene.temp.glob("waypost-*")), "the temporary clone is left behind"


@case("killed in the middle of a fetch")
def killed(scene):
    scene.push(table("one"))
    proxy, url = proxied(scene)
    state = scene.path / "state"
    options = ("--repo", url, "--state-dir", state)
    server = scene.server(*options)
    scene.write(noise(2_000_000), "noise")
    before = proxy.sent
    proxy.pause, proxy.chunk = 0.05, 8192
    second = scene.push(table("two"))
    wait_until(lambda: proxy.sent > before + 100_000 and proxy.open, "half of a pack has arrived")
    server.kill()
    proxy.pause, proxy.chunk = 0, 65536
    proxy.hold = True
    server = scene.server(*options)
    assert server.version() == "one"
    proxy.hold = False
    server.serves("two", second)
    left = [it for it in state.rglob("*") if "_git2_" in it.name]
    assert not left and len(list(state.glob("clone-*"))) == 1, left


@case("transfer cut half-way")
def cut(scene):
    scene.push(table("one"))
    for kind in (GitDaemon, SmartHttp):
        proxy, url = proxied(scene, kind)
        state = scene.path / f"state-{kind.name}"
        server = scene.server("--repo", url, "--state-dir", state)
        live = server.version()
        proxy.cut_after = 200_000
        scene.write(noise(2_000_000, seed=kind.name), "noise")
        commit = scene.push(table(f"after-{kind.name}"))
        server.after_fetches(3, "failed")
        assert server.fetch_error() and server.version() == live and server.ready()
        proxy.cut_after = None
        server.reload()
        server.serves(f"after-{kind.name}", commit)
        left = [it for it in state.rglob("*") if "_git2_" in it.name or it.suffix == ".lock"]
        assert not [it for it in left if it.name != "waypost.lock"], left
        server.stop()


@case("corrupt pack in the state directory")
def corrupt_pack(scene):
    first = scene.push(table("one"))
    state = scene.path / "state"
    options = ("--repo", scene.bare, "--state-dir", state)
    server = scene.server(*options)
    server.stop()
    # At a restart.
    old = clone_in(state)
    break_packs(old)
    server = scene.server(*options)
    server.serves("one", first)
    wait_until(lambda: clone_in(state) != old and not old.exists(), "a fresh clone is current")
    # While it is served.
    old = clone_in(state)
    break_packs(old)
    server.serves("two", scene.push(table("two")))
    assert server.reload()[0] == 200
    wait_until(lambda: server.fetch_error() is None, "it can be followed again")
    # Even with the remote down: the live table is in memory.
    break_packs(clone_in(state))
    scene.bare.rename(scene.path / "away")
    server.after_fetches(1, "failed")
    status, text = server.reload()
    assert status == 503 and server.version() == "two", (status, text)
    (scene.path / "away").rename(scene.bare)
    server.reload()
    server.serves("three", scene.push(table("three")))


@case("clone that lost its files")
def lost_files(scene):
    scene.push(table("v0"))
    state = scene.path / "state"
    server = scene.server("--repo", scene.bare, "--state-dir", state)
    for number, lost in enumerate(("HEAD", "config", "objects", "refs", ".")):
        clone = clone_in(state)
        place = clone / lost
        shutil.rmtree(place) if place.is_dir() else place.unlink()
        version = f"v{number + 1}"
        server.serves(version, scene.push(table(version)))
        wait_until(lambda: server.fetch_error() is None, f"it is followed without {lost}")  # noqa: B023


@case("stale lock")
def stale_lock(scene):
    scene.push(table("one"))
    state = scene.path / "state"
    options = ("--repo", GitDaemon(scene).up().url(), "--state-dir", state)
    server = scene.server(*options)

    def leave_locks():
        left = ["HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock", "refs/waypost/tip.lock"]
        for name in (*left, "objects/pack/pack_git2_0123456789abcdef"):
            (clone_in(state) / name).touch()

    leave_locks()
    server.serves("two", scene.push(table("two")))
    server.kill()
    leave_locks()
    assert (state / "lock").exists()
    server = scene.server(*options)
    assert server.version() == "two"
    server.serves("three", scene.push(table("three")))
    assert server.fetch_error() is None
    # A lock that another process holds is a different problem.
    status, said = scene.refusal(*options)
    assert status == 3 and "another process uses the state directory" in said, (status, said)


@case("full disk")
def full_disk(scene):
    scene.push(table("one"))
    small = mount(scene, "4m")
    state = small / "state"
    options = ("--repo", scene.bare, "--state-dir", state)
    server = scene.server(*options)
    filler = small / "filler"
    fill(filler)
    scene.write(noise(200_000), "noise")
    second = scene.push(table("two"))
    server.after_fetches(2, "failed")
    error = server.fetch_error()
    assert "No space left" in error, error
    assert server.version() == "one" and server.ready()
    # A restart needs no space.
    server.stop()
    server = scene.server(*options)
    assert server.version() == "one"
    server.after_fetches(1, "failed")
    filler.unlink()
    server.reload()
    server.serves("two", second)
    wait_until(lambda: server.fetch_error() is None, "it can be followed again")
    # A table that never fits behaves the same.
    scene.write(noise(10_000_000), "noise")
    scene.push(table("three"))
    server.after_fetches(2, "failed")
    assert server.version() == "two"
    (scene.work / "noise").unlink()
    scene.git("reset", "--quiet", "--soft", "HEAD^")
    commit = scene.push(table("four"))
    server.reload()
    server.serves("four", commit)


@case("read-only state directory")
def read_only_state(scene):
    first = scene.push(table("one"))
    small = mount(scene, "4m")
    state = small / "state"
    options = ("--repo", scene.bare, "--state-dir", state)
    scene.server(*options).stop()
    subprocess.run(["mount", "-o", "remount,ro", small], check=True)
    server = scene.server(*options)
    server.serves("one", first)
    second = scene.push(table("two"))
    server.fails_to_fetch(str(state), "Read-only")
    assert server.version() == "one" and server.ready()
    subprocess.run(["mount", "-o", "remount,rw", small], check=True)
    server.reload()
    server.serves("two", second)


@case("state directory that may not be written any more")
def forbidden_state(scene):
    must_be_root()
    scene.push(table("one"))
    state = scene.path / "state"
    server = scene.server("--repo", scene.bare, "--state-dir", state, within=ORDINARY)
    directories = [state, *(it for it in state.rglob("*") if it.is_dir())]
    files = [it for it in state.rglob("*") if it.is_file()]
    modes = {it: it.stat().st_mode & 0o7777 for it in (*directories, *files)}
    for it, mode in modes.items():
        it.chmod(mode & ~0o222)
    second = scene.push(table("two"))
    server.fails_to_fetch(str(state), "Permission denied")
    assert server.version() == "one"
    for it, mode in modes.items():
        it.chmod(mode)
    server.reload()
    server.serves("two", second)


    server.stop()
    # The owner is not advised to change the owner.
    state.chmod(0o500)
    (state / "lock").unlink()
    status, said = scene.refusal("--repo", scene.bare, "--state-dir", state, within=ORDINARY)
    assert status == 3 and f"cannot write to the state directory {state}" in said, (status, said)


@case("repository of another user")
def foreign_repository(scene):
    must_be_root()
    first = scene.push(table("one"))
    subprocess.run(["chown", "-R", str(NOBODY), scene.bare], check=True)
    status, said = scene.refusal("--repo", scene.bare)
    assert status == 3 and "not owned by" in said and "safe.directory" in said, (status, said)
    (scene.home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {scene.bare}\n")
    scene.server("--repo", scene.bare).serves("one", first)


@case("read-only root")
def read_only_root(scene):
    must_be_root()
    first = scene.push(table("one"))
    probe = scene.home / "probe"
    options = {"within": READ_ONLY_ROOT, "env": {"PROBE": str(probe)}}
    server = scene.server("--repo", GitDaemon(scene).up().url(), **options)
    server.serves("one", first)
    server.serves("two", scene.push(table("two")))
    assert not probe.exists() and not list(scene.temp.iterdir())
    server.stop()
    # The state directory may be on it as well.
    state = scene.temp / "state"
    server = scene.server("--repo", scene.bare, "--state-dir", state, **options)
    server.serves("three", scene.push(table("three")))


@case("restart from state with the remote down")
def restart(scene):
    first = scene.push(table("one"))
    daemon = GitDaemon(scene).up()
    state = scene.path / "state"
    options = ("--repo", daemon.url(), "--state-dir", state)
    scene.server(*options).stop()
    daemon.down()
    server = scene.server(*options)
    assert server.version() == "one"
    server.after_fetches(1, "failed")
    remote = server.remote()
    assert remote["served"]["commit"] == first and remote["last_error"], remote
    assert remote["last_success"] is None and server.ready()
    daemon.up()
    server.reload()
    server.serves("two", scene.push(table("two")))
    # A bad table was fetched last: the last good one is what a restart serves.
    bad = scene.push("mapping: [")
    wait_until(lambda: server.status()["last_error"], "the table is refused")
    assert server.remote()["tip"] == bad
    server.stop()
    daemon.down()
    server = scene.server(*options)
    assert server.version() == "two"


@case("state directory of another user")
def foreign_state(scene):
    must_be_root()
    scene.push(table("one"))
    state = scene.path / "state"
    options = ("--repo", scene.bare, "--state-dir", state)
    scene.server(*options).stop()
    subprocess.run(["chown", "-R", str(NOBODY), state], check=True)
    for within in ((), ORDINARY):
        status, said = scene.refusal(*options, within=within)
        assert status == 3, (status, said)
        for word in (str(state), f"belongs to user {NOBODY}", "chown -R", "--state-dir"):
            assert word in said, said
    subprocess.run(["chown", "-R", str(os.geteuid()), state], check=True)
    assert scene.server(*options).version() == "one"


@case("table over the limit")
def too_large(scene):
    scene.push(table("one"))
    server = scene.server("--repo", scene.bare, "--max-table-bytes", "10000")
    scene.push(table("two", f"# {'x' * 10_000}"))
    message = last_error(server)
    assert "larger than 10000 bytes" in message and "--max-table-bytes" in message, message
    assert server.version() == "one" and server.fetches("failed") == 0
    server.serves("three", scene.push(table("three", f"# {'x' * 5_000}")))
    # Several files are one table.
    rest = f"# {'x' * 6_000}\nmapping: []\n"
    scene.push(rest, "links/a.yaml")
    scene.push(table("four", f"# {'x' * 5_000}"), "links/b.yaml")
    status, said = scene.refusal("--repo", scene.bare, "--path", "links", "--max-table-bytes", "10000")
    assert status == 3 and "larger than 10000 bytes at links/b.yaml" in said, (status, said)


def last_error(server):
    error = wait_until(lambda: server.status()["last_error"], "the table is refused")
    return error["message"]


@case("symbolic link, submodule or LFS pointer as the table")
def no_file(scene):
    scene.push(table("v0"))
    server = scene.server("--repo", scene.bare)
    path = scene.work / "mapping.yaml"

    def link():
        path.symlink_to("other.yaml")
        (scene.work / "other.yaml").write_text(table("linked"))
        return scene.push()

    def submodule():
        (scene.work / "other.yaml").unlink()
        commit = scene.commit()
        scene.git("update-index", "--add", "--cacheinfo", f"160000,{commit},mapping.yaml")
        scene.git("commit", "--quiet", "-m", "Submodule")
        scene.push_commit("HEAD")
        scene.git("rm", "--quiet", "--cached", "mapping.yaml")
        return scene.head()

    def pointer():
        sha = "0" * 64
        return scene.push(f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha}\nsize 1234\n")

    made = [(link, "a symbolic link"), (submodule, "a submodule"), (pointer, "a Git LFS pointer")]
    for number, (make, kind) in enumerate(made, 1):
        path.unlink()
        commit = make()
        message = f"mapping.yaml is {kind} in the commit {commit}"
        wait_until(lambda: message in last_error(server), f"it reports that {message}")  # noqa: B023
        assert server.version() == f"v{number - 1}" and server.ready()
        path.unlink(missing_ok=True)
        server.serves(f"v{number}", scene.push(table(f"v{number}")))
        # The table is served before the end of the reload is recorded.
        wait_until(lambda: server.status()["last_error"] is None, "the error is cleared")


@case("memory and open files over many fetches")
def flat(scene):
    scene.push(table("start"))
    state = scene.path / "state"
    server = scene.server(
        "--repo", scene.bare, "--state-dir", state, "--pull-interval", "24h",
        env={"WAYPOST_HOOK_SECRET": "secret"},
    )  # fmt: skip
    process = Path(f"/proc/{server.process.pid}")

    def advance(number):
        """Writes a commit directly into the bare repository, and has it fetched."""
        run = lambda *it, text: scene.run("git", *it, cwd=scene.bare, input=text).stdout.strip()  # noqa: E731
        blob = run("hash-object", "-w", "--stdin", text=table(f"v{number}"))
        tree = run("mktree", text=f"100644 blob {blob}\tmapping.yaml\n")
        commit = run("commit-tree", tree, "-p", "main", "-m", str(number), text="")
        scene.git("update-ref", "refs/heads/main", commit, cwd=scene.bare)
        assert server.post("/-/hook", headers={"X-Gitlab-Token": "secret"})[0] == 202
        server.serves(f"v{number}")

    def measure():
        """Returns the memory in KiB and the number of open files, the minimum of several samples."""
        looks = []
        for _ in range(5):
            status = (process / "status").read_text()
            memory = int(status.split("VmRSS:")[1].split()[0])
            looks.append((memory, len(list((process / "fd").iterdir()))))
            server.version()
        return min(it[0] for it in looks), min(it[1] for it in looks)

    warm, last = 30, 130
    for number in range(warm):
        advance(number)
    memory, files = measure()
    for number in range(warm, last):
        advance(number)
    memory_now, files_now = measure()
    assert server.fetches("updated") >= last
    assert memory_now < memory + 8 * 1024, f"from {memory} to {memory_now} KiB"
    assert files_now <= files + 8, f"from {files} to {files_now} open files"
    # A clone with too many packs was replaced meanwhile.
    assert len(list(state.glob("clone-*"))) == 1
    assert len(list(clone_in(state).glob("objects/pack/*.pack"))) < 70


@case("stale table")
def stale(scene):
    scene.push(table("one"))
    daemon = GitDaemon(scene).up()
    patient = scene.server("--repo", daemon.url())
    server = scene.server("--repo", daemon.url(), "--max-staleness", "2s")
    assert server.ready()
    daemon.down()
    wait_until(lambda: not server.ready(), "a stale table is not ready")
    assert server.version() == "one" and server.fetch_error()
    # It is alive, and its public health check passes: staleness affects only readiness.
    assert server._ask(server.admin, "GET", "/livez")[0] == 200 and server.get("/healthz")[0] == 200
    assert patient.fetches("failed") and patient.ready()
    daemon.up()
    server.reload()
    assert server.ready()
