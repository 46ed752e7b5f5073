"""Drives a browser over WebDriver through every kind of page; standard library only.

Fails at the first thing that is not as it should be, and says on which page.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import time
import urllib.error
import urllib.request

TAB, ENTER = "\ue004", "\ue007"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # W3C WebDriver, section 12.1

# Every visible text with the contrast to what is painted behind it (WCAG 2.2, 1.4.3). Colours are
# painted on a canvas and read back, so that any notation and any transparency counts as it looks.
CONTRASTS = r"""
const canvas = document.createElement('canvas');
canvas.width = canvas.height = 1;
const paint = canvas.getContext('2d', {willReadFrequently: true});
const probe = document.body.appendChild(document.createElement('span'));
probe.style.backgroundColor = 'Canvas';
const base = getComputedStyle(probe).backgroundColor;
probe.remove();
const pixel = (colours) => {
  for (const colour of colours) { paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1); }
  return Array.from(paint.getImageData(0, 0, 1, 1).data.slice(0, 3));
};
const luminance = (rgb) => {
  const [r, g, b] = rgb.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const found = [];
for (const element of document.body.querySelectorAll('*')) {
  const text = Array.from(element.childNodes).filter(n => n.nodeType === 3).map(n => n.data).join('').trim();
  if (!text || !element.checkVisibility() || ['SCRIPT', 'STYLE'].includes(element.tagName)) continue;
  const behind = [];
  for (let at = element; at; at = at.parentElement) behind.unshift(getComputedStyle(at).backgroundColor);
  const background = pixel([base, ...behind]);
  const foreground = pixel([getComputedStyle(element).color]);
  const [light, dark] = [luminance(background), luminance(foreground)].sort((a, b) => b - a);
  found.push({heading: !!element.closest('h1'), text, background, foreground, ratio: (light + 0.05) / (dark + 0.05)});
}
return found;
"""


class Browser:
    """One WebDriver session, with Chromium's log and its list of requests."""

    def __init__(self, driver, binary, profile):
        flags = [
            "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-component-update",
            "--disable-dev-shm-usage", "--window-size=1000,800", f"--user-data-dir={profile}",
        ]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")
        self.base = driver
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": binary, "args": flags},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}})
        self.base = f"{driver}/session/{session['sessionId']}"

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()[:500]}") from None

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def url(self):
        return self.call("GET", "/url")

    def run(self, script, *args):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def cdp(self, command, **params):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def log(self, kind):
        return self.call("POST", "/se/log", {"type": kind})

    def find(self, selector):
        return [found[ELEMENT] for found in self.call("POST", "/elements", {"using": "css selector", "value": selector})]

    def click(self, element):
        self.call("POST", f"/element/{element}/click", {})

    def only(self, selector):
        found = self.find(selector)
        assert len(found) == 1, f"{len(found)} of {selector} on {self.url()}"
        return found[0]

    def appears(self, selector):
        deadline = time.monotonic() + 15
        while not self.find(selector):
            assert time.monotonic() < deadline, f"no {selector} on {self.url()}"
            time.sleep(0.05)

    def type(self, element, text):
        self.call("POST", f"/element/{element}/value", {"text": text})

    def press(self, key):
        strokes = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})

    def lands_on(self, url):
        deadline = time.monotonic() + 15
        while self.url() != url or self.run("return document.readyState") != "complete":
            assert time.monotonic() < deadline, f"expected to land on {url}, but is on {self.url()}"
            time.sleep(0.05)

    def quit(self):
        self.call("DELETE", "")


