"""Trees of .htaccess files, imported, and compared with a real Apache: where Waypost answers, Apache gives
the same status and location.

Differences that are understood, and documented in docs/importing.md:
- a code also answers with a slash after it, and without, where Apache answers 404, or only adds the slash or removes
  it;
- a path to which Apache redirects on its own host leads to the base URL of the table;
- the slash of `/CODE/` is not appended to the URL of `Redirect /CODE URL`;
- the slash of `/CODE/` is not led by a rule for all paths, as what nothing names is;
- a URL is in canonical form;
- what is below a code is passed on as it was requested, not decoded;
- a query is not appended to a fragment, but put before it if other media types take it;
- the URL of an `ErrorDocument` is an answer for its status;
- an entry with variants also answers where Apache answers 404 or 406 to some values of `Accept`;
- an entry with variants has one status for all of them, if their statuses are all temporary;
- a request without `Accept`, or with a type that no rule knows, is answered as one that accepts anything;
- a range of a lower quality beside a type does not count, nor does the order of types with the same quality;
- where codes are found in any case, a path also answers in the case in which Apache finds nothing, or leads it by a
  later rule that matches the code, too."""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

from import_constructs import generate, generate_folded
from other_servers import answers, free_port, running_apache
from serving import Serving

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "tests/data/import/apache"
HOST = "short.example"
BASE = f"https://{HOST}/"
MODULES = ["mpm_event", "rewrite", "alias", "dir", "authz_core", "setenvif", "headers", "mime"]
GENERATED = 12
GENERATED_FOLDED = 12
# What is sent as `Accept`: nothing, what curl and browsers send, and media types, alone, with a range of a
# lower quality, and beside others of the same quality.
ACCEPTS = [
    None,
    "*/*",
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7",
    "text/turtle",
    "application/rdf+xml;q=0.5",
    "application/ld+json",
    "text/html",
    "application/xml",
    "image/png",
    "application/rdf+xml, */*;q=0.1",
    "application/rdf+xml,text/turtle",
    "text/turtle,application/rdf+xml",
    "application/rdf+xml, text/html",
    "text/html, application/rdf+xml",
    "text/turtle, text/html, application/ld+json",
    "application/ld+json, text/html, text/turtle",
    "application/rdf+xml",
]
CURL = "curl/8.5.0"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
# A browser sends its own `Accept`. What a script in it sends is answered as what a program sends.
CLIENTS = [(accept, CURL) for accept in ACCEPTS] + [(accept, FIREFOX) for accept in ACCEPTS[2:4]]

# The statuses of redirects that an entry with variants has one of.
TEMPORARY = (302, 303, 307)


