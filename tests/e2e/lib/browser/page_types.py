"""Every kind of page that Waypost has."""

import dataclasses

from visited_servers import EXPORTED, GO, PLAIN, REVIEW, SINGLE, UNKNOWN, WAITING


@dataclasses.dataclass
class PageType:
    name: str
    url: str
    status: int = 200
    # Whether the frame shows the table's own texts.
    named: bool = True
    # Whether it answers a posted form.
    posted: bool = False


PAGE_TYPES = [
    PageType("landing", f"{GO}/"),
    PageType("link", f"{GO}/herbarium+"),
    PageType("link-escaped", f"{GO}/field-guide+"),
    PageType("link-short", f"{GO}/vol-007+"),
    PageType("link-forwarding", f"{GO}/plates+"),
    PageType("link-other-letters", f"{GO}/city+"),
    PageType("not-found", f"{GO}/herbraium", 404),
    PageType("not-found-unlike", f"{GO}/QQQQQQQQQQQQ", 404),
    PageType("gone", f"{GO}/withdrawn", 410),
    PageType("expired", f"{GO}/summer-2019", 410),
    PageType("list", f"{GO}/-/links"),
    PageType("list-further", f"{GO}/-/links?after=vol-050"),
    PageType("list-found", f"{GO}/-/links?q=plates&tag=reference&state=live"),
    PageType("list-empty", f"{GO}/-/links?q=nothing-like-this"),
    PageType("propose", f"{GO}/-/propose"),
    PageType("proposed", f"{GO}/-/propose?url=https://example.org/&code=new&title=A+title&tags=a,b&expires=2031-12-31"),
    PageType("proposed-taken", f"{GO}/-/propose?url=https://example.org/&code=withdrawn", 422),
    PageType("proposed-known", f"{GO}/-/propose?url=http://museum.example.net/guide", 422),
    PageType("refused-search", f"{GO}/-/links?state=none", 400),
    PageType("refused-method", f"{GO}/herbarium", 405, posted=True),
    PageType("refused-host", f"{UNKNOWN}/herbarium", 421, named=False),
    PageType("refused-for-now", f"{WAITING}/herbarium", 503, named=False),
    PageType("plain-landing", f"{PLAIN}/", named=False),
    PageType("plain-link", f"{PLAIN}/a+", named=False),
    PageType("plain-proposed", f"{PLAIN}/-/propose?url=https://example.org/&code=new", named=False),
    PageType("single-proposed", f"{SINGLE}/-/propose?url=https://example.org/&code=new", named=False),
    PageType("review-proposed", f"{REVIEW}/-/propose?url=https://example.org/&code=new", named=False),
    PageType("exported-landing", f"{EXPORTED}/?stay"),
    PageType("exported-link", f"{EXPORTED}/herbarium/?stay"),
    PageType("exported-gone", f"{EXPORTED}/withdrawn/?stay"),
    PageType("exported-not-found", f"{EXPORTED}/404.html?stay"),
]
