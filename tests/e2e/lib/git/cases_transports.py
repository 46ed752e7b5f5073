"""Transports: git, HTTP, TLS, SSH, proxies; and connections that must be refused."""

import base64
import getpass
import os

from scene import (
    GitDaemon,
    HttpProxy,
    SmartHttp,
    Sshd,
    TcpProxy,
    case,
    free_port,
    make_ca,
    table,
    wait_until,
)


def takes_up(scene, server, version="two"):
    server.serves(version, commit=scene.push(table(version)))


def login(password, username="reader"):
    return {"WAYPOST_GIT_USERNAME": username, "WAYPOST_GIT_PASSWORD": password}


def keeps_secret(text, *secrets):
    """Checks that a text contains no secret, neither plain nor as HTTP encodes it."""
    for secret in secrets:
        encoded = base64.b64encode(f"reader:{secret}".encode()).decode()
        for form in (secret, encoded):
            assert form not in text, f"a secret is shown: {text[max(0, text.index(form) - 200) :][:400]}"


# When the remote is down


@case("remote down at start without state")
def down_without_state(scene):
    scene.push(table("one"))
    daemon = GitDaemon(scene)
    status, said = scene.refusal("--repo", daemon.url())
    assert status == 3, (status, said)
    assert "no table from git://127.0.0.1" in said, said
    server = scene.server("--repo", daemon.url(), "--wait", live=False)
    server.after_fetches(2, "failed")
    assert not server.ready()
    daemon.up()
    server.serves("one")
    assert server.ready()


@case("remote down at start with state")
def down_with_state(scene):
    commit = scene.push(table("one"))
    daemon = GitDaemon(scene).up()
    arguments = ("--repo", daemon.url(), "--state-dir", scene.path / "state")
    scene.server(*arguments).stop()
    daemon.down()
    newer = scene.push(table("two"))
    server = scene.server(*arguments)
    assert server.version() == "one" and server.ready()
    assert server.status()["revision"]["commit"] == commit
    server.after_fetches(2, "failed")
    daemon.up()
    server.serves("two", commit=newer)


@case("remote hangs at start with state")
def hangs_with_state(scene):
    commit = scene.push(table("one"))
    daemon = GitDaemon(scene).up()
    proxy = TcpProxy(scene, upstream=daemon.port)
    remote = daemon.url(port=proxy.port)
    arguments = ("--repo", remote, "--state-dir", scene.path / "state", "--git-timeout", "1h")
    scene.server(*arguments).stop()
    proxy.hold = True
    # The fetch may take an hour, but the stored table is served immediately.
    server = scene.server(*arguments)
    assert server.version() == "one" and server.ready()
    assert server.status()["revision"]["commit"] == commit
    assert server.fetches() == 0


@case("remote down later")
def down_later(scene):
    scene.push(table("one"))
    daemon = GitDaemon(scene).up()
    server = scene.server("--repo", daemon.url(), "--max-staleness", "2s")
    patient = scene.server("--repo", daemon.url())
    for version in ("two", "three"):
        daemon.down()
        server.after_fetches(2, "failed")
        assert server.version() == patient.version() != version
        wait_until(lambda: not server.ready(), "the server is too stale to be ready")
        assert patient.ready()
        commit = scene.push(table(version))
        daemon.up()
        server.serves(version, commit)
        patient.serves(version, commit)
        wait_until(server.ready, "the server is ready again")
        assert server.fetch_error() is None


# Protocols


@case("git daemon")
def git_daemon(scene):
    scene.push(table("one"))
    server = scene.server("--repo", GitDaemon(scene).up().url())
    assert server.version() == "one"
    takes_up(scene, server)


@case("file url")
def file_url(scene):
    scene.push(table("one"))
    server = scene.server("--repo", f"file://{scene.bare}")
    assert server.version() == "one"
    takes_up(scene, server)


@case("smart http")
def smart_http(scene):
    scene.push(table("one"))
    server = scene.server("--repo", SmartHttp(scene).up().url())
    assert server.version() == "one"
    takes_up(scene, server)


@case("basic auth")
def basic_auth(scene):
    scene.push(table("one"))
    remote = SmartHttp(scene, users={"reader": "s3cret-9"}).up()
    server = scene.server("--repo", remote.url(), env=login("s3cret-9"))
    assert server.version() == "one"
    takes_up(scene, server)
    keeps_secret(server.everything(), "s3cret-9")
    assert any(line.startswith("200 reader ") for line in remote.requests()), remote.requests()


