"""`waypost add --repo`: links pushed over the network, by one writer and by several."""

import os
import threading

from scene import GitDaemon, SmartHttp, Sshd, case, make_ca, table

NEW = "https://new.example/"


def add(scene, remote, *arguments, url=NEW, env=None):
    """Runs `waypost add` and returns (status, standard output, standard error)."""
    command = [os.environ["WAYPOST"], "add", url, "--repo", remote, *arguments]
    done = scene.run(*command, env=env)
    return done.returncode, done.stdout.strip(), done.stderr


def held(scene, branch="main"):
    return scene.git("show", f"{branch}:mapping.yaml", cwd=scene.bare)


def adds(scene, remote, *arguments, env=None):
    """Checks that a link is added once, on a history of several commits."""
    scene.push(table("one"))
    scene.push(table("two"))
    before = scene.head(scene.bare, "main")
    status, link, output = add(scene, remote, "--code=new", *arguments, env=env)
    assert (status, link) == (0, "http://w.example/new"), (status, link, output)
    assert scene.head(scene.bare, "main~1") == before
    assert NEW in held(scene) and "version.example/two" in held(scene)
    status, link, output = add(scene, remote, *arguments, env=env)
    assert (status, link) == (1, "") and "ERR-000-02-00" in output, (status, link, output)
    assert list(scene.temp.iterdir()) == [], list(scene.temp.iterdir())


def password(word="word", name="writer"):
    return {"WAYPOST_GIT_USERNAME": name, "WAYPOST_GIT_PASSWORD": word}


def hook(scene, name, script):
    file = scene.bare / "hooks" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def race(scene, remote, *arguments, env=None, writers=4, links=4):
    """Has several writers add the same links and links of their own, all numbered."""
    scene.push(table("one"))
    ended = []

    def write(writer):
        for n in range(links):
            for url in (f"https://{writer}.example/{n}", f"https://shared.example/{n}"):
                ended.append(add(scene, remote, "--number=next", *arguments, url=url, env=env))

    threads = [threading.Thread(target=write, args=[writer]) for writer in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    given = [link for status, link, _ in ended if status == 0]
    refused = [output for status, _, output in ended if status]
    assert all("ERR-000-02-00" in output for output in refused), refused
    expected = writers * links + links
    assert len(ended) == 2 * writers * links and len(given) == len(set(given)) == expected, ended
    numbers = [line.split()[-1] for line in held(scene).splitlines() if "number:" in line]
    assert sorted(map(int, numbers)) == list(range(1, expected + 1)), numbers
    assert scene.git("rev-list", "--count", "--no-merges", "main", cwd=scene.bare) == str(expected + 1)


@case("add over https with a password")
def over_https(scene):
    authority, certificate = make_ca(scene)
    remote = SmartHttp(scene, users={"writer": "word"}, certificate=certificate).up()
    env = {**password(), "SSL_CERT_FILE": str(authority)}
    adds(scene, remote.url(), env=env)


@case("add over ssh with a key")
def over_ssh(scene):
    remote = Sshd(scene).up()
    adds(scene, remote.url(), "--ssh-key", remote.key, "--known-hosts", remote.known_hosts)


@case("add to a file:// address")
def to_file(scene):
    adds(scene, f"file://{scene.bare}")


@case("add over http in a race")
def race_over_http(scene):
    remote = SmartHttp(scene, users={"writer": "word"}).up()
    race(scene, remote.url(), env=password())


@case("add over ssh in a race")
def race_over_ssh(scene):
    remote = Sshd(scene).up()
    keys = ("--ssh-key", remote.key, "--known-hosts", remote.known_hosts)
    race(scene, remote.url(), *keys, writers=3, links=3)


@case("add refused by a hook over http")
def refused_by_hook(scene):
    commit = scene.push(table("one"))
    hook(scene, "pre-receive", "echo no links on Sundays; exit 1")
    remote = SmartHttp(scene, users={"writer": "word"}).up()
    status, link, output = add(scene, remote.url(), env=password())
    assert (status, link) == (1, ""), (status, link, output)
    assert "pre-receive hook declined: no links on Sundays" in output, output
    assert scene.head(scene.bare, "main") == commit


@case("add without the right to push")
def no_right_to_push(scene):
    commit = scene.push(table("one"))
    # Without users there is no login, and Git refuses all pushes.
    remote = SmartHttp(scene).up()
    status, link, output = add(scene, remote.url(), env=password())
    assert (status, link) == (3, "") and "403" in output and "word" not in output, (status, link, output)
    daemon = GitDaemon(scene).up()
    status, link, output = add(scene, daemon.url())
    assert (status, link) == (3, ""), (status, link, output)
    assert scene.head(scene.bare, "main") == commit


@case("add whose answer is lost over http")
def answer_lost(scene):
    scene.push(table("one"))
    hook(scene, "reference-transaction", "test $1 = committed || exit 0; kill -9 $PPID")
    remote = SmartHttp(scene, users={"writer": "word"}).up()
    status, link, output = add(scene, remote.url(), "--code=new", env=password())
    assert (status, link) == (0, "http://w.example/new"), (status, link, output)
    assert held(scene).count(NEW) == 1


@case("add on a branch for review over http")
def for_review(scene):
    commit = scene.push(table("one"))
    hook(scene, "post-receive", "echo Open a pull request: https://git.example.org/new/links")
    remote = SmartHttp(scene, users={"writer": "word"}).up()
    status, _, output = add(scene, remote.url(), "--branch=links", env=password())
    assert status == 0 and "open a pull request: https://git.example.org/new/links\n" in output, output
    assert scene.head(scene.bare, "main") == scene.head(scene.bare, "links~1") == commit
    status, _, output = add(scene, remote.url(), "--branch=links", env=password())
    assert status == 1 and "the branch links already exists" in output, (status, output)
