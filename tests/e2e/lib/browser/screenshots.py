"""Writes the images of the documentation."""

import base64

from visited_servers import GO

# Name, path, scheme, and how much of the page is shown, in pixels from its top.
IMAGES = [
    ("landing", "/", "light", 740),
    ("link", "/herbarium+", "light", 820),
    ("link-dark", "/herbarium+", "dark", 820),
    ("list", "/-/links?q=plates", "light", 740),
    ("propose", "/-/propose?url=https://example.org/field-notes&code=notes&title=Field+notes", "light", 1000),
    ("not-found", "/herbraium", "light", 440),
]
WIDTH = 800


def take(browser, directory):
    directory.mkdir(parents=True, exist_ok=True)
    for name, path, scheme, height in IMAGES:
        browser.screen(WIDTH, height)
        browser.emulate(scheme=scheme)
        browser.open(GO + path)
        shot = browser.cdp("Page.captureScreenshot", format="webp", quality=80)
        (directory / f"{name}.webp").write_bytes(base64.b64decode(shot["data"]))
