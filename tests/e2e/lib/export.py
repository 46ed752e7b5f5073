"""Exports of three tables, served by other servers: every code gets the status and the location that
`waypost serve` gives it. One table is real and large, another has every feature and every character
that is special in some format, and the third finds codes in any case."""

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

from other_servers import answers, answers_to, free_port, running, running_apache, running_nginx
from serving import Serving

ROOT = pathlib.Path(__file__).resolve().parents[3]
APACHE_MODULES = ["mpm_event", "rewrite", "authz_core", "headers"]
TABLES = [ROOT / "tests/data" / it for it in ("obo", "exchange/mapping.yaml", "exchange/folding.yaml")]


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
    """Returns paths of codes with queries, that of the base URL, and paths below the codes that take them, some of which
    may not be appended; of a large table, those of every tenth code."""
    lines = [json.loads(line) for line in export(table, "jsonl").splitlines()]
    base = urllib.parse.urlsplit(lines[0]["base_url"]).path
    codes = [code for line in lines for code in [line["short-code"], *line.get("aliases", [])]]
    rests = ["/", "/x", "/x/y%20z/?q=1", "/a%3Fb%23c", "/é%C3%A9/", "/$1%25/", "/x//y", "/%2E%2e/x", "/a/%252e", "/..x", "/%0A",
             "/a%3Fb?c=%3F&", "/?a&b", "/x?", "/x%20/y?a=$1", "/x?a?b"]
    takes = [code for line in lines if "below" in line or line["forward"] not in ("none", "query")
             for code in [line["short-code"], *line.get("aliases", [])]]
    if len(codes) > 100:
        codes, takes = codes[::10], takes[::10]
    asked = [base + urllib.parse.quote(code) + query for code in codes for query in ("?", "?a=$1&b%3F", "?x&", "?a?b?")]
    asked += [base + urllib.parse.quote(code) + urllib.parse.quote(rest, safe="/%?=$&") for code in takes for rest in rests]
    return asked + homes(table)


def homes(table):
    """Returns the path of the base URL, if that leads elsewhere."""
    text = export(table, "yaml")
    base = re.search(r"^base_url: (.*)", text, re.MULTILINE)[1]
    path = urllib.parse.urlsplit(base).path
    return [path, path + "?q"] if re.search(r"^home:", text, re.MULTILINE) else []


def spellings(table, paths):
    """Returns paths in other cases, if the table finds codes so: all but the base path."""
    lines = [json.loads(line) for line in export(table, "jsonl").splitlines()]
    base = urllib.parse.urlsplit(lines[0]["base_url"]).path
    if "case: fold" not in export(table, "yaml"):
        return []
    found = []
    for path in paths:
        codes = [code for line in lines for code in [line["short-code"], *line.get("aliases", [])]]
        inner = path.removeprefix(base)
        code = max((it for it in map(urllib.parse.quote, codes) if inner.startswith(it)), key=len, default="")
        text = urllib.parse.unquote(code)
        written = {change(text) for change in (str.upper, str.lower, str.swapcase, str.title, str.casefold)}
        # One letter may become two.
        found += [base + urllib.parse.quote(it) + inner[len(code) :] for it in written if len(it) == len(text)]
    return sorted(set(found) - set(paths))


# Values of `Accept`, of clients that are in use and others.
ACCEPT = [
    None,
    "",
    "*/*",
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7",
    "text/turtle",
    "application/rdf+xml;q=0.9,text/turtle",
    "text/html;q=0.8,text/turtle",
    "text/turtle;q=0.5, text/html",
    "text/turtle, text/html",
    "TEXT/Turtle",
    " text/turtle ; q=0.5 ,\tapplication/json;Q=0.6 ",
    "application/*",
    "text/turtle;q=0",
    "text/turtle;q=0, application/ld+json;q=0.001",
    "text/turtle;q=0.8, */*;q=0.1",
    "application/rdf+xml, application/xml; q=0.7, text/xml; q=0.6, text/plain; q=0.1, */*; q=0.09",
    "text/turtle,application/n-triples;q=0.9,application/ld+json;q=0.8,application/rdf+xml;q=0.7,*/*;q=0.3",
    "application/ld+json;profile=\"http://www.w3.org/ns/json-ld#compacted\", text/turtle;q=0.9",
    "text/plain;x=\", text/turtle\", application/json;q=0.2",
    "text/turtle;q=0.9, text/*, application/json;q=0.9",
    "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
    "text/turtle;q=nonsense, application/json",
]

