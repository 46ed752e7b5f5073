"""Tests each proxy in turn: answers must be the same through it as without it, and the admin listener unreachable."""

import os
import re
import subprocess
import sys

import fronts
from asking import plainly, securely
from backend import LONG, Backend, wait_for, write_table

# Paths that would change if a proxy decoded, merged or resolved them.
RAW = [
    "/gnu-home", "/gnu-home+", "/gnu-home%2B", "/gnu-home/", "/gnu-home?a=1&b=%20+%2F",
    "/gnu-home?", "/a/b", "/a%2Fb", "/a%2fb", "/%61/b", "/a//b", "/a/./b", "/%C3%A4", "/a%CC%88",
    "//gnu-home", "//", "///", "/x/../gnu-home", "/x/%2e%2e/gnu-home", "/./gnu-home",
    "/to/a%2Fb", "/to//x", "/to/x//y/", "/to/%2e%2e/up", "/to/a+b%2Bc", "/to/%E4%B8%AD?q=%E4&r=a+b",
    "/to/a;b=c,d", "/to/x?", "/to/?a=//b/../c", "/to/%25%32%46", "/to/it's~(fine)!*@:&=$",
    "/to/" + "p" * 8000, "/gnu-home?" + "q" * 8100, "/long", "/nothing-here", "/any-verb",
]  # fmt: skip
# Some proxies refuse these themselves, with 400; in any case, they must not redirect.
NOWHERE = ["/%2e%2e/gnu-home", "/..%2fgnu-home", "/../gnu-home", "/%zz", "/gnu-home%00"]
ADMIN = [
    "/metrics",
    "/livez",
    "/readyz",
    "/-/status",
    "/-/reload",
    "/%2d/status",
    "/-/hook/../status",
]


def same(through, direct, where):
    assert (through.status, through.location) == (direct.status, direct.location), (
        f"{where}: {through} to {through.location}; without the proxy {direct} to {direct.location}"
    )


def links(front):
    """Links lead to the same targets as without the proxy, whatever their paths contain."""
    for target in RAW:
        same(securely(front.authority, target), plainly(target), target[:60])
    for target in NOWHERE:
        assert securely(front.authority, target).status in (400, 404), target
    assert securely(front.authority, "/long").location == LONG
    assert (
        securely(front.authority, "/to/a%2Fb//c?d").location == "https://paths.example/a%2Fb//c?d"
    )


def both_sites(front):
    """The requested host name arrives, so that each site has its own links."""
    for host, target in [
        ("short.code", "https://www.gnu.org/"),
        ("go.example", "https://golang.example/"),
    ]:
        assert securely(front.authority, "/gnu-home", host=host).location == target
        assert securely(front.authority, "/gnu-home", host=host).status == 302