@case("password in the address")
def password_in_address(scene):
    scene.push(table("one"))
    remote = SmartHttp(scene, users={"reader": "s3cret-9"}).up()
    server = scene.server("--repo", remote.url(login="reader:s3cret-9@"))
    assert server.version() == "one"
    takes_up(scene, server)
    remote.set_users({"reader": "another"})
    server.after_fetches(1, "failed")
    keeps_secret(server.everything(), "s3cret-9")
    remote.down()
    status, said = scene.refusal("--repo", remote.url(login="reader:s3cret-9@"))
    assert status == 3, said
    keeps_secret(said, "s3cret-9")


@case("wrong password")
def wrong_password(scene):
    scene.push(table("one"))
    remote = SmartHttp(scene, users={"reader": "s3cret-9"}).up()
    status, said = scene.refusal("--repo", remote.url(), env=login("wr0ng-7"))
    assert status == 3, (status, said)
    assert "password" in said or "credentials" in said or "authenti" in said, said
    keeps_secret(said, "wr0ng-7")
    # It was tried, but not repeatedly: one request without it, a few with it.
    refused = [line for line in remote.requests() if line.startswith("401")]
    assert 1 <= len(refused) <= 4, refused
    server = scene.server("--repo", remote.url(), "--wait", env=login("wr0ng-7"), live=False)
    server.after_fetches(2, "failed")
    error = server.fetch_error()
    assert error and not server.ready()
    keeps_secret(server.everything(), "wr0ng-7", "s3cret-9")
    status, text = server.reload()
    assert status != 200, text
    keeps_secret(text, "wr0ng-7")
    assert len(remote.requests()) <= 4 * (server.fetches() + 2), remote.requests()
    remote.set_users({"reader": "wr0ng-7"})
    server.serves("one")


@case("password file rotated")
def password_file_rotated(scene):
    scene.push(table("one"))
    remote = SmartHttp(scene, users={"reader": "s3cret-9"}).up()
    file = scene.path / "password"
    file.write_text("s3cret-9\n")
    env = {"WAYPOST_GIT_USERNAME": "reader", "WAYPOST_GIT_PASSWORD_FILE": str(file)}
    server = scene.server("--repo", remote.url(), env=env)
    remote.set_users({"reader": "rotated-5"})
    second = scene.push(table("two"))
    server.after_fetches(2, "failed")
    assert server.version() == "one" and server.ready()
    file.write_text("rotated-5\n")
    server.serves("two", commit=second)
    # A file that is missing for a moment fails one fetch, no more.
    file.rename(scene.path / "away")
    server.fails_to_fetch("cannot read the secret in", "password")
    (scene.path / "away").rename(file)
    takes_up(scene, server, "three")
    keeps_secret(server.everything(), "s3cret-9", "rotated-5")


@case("redirect")
def redirect(scene):
    scene.push(table("one"))
    # The old address of a renamed repository still works.
    remote = SmartHttp(scene, users={"reader": "s3cret-9"}, moved={"old.git": "links.git"}).up()
    server = scene.server("--repo", remote.url("old.git"), env=login("s3cret-9"))
    assert server.version() == "one"
    takes_up(scene, server)


@case("redirect to another host")
def redirect_elsewhere(scene):
    scene.push(table("one"))
    stranger = SmartHttp(scene, users={"reader": "s3cret-9"}).up()
    elsewhere = stranger.url(host="localhost")
    remote = SmartHttp(scene, users=None, moved={"old.git": elsewhere}).up()
    for address in (remote.url("old.git"), remote.url("old.git", login="reader:s3cret-9@")):
        status, said = scene.refusal("--repo", address, env=login("s3cret-9"))
        assert status == 3, (status, said)
        assert f"leads to localhost:{stranger.port}" in said, said
        keeps_secret(said, "s3cret-9")
    # Nobody has logged in there.
    assert stranger.requests(), "the redirect was not followed"
    assert all(line.startswith("401 ") for line in stranger.requests()), stranger.requests()
    # A redirect that needs no password may lead anywhere.
    open_to_all = SmartHttp(scene).up()
    remote.down()
    moved = {"old.git": open_to_all.url(host="localhost")}
    remote = SmartHttp(scene, moved=moved, port=remote.port).up()
    server = scene.server("--repo", remote.url("old.git"), env=login("s3cret-9"))
    takes_up(scene, server)


@case("address rewritten by git's configuration")
def instead_of(scene):
    scene.push(table("one"))
    remote = SmartHttp(scene, users={"reader": "s3cret-9"}).up()
    (scene.home / ".gitconfig").write_text(
        f'[url "http://127.0.0.1:{remote.port}/"]\n\tinsteadOf = https://git.invalid/\n'
    )
    server = scene.server("--repo", "https://git.invalid/git/links.git", env=login("s3cret-9"))
    assert server.version() == "one"
    takes_up(scene, server)


# TLS


