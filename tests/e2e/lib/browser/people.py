"""What people do with the pages, step by step, without scripts."""

import base64
import hashlib
import re
import urllib.parse

from visited_servers import EXPORTED, FORGES, GO, MUSEUM, REVIEW, REVIEW_TABLE, TABLE, TOKEN, VOLUMES, volumes
from webdriver import ENTER, TAB

GUIDE = f"{MUSEUM}/guide"


class Person:
    def __init__(self, browser, servers):
        self.browser = browser
        self.servers = servers

    def follow(self, path, url):
        self.browser.open(GO + path)
        self.browser.lands_on(url)

    def follow_links(self):
        """Custom, derived and later added codes lead to their targets, and so do exported pages."""
        self.follow("/field-guide", GUIDE)
        self.follow("/plants", f"{MUSEUM}/herbarium/catalogue?view=plates")
        self.follow("/plates/7?size=large", f"{MUSEUM}/plates/7?size=large")
        self.follow(f"/{derived(f'{MUSEUM}/rooms')}", f"{MUSEUM}/rooms")
        self.follow("/-/go?q=herbarium", f"{MUSEUM}/herbarium/catalogue?view=plates")
        self.servers.add_while_serving()
        self.follow("/added-while-serving", f"{MUSEUM}/late")
        self.browser.open(f"{EXPORTED}/field-guide/")
        self.browser.lands_on(GUIDE)

    def mistype(self):
        """A mistyped code gets a suggestion, with the host of its target."""
        self.browser.open(f"{GO}/field-gudie")
        assert "museum.example.net" in self.browser.text("main li:first-child"), self.browser.text()
        assert self.browser.text("main li:first-child a") == "field-guide", self.browser.text()
        self.browser.go("main li:first-child a")
        self.browser.lands_on(GUIDE)

    def look_first(self):
        """The page of a link shows what it is, and Tab and Enter continue to its target."""
        self.browser.open(f"{GO}/field-guide+")
        for shown in (GUIDE, '<b>A "field" & guide</b>', "cartography", "through 31 December 2031",
                      "Continue to museum.example.net", "Report this link"):
            assert shown in self.browser.text(), f"the page of a link does not show {shown!r}: {self.browser.text()!r}"
        for _ in range(20):
            self.browser.press(TAB)
            focus = self.browser.run("""
                const at = document.activeElement, style = getComputedStyle(at);
                return {href: at.href, rel: at.rel, outline: style.outlineStyle, shadow: style.boxShadow};
            """)
            if focus["href"] == GUIDE:
                break
        assert focus["href"] == GUIDE, "Tab does not reach the link to the target"
        assert "noreferrer" in (focus["rel"] or "").split(), focus
        assert focus["outline"] != "none" or focus["shadow"] != "none", f"focus is not visible: {focus}"
        self.browser.press(ENTER)
        self.browser.lands_on(GUIDE)
        assert self.browser.run("return document.referrer") == "", "the page sends a referrer to the target"

    def find_archive(self):
        """The page of a retired link leads to the archived copy."""
        self.browser.open(f"{GO}/withdrawn")
        self.browser.go(f'main a[href="{MUSEUM}/archive"]')
        self.browser.lands_on(f"{MUSEUM}/archive")

    def browse_to_the_end(self):
        """From the landing page through all pages of the list: each code once, in order."""
        expected = codes()
        self.browser.open(f"{GO}/")
        assert f"has {len(expected)} links" in self.browser.text(), self.browser.text()
        self.browser.go("main a[href='/-/links']")
        seen, pages = self.codes_on_page(), 1
        assert f"There are {len(expected)} links." in self.browser.text(), self.browser.text()
        while self.browser.find("a[rel=next]"):
            self.browser.go("a[rel=next]")
            more = self.codes_on_page()
            assert more and more[0] > seen[-1], f"page {pages + 1} begins at {more[:1]}, after {seen[-1]}"
            seen, pages = seen + more, pages + 1
        assert seen == expected, f"{len(seen)} codes instead of {len(expected)}: {sorted(set(seen) ^ set(expected))}"
        assert pages == 3, f"{len(seen)} codes are on {pages} pages"
        self.browser.go("main nav a:first-child")
        assert self.codes_on_page() == expected[:50], "it does not lead to the first page"

    def search(self):
        """With the form of the list: words, a tag, an owner, a state; then from a result to its page."""
        for values, found in [
            ({"q": "ATLAS plates"}, ["plates"]),
            ({"q": "volume 11"}, ["vol-011", *(f"vol-{number}" for number in range(110, VOLUMES))]),
            ({"tag": "reference", "owner": "cartography"}, ["plates"]),
            ({"owner": "cartography", "state": "retired"}, ["withdrawn"]),
            ({"state": "expired"}, ["summer-2019"]),
            ({"q": "nothing-like-this"}, []),
        ]:
            self.browser.open(f"{GO}/-/links")
            for field, value in values.items():
                if field == "state":
                    self.browser.click(f"#state [value={value}]")
                else:
                    self.browser.type(f"#{field}", value)
            self.browser.go("form.search button")
            assert self.codes_on_page() == found, f"{values}: {self.codes_on_page()}"
            kept = self.browser.run("return Array.from(document.querySelectorAll('form.search [name]'), at => [at.name, at.value])")
            assert values.items() <= dict(kept).items(), f"{values}: the form has {kept}"
        self.browser.open(f"{GO}/-/links?q=herbarium")
        self.browser.go("ul.links small a:last-child")
        assert self.codes_on_page() == ["herbarium", "plates"], "a tag does not lead to its links"
        self.browser.go("ul.links li:first-child > a")
        self.browser.lands_on(f"{GO}/herbarium+")

    def codes_on_page(self):
        return self.browser.run("return Array.from(document.querySelectorAll('ul.links > li > a'), a => a.innerText)")

    def read_german(self):
        """The same pages in German: texts, dates and the declared language."""
        self.browser.prefer("de")
        for path, shown in [
            ("/", "Kurzlinks"),
            ("/field-guide+", "bis 31. Dezember 2031"),
            ("/field-gudie", "Gemeint war vielleicht"),
            ("/withdrawn", "Dieser Link wird nicht mehr verwendet"),
            ("/-/links?q=herbarium", "1 Link gefunden"),
        ]:
            self.browser.open(GO + path)
            assert self.browser.run("return document.documentElement.lang") == "de", path
            assert shown in self.browser.text(), f"{path} does not show {shown!r}: {self.browser.text()!r}"
        self.browser.prefer("en")

    def print_link(self):
        """Printed pages have the short URL and its QR code, and no buttons."""
        self.browser.emulate(media="print")
        self.browser.open(f"{GO}/field-guide+")
        seen = self.browser.run("""return {
            short: document.querySelector('.short').checkVisibility(),
            code: document.querySelector('img').checkVisibility() && document.querySelector('img').naturalWidth > 0,
            buttons: Array.from(document.querySelectorAll('.button, nav, .ways')).filter(e => e.checkVisibility()).length,
        }""")
        assert seen == {"short": True, "code": True, "buttons": 0}, seen
        self.browser.emulate()

    def propose(self):
        """Fills in the form, and sends the proposal at each kind of forge; the result passes the check."""
        for kind in FORGES:
            self.propose_at(kind)
        self.servers.run("check", "--deny", "warnings", self.servers.forge)
        for kind in FORGES:
            short = f"http://{kind}.links.example.org/field/{kind}"
            location = self.servers.run("resolve", short, "--table", self.servers.forge)
            assert f"https://example.org/?a=1&b={kind}" in location, location

    def send_in_other_ways(self):
        """Sends a proposal as a changed file, as an issue and with a token; each result passes the check."""
        browser = self.browser
        link = {"url": "https://example.org/?a=1&b=2", "code": "field/other", "title": '<b>A "field" & guide: #1</b>'}
        page = f"{REVIEW}/-/propose?{urllib.parse.urlencode(link)}"

        browser.open(page)
        browser.go("#send")
        assert "/_edit/main/review.yaml?value=" in browser.url(), browser.url()
        browser.go("button")
        changed = self.servers.directory / "forge/review.yaml"
        self.leads(changed)

        browser.open(page)
        browser.go("#send-issue")
        assert browser.title() == "New issue", browser.url()
        browser.go("button")
        issue = self.servers.visited.issue
        entered = {name.removeprefix("field:").removeprefix("link-"): value for name, value in issue.items() if ":" in name}
        assert issue["template"] == ".gitea/ISSUE_TEMPLATE/propose-link.yml" and entered == link, issue
        changed.write_text(REVIEW_TABLE)
        flags = [f"--{name}={entered[name]}" for name in ("code", "title")]
        self.servers.run("add", "--table", changed, *flags, "--", entered["url"])
        self.leads(changed)

        browser.open(page)
        browser.type("#token", TOKEN)
        browser.go("form[method=post] button")
        branch = re.search(r"on the branch (propose-\S+?)\.", browser.text())
        assert branch and TOKEN not in browser.url() + browser.text(), browser.text()
        review = browser.run("return document.querySelector('#review').href")
        assert review == f"http://gitea.example.com/o/r/compare/main...{branch[1]}", review
        changed.write_text(self.servers.show(f"{branch[1]}:review.yaml"))
        self.leads(changed)

    def leads(self, table):
        """Checks a table with the proposed link."""
        self.servers.run("check", "--deny", "warnings", table)
        location = self.servers.run("resolve", f"{REVIEW}/field/other", "--table", table)
        assert "https://example.org/?a=1&b=2" in location, location

    def propose_at(self, kind):
        browser = self.browser
        browser.open(f"http://{kind}.links.example.org/-/propose")
        for field, value in {
            "url": f"https://example.org/?a=1&b={kind}", "code": f"field/{kind}",
            "title": f'<b>A "field" & guide: #1</b> {kind}', "tags": "a, no, x: y",
        }.items():
            browser.type(f"#{field}", value)
        browser.go("form button")
        assert f"http://{kind}.links.example.org/field/{kind}" in browser.text(), browser.text()
        lines = browser.text("#lines")
        browser.go("#send")
        assert browser.url().startswith(f"http://{kind}.example.com/"), browser.url()
        assert browser.title() == "New file", "scripts run"
        filled = browser.call("GET", f"/element/{browser.only('textarea')}/property/value")
        assert filled.strip() == lines.strip(), f"{kind}: {filled!r} instead of {lines!r}"
        browser.go("button")
        assert browser.title() == "Proposed"


def derived(url):
    """Returns the code that a URL gets."""
    return base64.urlsafe_b64encode(hashlib.sha256(url.encode()).digest()[:6]).decode()


def codes():
    """Returns all codes of the table, in the order of the list."""
    text = TABLE + "".join(volumes())
    given = re.findall(r"short-code: (\S+)", text)
    return sorted([*given, derived(f"{MUSEUM}/rooms"), "added-while-serving"])