def waypost(*arguments):
    command = [os.environ["WAYPOST"], *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def export(table):
    lines = waypost("export", "--table", table, "--format", "jsonl").stdout.splitlines()
    return [json.loads(line) for line in lines]


def apache(tree, work):
    """Runs Apache with a tree as its document root."""
    documents = f"""TypesConfig /dev/null
DocumentRoot {tree}
<Directory {tree}>
AllowOverride All
Require all granted
Options FollowSymLinks
</Directory>"""
    return running_apache(HOST, work, free_port(), MODULES, documents)


def canonical_answers(address, asked, depends):
    """Returns the status and the canonical location of each path, for each client if it depends on that."""
    found = {}
    for client in CLIENTS:
        accept, agent = client
        fields = {"User-Agent": agent} | ({"Accept": accept} if accept else {})
        chosen = [path for path in asked if client == CLIENTS[0] or depends(path)]
        for path, (status, location) in answers(address, HOST, chosen, fields).items():
            found[path, client] = (status, canonical(location))
    return found


def depends_on_client(tree):
    """Returns whether the answer to a path may depend on what a client sends: whether a file that applies to
    it, or to a path above it, names a variable of the request."""
    files = {file.parent for file in tree.rglob(".htaccess") if "HTTP" in file.read_text(errors="replace")}

    def depends(path):
        segments = urllib.parse.unquote(path.partition("?")[0]).strip("/").split("/")
        return any(tree.joinpath(*segments[:depth]) in files for depth in range(len(segments) + 1))

    return depends


def canonical(location):
    """Returns a URL as a table writes it: its host in lower case, with a path. Apache knows of no TLS in front of it."""
    if location is None:
        return None
    scheme, _, rest = location.partition("://")
    end = re.search(r"[/?#]|$", rest).start()
    path = rest[end:] if rest[end : end + 1] == "/" else "/" + rest[end:]
    location = f"{scheme.lower()}://{rest[:end].lower()}{path}"
    # A query after a fragment is a part of it.
    page, hash_sign, fragment = re.sub(rf"^http://{re.escape(HOST)}(:\d+)?/", BASE, location).partition("#")
    return page + hash_sign + fragment.split("?")[0]


def named_by_rules(tree):
    """Returns paths that rules name, with something in the place of what is not literal."""
    for file in tree.rglob(".htaccess"):
        directory = "/".join(file.relative_to(tree).parts[:-1])
        for line in file.read_text(errors="replace").splitlines():
            words = line.split()
            if len(words) < 3 or words[0].lower() not in ("rewriterule", "redirect", "redirectmatch"):
                continue
            for pattern in words[1:-1]:
                text = re.sub(r"\((?:\?:)?([^()|]*)\|[^()]*\)", r"\1", pattern)
                text = re.sub(r"\(?\[[^]]*\][+*]?\)?|\(?\.[*+]\)?", "x1", text)
                for text in (re.sub(r"/\?", "/", text), re.sub(r"/\?", "", text), text):
                    text = re.sub(r"[\\^$?()*+|\[\]{}]", "", text).lstrip("/")
                    inside = text if words[0].lower() != "rewriterule" else f"{directory}/{text}".lstrip("/")
                    yield urllib.parse.quote(inside)


def paths(tree, links):
    """Returns the paths to request: those of links, what is next to them, and those that rules name."""
    asked = set()
    for link in links:
        code = urllib.parse.quote(link["short-code"])
        asked.update(code + it for it in ("", "/", "?q=1", "/?q=1&r", "/x1", "/x1/y.z", "x1", "/index.html"))
        asked.update(code + it for it in ("-x1/", "-x1/?q=1&r"))
        if link["forward"].startswith("path") or "below" in link:
            asked.update(code + it for it in ("/x1?q=1", "/a.b/", "/README.md", "/x1/y.z/w?a=b"))
    for path in named_by_rules(tree):
        asked.update(path + it for it in ("", "/", "x1", "/x1"))
    # No path has a segment that Apache or a browser would change, and none is the base URL.
    return sorted("/" + it for it in asked if it and not re.search(r"//|(^|/)\.{1,2}(/|$)|[%]2F", it))


def with_other_slash(page):
    """Returns a path without the slash at its end, or with one."""
    return page[:-1] if page.endswith("/") else page + "/"


def equivalents(path, client, apaches):
    """Returns what Apache answers to requests that mean the same to a table."""
    accept, agent = client
    # Types that no rule knows, and which Apache answers as nothing.
    each = [(path, (it.strip(), agent)) for it in (accept or "").split(",")]
    default = apaches.get((path, (None, agent)))
    is_unknown = all(apaches.get(key, default) == default for key in [(path, client), *each])
    if accept is None or is_unknown:
        return {apaches.get((path, ("*/*", agent)))}
    if "q=0.1" in accept:
        return {apaches.get((path, (accept.partition(",")[0], agent)))}
    types = accept.split(",")
    backwards = ",".join(reversed(types)) if ", " not in accept else ", ".join(reversed(accept.split(", ")))
    # If the order matters to Apache, any of the types may be preferred.
    other = apaches.get((path, (backwards, agent)))
    if other and other != apaches[path, client]:
        return {apaches.get((path, (it.strip(), agent))) for it in types}
    return set()


def without_query(location, query):
    """Returns a URL without the query of a request before its fragment, where a rule would have put it after."""
    return re.sub(r"[?&]" + re.escape(query) + "(?=#)", "", location or "")


def decoded(url):
    return urllib.parse.unquote(url or "")


def is_general(key, apaches):
    """Returns whether Apache answers a path with a slash after it as one next to it that nothing names."""
    path, client = key
    page, question, query = path.partition("?")
    beside = apaches.get((page[:-1] + "-x1/" + question + query, client))
    if beside is None or (beside[1] or "").replace("-x1/", "/") != (apaches[key][1] or ""):
        return False
    # An entry with variants has one temporary status, but the path next to it does not.
    return beside[0] == apaches[key][0] or {beside[0], apaches[key][0]} <= set(TEMPORARY)


def difference(key, apaches, ours, everyones):
    """Returns whether Waypost answers a client otherwise than Apache, in a way that is not understood."""
    path, client = key
    found, expected = ours[key], apaches.get(key)
    if found[0] == 404 or found == expected:
        return False
    page, question, query = path.partition("?")
    other = with_other_slash(page)
    is_slash = (expected[1] or "").split("?")[0] == BASE + other[1:]
    other += question + query
    agrees = apaches.get((other, client)) == found
    if expected[0] in (404, 406) or is_slash:
        others = everyones[path] | everyones.get(other, set())
        return found not in others and (found[0], without_query(found[1], query)) not in others
    # What the code itself answers is compared for the code.
    is_of_code = agrees or ours.get((page[:-1], client), (None, ""))[1] == (found[1] or "").split("?")[0]
    if page.endswith("/") and is_of_code and is_general(key, apaches):
        return False
    if {found, (found[0], without_query(found[1], query))} & equivalents(path, client, apaches):
        return False
    if "%" in path and found[0] == expected[0] and decoded(found[1]) == decoded(expected[1]):
        return False
    if query and "#" in (expected[1] or "") and (found[0], without_query(found[1], query)) == expected:
        return False
    without_slash = [re.sub(it, "", expected[1] or "") for it in (r"/(?=\?|$)", r"/$")]
    is_appended = expected[1] is not None and found[1] in without_slash
    return not (page.endswith("/") and agrees and is_appended)


def spellings(source, asked):
    """Returns the paths with random cases of their letters, before a query."""
    found = set()
    for path in asked:
        page, mark, query = path.partition("?")
        for _ in range(2):
            found.add("".join(source.choice((c.lower(), c.upper())) for c in page) + mark + query)
    return sorted(found)


def in_own_case(asked, links):
    """Returns the paths with the codes that they begin with as these are spelled."""
    found = set()
    for path in asked:
        for code in (urllib.parse.quote(it["short-code"]) for it in links):
            if path[1:].lower().startswith(code.lower()):
                found.add("/" + code + path[1 + len(code) :])
    return found


# The expression, the substitution and the flags of a RewriteRule.
RULE = re.compile(r'^\s*RewriteRule\s+("[^"]*"|\S+)\s+("[^"]*"|\S+)(.*)$', re.MULTILINE | re.IGNORECASE)


def may_differ_in_case(tree, page):
    """Returns whether a rule that does not ignore case is for a path in some case, or one for all paths of a directory."""
    for file in tree.rglob(".htaccess"):
        directory = "".join(f"{it}/" for it in file.relative_to(tree).parts[:-1])
        if not page[1:].lower().startswith(directory.lower()):
            continue
        for expression, _, flags in RULE.findall(file.read_text(errors="replace")):
            if "NC" in flags.upper() and expression != "^(.*)$" or "(?i)" in expression:
                continue
            if re.search(expression.strip('"'), page[1 + len(directory) :], re.IGNORECASE):
                return True
    return False


def is_of_another_case(key, apaches, ours, tree):
    """Returns whether Waypost answers as Apache does to the path in another case, where Apache finds nothing, or where
    one rule without [NC] is for it, and another one leads it as what is next to it."""
    path, client = key
    found, expected = ours[key], apaches[key]
    page, mark, query = path.partition("?")
    other = with_other_slash(page)
    others = {(it + mark + query).lower() for it in (page, other)}
    # Where Apache only adds or removes a slash, it decides on what that leads to.
    if (expected[1] or "").partition("?")[0] == BASE + other[1:]:
        page = other
        expected = apaches.get((page + mark + query, client), expected)
    answers = {(it[0], decoded(it[1]).lower()) for (other, _), it in apaches.items() if other.lower() in others}
    urls = {found[1], without_query(found[1], query)}
    if not answers & {(found[0], decoded(url).lower()) for url in urls}:
        return False
    if expected[0] == 404:
        return True
    beside = [apaches.get((it + mark + query, client), (None, "")) for it in besides(page)]
    is_general = any(is_alike((status, (url or "").replace("-x9", "")), expected) for status, url in beside)
    return is_general and (page.endswith("/") or may_differ_in_case(tree, page))


def is_alike(answer, other):
    """Returns whether two answers are the same, or lead to one URL with statuses of which an entry has one."""
    return answer == other or answer[1] == other[1] and {answer[0], other[0]} <= set(TEMPORARY)


def besides(page):
    """Returns paths next to one that nothing names."""
    return [page + "-x9", *([page[:-1] + "-x9/"] if page.endswith("/") else [])]


def with_one_status(ours, apaches, code=str):
    """Replaces the statuses of paths that Apache answers with several temporary ones, by the type that is accepted:
    the entry has one of them. `code` returns what is the same for all spellings of a code."""
    sent = {}
    for (path, _), (status, _) in apaches.items():
        page = code(path.partition("?")[0].rstrip("/"))
        sent.setdefault(page, set()).update({status} & set(TEMPORARY))

    def replaced(path, answer):
        several = sent.get(code(path.partition("?")[0].rstrip("/")), ())
        is_one = len(several) > 1 and answer[0] in several
        return (TEMPORARY[0], answer[1]) if is_one else answer

    return [{key: replaced(key[0], it) for key, it in all.items()} for all in (ours, apaches)]


def error_documents(tree):
    """Returns the answers that stand for an error, each with its status."""
    found = {}
    for file in tree.rglob(".htaccess"):
        text = file.read_text(errors="replace")
        for url in re.findall(r"^\s*ErrorDocument\s+404\s+(\S+://\S+)", text, re.MULTILINE | re.IGNORECASE):
            found[302, canonical(url)] = (404, None)
    return found


def compare(name, tree, work, source=None):
    """Imports a tree, and compares all answers; returns how many there were. With a source of random numbers, the table
    finds codes in any case, and random spellings are requested."""
    table = work / "mapping.yaml"
    case = ["--case", "fold"] if source else []
    done = waypost("import", tree, "--format", "apache", "--base-url", BASE, "--table", table, *case)
    assert done.returncode in (0, 1), done.stderr
    links = export(table)
    asked = paths(tree, links)
    if source:
        asked = sorted({*asked, *spellings(source, asked)})
    depends = depends_on_client(tree)
    # Both spellings are needed to understand a difference.
    split = [path.partition("?") for path in asked]
    other = {with_other_slash(page) + mark + query for page, mark, query in split}
    if source:
        for page, mark, query in [path.partition("?") for path in {*asked, *other}]:
            other.update(it + mark + query for it in besides(page))
        other |= in_own_case({*asked, *other}, links)
    serving = Serving(work, "--table", table).serving()
    try:
        ours = canonical_answers(serving.public, asked, depends)
    finally:
        serving.end()
    with apache(tree, work) as address:
        apaches = canonical_answers(address, sorted({*asked, *other} - {""}), depends)
    errors = error_documents(tree)
    apaches = {key: errors.get(answer, answer) for key, answer in apaches.items()}
    ours, apaches = with_one_status(ours, apaches, str.lower if source else str)
    everyones = {}
    for (path, _), answer in apaches.items():
        everyones.setdefault(path, set()).add(answer)
    wrong = [key for key in ours if difference(key, apaches, ours, everyones)]
    if source:
        wrong = [key for key in wrong if not is_of_another_case(key, apaches, ours, tree)]
    for key in wrong[:60]:
        print(f"{name}: {key}: {ours[key]}, Apache answers {apaches[key]}")
    answered = len({path for (path, _), answer in ours.items() if answer[0] != 404})
    with_variants = sum("variants" in link for link in links)
    print(
        f"{name}: {len(links)} links, {with_variants} with variants, {len(asked)} paths, "
        f"{answered} of them answered, {len(wrong)} otherwise"
    )
    assert not wrong, done.stderr if len(done.stderr) < 4000 else ""
    return links, answered, with_variants


def in_work(name, fill, source=None):
    with tempfile.TemporaryDirectory() as work:
        # Apache's workers run as another user.
        os.chmod(work, 0o755)
        work = pathlib.Path(work)
        tree = work / "htdocs"
        fill(tree)
        (work / "run").mkdir()
        return compare(name, tree, work / "run", source)


def main():
    if chosen := os.environ.get("IMPORT_TREE"):
        in_work(chosen, lambda tree: shutil.copytree(chosen, tree, ignore=shutil.ignore_patterns(".git")))
        return
    links, *_ = in_work("examples", lambda tree: shutil.copytree(EXAMPLES, tree))
    expected = json.loads((EXAMPLES.parent / "apache.json").read_text())
    found = {
        it["short-code"]: [it["forward"], it.get("url"), *filter(None, [it.get("below")]), *it.get("variants", [])]
        for it in links
    }
    assert found == expected, json.dumps(found, indent=1)
    seed = int(os.environ.get("IMPORT_SEED", "1"))
    answered = with_variants = 0
    for number in range(GENERATED):
        source = random.Random(f"{seed} {number}")
        _, found, negotiated = in_work(f"seed {seed}, tree {number}", lambda tree: generate(tree, source))
        answered += found
        with_variants += negotiated
    folded = 0
    for number in range(GENERATED_FOLDED):
        source = random.Random(f"folded {seed} {number}")
        folded += in_work(f"seed {seed}, folded tree {number}", lambda tree: generate_folded(tree, source), source)[1]
    # Otherwise all rules would have been refused.
    assert folded > 30 * GENERATED_FOLDED, folded
    assert answered > 30 * GENERATED, answered
    assert with_variants > GENERATED, with_variants


if __name__ == "__main__":
    sys.exit(main())