# Values for which exports may choose otherwise: the first decimal places of two qualities are equal.
UNDECIDED = ["text/turtle;q=0.81, application/json;q=0.85"]


def requests(table):
    """Returns the paths of entries with variants, and paths below them, with values of `Accept`."""
    lines = [json.loads(line) for line in export(table, "jsonl").splitlines()]
    base = urllib.parse.urlsplit(lines[0]["base_url"]).path
    asked = []
    for line in lines:
        if "variants" in line:
            takes_paths = "below" in line or line["forward"] not in ("none", "query")
            rests = ["", "?q=1"] + ["/", "/x/y%20z?q=1", "/in/x", "/exact"] * takes_paths
            codes = [line["short-code"], *line.get("aliases", [])]
            asked += [base + urllib.parse.quote(code) + rest for code in codes for rest in rests]
    asked += spellings(table, asked)
    return [(path, accept) for path in asked for accept in ACCEPT + UNDECIDED]


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
    return running_apache(host, work, port, APACHE_MODULES, documents)


def htaccess(table, host, work):
    port = free_port()
    (work / "empty").mkdir()
    (work / "empty/.htaccess").write_text(export(table, "apache"))
    options = "AllowOverride All\nOptions FollowSymLinks\nRequire all granted"
    documents = f"DocumentRoot {work}/empty\n<Directory {work}/empty>\n{options}\n</Directory>"
    return running_apache(host, work, port, APACHE_MODULES, documents)


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
    if name != "html":
        asked += [f"{code}/" for code in codes]
    asked += spellings(table, asked)
    negotiated = requests(table)
    serving = Serving(work, "--table", table).serving()
    try:
        expected = answers(serving.public, host, asked)
        chosen = answers_to(serving.public, {"Host": host}, negotiated)
    finally:
        serving.process.terminate()
        serving.process.wait(30)
    if name == "html":
        base = urllib.parse.urlsplit(json.loads(export(table, "jsonl").split("\n")[0])["base_url"]).path
        return check_pages(table, {path: expected[path] for path in codes}, base, work)
    with globals()[name](table, host, work) as address:
        found = answers(address, host, asked)
        found_chosen = answers_to(address, {"Host": host}, negotiated)
        nothing = answers(address, host, ["/no-such-code", asked[0] + "/under"])
    wrong = [path for path in asked if found[path] != expected[path]]
    if name == "nginx":
        # It ignores case in a map, also that of an auto code or a number.
        exact = {path.lower(): expected[path] for path in codes}
        wrong = [path for path in wrong if expected[path][0] != 404 or found[path] != exact.get(path.lower())]
    wrong = [f"{path}: {found[path]}, not {expected[path]}" for path in wrong]
    differing = [it for it in negotiated if found_chosen[it] != chosen[it]]
    wrong += [f"{it}: {found_chosen[it]}, not {chosen[it]}" for it in differing if it[1] not in UNDECIDED]
    assert not wrong, "\n".join(wrong[:20])
    # What is documented as a difference is one.
    assert bool(differing) == bool(negotiated), negotiated
    assert all(status == 404 for status, _ in nothing.values()), nothing
    return len(asked) + len(negotiated)


def main():
    for name in sys.argv[1:] or ["nginx", "caddy", "apache", "htaccess", "html"]:
        # Apache reads a .htaccess file for each request.
        for table in TABLES[name == "htaccess" :]:
            with tempfile.TemporaryDirectory() as work:
                # Apache's workers run as another user.
                os.chmod(work, 0o755)
                count = check(name, table, pathlib.Path(work))
            print(f"{name}: {count} requests for {table.relative_to(ROOT)} as waypost serves them")


main()
