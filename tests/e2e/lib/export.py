"""Exports of two tables, served by other servers: every code gets the status and the location that
`waypost serve` gives it. One table is real and large, the other has every feature and every character
that is special in some format."""

import html.parser
import http.client
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import urllib.parse

from other_servers import answers, free_port, running, running_apache, running_nginx
from serving import Serving

ROOT = pathlib.Path(__file__).resolve().parents[3]
TABLES = [ROOT / "tests/data/obo", ROOT / "tests/data/exchange/mapping.yaml"]


def export(table, name, *more):
    """Returns what is written to standard output."""
    command = [os.environ["WAYPOST"], "export", "--table", table, "--format", name, *more]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def paths(table):
    """Returns the path of every code, and a host."""
    lines = [json.loads(line) for line in export(table, "jsonl").splitlines()]
    base = urllib.parse.urlsplit(lines[0]["base_url"])
    codes = [code for line in lines for code in [line["short-code"], *line.get("aliases", [])]]
    return base.netloc, [base.path + urllib.parse.quote(code) for code in codes]


def paths_below(table):
    """Returns paths that are below the codes that have `below`, and the same with what may not be appended."""
    lines = [json.loads(line) for line in export(table, "jsonl").splitlines()]
    base = urllib.parse.urlsplit(lines[0]["base_url"]).path
    rests = ["/", "/x", "/x/y%20z/?q=1", "/a%3Fb%23c", "/é%C3%A9/", "/$1%25/", "/x//y", "/%2E%2e/x", "/a/%252e", "/..x", "/%0A"]
    codes = [code for line in lines if "below" in line for code in [line["short-code"], *line.get("aliases", [])]]
    return [base + urllib.parse.quote(code) + urllib.parse.quote(rest, safe="/%?=$") for code in codes for rest in rests]


def nginx(table, host, work):
    links = export(table, "nginx")
    (work / "links.conf").write_text(links)
    # The lines that the file's own comments say belong there.
    uses = "\n".join(re.findall(r"^#   (.*)", links, re.MULTILINE))
    return running_nginx(work, free_port(), f"include {work}/links.conf;", f"{uses} return 404;")


def caddy(table, host, work):
    port = free_port()
    # Only the address is changed: a real host name would need a certificate.
    _, _, rest = export(table, "caddy").partition("\n")
    config = f"{{\n\tadmin off\n}}\nhttp://{host}:{port} {{\n\tbind 127.0.0.1\n{rest}"
    (work / "Caddyfile").write_text(config)
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", work / "Caddyfile"]
    env = {**os.environ, "XDG_CONFIG_HOME": str(work), "XDG_DATA_HOME": str(work)}
    return running(command, port, work / "caddy.log", env=env)


def apache(table, host, work):
    port = free_port()
    (work / "links.conf").write_text(export(table, "apache"))
    (work / "empty").mkdir()
    documents = f"DocumentRoot {work}/empty\nInclude {work}/links.conf"
    return running_apache(host, work, port, ["mpm_event", "rewrite", "authz_core"], documents)


class Refresh(html.parser.HTMLParser):
    """Finds where a page leads."""

    target = None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "meta" and attributes.get("http-equiv") == "refresh":
            self.target = attributes["content"].removeprefix("0; url=")


class Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise each answer is two packets, the second of which waits for the acknowledgement of the
    # first.
    wbufsize = -1

    def log_message(self, *_):
        pass


def check_pages(table, expected, base, work):
    """A page redirects to the target of its code; the page of a retired code redirects nowhere."""
    subprocess.run(
        [os.environ["WAYPOST"], "export", "--table", table, "--format", "html", work / "site"],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    handler = lambda *arguments: Quiet(*arguments, directory=work / "site")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    connection = http.client.HTTPConnection(*server.server_address, timeout=10)
    pages = 0
    for path, (_, location) in expected.items():
        if path.endswith("/index.html"):
            continue
        connection.request("GET", "/" + path.removeprefix(base) + "/")
        response = connection.getresponse()
        page = Refresh()
        page.feed(response.read().decode())
        assert (response.status, page.target) == (200, location), f"{path}: {page.target} {location}"
        pages += 1
    connection.close()
    server.shutdown()
    return pages


def check(name, table, work):
    host, codes = paths(table)
    asked = codes + paths_below(table)
    serving = Serving(work, "--table", table).serving()
    try:
        expected = answers(serving.public, host, asked)
    finally:
        serving.process.terminate()
        serving.process.wait(30)
    if name == "html":
        base = urllib.parse.urlsplit(json.loads(export(table, "jsonl").split("\n")[0])["base_url"]).path
        return check_pages(table, {path: expected[path] for path in codes}, base, work)
    with globals()[name](table, host, work) as address:
        found = answers(address, host, asked)
        nothing = answers(address, host, ["/no-such-code", asked[0] + "/under"])
    wrong = [f"{path}: {found[path]}, not {expected[path]}" for path in asked if found[path] != expected[path]]
    assert not wrong, "\n".join(wrong[:20])
    assert all(status == 404 for status, _ in nothing.values()), nothing
    return len(asked)


def main():
    for name in sys.argv[1:] or ["nginx", "caddy", "apache", "html"]:
        for table in TABLES:
            with tempfile.TemporaryDirectory() as work:
                # Apache's workers run as another user.
                os.chmod(work, 0o755)
                count = check(name, table, pathlib.Path(work))
            print(f"{name}: {count} codes of {table.relative_to(ROOT)} as waypost serves them")


main()
