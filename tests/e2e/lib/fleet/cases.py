"""Five replicas together, and on their own while their shared server is down."""

import concurrent.futures
import json
import re
import secrets
import socket
import threading
import time

from fleet.engine import PASSWORD, Babbler, Boaster
from serving import wait_until

# So long that nothing goes live in time by polling.
NEVER = "1h"
LIMIT = 256
# How much memory a replica may use for what a server sends, in KiB.
RECEIVED = 32 * 1024


def check_announced(scene):
    """A push, a reload and a registration at one replica are live at all of them."""
    code, _ = scene.push()
    scene.hook()
    scene.until_live(f"/{code}")
    code, commit = scene.push()
    reloaded = json.loads(scene.servers[1].operate("/-/reload", "POST"))
    # A hint from before may have been followed only now.
    assert reloaded["result"] in ("success", "unchanged"), reloaded
    assert reloaded["revision"]["commit"] == commit, reloaded
    scene.until_live(f"/{code}")
    status, link = scene.register({"url": f"https://registered.example/{code}"}, server=scene.servers[2])
    assert status == 201, link
    scene.until_live(f"/{link['code']}")
    view = scene.servers[3].status()["fleet"]
    assert view["up"] and view["server"] == f"127.0.0.1:{scene.engine.port}" and "error" not in view, view


def check_alone(scene, reason):
    """Without the server, redirects and registrations continue, and nothing is registered twice."""
    scene.until_up(0)
    assert scene.ask("GET", "/pushed-1")[0] == 302
    url, key = f"https://alone.example/{secrets.token_hex(4)}", secrets.token_hex(8)
    first = scene.register({"url": url}, key, scene.servers[0])
    again = scene.register({"url": url}, key, scene.servers[0])
    assert first[0] == 201 and first == again, (first, again)
    elsewhere = scene.register({"url": url}, key, scene.servers[1])
    assert elsewhere[0] == 409 and elsewhere[1]["existing"]["code"] == first[1]["code"], elsewhere
    assert scene.urls().count(url) == 1
    wait_until(lambda: re.search(reason, scene.servers[0].status()["fleet"]["error"]), reason)


def hints(scene):
    """A hook, a reload or a registration at one replica makes all of them fetch; many hooks cause few fetches."""
    check_announced(scene)
    time.sleep(1)
    before, began = scene.total("waypost_git_fetches_total"), time.monotonic()
    code, _ = scene.push()
    for _ in range(50):
        scene.hook()
    scene.until_live(f"/{code}")
    # The last one may still be under way.
    time.sleep(1.5)
    took, fetches = time.monotonic() - began, scene.total("waypost_git_fetches_total") - before
    assert fetches <= len(scene.servers) * (2 + took), (fetches, took)
    print(f"50 hooks at 5 replicas in {took:.1f} s: {fetches:.0f} fetches")


def reconnections(scene):
    """A hook at a replica that is not connected reaches the others, which are."""

    def those_alone():
        return [server for server in scene.servers if not server.status()["fleet"]["up"]]

    for subscriber in scene.engine.subscribers():
        code, _ = scene.push()
        assert scene.engine.ask("CLIENT", "KILL", "ID", subscriber) == ":1"
        scene.hook(wait_until(those_alone, "a replica is alone")[0])
        scene.until_live(f"/{code}")
        scene.until_up(1)