@case("tls with an own authority")
def tls(scene):
    scene.push(table("one"))
    authority, certificate = make_ca(scene)
    remote = SmartHttp(scene, users={"reader": "s3cret-9"}, certificate=certificate).up()
    env = {"SSL_CERT_FILE": str(authority), **login("s3cret-9")}
    server = scene.server("--repo", remote.url(), env=env)
    assert server.version() == "one"
    takes_up(scene, server)


@case("tls with an unknown authority")
def tls_unknown(scene):
    scene.push(table("one"))
    _, certificate = make_ca(scene)
    other, _ = make_ca(scene, "other")
    remote = SmartHttp(scene, users={"reader": "s3cret-9"}, certificate=certificate).up()
    for env in ({}, {"SSL_CERT_FILE": str(other)}):
        status, said = scene.refusal("--repo", remote.url(), env={**env, **login("s3cret-9")})
        assert status == 3, (status, said)
        assert "certificate" in said and "SSL_CERT_FILE" in said, said
        keeps_secret(said, "s3cret-9")
    # No password was requested, so none was sent.
    assert remote.requests() == [], remote.requests()


@case("tls authority changes")
def tls_authority_changes(scene):
    scene.push(table("one"))
    authority, certificate = make_ca(scene)
    _, other = make_ca(scene, "other")
    remote = SmartHttp(scene, certificate=certificate).up()
    server = scene.server("--repo", remote.url(), env={"SSL_CERT_FILE": str(authority)})
    remote.down()
    impostor = SmartHttp(scene, certificate=other, port=remote.port).up()
    server.fails_to_fetch("certificate")
    assert server.version() == "one"
    impostor.down()
    remote.up()
    takes_up(scene, server)


@case("tls with branch names that are not text")
def tls_branch_names(scene):
    scene.push(table("one"))
    authority, certificate = make_ca(scene)
    remote = SmartHttp(scene, certificate=certificate).up()
    env = {"SSL_CERT_FILE": str(authority)}
    server = scene.server("--repo", remote.url(), env=env)
    with open(os.fsencode(scene.bare) + b"/refs/heads/caf\xe9", "w") as branch:
        branch.write(scene.head() + "\n")
    # It stops neither servers that follow another branch nor servers that start.
    takes_up(scene, server)
    for arguments in ((), ("--ref", "main")):
        other = scene.server("--repo", remote.url(), *arguments, env=env)
        assert other.version() == server.version()
    assert server.fetches("failed") == 0


# SSH


def over_ssh(sshd, *arguments, key=None):
    key = key or sshd.key
    return ("--repo", sshd.url(), "--ssh-key", key, "--known-hosts", sshd.known_hosts, *arguments)


@case("ssh")
def ssh(scene):
    scene.push(table("one"))
    sshd = Sshd(scene).up()
    server = scene.server(*over_ssh(sshd))
    assert server.version() == "one"
    takes_up(scene, server)


@case("ssh with a passphrase")
def ssh_passphrase(scene):
    scene.push(table("one"))
    sshd = Sshd(scene)
    sshd.key = sshd.make_key("locked", passphrase="open sesame")
    sshd.up()
    server = scene.server(*over_ssh(sshd), env={"WAYPOST_GIT_PASSWORD": "open sesame"})
    assert server.version() == "one"
    takes_up(scene, server)
    keeps_secret(server.everything(), "open sesame")


@case("ssh with an agent")
def ssh_agent(scene):
    scene.push(table("one"))
    sshd = Sshd(scene).up()
    socket = scene.path / "agent"
    scene.start("ssh-agent", "ssh-agent", "-D", "-a", socket)
    env = {"SSH_AUTH_SOCK": str(socket)}
    wait_until(
        lambda: scene.run("ssh-add", sshd.key, env=env).returncode == 0, "the agent has the key"
    )
    server = scene.server("--repo", sshd.url(), "--known-hosts", sshd.known_hosts, env=env)
    assert server.version() == "one"
    takes_up(scene, server)


@case("ssh with a wrong key")
def ssh_wrong_key(scene):
    scene.push(table("one"))
    sshd = Sshd(scene).up()
    stranger = sshd.make_key("stranger")
    status, said = scene.refusal(*over_ssh(sshd, key=stranger))
    assert status == 3, (status, said)
    attempts = sshd.process.text().count("Connection from 127.0.0.1")
    # One of them was this test's own, to see whether it listens.
    assert attempts <= 3, sshd.process.text()
    server = scene.server(*over_ssh(sshd, "--wait", key=stranger), live=False)
    server.after_fetches(2, "failed")
    assert server.fetch_error()


