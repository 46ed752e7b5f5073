"""A real table: every target of the OBO Foundry's table gets a verdict, politely."""

import hashlib
from urllib.parse import urlsplit

from cases import case
from program import count, links
from proof import assert_polite
from scene import OBO

#: What hosts answer for a page, and the verdict on that.
ANSWERS = [(200, "ok")] * 12 + [(301, "moved"), (302, "ok"), (404, "failing"), (410, "gone")]


def answer_for(path):
    """Returns the answer of a page: always the same, chosen by a digest of its path."""
    return ANSWERS[hashlib.sha256(path.encode()).digest()[0] % len(ANSWERS)]


@case
def a_real_table_gets_all_verdicts(scene):
    urls = {target: urlsplit(target) for target in scene.obo}
    pages = {(url.netloc, url._replace(scheme="", netloc="", fragment="").geturl() or "/") for url in urls.values()}

    def answer(visit):
        if visit.path.startswith("/moved-to"):
            return visit.page()
        status, _ = answer_for(visit.path) if (visit.host, visit.path) in pages else (404, "")
        if status == 200:
            return visit.page()
        return visit.answer(status, f"Location: /moved-to{visit.path}")

    table = scene.table(delay=0)
    table.path = OBO
    mark = len(scene.farm.log)
    scene.farm.behave = answer
    try:
        found = links(table.check())
    finally:
        scene.farm.behave = scene.behaviour
    asked = {(visit.host, visit.path) for visit in scene.farm.since(mark)}
    for target, link in found.items():
        url = urlsplit(target)
        path = url._replace(scheme="", netloc="", fragment="").geturl() or "/"
        if (url.netloc, path) in asked:
            assert link["verdict"] == answer_for(path)[1], link
        elif link["verdict"] == "unchecked":
            # Paths are appended to it, so it need not be a page by itself.
            assert "paths are appended" in link["detail"], link
        else:
            # The table's own links are resolved as the server resolves them.
            assert url.netloc == "purl.obolibrary.org", link
    print(f"  {len(found)} targets: {count(link['verdict'] for link in found.values())}")
    print(f"  {assert_polite(scene.farm.since(mark), table.delay)}")
