"""The behaviour of hosts of the farm, by the first word of their name, and the truth about their links.

A host `KIND-NUMBER.farm.example` has the pages `/page-1`, `/page-2` and so on, unless its kind says more.
"""

import re
import time
from dataclasses import dataclass
from email.utils import formatdate

OK, MOVED, FAILING, DEAD, GONE, SOFT = "ok", "moved", "failing", "dead", "gone", "soft-404"
BLOCKED, DISALLOWED, INSECURE, UNCHECKED = "blocked", "robots-disallowed", "insecure", "unchecked"

#: Verdicts about links that people cannot use, once there has been time to find out.
FOUND = (DEAD, GONE, SOFT)

#: What people find there: a page, or none. Of a third kind nobody can know it from here.
LIVE, LOST, UNKNOWN = "live", "lost", "unknown"


@dataclass
class Kind:
    """The behaviour of a kind of host, and the verdict on its links after each of three checks."""

    name: str
    truth: str
    verdicts: tuple
    hosts: int
    links: int
    page: object
    scheme: str = "http"
    port: str = ""
    home: bool = False
    robots: object = None
    #: Whether it answers for each name as if it had it.
    wild: bool = False
    #: The part of the reason that is reported after the first check.
    detail: str | None = None

    def targets(self):
        for host in range(1, self.hosts + 1):
            for link in range(1, self.links + 1):
                path = "/" if self.home else f"/page-{link}"
                yield f"{self.scheme}://{self.name}-{host}.farm.example{self.port}{path}"


KINDS = {}


def kind(truth, *verdicts, hosts=4, links=4, **more):
    """Adds a kind: its verdict is the same after each check, or `verdicts` has three."""
    def add(page):
        name = page.__name__
        KINDS[name] = Kind(name, truth, verdicts if len(verdicts) == 3 else verdicts * 3, hosts, links, page, **more)
        return page
    return add


def alias(name, *arguments, of, **more):
    """Adds a kind that answers as another one does."""
    def page(visit):
        of(visit)
    page.__name__ = name
    kind(*arguments, **more)(page)


class Behaviour:
    """Makes each host behave like its kind, at the check with number `check`."""

    def __init__(self):
        self.check = 0

    def __call__(self, visit):
        visit.check = self.check
        visit.word, _, number = re.split(r"[.:]", visit.host)[0].partition("-")
        visit.number = int(number or 0)
        kind = KINDS.get(visit.word)
        if visit.path == "/robots.txt":
            (kind.robots if kind and kind.robots else no_robots)(visit)
        elif kind and (kind.wild or kind.home or visit.path == "/" or re.match(r"/(page|new|step)-", visit.path)):
            kind.page(visit)
        else:
            visit.answer(404)


def no_robots(visit):
    visit.answer(404)


def robots(text):
    def page(visit):
        wanted = re.search(r"Crawl-delay: ([\d.]+)", text)
        visit.crawl_delay = float(wanted[1]) if wanted else None
        visit.answer(200, "Content-Type: text/plain", body=text.encode())
    return page


def other(visit, word, path):
    """Returns a URL at the host of another kind with the same number."""
    return f"http://{word}-{visit.number}.farm.example{path}"


# Existing pages.

@kind(LIVE, OK, hosts=70, links=8)
def plain(visit):
    visit.page()


alias("secure", LIVE, OK, of=plain, hosts=8, links=6, scheme="https")
alias("otherport", LIVE, OK, of=plain, port=":8080")
alias("v6only", LIVE, OK, of=plain)
alias("v6down", LIVE, OK, of=plain)
alias("v4down", LIVE, OK, of=plain)


def head_status(status):
    def page(visit):
        if visit.is_head:
            visit.answer(status)
        else:
            visit.page()
    return page


for status in (400, 403, 404, 405, 410, 500, 501):
    alias(f"head{status}", LIVE, OK, of=head_status(status))


@kind(LIVE, OK)
def headreset(visit):
    visit.reset() if visit.is_head else visit.page()


@kind(LIVE, OK)
def headgarbage(visit):
    visit.send(b"\0\1\2\3\r\n\r\n") if visit.is_head else visit.page()


@kind(LIVE, OK, hosts=2, links=1, home=True)
def headhangs(visit):
    visit.wait(60) if visit.is_head else visit.page()


