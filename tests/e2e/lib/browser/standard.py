"""Validates pages with the official checker of the HTML standard, <https://validator.w3.org/nu/>."""

import http.client
import json
import os
import subprocess
import urllib.parse

from page_types import PAGE_TYPES, PageType
from visited_servers import GO

LANGUAGES = ("en", "de")
WRONG = "wrong.html"


def fetch(servers, page, language="en"):
    """Returns a page as its server sends it."""
    address = urllib.parse.urlsplit(page.url)
    port = next(port for host, port in servers.hosts.items() if address.netloc.endswith(host.lstrip("*")))
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    query = address.query.removesuffix("stay")  # as it is exported
    target = f"{address.path}?{query}" if query else address.path
    headers = {"Host": address.netloc, "Accept": "text/html", "Accept-Language": language}
    connection.request("POST" if page.posted else "GET", target, headers=headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    assert answer.status == page.status, f"{page.url} answered {answer.status}, not {page.status}"
    return text


class Checks:
    """Runs in the background: the checker takes seconds, and the browser has another core."""

    def __init__(self, servers):
        folder = servers.directory / "pages"
        folder.mkdir()
        for page in PAGE_TYPES:
            for language in LANGUAGES:
                (folder / f"{page.name}.{language}.html").write_bytes(fetch(servers, page, language))
        (folder / "qr.svg").write_bytes(fetch(servers, PageType("qr", f"{GO}/-/qr/herbarium.svg")))
        # A checker that reads nothing would accept this page.
        (folder / WRONG).write_text("<!doctype html><html lang=en><title>x</title><p><div></p>")
        command = ["java", "-jar", os.environ["VNU_JAR"], "--stdout", "--format", "json", "--exit-zero-always", "--also-check-svg"]
        self.process = subprocess.Popen([*command, folder], stdout=subprocess.PIPE)

    def finish(self):
        """Raises if the checker finds anything, even a warning."""
        report = json.loads(self.process.communicate(timeout=300)[0])
        found = [(message["url"].rsplit("/")[-1], message.get("lastLine"), message["message"]) for message in report["messages"]]
        right = [one for one in found if one[0] != WRONG]
        assert len(right) < len(found), f"the checker accepts {WRONG}"
        assert not right, "\n".join(map(str, right))
