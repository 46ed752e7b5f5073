"""Paths that decode twice, misleading texts and addresses, and tables in one line."""

import hashlib
import json
import threading

from .scene import FOUND, HEAD, attack, git, table


@attack
def double_decoding(directory, start):
    """Forwarded paths that would climb up if a target decodes twice, or strips parameters."""
    forwarding = "- {url: 'https://e.example/deep/', short-code: docs, forward: path}\n"
    (directory / "mapping.yaml").write_text(table("x") + forwarding)
    server = start().serving()
    hidden = ("..;", "..;x=y", "..%3b", "..%253B", "%2e%2e;x", ".%252e", "%252e%252e", "%252E%252E%252F")
    hidden += ("a%5c..%5cb", "..%255c", "a%252f..%252fb", ".;", "%2e%3B")
    for segment in hidden:
        for path in (segment, f"a/{segment}/b", f"a/{segment}"):
            request = b"GET /docs/" + path.encode() + b" HTTP/1.1\r\n" + HEAD + b"Connection: close\r\n\r\n"
            reply = server.say(request)
            assert reply.startswith(b"HTTP/1.1 404"), (path, reply)
    for path in ("a;b/c..;", "100%25", "%25ff", "...", "%25252e%25252e"):
        assert server.follow(f"/docs/{path}") == (302, f"https://e.example/deep/{path}"), path
    assert server.follow() == FOUND
    server.stop()


def registering(directory, start, text, *arguments):
    """Serves a table of this text from a repository, with tokens of `ada` and `bob`."""
    (directory / "links.git").mkdir()
    git(directory / "links.git", "init", "--quiet", "--bare", "--initial-branch=main")
    git(directory, "clone", "--quiet", "links.git", "work")
    work = directory / "work"
    git(work, "checkout", "--quiet", "-B", "main")
    (work / "mapping.yaml").write_text(text)
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "--message=Begin")
    git(work, "push", "--quiet", "origin", "main")
    lines = (f"{owner} {hashlib.sha256(owner.encode()).hexdigest()}\n" for owner in ("ada", "bob"))
    (directory / "tokens").write_text("".join(lines))
    options = ["--registrations", "--registrations-tokens", "tokens", "--git-author", "A <a@e.example>"]
    return start("--repo", directory / "links.git", *options, *arguments).serving()


def register(server, owner, /, **wanted):
    """Returns the status and the message of a registration."""
    body = json.dumps(wanted).encode()
    head = b"POST /-/api/links HTTP/1.1\r\n" + HEAD + b"Connection: close\r\nContent-Type: application/json\r\n"
    head += b"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n" % (owner.encode(), len(body))
    head, _, said = server.say(head + body).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(said)


@attack
def misleading(directory, start):
    """Titles with reversed text, and links into the visitor's own network."""
    server = registering(directory, start, table("x"), "--registrations-refuse-private")
    turned = {"title": "photo \u202egpj.exe", "owner": "\u2066ada\u2069", "tags": ["a", "\u202d"]}
    for key, value in turned.items():
        status, said = register(server, "ada", url="https://e.example/turned", **{key: value})
        assert status == 422 and [it["pointer"] for it in said["errors"]] == [f"/{key}"], said
    hosts = ("127.1", "2130706433", "0x7f.1", "169.254.169.254", "10.0.0.1:80", "100.64.0.1", "0")
    hosts += ("[::1]", "[::]", "[fd00::1]", "[fe80::1]", "[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]")
    hosts += ("localhost", "LocalHost.", "a.localhost")
    for host in hosts:
        status, said = register(server, "ada", url=f"http://{host}/")
        assert status == 422 and [it["pointer"] for it in said["errors"]] == ["/url"], (host, said)
    for host in ("8.8.8.8", "[2001:db8::1]", "localhost.example"):
        assert register(server, "ada", url=f"http://{host}/", title="\u05d0\u200f")[0] == 201, host
    server.stop()


@attack
def table_in_one_line(directory, start):
    """Registrations in a table of one line are answered, and do not delay other owners'."""
    entries = ",".join('{"url":"https://e.example/%d"}' % it for it in range(20_000))
    text = '{"base_url":"https://w.example/","mapping":[%s]}' % entries
    server = registering(directory, start, text)
    answers = {}

    def ask(owner, number):
        answers[owner, number] = register(server, owner, url=f"https://{owner}.example/{number}")

    threads = [threading.Thread(target=ask, args=it) for it in (("ada", 1), ("ada", 2), ("bob", 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Nothing can be inserted safely into such a table, and each owner is warned.
    for key, (status, said) in answers.items():
        assert status in (409, 422, 503), (key, status, said)
        assert said["type"] != "urn:waypost:problem:not-live", (key, said)
    assert len(answers) == 3
    server.stop()
