"""The hook: each host's format, and requests of strangers."""

import concurrent.futures
import hashlib
import hmac
import json

from scene import GitDaemon, TcpProxy, case, table, wait_until

SECRET = "a shared secret"
BODY = json.dumps({"ref": "refs/heads/main", "repository": {"name": "links"}}).encode()


def signature(body, secret=SECRET):
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def github(body=BODY):
    return {"X-GitHub-Event": "push", "X-Hub-Signature-256": f"sha256={signature(body)}"}


def gitea(body=BODY):
    return {"X-Gitea-Event": "push", "X-Gitea-Signature": signature(body)}


def gitlab(_body=BODY):
    return {"X-Gitlab-Event": "Push Hook", "X-Gitlab-Token": SECRET}


def hooked(scene, repository=None, **options):
    """Starts a server that fetches only when a hook arrives: the next poll is in a day."""
    options.setdefault("env", {"WAYPOST_HOOK_SECRET": SECRET})
    repository = repository or scene.bare
    server = scene.server("--repo", repository, "--pull-interval", "24h", **options)
    wait_until(lambda: server.fetches() == 1, "the first fetch is counted")
    return server


def takes(server, headers, body=BODY):
    status, text = server.post("/-/hook", body, headers)
    assert status == 202, (status, text)


def refuses(server, status, headers, body=BODY):
    got, text = server.post("/-/hook", body, headers)
    assert got == status, (got, text)


@case("hook of GitHub, Gitea and GitLab")
def good(scene):
    scene.push(table("one"))
    server = hooked(scene)
    for host in (github, gitea, gitlab):
        commit = scene.push(table(host.__name__))
        takes(server, host())
        server.serves(host.__name__, commit)
    # GitHub sends up to several hundred kilobytes, and the signature covers every byte.
    large = json.dumps({"commits": ["\u00e9" * 1000] * 120}).encode()
    commit = scene.push(table("large"))
    takes(server, github(large), large)
    server.serves("large", commit)


@case("hook whose secret is in a file")
def secret_file(scene):
    file = scene.path / "secret"
    file.write_text(f"{SECRET}\n")
    scene.push(table("one"))
    server = hooked(scene, env={"WAYPOST_HOOK_SECRET_FILE": str(file)})
    commit = scene.push(table("two"))
    takes(server, github())
    server.serves("two", commit)
    assert SECRET not in server.everything()


@case("hook with a bad signature")
def bad(scene):
    scene.push(table("one"))
    server = hooked(scene)
    scene.push(table("two"))
    refuses(server, 403, {})
    refuses(server, 403, github(BODY + b" "))
    refuses(server, 403, {"X-Hub-Signature-256": f"sha256={signature(BODY, 'guessed')}"})
    refuses(server, 403, {"X-Hub-Signature-256": signature(BODY)})
    refuses(server, 403, {"X-Hub-Signature-256": "sha256="})
    refuses(server, 403, {"X-Gitea-Signature": ""})
    refuses(server, 403, {"X-Gitlab-Token": SECRET[:-1]})
    refuses(server, 403, {"X-Gitlab-Token": ""})
    assert server._ask(server.public, "GET", "/-/hook")[0] == 405
    assert server.fetches() == 1 and server.version() == "one"
    assert SECRET not in server.everything()
    # It accepts a correct signature.
    takes(server, github())
    server.serves("two")


@case("hook replayed")
def replayed(scene):
    scene.push(table("one"))
    server = hooked(scene)
    commit = scene.push(table("two"))
    recorded = github()
    takes(server, recorded)
    server.serves("two", commit)
    wait_until(lambda: server.fetches("updated") == 2, "the fetch is counted")
    for _ in range(3):
        before = server.fetches()
        takes(server, recorded)
        wait_until(lambda: server.fetches() > before, "the replay led to a fetch")  # noqa: B023
    assert server.fetches("updated") == 2 and server.fetches("unchanged") == server.fetches() - 2
    assert server.version() == "two"


@case("hook flooded")
def flooded(scene):
    scene.push(table("one"))
    daemon = GitDaemon(scene).up()
    proxy = TcpProxy(scene, daemon.port)
    server = hooked(scene, daemon.url(port=proxy.port))
    # One fetch is delayed while all of the hooks arrive.
    proxy.hold = True
    before, connections = server.fetches(), proxy.connections
    takes(server, github())
    wait_until(lambda: proxy.connections > connections, "a fetch is under way")
    commit = scene.push(table("two"))
    hosts = [github, gitea, gitlab]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: takes(server, hosts[number % 3]()), range(200)))
    assert server.fetches() == before and proxy.connections == connections + 1
    proxy.hold = False
    server.serves("two", commit)
    # The hooks of one second are one hint: the delayed fetch, and few more.
    wait_until(lambda: server.fetches() >= before + 2, "both fetches have ended")
    last = scene.push(table("three"))
    takes(server, github())
    server.serves("three", last)
    wait_until(lambda: server.fetches() >= before + 3, "the last fetch has ended")
    assert server.fetches() <= before + 10, server.fetches() - before


@case("hook flooded by strangers")
def strangers(scene):
    scene.push(table("one"))
    server = hooked(scene)
    forged = {"X-Hub-Signature-256": f"sha256={signature(BODY, 'guessed')}"}
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: refuses(server, 403, forged), range(200)))
    commit = scene.push(table("two"))
    takes(server, github())
    server.serves("two", commit)
    wait_until(lambda: server.fetches() >= 2, "the fetch is counted")
    assert server.fetches() == 2


@case("hook oversized")
def oversized(scene):
    scene.push(table("one"))
    server = hooked(scene)
    scene.push(table("two"))
    body = b" " * (1 << 20)
    # In one piece, and without a declared length.
    refuses(server, 413, github(body + b" "), body + b" ")
    pieces = [body, b" "]
    refuses(server, 413, github(b"".join(pieces)), iter(pieces))
    assert server.fetches() == 1 and server.version() == "one"
    takes(server, github(body), body)
    server.serves("two")


@case("hook without a secret")
def off(scene):
    scene.push(table("one"))
    for env in ({}, {"WAYPOST_HOOK_SECRET": ""}):
        server = hooked(scene, env=env)
        for headers in ({}, github(), {"X-Hub-Signature-256": f"sha256={signature(BODY, '')}"}, gitlab()):
            refuses(server, 404, headers)
        assert server.fetches() == 1