def keys(scene):
    """An idempotency key is known to every replica: the same answer, the same refusals."""
    urls = [f"https://keys.example/{n}" for n in range(8)]

    def register(job):
        number, url = job
        return scene.register({"url": url}, f"key-{url}", scene.servers[number % 5], number % 4)

    jobs = [(number, url) for number, url in enumerate(urls)]
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        # Each three times at once, at replicas that the proxy chooses, with the same owner.
        def at_any(job):
            return scene.register({"url": job[1]}, f"key-{job[1]}", None, job[0] % 4)

        answers = list(pool.map(at_any, jobs * 3))
        later = list(pool.map(register, [((n + 1), url) for n, url in jobs[:4]]))
    for number, url in jobs:
        codes = {answer[1]["code"] for answer in answers[number :: len(urls)]}
        statuses = {answer[0] for answer in answers[number :: len(urls)]}
        assert len(codes) == 1 and statuses == {201}, (url, answers[number :: len(urls)])
        assert scene.urls().count(url) == 1, url
    # Another owner's: keys are separate for each owner.
    assert {status for status, _ in later} == {409}, later

    url, key = "https://keys.example/again", "key-again"
    first = scene.register({"url": url}, key, scene.servers[0])
    scene.until_live(f"/{first[1]['code']}")
    for server in scene.servers[1:]:
        assert scene.register({"url": url}, key, server)[0] == 201
        refused = scene.register({"url": f"{url}/other"}, key, server)
        assert refused[0] == 422 and "key-reused" in refused[1]["type"], refused
    stored = scene.engine.first_key("*:key:*")
    print(f"a key takes {scene.engine.ask('MEMORY', 'USAGE', stored)[1:]} bytes")

    # A remembered answer is only returned if the table has its link.
    status, gone = scene.register({"url": url, "short_code": "gone"}, "key-gone", scene.servers[0])
    assert status == 409, gone
    url = "https://keys.example/removed"
    first = scene.register({"url": url, "short_code": "removed"}, "key-removed", scene.servers[0])
    assert first[0] == 201, first
    scene.change(lambda text: text.replace(f"- url: {url}\n", "- url: https://keys.example/instead\n"))
    code, _ = scene.push()
    scene.hook(scene.servers[0])
    scene.until_live(f"/{code}")
    anew = scene.register({"url": url, "short_code": "removed"}, "key-removed", scene.servers[1])
    assert anew[0] == 409 and "code-taken" in anew[1]["type"], anew


def limits(scene):
    """The queue places of an owner are counted over all replicas."""
    sent, extra = [], 45
    scene.pause_daemon()
    before = scene.total("waypost_registrations_total")
    headers = f"Host: short.code\r\nAuthorization: Bearer {scene.tokens[3]}\r\nContent-Type: application/json\r\n"
    for number in range(LIMIT + extra):
        body = json.dumps({"url": f"https://limits.example/{number}"})
        client = socket.create_connection(scene.servers[number % 5].public)
        head = f"POST /-/api/links HTTP/1.1\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
        client.sendall((head + body).encode())
        sent.append(client)

    def answered():
        return scene.total("waypost_registrations_total") - before

    wait_until(lambda: answered() >= extra, "some are refused")
    limited = sum(server.metrics()['waypost_registrations_total{result="limited"}'] for server in scene.servers)
    assert limited == extra == answered(), (limited, answered())
    scene.resume_daemon()
    wait_until(lambda: answered() == LIMIT + extra, "the others are answered")
    for client in sent:
        client.close()
    # All places are free again.
    wait_until(lambda: scene.engine.ask("KEYS", "*changes*") == "*0", "no place is taken")


def outage(scene, name, reason, begin, end):
    """One outage: each replica continues alone and reports it once; all of them cooperate again afterwards."""
    began, lines = time.monotonic(), [len(server.log()) for server in scene.servers]
    begin()
    check_alone(scene, reason)
    end()
    scene.until_up(1)
    check_announced(scene)
    for server, before in zip(scene.servers, lines, strict=True):
        messages = [line["message"] for line in server.log()[before:]]
        assert messages.count("cannot use the server of the fleet, working alone") == 1, messages
        assert messages.count("using the server of the fleet again") == 1, messages
        assert PASSWORD not in server.log_file.read_text()
    print(f"{name}: {time.monotonic() - began:.1f} s")


def floods(scene):
    """Anyone who may publish sends more messages than replicas can read, and one that is very large."""
    before = [server.resident("VmHWM") for server in scene.servers]
    channel, began = scene.engine.channel(), time.monotonic()
    messages = 500_000
    scene.engine.flood(channel, b"x", messages)
    scene.engine.flood(channel, bytes(64 << 20), 1)
    scene.until_up(1)
    check_announced(scene)
    grown = [server.resident("VmHWM") - peak for server, peak in zip(scene.servers, before, strict=True)]
    print(f"{messages} messages: {time.monotonic() - began:.1f} s, memory grew by at most {max(grown)} KiB")
    assert max(grown) < RECEIVED, grown