for status in (203, 204, 206, 300, 304):
    alias(f"status{status}", LIVE, OK, of=lambda visit, status=status: visit.answer(status), links=2)


def to_new(status):
    def page(visit):
        if visit.path.startswith("/page-"):
            visit.redirect(status, visit.path.replace("page", "new"))
        else:
            visit.page()
    return page


for status in (302, 303, 307):
    alias(f"status{status}", LIVE, OK, of=to_new(status))
for status in (301, 308):
    alias(f"status{status}", LIVE, MOVED, of=to_new(status))


@kind(LIVE, MOVED)
def movedaway(visit):
    visit.redirect(301, other(visit, "status308", visit.path))


@kind(LIVE, MOVED)
def movedthenfound(visit):
    if visit.path.startswith("/page-"):
        visit.redirect(301, visit.path.replace("page", "new"))
    else:
        visit.redirect(302, other(visit, "plain", visit.path.replace("new", "page")))


@kind(LIVE, OK)
def foundthenmoved(visit):
    if visit.path.startswith("/page-"):
        visit.redirect(302, visit.path.replace("page", "new"))
    else:
        visit.redirect(301, other(visit, "plain", visit.path.replace("new", "page")))


def steps(count):
    """Redirects a number of times, over four hosts, to a page."""
    def page(visit):
        found = re.match(r"/step-(\d+)/(page-\d+)", visit.path)
        step, path = (int(found[1]), found[2]) if found else (0, visit.path[1:])
        if step == count:
            return visit.page()
        host = f"{visit.word}-{visit.number % 4 + 1}.farm.example"
        return visit.redirect(302, f"http://{host}/step-{step + 1}/{path}")
    return page


alias("threesteps", LIVE, OK, of=steps(3))
alias("tensteps", LIVE, OK, of=steps(10), links=2)
alias("elevensteps", LOST, FAILING, FAILING, DEAD, of=steps(11), links=2, detail="more than 10 redirects")


@kind(LIVE, OK, links=2)
def slow(visit):
    if visit.wait(0.1):
        visit.page()


@kind(LIVE, OK, hosts=2, links=1, home=True)
def drips(visit):
    """An endless page, one byte at a time."""
    if visit.is_head:
        return visit.answer(405)
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", is_last=False)
    while visit.wait(0.02):
        visit.send(b"x", is_last=False)


@kind(LIVE, OK)
def endless(visit):
    """An endless page, as fast as it can be read."""
    if visit.is_head:
        return visit.answer(405)
    visit.send(b"HTTP/1.1 200 OK\r\n\r\n", is_last=False)
    while visit.wait(0):
        visit.send(b"x" * 16384, is_last=False)


@kind(LIVE, OK)
def bigheader(visit):
    visit.page(*(f"X-{number}: {'x' * 200}" for number in range(150)))


@kind(LIVE, OK)
def oldhttp(visit):
    visit.send(b"HTTP/1.0 200\r\n\r\n" + (b"" if visit.is_head else visit.path.encode()))


@kind(LIVE, OK)
def chunks(visit):
    head = b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    visit.send(head + (b"" if visit.is_head else b"4\r\npage\r\n0\r\n\r\n"))


alias("robots403", LIVE, OK, of=plain, robots=lambda visit: visit.answer(403))
alias("robotsloop", LIVE, OK, of=plain, robots=lambda visit: visit.redirect(302, "/robots.txt"))
alias("robotsothers", LIVE, OK, of=plain, robots=robots("User-agent: *\nDisallow: /\n\nUser-agent: Waypost\nAllow: /\n"))
alias("robotslong", LIVE, OK, of=plain, robots=robots("#" * 600_000 + "\nUser-agent: *\nDisallow: /\n"))
alias("robotsmoved", LIVE, OK, of=plain, robots=lambda visit: visit.redirect(301, other(visit, "robotsothers", "/robots.txt")))
alias("robotsgarbage", LIVE, OK, of=plain, robots=robots("\0\x1b<html>Disallow: /</html>"))
alias("crawldelay", LIVE, OK, of=plain, robots=robots("User-agent: *\nCrawl-delay: 0.3\n"))


# The library's tests cover answers with status 503, because each is followed by a pause of 30 s.

def by_check(*statuses):
    def page(visit):
        status = statuses[visit.check]
        visit.page() if status == 200 else visit.answer(status)
    return page


