"""Checkouts: pulled by the server, by cron, by people, and by all of them at once."""

import os
import signal
import subprocess

from scene import GitDaemon, case, table, wait_until

NOBODY = 65534

# A typical cron job, only more frequent. SIGTERM ends it after the pull that is under way.
CRON = "trap 'stop=1' TERM; while [ -z \"$stop\" ]; do git pull --quiet --ff-only; sleep 0.2; done"


def checkout_of(scene, repository=None):
    checkout = scene.path / "checkout"
    scene.git("clone", "--quiet", repository or scene.bare, checkout)
    return checkout


def pulling(scene, checkout, *more):
    return scene.server("--table", checkout / "mapping.yaml", "--pull", "200ms", *more)


def revision(server):
    return server.status()["revision"]


def is_clean(server, commit):
    """Waits until the live revision is a commit, and the table is reported as clean."""

    def clean():
        now = revision(server)
        return now["commit"] == commit and not now["dirty"]

    wait_until(clean, f"the revision is {commit}, not dirty")


def is_healthy(scene, checkout, head):
    """Asserts that nothing is broken, changed or left over in a checkout."""
    found = scene.run("git", "fsck", "--full", "--strict", "--no-dangling", cwd=checkout)
    assert found.returncode == 0 and not found.stdout, found.stdout + found.stderr
    assert scene.git("status", "--porcelain", cwd=checkout) == ""
    assert scene.git("diff", "--cached", "--name-only", cwd=checkout) == ""
    assert scene.git("symbolic-ref", "HEAD", cwd=checkout) == "refs/heads/main"
    assert scene.head(checkout) == head
    left = [it for it in (checkout / ".git").rglob("*") if it.suffix == ".lock" or "waypost" in it.name]
    assert not left, left


@case("pull fast-forwards")
def fast_forwards(scene):
    first = scene.push(table("one"))
    checkout = checkout_of(scene)
    server = pulling(scene, checkout)
    is_clean(server, first)
    for version in ("two", "three"):
        commit = scene.push(table(version))
        server.serves(version, commit)
        is_clean(server, commit)
    # A file that is added, one that is removed, and an untracked one.
    scene.write("a\n", "docs/new")
    (checkout / "mine").write_text("not for git\n")
    commit = scene.push(table("four"))
    is_clean(server, commit)
    assert (checkout / "docs/new").read_text() == "a\n"
    (scene.work / "docs/new").unlink()
    commit = scene.push(table("five"))
    is_clean(server, commit)
    assert not (checkout / "docs/new").exists()
    assert (checkout / "mine").read_text() == "not for git\n"
    (checkout / "mine").unlink()
    server.stop()
    is_healthy(scene, checkout, commit)


@case("pull when asked")
def when_asked(scene):
    scene.push(table("one"))
    checkout = checkout_of(scene)
    server = scene.server("--table", checkout / "mapping.yaml", "--pull", "24h")
    commit = scene.push(table("two"))
    status, text = server.reload()
    assert status == 200 and commit in text, (status, text)
    assert server.version() == "two"


@case("pull with the remote down")
def remote_down(scene):
    scene.push(table("one"))
    daemon = GitDaemon(scene).up()
    checkout = checkout_of(scene, daemon.url())
    daemon.down()
    server = pulling(scene, checkout)
    assert server.version() == "one"
    server.after_fetches(2, "failed")
    daemon.up()
    server.serves("two", scene.push(table("two")))


@case("pull over local changes")
def local_changes(scene):
    first = scene.push(table("one"))
    checkout = checkout_of(scene)
    server = pulling(scene, checkout)
    mine = table("mine")
    (checkout / "mapping.yaml").write_text(mine)
    server.serves("mine")
    assert revision(server)["dirty"]
    commit = scene.push(table("two"))
    server.fails_to_fetch("local changes", "mapping.yaml")
    server.after_fetches(1, "failed")
    assert (checkout / "mapping.yaml").read_text() == mine and scene.head(checkout) == first
    assert server.version() == "mine"
    # A change that is only staged counts as well.
    scene.git("add", "mapping.yaml", cwd=checkout)
    server.after_fetches(1, "failed")
    assert scene.git("show", ":mapping.yaml", cwd=checkout) + "\n" == mine
    scene.git("reset", "--quiet", "--hard", cwd=checkout)
    server.serves("two", commit)
    # Nor is an untracked file overwritten.
    (checkout / "notes").write_text("mine\n")
    scene.write("theirs\n", "notes")
    commit = scene.push(table("three"))
    server.fails_to_fetch("local changes", "notes")
    assert (checkout / "notes").read_text() == "mine\n" and server.version() == "two"
    (checkout / "notes").unlink()
    server.serves("three", commit)
    server.stop()
    is_healthy(scene, checkout, commit)


@case("pull of a diverged branch")
def diverged(scene):
    scene.push(table("one"))
    checkout = checkout_of(scene)
    server = pulling(scene, checkout)
    ours = scene.commit(table("ours"), work=checkout)
    server.serves("ours", ours)
    # Ahead of the remote is no problem.
    server.after_fetches(2, "unchanged")
    commit = scene.push(table("theirs"))
    server.fails_to_fetch("main", "cannot be fast-forwarded")
    server.after_fetches(2, "failed")
    assert scene.head(checkout) == ours and server.version() == "ours"
    assert (checkout / "mapping.yaml").read_text() == table("ours")
    assert server.ready()
    scene.git("reset", "--quiet", "--hard", "origin/main", cwd=checkout)
    server.serves("theirs", commit)
    wait_until(lambda: server.fetch_error() is None, "the pull succeeds")
    server.stop()
    is_healthy(scene, checkout, commit)


