"""The hosts that the browser visits: servers of short links, the pages to which they lead, a forge, and
exported pages. Each has names of its own, which resolve to ports of this machine.
"""

import contextlib
import hashlib
import http.server
import os
import subprocess
import threading

from forge import Forge
from page_handler import PageHandler
from serving import Serving, wait_until

GO, PLAIN, SINGLE, WAITING, UNKNOWN = (
    f"http://{name}.example.org" for name in ("go", "plain", "single", "waiting", "unknown")
)
MUSEUM, EXPORTED = "http://museum.example.net", "http://exported.example.net"
FORGES = ("gitea", "github", "gitlab")
VOLUMES = 120

TABLE = """base_url: http://go.example.org/
name: Field & Links
repository: http://github.example.com/o/r
contact: mailto:links@example.org
mapping:
- url: http://museum.example.net/guide
  short-code: field-guide
  title: <b>A "field" & guide</b>
  owner: cartography
  tags: [maps]
  expires: 2031-12-31
- url: http://museum.example.net/rooms
- url: http://museum.example.net/gone
  short-code: withdrawn
  title: A withdrawn page
  owner: cartography
  retired: true
  archive: http://museum.example.net/archive
- url: http://museum.example.net/summer
  short-code: summer-2019
  expires: 2019-09-30
- url: http://museum.example.net/herbarium/catalogue?view=plates
  short-code: herbarium
  aliases: [plants]
  title: Herbarium of the botanical garden
  owner: Museum of Natural History
  tags: [plants, reference]
  archive: http://museum.example.net/archive/herbarium
- url: http://museum.example.net/plates/
  short-code: plates
  title: Plates of the atlas, each at its number
  owner: cartography
  tags: [maps, reference]
  forward: path-and-query
- url: http://xn--mnchen-3ya.example.net/map
  short-code: city
  title: Map of the city
"""

# A site without texts about itself, and without a way to send a proposal.
BARE_TABLE = """base_url: http://plain.example.org/
mapping:
- {url: "http://museum.example.net/a", short-code: a}
"""

# A table in one file, at an unknown forge.
SINGLE_TABLE = """base_url: http://single.example.org/
repository: http://forge.example.com/o/r
mapping: []
"""


# A table in one file of a repository with an issue form, and with a server that accepts tokens.
REVIEW, TOKEN = "http://review.example.org", "ada-secret"
REVIEW_TABLE = f"base_url: {REVIEW}/\nrepository: http://gitea.example.com/o/r\nmapping: []\n"


def volumes():
    """Yields the entries that fill several pages of the list."""
    for number in range(VOLUMES):
        yield f'- url: http://museum.example.net/notes/{number}\n  short-code: vol-{number:03}\n  title: "Field notes, volume {number}"\n'


class NamedPages(PageHandler):
    """A page for every path, named after it; /post has a form that posts to a short link."""

    def do_GET(self):
        form = f'<form method="post" action="{GO}/herbarium"><button>Post</button></form>' if self.path == "/post" else ""
        page = f'<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>{self.path}</title><p style="color: #999">{self.path}</p>{form}'
        self.answer(page)


class Files(http.server.SimpleHTTPRequestHandler):
    """Exported files. With ?stay, a page does not redirect, so that it can be read."""

    def send_head(self):
        if self.path == "/favicon.ico":  # which browsers ask every host for
            self.send_response(204)
            self.end_headers()
            return None
        if not self.path.endswith("?stay"):
            return super().send_head()
        path = self.translate_path(self.path)
        with open(os.path.join(path, "index.html") if os.path.isdir(path) else path, encoding="utf-8") as file:
            lines = [line for line in file if 'http-equiv="refresh"' not in line]
        PageHandler.answer(self, "".join(lines))
        return None

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def listening(handler):
    """Runs a server in a thread, and yields its port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()


@contextlib.contextmanager
def waypost(directory, *arguments):
    server = Serving(directory, *arguments)
    try:
        yield server.serving()
    finally:
        server.stop()


class VisitedServers:
    """`hosts` maps each name to the port that answers for it."""

    def __init__(self, directory, stack):
        self.directory = directory
        self.links, self.exported = directory / "links", directory / "exported"
        # The repository at the forge has the table in a folder of the same name.
        repository = directory / "forge"
        self.forge = repository / "links"
        for folder in (self.links, self.forge):
            folder.mkdir(parents=True)
        (self.links / "table.yaml").write_text(TABLE + "".join(volumes()))
        (self.links / "plain.yaml").write_text(BARE_TABLE)
        for kind in FORGES:
            text = f"base_url: http://{kind}.links.example.org/\nrepository: http://{kind}.example.com/o/r\nmapping: []\n"
            (self.links / f"{kind}.yaml").write_text(text)
            (self.forge / f"{kind}.yaml").write_text(text)
        self.run("export", "--format", "html", "--site", f"{GO}/", "--table", self.links, self.exported)

        enter = stack.enter_context
        self.server = enter(waypost(directory, "--table", self.links, "--poll-interval", "200ms"))
        (directory / "single.yaml").write_text(SINGLE_TABLE)
        single = enter(waypost(directory, "--table", directory / "single.yaml"))
        review = enter(waypost(directory, *self.review()))
        waiting = enter(waypost(directory, "--wait", "--table", directory / "none.yaml"))
        answers = enter(listening(NamedPages))
        self.visited = type("VisitedForge", (Forge,), {"root": repository})
        forge = enter(listening(self.visited))
        files = enter(listening(lambda *args: Files(*args, directory=str(self.exported))))
        self.hosts = {
            "review.example.org": review.public[1], "single.example.org": single.public[1], "waiting.example.org": waiting.public[1],
            "*.example.org": self.server.public[1],
            "exported.example.net": files, "*.example.net": answers, "*.example.com": forge,
        }

    def review(self):
        """Creates the repository of the table for review; returns the arguments for serving it."""
        work, self.bare = self.directory / "review", self.directory / "review.git"
        form = work / ".gitea/ISSUE_TEMPLATE/propose-link.yml"
        form.parent.mkdir(parents=True)
        form.write_text("name: Propose a link\n")
        (work / "review.yaml").write_text(REVIEW_TABLE)
        (self.directory / "forge/review.yaml").write_text(REVIEW_TABLE)
        git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-C", work]
        for arguments in (["init", "-qb", "main"], ["add", "--all"], ["commit", "-qm", "Begin"]):
            subprocess.run([*git, *arguments], check=True)
        subprocess.run(["git", "clone", "-q", "--bare", work, self.bare], check=True)
        tokens = self.directory / "tokens"
        tokens.write_text(f"ada {hashlib.sha256(TOKEN.encode()).hexdigest()}\n")
        tokens.chmod(0o600)
        return [
            "--repo", self.bare.as_uri(), "--path", "review.yaml", "--registrations",
            "--registrations-tokens", tokens, "--git-author", "Links <links@example.org>",
        ]

    def run(self, *arguments):
        done = subprocess.run([os.environ["WAYPOST"], *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def show(self, name):
        """Returns a file of the repository for review."""
        return subprocess.run(["git", "-C", self.bare, "show", name], check=True, capture_output=True, text=True).stdout

    def add_while_serving(self):
        entry = '- {url: "http://museum.example.net/late", short-code: added-while-serving}\n'
        new = self.directory / "new"
        new.write_text((self.links / "table.yaml").read_text() + entry)
        before = self.server.status()["revision"]
        new.rename(self.links / "table.yaml")
        wait_until(lambda: self.server.status()["revision"] != before, "the changed table is served")