def http_2(front):
    """The same over HTTP/2, which every browser uses."""
    for target in ["/gnu-home?a=b", "/to/a%2Fb//c?d", "/a%2Fb", "//gnu-home", "/gnu-home+"]:
        printed = subprocess.run(
            ["curl", "--silent", "--show-error", "--http2", "--path-as-is",
             "--cacert", front.authority,
             "--resolve", "short.code:443:127.0.0.1", "--output", "/dev/null",
             "--write-out", "%{http_version} %{http_code} %{redirect_url}",
             f"https://short.code{target}"],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        direct = plainly(target)
        assert printed == f"2 {direct.status} {direct.location or ''}", f"{target}: {printed}"


def methods(front):
    """HEAD is GET without a body, other methods are passed on, and pages are the same."""
    for target in ["/gnu-home", "/nothing-here", "/gnu-home+", "/"]:
        answers = [
            securely(front.authority, target, method=m, Accept="text/html") for m in ("GET", "HEAD")
        ]
        direct = plainly(target, Accept="text/html")
        assert answers[0].body == direct.body, target
        assert answers[1].body == b"", target
        for name in (
            "content-type",
            "content-length",
            "cache-control",
            "content-security-policy",
            "vary",
        ):
            values = {answer.headers.get(name) for answer in [*answers, direct]}
            assert len(values) == 1, f"{target}: {name}: {values}"
    for method, target in [("POST", "/any-verb"), ("PUT", "/any-verb"), ("POST", "/gnu-home")]:
        through = securely(front.authority, target, method=method, **{"Content-Length": "0"})
        same(
            through, plainly(target, method=method, **{"Content-Length": "0"}), f"{method} {target}"
        )


def to_https(front):
    """Plain HTTP leads to HTTPS, with the path and the query as they were sent."""
    for target in ["/gnu-home", "/a%2Fb//c?d=%2F+", "/gnu-home+"]:
        answer = plainly(target, port=80)
        assert answer.status in (301, 308), answer
        assert answer.location == f"https://short.code{target}", answer.location


def admin(front):
    """The admin endpoints are not reachable; the hook is, and requires its signature."""
    for target in ADMIN:
        for method in ("GET", "POST"):
            answer = securely(front.authority, target, method=method, **{"Content-Length": "0"})
            assert answer.status in (400, 404, 405), f"{method} {target}: {answer}"
            assert b"waypost_requests_total" not in answer.body
    hook = securely(front.authority, "/-/hook", method="POST", **{"Content-Length": "0"})
    same(hook, plainly("/-/hook", method="POST", **{"Content-Length": "0"}), "/-/hook")


def opened():
    """Returns the number of TCP connections that were opened in this network."""
    with open("/proc/net/snmp", encoding="ascii") as file:
        names, values = [line.split() for line in file if line.startswith("Tcp:")]
    return int(values[names.index("ActiveOpens")])


def load(seconds):
    """Starts a load over HTTPS for a limited time."""
    with open("/etc/hosts", "a", encoding="ascii") as hosts:
        hosts.write("127.0.0.1 short.code go.example\n")
    return subprocess.Popen(
        ["wrk", "-t1", "-c16", f"-d{seconds}s", "--timeout", "10s", "https://short.code/gnu-home"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def unharmed(wrk):
    """Waits for a load to end; returns its requests, none of which may have failed."""
    printed, _ = wrk.communicate(timeout=120)
    assert wrk.returncode == 0, printed
    for failure in ("Non-2xx", "Socket errors"):
        assert failure not in printed, printed
    requests = int(re.search(r"(\d+) requests in", printed)[1])
    assert requests > 1000, printed
    return requests


def keep_alive(front, backends):
    """Thousands of requests, none fails, over a few connections."""
    before, answered = opened(), sum(b.requests() for b in backends)
    requests = unharmed(load(3))
    connections = opened() - before
    # Includes health checks (one connection each) and requests for metrics.
    assert connections < requests / 10, f"{connections} connections for {requests} requests"
    assert sum(b.requests() for b in backends) - answered >= requests
    print(f"     {requests} requests over {connections} connections, all of them counted")


def restarts(front, backends):
    """One server after the other restarts under load, and no request fails."""
    wrk = load(14)
    for backend in backends:
        backend.stop()
        backend.start()
        wait_for(lambda b=backend: b.requests() > 100, "the restarted server to get requests")
    assert wrk.poll() is None, "the load ended before the last restart"
    print(f"     {unharmed(wrk)} requests during two restarts, none failed")


def logs():
    """Yields the path and the lines of every log file and of all output."""
    for directory, _, names in os.walk("/var/log"):
        for path in (f"{directory}/{name}" for name in names):
            with open(path, encoding="utf-8", errors="replace") as file:
                yield path, file.readlines()


def silence(front, backends):
    """No requested path is logged, not even while no server answers."""
    for backend in backends:
        backend.stop()
    for method in ("GET", "POST"):
        answer = securely(front.authority, "/secret-path", method=method, **{"Content-Length": "0"})
        assert answer.status in (502, 503), answer
    front.stop()
    logged = [line for _, lines in logs() for line in lines]
    found = [line for line in logged if re.search("gnu-home|secret-path|/to/", line)]
    assert not found, "".join(found[:5])


def attempt(name, work):
    os.mkdir(work)
    write_table(f"{work}/table")
    backends = [Backend(port, work) for port in ([8080, 8090] if name == "haproxy" else [8080])]
    for backend in backends:
        backend.start()
    front = fronts.FRONTS[name](work)

    def answers():
        assert front.process.poll() is None, f"{name} did not start"
        try:
            return all(
                securely(front.authority, "/gnu-home", host=h).status == 302
                for h in ("short.code", "go.example")
            )
        except (OSError, ValueError):
            return False

    wait_for(answers, f"{name} to answer")
    for case in (links, both_sites, http_2, methods, to_https, admin):
        case(front)
        print(f"  ok {case.__doc__}")
    last = [keep_alive, restarts, silence] if len(backends) > 1 else [keep_alive, silence]
    for case in last:
        case(front, backends)
        print(f"  ok {case.__doc__}")


def main():
    names = sys.argv[1:] or list(fronts.FRONTS)
    unknown = set(names) - set(fronts.FRONTS)
    assert not unknown, f"no such proxy: {unknown}; there are {list(fronts.FRONTS)}"
    for name in names:
        print(f"--- {name}", flush=True)
        try:
            attempt(name, f"{os.environ['WORK']}/{name}")
        except AssertionError as error:
            print(f"  FAILED {error}")
            for path, lines in logs():
                print(
                    "".join(f"    {os.path.basename(path)}: {line}" for line in lines[-10:]), end=""
                )
            return 1
    print(f"{len(names)} proxies passed")
    return 0


sys.exit(main())
