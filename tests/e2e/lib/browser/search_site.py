"""Searches the documentation's site in a browser, and opens what it finds.

    search_site.py DIRECTORY
"""

import contextlib
import sys
import tempfile
from pathlib import Path

from serving import wait_until
from visited_servers import Files, listening
from webdriver import Browser, driver

SITE = "http://docs.example.org"
# Words, and a heading that they find.
SEARCHES = [("merge driver", "Merging"), ("decision half page", "Decisions"), ("waypost explain", "Rules")]


def search(browser, words, heading):
    browser.open(f"{SITE}/")
    browser.lands_on(f"{SITE}/docs/")
    browser.press("s")
    wait_until(lambda: browser.run("return document.activeElement.id") == "mdbook-searchbar", "the search opens")
    browser.type("#mdbook-searchbar", words)
    found = "#mdbook-searchresults a"
    wait_until(lambda: browser.find(found), f"{words!r} finds something")
    texts = browser.run("return Array.from(document.querySelectorAll(arguments[0]), a => a.innerText)", found)
    texts = [text.splitlines()[0] for text in texts]
    assert any(heading in text for text in texts), f"{words!r} does not find {heading!r} but {texts}"
    browser.go("#mdbook-searchresults li:first-child a")
    assert browser.url().startswith(f"{SITE}/docs/") and browser.find("main h1"), browser.url()


def main():
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        port = stack.enter_context(listening(lambda *args: Files(*args, directory=sys.argv[1])))
        address = stack.enter_context(driver(directory))
        browser = stack.enter_context(Browser(address, directory, {"docs.example.org": port}))
        for words, heading in SEARCHES:
            search(browser, words, heading)


main()