@case("pull while the checkout is locked")
def locked(scene):
    first = scene.push(table("one"))
    checkout = checkout_of(scene)
    server = pulling(scene, checkout)
    lock = checkout / ".git/index.lock"
    lock.touch()
    commit = scene.push(table("two"))
    fetched = lambda: scene.run("git", "cat-file", "-e", commit, cwd=checkout).returncode == 0  # noqa: E731
    wait_until(fetched, "the commit is fetched")
    server.fails_to_fetch(str(lock))
    assert scene.head(checkout) == first and lock.exists() and server.version() == "one"
    lock.unlink()
    server.serves("two", commit)


@case("cron alone")
def cron_alone(scene):
    scene.push(table("one"))
    checkout = checkout_of(scene)
    server = scene.server("--table", checkout / "mapping.yaml")
    scene.start("cron", "sh", "-c", CRON, cwd=checkout)
    for number in range(12):
        version = f"v{number}"
        commit = scene.push(table(version))
        server.serves(version)
        is_clean(server, commit)
    # A commit that does not change the table is a new revision of it, too.
    scene.write("read me\n", "README")
    is_clean(server, scene.push())
    assert server.fetches() == 0


@case("cron alone, for a directory")
def cron_directory(scene):
    scene.push(table("one"), "links/a.yaml")
    checkout = checkout_of(scene)
    server = scene.server("--table", checkout / "links")
    scene.start("cron", "sh", "-c", CRON, cwd=checkout)
    more = "mapping:\n- {url: 'https://more.example/', short-code: more}\n"
    is_clean(server, scene.push(more, "links/b.yaml"))
    assert server.get("/more") == (302, "https://more.example/")
    (scene.work / "links/b.yaml").unlink()
    is_clean(server, scene.push(table("two"), "links/a.yaml"))
    assert server.get("/more")[0] == 404 and server.version() == "two"


@case("cron, a person and the server pull at once")
def all_at_once(scene):
    scene.push(table("v0"))
    checkout = checkout_of(scene)
    server = pulling(scene, checkout)
    cron = scene.start("cron", "sh", "-c", CRON, cwd=checkout)

    def insist(work, *arguments):
        """Retries, as people do, if another git holds the lock or pushed first."""
        wait_until(lambda: scene.run("git", *arguments, cwd=work).returncode == 0, f"git {arguments}")

    notes = []
    for number in range(1, 21):
        # Someone else merges a change of the table: whichever of the two pulls first brings it
        # here.
        commit = scene.commit(table(f"v{number}"), message=f"v{number}")
        scene.git("push", "--quiet", "origin", "HEAD:main")
        wait_until(lambda: scene.head(checkout) == commit, "the checkout is pulled")  # noqa: B023
        # Someone commits in the same checkout that is pulled.
        (checkout / f"note-{number}").write_text(f"{number}\n")
        insist(checkout, "add", f"note-{number}")
        insist(checkout, "commit", "--quiet", "-m", f"note {number}", f"note-{number}")
        insist(checkout, "push", "--quiet")
        notes.append(f"note {number}")
        scene.git("pull", "--quiet", "--ff-only", "origin", "main")
    head = scene.head(scene.bare, "main")
    server.serves("v20")
    is_clean(server, head)
    wait_until(lambda: server.fetch_error() is None, "the pull succeeds")
    subjects = scene.git("log", "--format=%s", cwd=checkout).splitlines()
    assert [it for it in reversed(subjects) if it in notes] == notes, subjects
    server.stop()
    # A killed git leaves its locks.
    cron.send(signal.SIGTERM)
    cron.wait()
    is_healthy(scene, checkout, head)


@case("checkout of another user")
def another_user(scene):
    assert os.geteuid() == 0, "only root can give files to another user"
    scene.push(table("one"))
    daemon = GitDaemon(scene).up()
    checkout = checkout_of(scene, daemon.url())
    scene.let_others_in()
    subprocess.run(["chown", "-R", str(NOBODY), checkout], check=True)
    server = scene.server("--table", checkout / "mapping.yaml")
    warning = lambda: [it for it in server.log() if "another user" in it.get("warning", "")]  # noqa: E731
    wait_until(warning, "there is a warning")
    assert f"safe.directory {checkout}" in warning()[0]["warning"]
    # Its owner's cron job pulls, and the table is followed, without its commit.
    owner = ("setpriv", f"--reuid={NOBODY}", "--clear-groups")
    scene.start("cron", *owner, "sh", "-c", CRON, cwd=checkout, env={"HOME": str(checkout)})
    scene.push(table("two"))
    server.serves("two")
    assert revision(server)["commit"] is None and len(warning()) == 1
    # The message says how to pull it.
    server.stop()
    server = pulling(scene, checkout)
    server.fails_to_fetch("belongs to another user", "safe.directory")
    scene.push(table("three"))
    server.serves("three")