class Visit:
    """What a person does and sees; each method is one check or one step of a walk."""

    def __init__(self, browser, options):
        self.browser = browser
        self.short = options.short
        self.pages = options.pages
        self.links = options.links
        self.screenshots = options.screenshots
        self.target = f"{options.pages}/target.html"

    def page(self, path, status, scheme):
        """Opens a page of Waypost's own and checks what holds for each of them."""
        browser, url = self.browser, self.short + path
        browser.log("performance"), browser.log("browser")
        browser.open(url)
        assert browser.url() == url, f"{url} led to {browser.url()}"
        self.answered_with(url, status)
        self.is_well_formed(url)
        self.console_is_clean(url)
        name = re.sub(r"\W+", "-", path).strip("-") or "landing"
        with open(f"{self.screenshots}/{scheme}-{name}.png", "wb") as file:
            file.write(base64.b64decode(browser.call("GET", "/screenshot")))
        return self.colours(url)

    def answered_with(self, url, status):
        """The status is right, and nothing was asked of any other host."""
        statuses = {}
        for entry in self.browser.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked = message["params"]["request"]["url"]
                assert asked.startswith((self.short + "/", "data:")), f"{url} loads {asked}"
            elif message["method"] == "Network.responseReceived":
                response = message["params"]["response"]
                statuses[response["url"]] = response["status"]
        assert statuses.get(url) == status, f"{url} answered {statuses.get(url)}, not {status}"

    def in_language(self, language):
        self.browser.cdp("Network.enable")
        agent = self.browser.run("return navigator.userAgent")
        self.browser.cdp("Network.setUserAgentOverride", userAgent=agent, acceptLanguage=language)

    def in_german(self):
        """The same pages in German: texts, dates and the language that is declared."""
        self.in_language("de")
        for path, status, shown in [
            ("/", 200, "Kurzlinks"),
            ("/field-guide+", 200, "bis 31. Dezember 2031"),
            ("/field-gudie", 404, "Gemeint war vielleicht"),
            ("/withdrawn", 410, "Dieser Link wird nicht mehr verwendet"),
        ]:
            self.page(path, status, "german")
            assert self.browser.run("return document.documentElement.lang") == "de", path
            assert shown in self.text(), f"{path} does not show {shown!r}: {self.text()!r}"
        self.in_language("en")

    def in_print(self):
        """On paper there are the short URL and its QR code, and no buttons."""
        self.browser.cdp("Emulation.setEmulatedMedia", media="print", features=[])
        self.page("/field-guide+", 200, "print")
        seen = self.browser.run("""return {
            short: document.querySelector('.short').checkVisibility(),
            code: document.querySelector('img').checkVisibility() && document.querySelector('img').naturalWidth > 0,
            buttons: Array.from(document.querySelectorAll('.button, nav, .ways')).filter(e => e.checkVisibility()).length,
        }""")
        assert seen == {"short": True, "code": True, "buttons": 0}, seen
        self.browser.cdp("Emulation.setEmulatedMedia", media="", features=[])

    def is_well_formed(self, url):
        """The page has what a screen reader and a small screen need."""
        shape = self.browser.run("""return {
            lang: document.documentElement.lang, title: document.title.trim(),
            h1: document.querySelectorAll('h1').length,
            heading: document.querySelector('h1')?.innerText.trim(),
            main: document.querySelectorAll('main, [role=main]').length,
            mode: document.compatMode,
            nameless: Array.from(document.querySelectorAll('a, button'))
                .filter(e => !(e.innerText.trim() || e.ariaLabel)).length
                + Array.from(document.querySelectorAll('img')).filter(e => !e.alt).length,
            named: document.querySelector('header').innerText.includes('Field & Links')
                && document.title.endsWith('Field & Links'),
            ways: ['https://forge.example/links', 'mailto:links@short.code']
                .filter(way => document.querySelector(`footer a[href="${way}"]`)).length,
            outside: Array.from(document.body.querySelectorAll('h1')).filter(e => !e.closest('main, header')).length,
        }""")
        assert shape["lang"] and shape["title"] and shape["heading"], f"{url}: {shape}"
        expected = {"h1": 1, "main": 1, "mode": "CSS1Compat", "nameless": 0, "outside": 0, "named": True, "ways": 2}
        assert expected.items() <= shape.items(), f"{url}: {shape}"
        self.browser.cdp("Emulation.setDeviceMetricsOverride", width=320, height=640, deviceScaleFactor=1, mobile=True)
        width = self.browser.run("return document.documentElement.scrollWidth")
        self.browser.cdp("Emulation.clearDeviceMetricsOverride")
        assert width <= 320, f"{url} is {width} pixels wide on a screen of 320"

    def console_is_clean(self, url):
        """No script error, no violation of the page's own policy."""
        for entry in self.browser.log("browser"):
            # Chromium reports the page's own error status as a failed load.
            own_status = entry["source"] == "network" and entry["message"].startswith(f"{url} - ")
            assert own_status or entry["level"] in ("INFO", "DEBUG"), f"{url}: {entry}"

    def colours(self, url):
        """Every text can be read; returns the page's background and text colours."""
        texts = self.browser.run(CONTRASTS)
        assert texts, f"{url} shows no text"
        for text in texts:
            assert text["ratio"] >= 4.5, f"{url}: too little contrast: {text}"
        first = next(text for text in texts if text["heading"])
        return first["background"], first["foreground"]

    def text(self):
        return self.browser.run("return document.querySelector('main').innerText")

    def in_scheme(self, scheme):
        """Reads every page in the light or the dark scheme; returns their colours."""
        browser = self.browser
        browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        colours = {}

        colours["landing"] = self.page("/", 200, scheme)
        counted = re.search(rf"\b{self.links}\b\s+(\w+\s+)?links?\b|\blinks?\b\W+{self.links}\b", self.text(), re.I)
        assert counted, f"the landing page does not show {self.links} links: {self.text()!r}"

        colours["not found"] = self.page("/field-gudie", 404, scheme)
        suggestions = browser.find("main ul a")
        assert suggestions, f"no suggestion for a mistyped code: {self.text()!r}"
        assert "field-guide" in browser.call("GET", f"/element/{suggestions[0]}/text")
        assert "127.0.0.1" in self.text(), f"no destination beside the suggestion: {self.text()!r}"
        browser.click(suggestions[0])
        browser.lands_on(self.target)

        colours["preview"] = self.page("/field-guide+", 200, scheme)
        for shown in (self.target, '<b>A "field" & guide</b>', "cartography", "through 31 December 2031",
                      "Continue to 127.0.0.1", "Report this link"):
            assert shown in self.text(), f"the preview does not show {shown!r}: {self.text()!r}"
        self.continues_by_keyboard()

        colours["form"] = self.page("/-/propose", 200, scheme)
        colours["proposal"] = self.page("/-/propose?url=https://example.org/&code=new", 200, scheme)
        colours["refusal"] = self.page("/-/propose?url=https://example.org/&code=withdrawn", 422, scheme)
        colours["gone"] = self.page("/withdrawn", 410, scheme)
        archive = f"{self.pages}/archive.html"
        links = browser.run("return Array.from(document.querySelectorAll('main a'), a => a.href)")
        assert archive in links, f"the gone page does not link to the archived copy: {links}"
        return colours

    def continues_by_keyboard(self):
        """From the preview, Tab reaches the target's link, shows that it did, and Enter follows it."""
        for _ in range(20):
            self.browser.press(TAB)
            focus = self.browser.run("""
                const at = document.activeElement, style = getComputedStyle(at);
                return {href: at.href, rel: at.rel, outline: style.outlineStyle, shadow: style.boxShadow};
            """)
            if focus["href"] == self.target:
                break
        assert focus["href"] == self.target, "Tab does not reach the preview's link"
        assert "noreferrer" in (focus["rel"] or "").split(), focus
        assert focus["outline"] != "none" or focus["shadow"] != "none", f"focus is not visible: {focus}"
        self.browser.press(ENTER)
        self.browser.lands_on(self.target)
        assert self.browser.run("return document.referrer") == "", "the preview sends a referrer to the target"

    def proposes(self, kind, port):
        """Fills in the form, and sends the proposal at the forge."""
        browser, form = self.browser, f"http://{kind}-links.localhost:{port}/-/propose"
        browser.open(form)
        for field, value in {
            "url": f"https://example.org/?a=1&b={kind}", "code": f"field/{kind}",
            "title": f'<b>A "field" & guide: #1</b> {kind}', "tags": "a, no, x: y",
        }.items():
            browser.type(browser.only(f"#{field}"), value)
        browser.click(browser.only("form button"))
        browser.appears("#lines")
        assert f"http://{kind}-links.localhost/field/{kind}" in self.text(), self.text()
        lines = browser.call("GET", f"/element/{browser.only('#lines')}/text")
        browser.click(browser.only("#send"))
        browser.appears("textarea")
        assert browser.url().startswith(f"http://{kind}.localhost:"), browser.url()
        assert browser.call("GET", "/title") == "New file"
        filled = browser.call("GET", f"/element/{browser.only('textarea')}/property/value")
        assert filled.strip() == lines.strip(), f"{kind}: {filled!r} instead of {lines!r}"
        browser.click(browser.only("button"))
        browser.appears("h1")
        assert browser.call("GET", "/title") == "Proposed"

    def follows(self, path, url):
        self.browser.open(self.short + path)
        self.browser.lands_on(url)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("driver", "browser", "profile", "short", "pages", "links", "screenshots", "proposals"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()

    browser = Browser(options.driver, options.browser, options.profile)
    try:
        visit = Visit(browser, options)
        auto = f"{options.pages}/auto.html"
        code = base64.urlsafe_b64encode(hashlib.sha256(auto.encode()).digest()[:6]).decode()
        visit.follows("/field-guide", visit.target)
        visit.follows(f"/{code}", auto)
        visit.follows("/added-while-serving", f"{visit.target}?late")
        print("ok: custom, auto and later added codes lead to their targets")

        light = visit.in_scheme("light")
        print("ok: landing, 404, preview, 410 and proposal pages in light colours")
        dark = visit.in_scheme("dark")
        print("ok: landing, 404, preview, 410 and proposal pages in dark colours")
        for page in light:
            assert light[page] != dark[page], f"the {page} page has the same colours in light and dark: {light[page]}"
            assert sum(light[page][0]) > sum(dark[page][0]), f"the {page} page's background is no darker in dark"
        print("ok: the two schemes differ on every page")
        visit.in_german()
        print("ok: the same pages in German")
        visit.in_print()
        print("ok: the page of a link as it is printed")

        browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
        for kind in ("gitea", "github", "gitlab"):
            visit.proposes(kind, options.proposals)
        print("ok: links are proposed with a form and sent at a forge, without scripts")
    finally:
        browser.quit()


main()