alias("comesback", LIVE, FAILING, FAILING, OK, of=by_check(500, 504, 200))
alias("flickers", LIVE, FAILING, OK, FAILING, of=by_check(404, 200, 404))
alias("wentdown", LIVE, OK, FAILING, FAILING, of=by_check(200, 502, 502))


@kind(LIVE, FAILING, OK, OK, links=1)
def maintained(visit):
    if visit.check == 0:
        visit.retry_after = 1
        return visit.answer(503, "Retry-After: 1")
    return visit.page()


@kind(LIVE, OK, wild=True)
def anyname(visit):
    """Answers with the same page for every missing path."""
    visit.page() if visit.path.startswith("/page-") else visit.answer(200, body=b"nothing here\n")


# Pages that are refused to programs, or that need more than this program supports.

for status in (401, 402, 403, 407, 451, 999):
    alias(f"wall{status}", LIVE, BLOCKED, of=lambda visit, status=status: visit.answer(status), links=3)
alias("challenge", LIVE, BLOCKED, of=lambda visit: visit.answer(403, "CF-Mitigated: challenge"), links=3)
alias("captcha", LIVE, BLOCKED, of=lambda visit: visit.answer(405, "x-amzn-waf-action: captcha"), links=3)
alias("cookies", LIVE, BLOCKED, of=lambda visit: visit.answer(302, f"Location: {visit.path}", "Set-Cookie: a=b"))
alias("toomany", LIVE, BLOCKED, of=lambda visit: visit.answer(429), links=1)


def busy(value, seconds):
    def page(visit):
        visit.retry_after = seconds
        visit.answer(429, f"Retry-After: {value() if callable(value) else value}")
    return page


alias("busyhours", LIVE, BLOCKED, of=busy(7200, 7200), links=1)
alias("busyuntil", LIVE, BLOCKED, of=busy(lambda: formatdate(time.time() + 3600, usegmt=True), 3590), links=1)
alias("busybefore", LIVE, BLOCKED, of=busy("Sun, 06 Nov 1994 08:49:37 GMT", 0), links=1)
alias("busyforever", LIVE, BLOCKED, of=busy("9" * 400, 3600), links=1)
alias("busynonsense", LIVE, BLOCKED, of=busy("-1", 0), links=1)
alias("disallowed", LIVE, DISALLOWED, of=plain, robots=robots("User-agent: *\nDisallow: /page\n"))
alias("robots500", LIVE, DISALLOWED, of=plain, robots=lambda visit: visit.answer(500))
alias("crawldays", LIVE, UNCHECKED, of=plain, robots=robots("User-agent: *\nCrawl-delay: 86400\n"), detail="Crawl-delay")
alias("app", LIVE, UNCHECKED, of=lambda visit: visit.redirect(302, "intent://open#Intent;end"), detail="neither http nor https")
alias("password", LIVE, UNCHECKED, of=lambda visit: visit.redirect(302, "http://a:b@plain-1.farm.example/"), detail="a user name")
alias("expired", LIVE, INSECURE, of=plain, scheme="https", detail="the certificate has expired")
alias("othername", LIVE, INSECURE, of=plain, scheme="https", detail="the certificate is for another name")
alias("selfsigned", LIVE, INSECURE, of=plain, scheme="https", detail="trusted authority")
alias("oldprotocol", LIVE, INSECURE, of=plain, scheme="https", detail="no TLS version or cipher")


