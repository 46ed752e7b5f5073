"""Checks of every page, in light and in dark colours: its status, its frame, that it loads nothing
from elsewhere, fits small screens, and passes axe-core's rules, <https://github.com/dequelabs/axe-core>.
"""

import json
import os
from pathlib import Path

from visited_servers import MUSEUM

AXE = Path(os.environ["AXE"])
SCHEMES = ("light", "dark")
# Pixels: of small phones, and of pages at 400% on a screen of 1280 (WCAG 2.2, 1.4.10).
NARROW = (360, 320)


class Look:
    def __init__(self, browser):
        self.browser = browser
        self.axe = AXE.read_text(encoding="utf-8")

    def axe_finds_what_is_wrong(self):
        """Checks that a page without a heading and a main part, and with pale text, is found faulty."""
        self.browser.open(f"{MUSEUM}/pale")
        found = {rule for rule, _, _ in self.axe_findings(self.axe_world())}
        assert found >= {"color-contrast", "landmark-one-main", "page-has-heading-one"}, found

    def at(self, page):
        """Opens a page and checks it."""
        self.open(page)
        self.answered(page)
        self.has_its_frame(page)
        self.fits_small_screens(page)
        colours, world = [], self.axe_world()
        for scheme in SCHEMES:
            self.browser.emulate(scheme=scheme)
            found = self.axe_findings(world)
            assert not found, f"{page.name}, {scheme}: {json.dumps(found, indent=2)}"
            colours.append(self.colours())
        self.browser.emulate()
        (light_back, light_text), (dark_back, dark_text) = colours
        assert light_back > dark_back and light_text < dark_text, f"{page.name} is not dark: {colours}"
        self.console_is_clean(page)

    def open(self, page):
        self.browser.log("performance"), self.browser.log("browser")
        if page.posted:
            self.browser.open(f"{MUSEUM}/post")
            self.browser.go("button")
        else:
            self.browser.open(page.url)
        assert self.browser.url() == page.url, f"{page.url} led to {self.browser.url()}"

    def answered(self, page):
        """The status is right, and no other host was requested."""
        own, statuses = "/".join(page.url.split("/")[:3]), {}
        for entry in self.browser.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked = message["params"]["request"]["url"]
                from_form = page.posted and asked.startswith(f"{MUSEUM}/")
                assert from_form or asked.startswith((f"{own}/", "data:")), f"{page.url} loads {asked}"
            elif message["method"] == "Network.responseReceived":
                response = message["params"]["response"]
                statuses[response["url"]] = response["status"]
        assert statuses.get(page.url) == page.status, f"{page.url} answered {statuses.get(page.url)}, not {page.status}"

    def has_its_frame(self, page):
        """Each page shows the table's own texts, and no page has a script."""
        shape = self.browser.run("""
            const ways = ['http://github.example.com/o/r', 'mailto:links@example.org'];
            return {
                named: document.querySelector('header').innerText.includes('Field & Links')
                    && document.title.endsWith('Field & Links')
                    && ways.every(way => document.querySelector(`footer a[href="${way}"]`)),
                scripts: document.scripts.length, mode: document.compatMode,
            }""")
        assert shape == {"named": page.named, "scripts": 0, "mode": "CSS1Compat"}, f"{page.name}: {shape}"

    def fits_small_screens(self, page):
        for width in NARROW:
            self.browser.screen(width, 640, mobile=True)
            needed = self.browser.run("return document.documentElement.scrollWidth")
            assert needed <= width, f"{page.name} is {needed} pixels wide on a screen of {width}"
        self.browser.own_screen()

    def axe_world(self):
        """Loads axe-core into a world of its own, to which the policy of the page does not apply."""
        cdp = self.browser.cdp
        frame = cdp("Page.getFrameTree")["frameTree"]["frame"]["id"]
        world = cdp("Page.createIsolatedWorld", frameId=frame, worldName="axe")["executionContextId"]
        cdp("Runtime.evaluate", contextId=world, expression=self.axe)
        return world

    def axe_findings(self, world):
        """Returns the rules that axe-core finds violated, or cannot decide, each with its elements.

        It waits for timers, so scripts are enabled meanwhile; the page was opened without them. Its rule for
        the size of click targets (WCAG 2.2, 2.5.8) is off by default.
        """
        cdp = self.browser.cdp
        cdp("Emulation.setScriptExecutionDisabled", value=False)
        answer = cdp("Runtime.evaluate", contextId=world, awaitPromise=True, returnByValue=True, expression="""
            axe.run(document, {rules: {'target-size': {enabled: true}}}).then(({violations, incomplete}) =>
                [...violations, ...incomplete].map(rule =>
                    [rule.id, rule.help, rule.nodes.map(node => [node.html, node.failureSummary])]))""")
        cdp("Emulation.setScriptExecutionDisabled", value=True)
        assert "value" in answer["result"], f"axe-core did not run: {answer}"
        return answer["result"]["value"]

    def colours(self):
        """Returns the brightness of the background and of the heading, as sums of their channels."""
        return self.browser.run("""
            return [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('h1')).color]
                .map(colour => colour.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0));
        """)

    def console_is_clean(self, page):
        """No script error, no violation of the page's own policy."""
        for entry in self.browser.log("browser"):
            # Chromium reports the page's own error status as a failed load.
            own_status = entry["source"] == "network" and entry["message"].startswith(f"{page.url} - ")
            assert own_status or entry["level"] in ("INFO", "DEBUG"), f"{page.url}: {entry}"