def outages(scene):
    """The server is killed, later it hangs, and later another sends more than was requested."""
    engine = scene.engine
    outage(scene, "killed", "refused", engine.kill, engine.start)
    outage(scene, "stopped", "timed out", engine.stop, engine.resume)
    before = [server.resident("VmHWM") for server in scene.servers]
    replaced(scene, "boasting", "an answer has more than 65536 bytes", Boaster)
    grown = [server.resident("VmHWM") - peak for server, peak in zip(scene.servers, before, strict=True)]
    assert max(grown) < RECEIVED, grown


def replaced(scene, name, reason, kind):
    """Something else listens on the port of the server."""
    others = []

    def replace():
        scene.engine.kill()
        others.append(kind(scene.engine.port))

    def bring_back():
        others.pop().end()
        scene.engine.start()

    outage(scene, name, reason, replace, bring_back)


def refusals(scene):
    """The server is full, read-only or locked, or something else listens on its port."""
    engine = scene.engine

    def set_memory(size):
        return lambda: engine.ask("CONFIG", "SET", "maxmemory", size)

    def lock():
        engine.ask("ACL", "SETUSER", "waypost", "resetpass")
        engine.ask("CLIENT", "KILL", "USER", "waypost")

    outage(scene, "full", "OOM", set_memory(1), set_memory(0))
    replicate, stand_alone = ("127.0.0.1", 1), ("NO", "ONE")
    outage(
        scene,
        "read-only",
        "read only",
        lambda: engine.ask("REPLICAOF", *replicate),
        lambda: engine.ask("REPLICAOF", *stand_alone),
    )
    outage(
        scene,
        "not permitted",
        "can't run this command|no permissions",
        lambda: engine.ask("ACL", "SETUSER", "waypost", "-zadd"),
        lambda: engine.ask("ACL", "SETUSER", "waypost", "+zadd"),
    )
    outage(scene, "refused", "refuses this user or password", lock, lambda: engine.ask("ACL", "LOAD"))
    replaced(scene, "garbage", "no answer of a Valkey or Redis server", Babbler)


def race(scene):
    """Pushes and registrations continue while the server is killed and restarted: none is duplicated."""
    # They also poll, at this interval.
    scene.replicas(5, "2s")
    stopped, stale, created = threading.Event(), [], {}

    def push():
        while not stopped.is_set():
            code, _ = scene.push()
            began = time.monotonic()
            scene.hook()
            scene.until_live(f"/{code}")
            stale.append(time.monotonic() - began)

    def register(number):
        for n in range(8):
            url, key = f"https://race.example/{number}/{n}", f"race-{number}-{n}"
            servers = [scene.servers[(number + n + turn) % 5] for turn in range(2)]
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                asked = [pool.submit(scene.register, {"url": url}, key, server, number % 4) for server in servers]
                answers = [it.result() for it in asked]
            codes = {it.get("existing", it)["code"] for _, it in answers}
            assert len(codes) == 1 and {status for status, _ in answers} <= {201, 409}, answers
            created[url] = codes.pop()

    def disturb():
        for _ in range(2):
            time.sleep(0.7)
            scene.engine.kill()
            time.sleep(1.5)
            scene.engine.start()

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        pushing, disturbing = pool.submit(push), pool.submit(disturb)
        for client in [pool.submit(register, number) for number in range(6)]:
            client.result()
        disturbing.result()
        stopped.set()
        pushing.result()
    urls = scene.urls()
    assert len(urls) == len(set(urls)), "a link is duplicated"
    assert set(created) <= set(urls), "a link is lost"
    for url, code in created.items():
        scene.until_live(f"/{code}")
    scene.until_up(1)
    print(
        f"{len(created)} links registered twice each, {len(stale)} pushes, the server killed twice: "
        f"none duplicated; live at all 5 after {min(stale):.2f} to {max(stale):.2f} s"
    )
