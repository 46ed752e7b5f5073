"""Trees of .htaccess files, imported, and compared with a real Apache: where Waypost answers, Apache gives
the same status and location.

Differences that are understood, and documented in docs/importing.md:
- a code also answers with a slash after it, and without, where Apache answers 404 or adds the slash;
- the slash of `/CODE/` is not appended to the URL of `Redirect /CODE URL`;
- a URL is in canonical form;
- a query is not appended to a fragment;
- the URL of an `ErrorDocument` is an answer for its status."""

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

from import_constructs import generate
from other_servers import answers, free_port, running_apache
from serving import Serving

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "tests/data/import/apache"
HOST = "short.example"
BASE = f"https://{HOST}/"
MODULES = ["mpm_event", "rewrite", "alias", "dir", "authz_core", "setenvif", "headers", "mime"]
GENERATED = 20


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


def canonical_answers(address, asked):
    """Returns the status and the canonical location of each path."""
    found = answers(address, HOST, asked)
    return {path: (status, canonical(location)) for path, (status, location) in found.items()}


def canonical(location):
    """Returns a URL as a table writes it: its host in lower case, with a path."""
    if location is None:
        return None
    scheme, _, rest = location.partition("://")
    end = re.search(r"[/?#]|$", rest).start()
    path = rest[end:] if rest[end : end + 1] == "/" else "/" + rest[end:]
    location = f"{scheme.lower()}://{rest[:end].lower()}{path}"
    # A query after a fragment is a part of it.
    page, hash_sign, fragment = location.partition("#")
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
        if link["forward"].startswith("path") or "below" in link:
            asked.update(code + it for it in ("/x1?q=1", "/a.b/", "/README.md", "/x1/y.z/w?a=b"))
    for path in named_by_rules(tree):
        asked.update(path + it for it in ("", "/", "x1", "/x1"))
    # No path has a segment that Apache or a browser would change, and none is the base URL.
    return sorted("/" + it for it in asked if it and not re.search(r"//|(^|/)\.{1,2}(/|$)|[%]2F", it))


def difference(path, apaches, ours):
    """Returns whether Waypost answers otherwise than Apache, in a way that is not understood."""
    found, expected = ours[path], apaches.get(path)
    if found[0] == 404 or found == expected:
        return False
    page, question, query = path.partition("?")
    is_slash = expected[0] == 301 and re.fullmatch(r"http://[^/]*" + re.escape(page) + "/", expected[1].split("?")[0])
    other = page[:-1] if page.endswith("/") else page + "/"
    agrees = apaches.get(other + question + query) == found
    if expected[0] == 404 or is_slash:
        return not agrees
    without_slash = [re.sub(it, "", expected[1] or "") for it in (r"/(?=\?|$)", r"/$")]
    is_appended = expected[1] is not None and found[1] in without_slash
    return not (page.endswith("/") and agrees and is_appended)


def error_documents(tree):
    """Returns the answers that stand for an error, each with its status."""
    found = {}
    for file in tree.rglob(".htaccess"):
        text = file.read_text(errors="replace")
        for status, url in re.findall(r"^\s*ErrorDocument\s+(404|410)\s+(\S+://\S+)", text, re.MULTILINE | re.IGNORECASE):
            found[302, canonical(url)] = (int(status), None)
    return found


def compare(name, tree, work):
    """Imports a tree, and compares all answers; returns how many there were."""
    table = work / "mapping.yaml"
    done = waypost("import", tree, "--format", "apache", "--base-url", BASE, "--table", table)
    assert done.returncode in (0, 1), done.stderr
    links = export(table)
    asked = paths(tree, links)
    # Both spellings are needed to understand a difference.
    split = [path.partition("?") for path in asked]
    other = {(p[:-1] if p.endswith("/") else p + "/") + q + query for p, q, query in split}
    serving = Serving(work, "--table", table).serving()
    try:
        ours = canonical_answers(serving.public, asked)
    finally:
        serving.end()
    with apache(tree, work) as address:
        apaches = canonical_answers(address, sorted({*asked, *other} - {""}))
    errors = error_documents(tree)
    apaches = {path: errors.get(answer, answer) for path, answer in apaches.items()}
    wrong = [path for path in asked if difference(path, apaches, ours)]
    for path in wrong[:60]:
        print(f"{name}: {path}: {ours[path]}, Apache answers {apaches[path]}")
    answered = sum(it[0] != 404 for it in ours.values())
    print(f"{name}: {len(links)} links, {len(asked)} paths, {answered} of them answered, {len(wrong)} otherwise")
    assert not wrong, done.stderr if len(done.stderr) < 4000 else ""
    return links, answered


def in_work(name, fill):
    with tempfile.TemporaryDirectory() as work:
        # Apache's workers run as another user.
        os.chmod(work, 0o755)
        work = pathlib.Path(work)
        tree = work / "htdocs"
        fill(tree)
        (work / "run").mkdir()
        return compare(name, tree, work / "run")


def main():
    if chosen := os.environ.get("IMPORT_TREE"):
        in_work(chosen, lambda tree: shutil.copytree(chosen, tree, ignore=shutil.ignore_patterns(".git")))
        return
    links, _ = in_work("examples", lambda tree: shutil.copytree(EXAMPLES, tree))
    expected = json.loads((EXAMPLES.parent / "apache.json").read_text())
    found = {it["short-code"]: [it["forward"], it.get("url"), *filter(None, [it.get("below")])] for it in links}
    assert found == expected, json.dumps(found, indent=1)
    seed = int(os.environ.get("IMPORT_SEED", "1"))
    answered = 0
    for number in range(GENERATED):
        source = random.Random(f"{seed} {number}")
        answered += in_work(f"seed {seed}, tree {number}", lambda tree: generate(tree, source))[1]
    # Otherwise all rules would have been refused.
    assert answered > 30 * GENERATED, answered


if __name__ == "__main__":
    sys.exit(main())