@kind(LIVE, UNCHECKED, detail="the header of the answer is too large")
def hugeheader(visit):
    visit.send(b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: %s\r\n" % (it, b"x" * 1000) for it in range(200)))


@kind(LIVE, UNCHECKED, detail="the header of the answer is too large")
def endlessheader(visit):
    visit.send(b"HTTP/1.1 200 OK\r\nX: ", is_last=False)
    while visit.wait(0):
        visit.send(b"x" * 16384, is_last=False)


@kind(LIVE, UNCHECKED, detail="the header of the answer is too large")
def manyfields(visit):
    visit.answer(200, *(f"X-{number}: x" for number in range(300)))


# Addresses that this program must not request.

for name in ("private", "mixed", "local6", "hidden"):
    alias(name, UNKNOWN, UNCHECKED, of=plain, links=1, detail="a private address")
alias("rebinds", UNKNOWN, UNCHECKED, of=plain, links=3, detail="a private address")
alias("metadata", UNKNOWN, UNCHECKED, of=plain, links=1, detail="metadata-service address")
alias("routeless", UNKNOWN, UNCHECKED, of=plain, links=1, detail="this machine cannot connect")
alias("inside", UNKNOWN, UNCHECKED, of=lambda visit: visit.redirect(302, "http://10.1.2.3/"), detail="a private address")
alias("insidename", UNKNOWN, UNCHECKED, of=lambda visit: visit.redirect(301, "http://mixed-1.farm.example/"), detail="a private address")
alias("toocloud", UNKNOWN, UNCHECKED, of=lambda visit: visit.redirect(302, "http://169.254.169.254/latest/meta-data/"), detail="metadata-service address")
alias("hexed", UNKNOWN, UNCHECKED, of=lambda visit: visit.redirect(302, "http://0xa9fea9fe/"), detail="metadata-service address")
alias("mapped", UNKNOWN, UNCHECKED, of=lambda visit: visit.redirect(302, "http://[::ffff:10.1.2.3]/"), detail="a private address")
alias("filed", LOST, FAILING, FAILING, DEAD, of=lambda visit: visit.redirect(302, "http:///"), links=1)
# It cannot be known whether these are dead or this machine's name server is broken.
alias("servfail", UNKNOWN, FAILING, of=plain, detail="the DNS lookup failed")
alias("silent", UNKNOWN, FAILING, of=plain, hosts=2, links=1, detail="the DNS lookup failed")


# Missing pages.

LOST_LATE = (LOST, FAILING, FAILING, DEAD)


def lost(name, page, **more):
    alias(name, *LOST_LATE, of=page, **more)


lost("missing", lambda visit: visit.answer(404), hosts=40, links=8, detail="status 404")
for status in (400, 405, 406, 418, 500, 502, 504):
    lost(f"lost{status}", lambda visit, status=status: visit.answer(status), detail=f"status {status}")
lost("refused", plain, port=":81", detail="refused")
lost("stalled", plain, port=":82", hosts=2, detail="the connection timed out")
lost("nxdomain", plain, hosts=8, links=6, detail="DNS has no address")
lost("nodata", plain, detail="DNS has no address")
lost("unreachable", plain, detail="the host is unreachable")
lost("resets", lambda visit: visit.reset(), detail="closed without an answer")
lost("closes", lambda visit: visit.send(b""), detail="closed without an answer")
lost("halves", lambda visit: visit.send(b"HTTP/1.1 200 OK\r\nContent-"), detail="closed without an answer")
lost("garbage", lambda visit: visit.send(b"220 mail.example ESMTP\r\n"), detail="not valid HTTP")
lost("notls", plain, scheme="https", detail="the TLS handshake failed")
lost("tlscloses", plain, scheme="https", detail="the TLS handshake failed")
lost("circle", lambda visit: visit.redirect(301, visit.path), detail="loop")
lost("nowhere", lambda visit: visit.answer(302), detail="no Location")
lost("movedtonothing", lambda visit: visit.redirect(301, other(visit, "missing", visit.path)), detail="status 404")
lost("movedtonobody", lambda visit: visit.redirect(301, other(visit, "nxdomain", visit.path)), detail="DNS has no address")


@kind(*LOST_LATE, hosts=2, links=1, home=True, detail="did not answer in time")
def hangs(visit):
    visit.wait(60)


@kind(*LOST_LATE, hosts=1, links=1, home=True, detail="did not answer in time")
def dripsheader(visit):
    visit.send(b"HTTP/1.1 200 OK\r\nX: ", is_last=False)
    while visit.wait(0.02):
        visit.send(b"x", is_last=False)


alias("removed", LOST, GONE, of=lambda visit: visit.answer(410))
alias("removedhead", LOST, GONE, of=lambda visit: visit.answer(404 if visit.is_head else 410))
alias("everything", LOST, SOFT, of=lambda visit: visit.answer(200, body=b"not here\n"), wild=True)
alias("leadshome", LOST, SOFT, of=lambda visit: visit.page() if visit.path == "/" else visit.redirect(302, "/"), wild=True)
alias("wantslogin", LOST, SOFT, of=lambda visit: visit.page() if visit.path == "/login" else visit.redirect(302, "/login"), wild=True)
