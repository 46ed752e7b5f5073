"""Drives a headless Chromium over WebDriver and its DevTools protocol; standard library only."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import urllib.error
import urllib.request

from serving import wait_until

TAB, ENTER = "\ue004", "\ue007"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # W3C WebDriver, section 12.1
BINARIES = ("chromium", "google-chrome", "chromium-browser")


@contextlib.contextmanager
def driver(directory):
    """Runs chromedriver, and yields its address."""
    log = directory / "chromedriver.log"
    with log.open("wb") as out:
        process = subprocess.Popen(["chromedriver", "--port=0"], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        started = lambda: re.search(r"successfully on port (\d+)", log.read_text())
        yield f"http://127.0.0.1:{wait_until(started, 'chromedriver listens')[1]}"
    finally:
        process.terminate()
        process.wait(30)


class Browser:
    """A session, with Chromium's log and its list of requests.

    `hosts` maps patterns of host names to ports of this machine, for http; no other name is found.
    """

    def __init__(self, address, directory, hosts):
        binary = next(filter(None, map(shutil.which, BINARIES)))
        rules = [f"MAP {host}:80 127.0.0.1:{port}" for host, port in hosts.items()]
        flags = [
            "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
            "--disable-dev-shm-usage", "--window-size=1000,800", f"--user-data-dir={directory}/profile",
            "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
            f"--host-resolver-rules={', '.join(rules)}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")
        self.base = address
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": binary, "args": flags},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}})
        self.base = f"{address}/session/{session['sessionId']}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.call("DELETE", "")

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

    def title(self):
        return self.call("GET", "/title")

    def run(self, script, *args):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def cdp(self, command, **params):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def log(self, kind):
        return self.call("POST", "/se/log", {"type": kind})

    def find(self, selector):
        return [found[ELEMENT] for found in self.call("POST", "/elements", {"using": "css selector", "value": selector})]

    def only(self, selector):
        found = self.find(selector)
        assert len(found) == 1, f"{len(found)} of {selector} on {self.url()}"
        return found[0]

    def text(self, selector="main"):
        return self.call("GET", f"/element/{self.only(selector)}/text")

    def click(self, selector):
        self.call("POST", f"/element/{self.only(selector)}/click", {})

    def go(self, selector):
        """Clicks what leads to another page, and waits for that page."""
        self.run("document.documentElement.dataset.left = ''")
        self.click(selector)
        arrived = "return document.documentElement?.dataset.left === undefined && document.readyState === 'complete'"
        wait_until(lambda: self.run(arrived), f"{selector} leads to a page")

    def type(self, selector, text):
        self.call("POST", f"/element/{self.only(selector)}/value", {"text": text})

    def press(self, key):
        strokes = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})

    def lands_on(self, url):
        arrived = lambda: self.url() == url and self.run("return document.readyState") == "complete"
        wait_until(arrived, f"the browser lands on {url}")

    # How the page is shown

    def emulate(self, media="", scheme="light"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.cdp("Emulation.setEmulatedMedia", media=media, features=features)

    def prefer(self, language):
        agent = self.run("return navigator.userAgent")
        self.cdp("Network.setUserAgentOverride", userAgent=agent, acceptLanguage=language)

    def screen(self, width, height, scale=1, mobile=False):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)

    def own_screen(self):
        self.cdp("Emulation.clearDeviceMetricsOverride")