@case("ssh scp-like address")
def scp_like(scene):
    scene.push(table("one"))
    sshd = Sshd(scene).up()
    # No port can be named in it: the message shows which address was understood.
    status, said = scene.refusal(
        "--repo", f"{getpass.getuser()}@127.0.0.9:links.git", "--ssh-key", sshd.key
    )
    assert status == 3, said
    assert "127.0.0.9" in said, said


@case("unknown host key")
def unknown_host_key(scene):
    scene.push(table("one"))
    sshd = Sshd(scene).up()
    sshd.known_hosts.write_text("")
    status, said = scene.refusal(*over_ssh(sshd))
    assert status == 3, (status, said)
    assert "is unknown" in said and sshd.fingerprint() in said, said
    assert f"ssh-keyscan -p {sshd.port} 127.0.0.1" in said, said
    # Nobody has logged in.
    assert "Accepted" not in sshd.process.text(), sshd.process.text()
    server = scene.server(*over_ssh(sshd, "--wait"), live=False)
    server.fails_to_fetch("is unknown", sshd.fingerprint())
    # Its advice helps.
    done = scene.run("ssh-keyscan", "-p", sshd.port, "127.0.0.1")
    assert done.stdout, done.stderr
    sshd.known_hosts.write_text(done.stdout)
    server.serves("one")


@case("changed host key")
def changed_host_key(scene):
    scene.push(table("one"))
    sshd = Sshd(scene).up()
    server = scene.server(*over_ssh(sshd))
    old = sshd.fingerprint()
    sshd.down()
    sshd.change_host_key()
    assert sshd.fingerprint() != old
    sshd.up()
    second = scene.push(table("two"))
    server.fails_to_fetch("is not the one in", sshd.fingerprint())
    server.after_fetches(2, "failed")
    assert server.version() == "one" and server.ready()
    # Its owner confirms it.
    sshd.trust()
    server.serves("two", commit=second)


# Proxies


# Names that cannot be resolved prove that a proxy is used.


@case("https proxy")
def https_proxy(scene):
    scene.push(table("one"))
    authority, certificate = make_ca(scene)
    remote = SmartHttp(scene, certificate=certificate).up()
    proxy = HttpProxy(scene, remote.port)
    env = {"https_proxy": f"http://127.0.0.1:{proxy.port}", "SSL_CERT_FILE": str(authority)}
    server = scene.server("--repo", remote.url(host="git.invalid"), env=env)
    assert server.version() == "one"
    takes_up(scene, server)
    assert any(line.startswith("CONNECT git.invalid:") for line in proxy.asked), proxy.asked


@case("https proxy with a password")
def https_proxy_password(scene):
    scene.push(table("one"))
    authority, certificate = make_ca(scene)
    remote = SmartHttp(scene, {"reader": "s3cret-9"}, certificate).up()
    proxy = HttpProxy(scene, remote.port, login="passer:pr0xy-3")
    address = f"127.0.0.1:{proxy.port}"
    env = {"SSL_CERT_FILE": str(authority), **login("s3cret-9")}
    right = {**env, "HTTPS_PROXY": f"http://passer:pr0xy-3@{address}"}
    server = scene.server("--repo", remote.url(host="git.invalid"), env=right)
    assert server.version() == "one"
    takes_up(scene, server)
    keeps_secret(server.everything(), "s3cret-9", "pr0xy-3")
    wrong = {**env, "HTTPS_PROXY": f"http://passer:wr0ng-7@{address}"}
    proxy.refused = 0
    status, said = scene.refusal("--repo", remote.url(host="git.invalid"), env=wrong)
    assert status == 3, (status, said)
    assert proxy.refused <= 4, proxy.refused
    keeps_secret(said, "s3cret-9", "wr0ng-7")


@case("no proxy")
def no_proxy(scene):
    scene.push(table("one"))
    authority, certificate = make_ca(scene)
    remote = SmartHttp(scene, certificate=certificate).up()
    # Nobody listens there.
    env = {"https_proxy": f"http://127.0.0.1:{free_port()}", "SSL_CERT_FILE": str(authority)}
    status, said = scene.refusal("--repo", remote.url(), env=env)
    assert status == 3, (status, said)
    server = scene.server("--repo", remote.url(), env={**env, "no_proxy": "127.0.0.1"})
    assert server.version() == "one"
    takes_up(scene, server)


@case("http past the proxy")
def http_past_proxy(scene):
    scene.push(table("one"))
    remote = SmartHttp(scene).up()
    proxy = HttpProxy(scene, remote.port)
    # libgit2 uses a proxy only for https://, as documented.
    env = {"http_proxy": f"http://127.0.0.1:{proxy.port}"}
    server = scene.server("--repo", remote.url(), env=env)
    takes_up(scene, server)
    assert proxy.asked == [], proxy.asked
