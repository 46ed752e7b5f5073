"""Registrations, or added links, that would take over paths of existing links."""

import base64
import hashlib
import http.client
import json
import os
import subprocess

from serving import HOST, TIMEOUT

from .scene import attack, git

TOKENS = {"ada": "ada-token", "eve": "eve-token"}

# An auto code with a slash in its standard-alphabet spelling, and one that ends in `_`.
SPELLED, ENDING = "https://auto.example/{}", "https://e.org/69745773"


def code_of(url):
    digest = hashlib.sha256(url.encode()).digest()[:6]
    return base64.urlsafe_b64encode(digest).decode()


def spelled():
    urls = (SPELLED.format(number) for number in range(100_000))
    codes = ((url, code_of(url)) for url in urls)
    return next((url, code) for url, code in codes if code.find("_") == 2 and "-" not in code[:2])


def table():
    url, code = spelled()
    text = f"""base_url: https://{HOST}/
mapping:
- {{url: https://bank.example/app/, short-code: bank, forward: path-and-query, owner: ada}}
- {{url: https://docs.example/, short-code: docs, owner: ada}}
- {{url: https://e.example/, short-code: team/page, owner: ada}}
- {{url: {ENDING}, owner: ada}}
- {{url: {url}, owner: ada}}
- {{short-code: old, retired: true, owner: ada}}
"""
    return text, code


def attempts():
    """Returns new codes, whether they forward their path, and a path that each would take over."""
    text, code = table()
    start, rest = code[:2], code[3:].replace("_", "/").replace("-", "+")
    return text, (
        ("bank/login", False, "/bank/login?next=1"),
        ("bank/deep/er", True, "/bank/deep/er/x"),
        ("docs.", False, "/docs."),
        ("docs.", False, "/docs.)"),
        ("team", True, "/team/page)"),
        (code_of(ENDING)[:-1], False, "/" + code_of(ENDING)[:-1]),
        (start, True, f"/{start}/{rest}"),
        ("old.", False, "/old."),
    )


def ask(server, method, path, body=None, token=None):
    connection = http.client.HTTPConnection(*server.public, timeout=TIMEOUT)
    headers = {"Host": HOST}
    if body is not None:
        headers |= {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request(method, path, body and json.dumps(body), headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.getheader("Location"), content


@attack
def shadowing_by_token(directory, start):
    """No code that is registered with a token changes where a path of another owner's links leads."""
    text, tries = attempts()
    git(directory, "init", "--quiet", "--bare", "--initial-branch=main", "links.git")
    work = directory / "work"
    git(directory, "clone", "--quiet", "links.git", "work")
    (work / "mapping.yaml").write_text(text)
    git(work, "checkout", "--quiet", "-B", "main")
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "--message=Begin")
    git(work, "push", "--quiet", "origin", "main")
    tokens = directory / "tokens"
    lines = (f"{name} {hashlib.sha256(token.encode()).hexdigest()}\n" for name, token in TOKENS.items())
    tokens.write_text("".join(lines))
    options = ("--registrations", "--registrations-tokens", tokens)
    author = ("--git-author", "A. Uthor <author@example.org>")
    server = start("--repo", (directory / "links.git").as_uri(), *options, *author).serving()
    for number, (code, forwards, path) in enumerate(tries):
        before = ask(server, "GET", path)[:2]
        assert before[0] in (302, 410), (path, before)
        for key in ("short_code", "aliases"):
            forward = "path" if forwards else "none"
            url = f"https://evil.example/{number}/{key}/"
            body = {"url": url, key: [code] if key == "aliases" else code, "forward": forward}
            status, _, content = ask(server, "POST", "/-/api/links", body, TOKENS["eve"])
            assert status == 422, (code, status, content)
            problem = json.loads(content)
            assert problem["type"] == "urn:waypost:problem:shadowing", problem
            assert problem["existing"]["code"] and code in problem["detail"], problem
            assert ask(server, "GET", path)[:2] == before, path
    # The owner of all of them may do so; the commit declares it, so that checks pass.
    body = {"url": "https://login.example/", "short_code": "bank/login"}
    status, _, content = ask(server, "POST", "/-/api/links", body, TOKENS["ada"])
    assert status == 201, content
    git(work, "pull", "--quiet", "origin", "main")
    check = [os.environ["WAYPOST"], "check", "--history"]
    subprocess.run(check, cwd=work, check=True, capture_output=True)
    server.stop()


@attack
def shadowing_by_add(directory, start):
    """`add` and `import` refuse the same, and leave the table unchanged."""
    text, tries = attempts()
    file = directory / "mapping.yaml"
    file.write_text(text)

    def waypost(*arguments, stdin=""):
        return subprocess.run(
            [os.environ["WAYPOST"], *arguments], cwd=directory, input=stdin, capture_output=True, text=True
        )

    for code, forwards, _ in tries:
        forward = "path" if forwards else "none"
        done = waypost("add", "https://evil.example/", "--code", code, "--forward", forward)
        assert done.returncode == 1 and "would change where" in done.stderr, done
        rows = f"short-code,url,forward\n{code},https://evil.example/,{forward}\n"
        done = waypost("import", "-", "--format", "csv", stdin=rows)
        assert done.returncode == 1 and "would change where" in done.stderr, done
        assert file.read_text() == text
    for code in ("docs.", "bank/login"):
        done = waypost("add", f"https://intended.example/{code}", "--code", code, "--allow-shadowing")
        assert done.returncode == 0, done
