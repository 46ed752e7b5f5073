"""Runs the shell of every template in deploy/ci as its host would, in scratch clones of a repository.

WAYPOST names the program; WORK is an empty directory; REGISTRY is the address of a registry on
loopback that holds Waypost's image.
"""

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from hosts import (  # noqa: E402
    TEMPLATES,
    VERSION,
    Actions,
    AfterTheCheck,
    Change,
    Forgejo,
    ForgejoOnIssue,
    GitLab,
    OnIssue,
    Woodpecker,
    git,
)
from serving import Serving, wait_until  # noqa: E402
from stand_in import MARKER, REPORT, REPOSITORY, Forge  # noqa: E402

TOP = TEMPLATES.parents[1]
SETTINGS = ("BUILDAH_ISOLATION", "CONTAINERS_STORAGE_CONF", "REGISTRY_AUTH_FILE", "SSL_CERT_FILE")
WAYPOST = Path(os.environ["WAYPOST"])

BASE = """\
base_url: https://short.code/
mapping:
- url: https://framasoft.org/
- url: https://www.gnu.org/
  short-code: gnu-home
"""
MAIN = BASE.replace("mapping:\n", "mapping:\n- url: https://later.example/\n  short-code: later\n")
# The tables of the branches.
GOOD = BASE + "- url: https://joinpeertube.org/\n  short-code: peertube\n"
BROKEN = BASE + "- url: https://joinpeertube.org/\n  shortcode: peertube\n"
MOVED = BASE.replace("https://www.gnu.org/", "https://www.gnu.org/home.html")
HOME = "- url: https://www.gnu.org/\n  short-code: gnu-home\n"
REMOVED = BASE.replace(HOME, "")
# In the German ISO 646, Ö has the code of the backslash in ASCII: checked out with that encoding,
# this is BASE.
DISGUISED = BASE.replace("gnu-home", '"gnuÖx2dhome"')
DISGUISE = "mapping.yaml working-tree-encoding=ISO646-DE\n"


class Repository:
    """A repository without commits, a clone of it, and directories of its own."""

    def __init__(self, work):
        self.work, self.count = work, 0
        self.bare = self.directory("links")
        git("init", "--quiet", "--bare", "--initial-branch=main", self.bare)
        self.tree = self.directory("tree")
        git("clone", "--quiet", self.bare, self.tree)
        git("checkout", "--quiet", "-b", "main", at=self.tree)

    def directory(self, name):
        self.count += 1
        path = self.work / f"{self.count:03}-{name}"
        path.mkdir()
        return path

    def commit_all(self, branch, message="Change links"):
        git("add", "--all", at=self.tree)
        git("commit", "--quiet", "--message", message, at=self.tree)
        git("push", "--quiet", "origin", f"HEAD:{branch}", at=self.tree)
        return git("rev-parse", "HEAD", at=self.tree)


class Scene(Repository):
    """A repository with a branch for each case."""

    def __init__(self, work):
        super().__init__(work)
        (self.tree / "Containerfile").write_text((TOP / "deploy/container/Containerfile").read_text())
        self.commit("main", BASE)
        for branch, table in (("good", GOOD), ("broken", BROKEN), ("removed", REMOVED), ("moved", MOVED)):
            git("checkout", "--quiet", "-B", branch, "main", at=self.tree)
            self.commit(branch, table, "Move a page\n\nWaypost-Allow: retarget gnu-home" if table is MOVED else "Change links")
        git("checkout", "--quiet", "-B", "disguised", "main", at=self.tree)
        self.commit("disguised", DISGUISED)
        (self.tree / ".gitattributes").write_text(DISGUISE)
        git("add", ".gitattributes", at=self.tree)
        git("commit", "--quiet", "--message", "Change links", at=self.tree)
        git("push", "--quiet", "origin", "HEAD:disguised", at=self.tree)
        # Commits that were merged meanwhile are not part of a change.
        git("checkout", "--quiet", "main", at=self.tree)
        self.commit("main", MAIN)

    def commit(self, branch, table, message="Change links"):
        (self.tree / "mapping.yaml").write_text(table)
        return self.commit_all(branch, message)


def release(directory):
    """Publishes the program as for a release."""
    files = directory / f"v{VERSION}"
    files.mkdir()
    machine = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
    program = files / f"waypost-{VERSION}-linux-{machine}"
    subprocess.run(["strip", "-o", program, WAYPOST], check=True)
    (files / f"{program.name}.cdx.json").write_text("{}")
    subprocess.run([TOP / "deploy/release/checksums", files], check=True)
    return program


HOSTS = [
    ("github.yaml", Actions),
    ("forgejo.yaml", Forgejo),
    ("gitlab.yaml", GitLab),
    ("gitlab.yaml", lambda *arguments: GitLab(*arguments, merged=True)),
    ("woodpecker.yaml", Woodpecker),
]


def the_checks(scene, releases):
    """Each host's check: changes that pass or fail, and the comment on the pull request."""
    for template, host in HOSTS:
        say(template)
        forge = Forge(releases)
        variables = {"WAYPOST_VERSION": VERSION, "WAYPOST_RELEASES": f"{forge.address}/releases"}

        def job(branch, **how):
            change = Change(branch, **how)
            run = host(scene, forge).run(template, change, variables)
            if host is Actions and change.proposed:
                calls = len(forge.calls)
                after = AfterTheCheck(scene, forge).run("summary.github.yaml", change, variables)
                assert after.passed and len(forge.calls) == calls + 3, after
            return run

        run = job("good")
        assert run.passed and not run.ignored, run
        (comment,) = forge.own()
        assert comment["body"].startswith(MARKER) and "peertube" in comment["body"], comment
        assert "1 added" in comment["body"] and "later" not in comment["body"], comment

        run = job("removed")
        assert not run.passed and not run.ignored, run
        assert "gnu-home" in run.output, run.output
        assert [own["id"] for own in forge.own()] == [comment["id"]], forge.comments
        assert "1 removed" in comment["body"], comment

        run = job("broken")
        assert not run.passed and not run.ignored, run
        line = git("show", "broken:mapping.yaml", at=scene.tree).splitlines().index("  shortcode: peertube") + 1
        # A trial merge also has the line that was merged meanwhile.
        line = next(n for n in (line, line + 2) if f"mapping.yaml:{n}:3: " in run.output)
        if template == "github.yaml":
            assert f"::error file=mapping.yaml,line={line},col=3," in run.output, run.output
        if template == "gitlab.yaml":
            (issue,) = json.loads(run.artifacts["gl-code-quality-report.json"])
            assert issue["location"] == {"path": "mapping.yaml", "lines": {"begin": line}}, issue
        assert len(forge.own()) == 1 and "not compared" in comment["body"], forge.comments

        run = job("moved")
        assert run.passed and not run.ignored, run
        assert "1 retargeted" in comment["body"], comment

        run = job("disguised")
        assert not run.passed and not run.ignored and "gnu-home" in run.output, run
        assert len(forge.own()) == 1 and "1 renamed" in comment["body"], forge.comments

        run = job("main")
        assert run.passed and len(forge.own()) == 1, run
        # A push without a proposal is compared with the previous commit.
        scene.commit("main", MAIN.replace(HOME, ""))
        run = job("main")
        assert not run.passed and "gnu-home" in run.output, run
        scene.commit("main", MAIN)
        run = job("main")
        assert run.passed and len(forge.own()) == 1, run
        if template == "github.yaml":
            assert job("good", queued=True).passed
            run = job("removed", queued=True)
            assert not run.passed and "gnu-home" in run.output, run

        if host is not Woodpecker:
            before = [dict(own) for own in forge.own()]
            run = job("good", fork=True)
            assert run.passed and not run.ignored, run
            if host is Actions:
                assert "1 added" in run.artifacts["page"], run
                assert len(forge.own()) == 1 and "1 added" in comment["body"], forge.comments
            else:
                assert forge.own() == before, forge.comments
            if host is GitLab:
                assert "1 added" in run.artifacts["summary.md"], run


def the_owners(work, releases):
    """Each host's check of the user who proposes a change, not the author of its commits or the user who runs the job."""
    scene = Scene(work)
    owned = MAIN.replace(HOME, f"{HOME}  owner: gnu\n")
    titled = owned.replace(HOME, f"{HOME}  title: GNU\n")
    owners = scene.tree / "owners.yaml"
    owners.write_text("admins: [somebody]\nowners:\n  gnu: [alice]\n")
    scene.commit("main", owned)
    git("checkout", "--quiet", "-b", "titled", at=scene.tree)
    scene.commit("titled", titled)
    owners.write_text("admins: [somebody, mallory]\nowners:\n  gnu: [alice]\n")
    scene.commit("granted", titled)
    for template, host in HOSTS:
        say(f"{template}: owners")
        forge = Forge(releases)
        variables = {"WAYPOST_VERSION": VERSION, "WAYPOST_RELEASES": f"{forge.address}/releases"}
        job = lambda branch, **how: host(scene, forge).run(template, Change(branch, **how), variables)
        run = job("titled", by="alice")
        assert run.passed and not run.ignored, run
        run = job("granted", by="mallory")
        assert not run.passed and not run.ignored, run
        for refused in ('"gnu-home" is an entry of "gnu": "mallory" may not', "only an admin may change this file"):
            assert refused in run.output, run.output
        if host is GitLab:
            # Without a token, this project does not disclose the user who opened a request.
            run = job("titled", by="alice", fork=True)
            assert not run.passed and "an unknown author may not" in run.output, run


def answer(command, directory, answers):
    """Runs a command on a terminal, with the given input."""
    terminal, its_side = pty.openpty()
    with subprocess.Popen(command, cwd=directory, stdin=its_side, stderr=its_side, stdout=subprocess.DEVNULL) as running:
        os.close(its_side)
        os.write(terminal, answers.encode())
        shown = b""
        while running.poll() is None:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    shown += os.read(terminal, 4096)
                except OSError:  # It is closed.
                    running.wait()
    os.close(terminal)
    assert running.returncode == 0 and b"Forge that checks proposals (" in shown, shown


# The files that `waypost init` creates for issues.
ISSUES = {
    "github": (".github/workflows/propose.yaml", OnIssue),
    "forgejo": (".forgejo/workflows/propose.yaml", ForgejoOnIssue),
    "gitlab": ("propose.gitlab.yaml", GitLab),
}


def what_init_makes(scene, releases):
    """A repository created by `waypost init`: its own checks and its own image accept its first links, also from issues."""
    for name, check, host, table in (
        ("github", ".github/workflows/links.yaml", Actions, "mapping.yaml"),
        ("forgejo", ".forgejo/workflows/links.yaml", Forgejo, "links"),
        ("gitlab", ".gitlab-ci.yml", GitLab, "links"),
        ("woodpecker", ".woodpecker/links.yaml", Woodpecker, "mapping.yaml"),
    ):
        say(f"waypost init: {name}, {table}")
        made = Repository(scene.directory("made"))
        run = lambda *arguments: subprocess.run([WAYPOST, *arguments], cwd=made.tree, check=True, capture_output=True)
        directory = ["--directory"] if table == "links" else []
        if directory:
            run("init", "--base-url", "https://short.code/", "--name", "Links", "--forge", name, *directory)
        else:
            answer([WAYPOST, "init"], made.tree, f"https://short.code/\nLinks\n{name}\n")
        made.commit_all("main")
        run("add", "https://www.gnu.org/", "--code", "gnu-home", "--table", table)
        made.commit_all("proposed")
        forge = Forge(releases)
        variables = {"WAYPOST_VERSION": VERSION, "WAYPOST_RELEASES": f"{forge.address}/releases"}
        change = Change("proposed", by="stranger")
        job = host(made, forge).run(made.tree / check, change, variables)
        assert job.passed and not job.ignored, job
        if host is Actions:
            summary = made.tree / ".github/workflows/links-summary.yaml"
            job = AfterTheCheck(made, forge).run(summary, change, variables)
            assert job.passed, job
        (comment,) = forge.own()
        assert "1 added" in comment["body"] and "gnu-home" in comment["body"], comment
        if name in ISSUES:
            template, on_issue = ISSUES[name]
            own = {**variables, **({"WAYPOST_REPO": made.bare.as_uri()} if on_issue is GitLab else {})}
            issue = Change("main", issue=form("https://e.org/", "e"))
            job = on_issue(made, forge).run(made.tree / template, issue, own, {"PROPOSE_TOKEN": "the-token"})
            assert job.passed and "### Proposed: https://short.code/e\n" in forge.own()[1]["body"], (job, forge.comments)
            assert "https://e.org/" in git("show", "link-7", at=made.bare), job
        git("checkout", "--quiet", "-b", "broken", at=made.tree)
        (made.tree / table / "gnu.yaml" if directory else made.tree / table).write_text("mapping: gnu\n")
        made.commit_all("broken")
        job = host(made, forge).run(made.tree / check, Change("broken"), variables)
        assert not job.passed and '"mapping" must be a list' in job.output, job
        git("checkout", "--quiet", "main", at=made.tree)
        image = ["buildah", "build", "--quiet", "--build-arg", f"WAYPOST={os.environ['REGISTRY']}/waypost:{VERSION}", "."]
        for _ in range(3):
            built = subprocess.run(image, cwd=made.tree, capture_output=True, text=True)
            # buildah copies itself to memory and seals that, which Linux refuses for a moment while pages are in use
            # (fcntl(2), EBUSY).
            if "sealing memfd copy" not in built.stderr:
                break
        assert built.returncode == 0, built.stderr


def the_link_checks(scene, releases):
    """Each host's link check: one issue, results kept from night to night, and new targets of a change."""
    hosts = [
        ("linkcheck.github.yaml", Actions),
        ("linkcheck.forgejo.yaml", Forgejo),
        ("linkcheck.gitlab.yaml", GitLab),
        ("linkcheck.woodpecker.yaml", Woodpecker),
    ]
    for template, host in hosts:
        say(template)
        forge = Forge(releases)
        variables = {
            "WAYPOST_VERSION": VERSION,
            "WAYPOST_RELEASES": f"{forge.address}/releases",
            "WAYPOST_LINKCHECK_ALLOW_PRIVATE": "true",
            "WAYPOST_LINKCHECK_DELAY": "0s",
        }
        secrets = {"COMMENT_TOKEN": "the-token", "linkcheck_token": "the-token"}
        job = lambda branch, **how: host(scene, forge).run(template, Change(branch, **how), variables, secrets)
        table = lambda *pages: "base_url: https://short.code/\nmapping:\n" + "".join(
            f"- url: {forge.address}/pages/{page}\n  short-code: {page}\n" for page in pages
        )
        forge.pages = {"/pages/works": 200, "/pages/gone": 410, "/pages/lost": 410}

        # All links work: no issue.
        scene.commit("main", table("works"))
        run = job("main", nightly=True)
        assert run.passed and not forge.own_issues(), run
        assert f"(+{forge.address}/{REPOSITORY})" in forge.visits[0][1], forge.visits

        # A link fails: one issue, the next night the same one, and no target is requested again so
        # soon.
        scene.commit("main", table("works", "gone"))
        for _ in range(2):
            run = job("main", nightly=True)
            assert run.passed, run
            (issue,) = forge.own_issues()
            assert issue["state"] == "open" and issue["body"].startswith(f"{REPORT}\n"), issue
            assert "#### gone: 1" in issue["body"], issue
        visited = [path for path, _ in forge.visits]
        assert visited.count("/pages/works") == 1 and visited.count("/pages/gone") <= 2, visited

        # The link is fixed: the issue is closed. Another link fails: it is opened again.
        for pages, state in ((["works"], "closed"), (["works", "lost"], "open")):
            scene.commit("main", table(*pages))
            run = job("main", nightly=True)
            assert run.passed, run
            (issue,) = forge.own_issues()
            assert issue["state"] == state, issue
        assert "<code>lost</code>" in issue["body"], issue

        # A table with errors leaves the issue alone, and the night's job fails.
        scene.commit("main", BROKEN)
        before = dict(issue)
        run = job("main", nightly=True)
        assert not run.passed and 'unknown key "shortcode"' in run.output, run
        assert forge.own_issues() == [before], forge.issues

        # A change: only its target is requested, and failures are reported without failing the job.
        scene.commit("main", table("works", "lost"))
        scene.commit("proposed", table("works", "lost", "gone"))
        forge.visits.clear()
        calls = len(forge.calls)
        run = job("proposed")
        assert run.passed and not run.ignored, run
        assert "/pages/gone is permanently gone: status 410" in run.output, run
        visited = {path for path, _ in forge.visits}
        assert "/pages/gone" in visited and not visited & {"/pages/works", "/pages/lost"}, visited
        assert not any("issues" in path for _, path in forge.calls[calls:]), forge.calls


ISSUE_HOSTS = [
    ("propose.github.yaml", OnIssue),
    ("propose.forgejo.yaml", ForgejoOnIssue),
    ("propose.gitlab.yaml", GitLab),
]

# Input of the fields of an issue form, and whether it becomes a link.
HOSTILE = [
    ({"url": "$(touch pwned)"}, False),
    ({"url": "`touch pwned`", "code": "';touch pwned;'"}, False),
    ({"url": "https://e.org/", "code": "$(touch pwned)"}, False),
    ({"url": "https://e.org/", "code": "--help"}, True),
    ({"url": "--repo=https://evil.example/", "code": "-h"}, False),
    ({"url": "https://e.org/$(touch${IFS}pwned)", "title": '"$(touch pwned)"; `touch pwned` #{x} ${HOME} \\'}, True),
    ({"url": "https://e.org/", "title": ": # [x] {y} & *z !t %p @a \"q\" 'r'", "tags": "- a: b, # c,[d"}, True),
    ({"url": "https://e.org/", "title": "x\n  short-code: evil\n- url: https://evil.example/"}, False),
    ({"url": "https://e.org/", "title": "::set-output name=x::y"}, True),
    ({"url": "::error::x", "code": "::stop-commands::x"}, False),
    ({"url": "</pre>\n\n# @everyone [x](https://evil.example/)\n```\nx"}, False),
    ({"url": "https://e.org/", "expires": "tomorrow; touch pwned"}, False),
    ({"url": "https://e.org/", "code": "a", "title": "x\n\n### Short code\n\nb"}, True),
    ({"url": "https://e.org/" + "a" * 9000}, False),
    ({"url": "https://e.org/", "title": "é" * 200_000, "tags": "," * 50_000 + "t," * 50_000}, True),
    ({"url": "https://e.org/", "title": "a\x00b\u202e"}, True),
    ({}, False),
]


def form(url="", code="", title="", tags="", expires=""):
    """Returns the text of an issue as its form generates it."""
    fields = (("URL", url), ("Short code", code), ("Title", title), ("Tags", tags), ("Last day", expires))
    return "\n\n".join(f"### {label}\n\n{value or '_No response_'}" for label, value in fields) + "\n"


def the_proposals(work, releases):
    """A branch for review from each issue that proposes a link, whatever its text; or the reason for refusing it."""
    for template, host in ISSUE_HOSTS:
        say(template)
        scene = Repository(work.directory("proposals"))
        (scene.tree / "README.md").write_text("Short links\n")
        scene.commit_all("main")
        (scene.tree / "mapping.yaml").write_text(BASE)
        scene.commit_all("main")
        forge = Forge(releases)
        names = lambda: git("for-each-ref", "--format=%(refname:short)", "refs/heads", at=scene.bare).split()
        forge.has_branch = lambda name: name in names()
        variables = {
            "WAYPOST_VERSION": VERSION,
            "WAYPOST_RELEASES": f"{forge.address}/releases",
            **({"WAYPOST_REPO": scene.bare.as_uri()} if host is GitLab else {}),
        }
        secrets = {"PROPOSE_TOKEN": "the-token"} if host is GitLab else {}

        def job(text, table="mapping.yaml"):
            run = host(scene, forge).run(template, Change("main", issue=text), {**variables, "TABLE": table}, secrets)
            assert run.passed and not run.ignored, run
            assert not any(line.lstrip().startswith("::") for line in run.output.splitlines()), run.output
            return run

        def proposed(table="mapping.yaml"):
            """Returns the links that the branch adds, after checking it like a pull request, and deletes the branch."""
            if "link-7" not in names():
                return None
            check = [WAYPOST, "check", "--rev", f"link-7:{table}", "--base", "main"]
            checked = subprocess.run(check, cwd=scene.bare, capture_output=True, text=True)
            assert checked.returncode == 0, checked.stderr
            diff = [WAYPOST, "diff", "--format", "json", "--table", table, "main", "link-7"]
            found = json.loads(subprocess.run(diff, cwd=scene.bare, check=True, capture_output=True).stdout)
            assert {change["kind"] for change in found["changes"]} == {"added"}, found
            git("update-ref", "-d", "refs/heads/link-7", at=scene.bare)
            return [change["code"] for change in found["changes"]]

        # Another kind of issue.
        job("It does not work")
        assert names() == ["main"] and not forge.own() and len(forge.calls) == (host is GitLab), forge.calls

        # A refused proposal, which is then corrected.
        job(form("https://www.gnu.org/philosophy/", "gnu-home"))
        (comment,) = forge.own()
        assert proposed() is None and not forge.opened, names()
        assert '    waypost: the code "gnu-home" is taken by the entry at mapping.yaml:4:3' in comment["body"], comment
        text = form("https://www.gnu.org/philosophy/", "philosophy", "Free: as in #1", "gnu, free", "2999-12-31")
        job(text.replace("\n", "\r\n"))
        assert [own["id"] for own in forge.own()] == [comment["id"]], forge.comments
        assert "### Proposed: https://short.code/philosophy" in comment["body"], comment
        assert f"{forge.address}/{REPOSITORY}/pulls/1" in comment["body"], comment
        (pull,) = forge.opened
        assert pull["title"] == "Add https://short.code/philosophy", pull
        assert (pull.get("head") or pull["source_branch"]) == "link-7", pull
        assert "Closes #7," in (pull.get("body") or pull["description"]), pull
        table = git("show", "link-7:mapping.yaml", at=scene.bare)
        entry = "short-code: philosophy\n  title: \"Free: as in #1\"\n  tags: [gnu, free]\n  expires: 2999-12-31"
        assert entry.replace('"', "'") in table.replace('"', "'"), table
        # It is not proposed again.
        before = (dict(comment), git("rev-parse", "link-7", at=scene.bare))
        job(form("https://e.org/", "other"))
        assert before == (comment, git("rev-parse", "link-7", at=scene.bare)) and len(forge.opened) == 1
        assert proposed() == ["philosophy"]

        # Forgejo runs the same workflows as GitHub.
        for fields, is_link in HOSTILE[:3] if host is ForgejoOnIssue else HOSTILE:
            job(form(**fields))
            found = proposed()
            assert (found is not None) == is_link and len(found or ["one"]) == 1, (fields, comment)
            assert len(forge.own()) == 1, forge.comments
            if not is_link:
                said = comment["body"].split("not possible\n\n")[1].split("\n\nEdit the issue")[0].splitlines()
                assert said and all(line.startswith("    ") or not line for line in said), comment
        assert not list(Path(os.environ["WORK"]).rglob("pwned")), "a text was executed"

        if host is not GitLab:
            # Then a person opens the pull request.
            forge.may_open = False
            job(form("https://e.org/", "new"))
            assert comment["body"].rstrip().endswith(f"/{REPOSITORY}/compare/main...link-7"), comment
            assert proposed() == ["new"]

        # A table of many files gets a new one.
        (scene.tree / "links").mkdir()
        (scene.tree / "links/all.yaml").write_text(BASE)
        scene.commit_all("main")
        job(form("https://e.org/", "new"), "links")
        added = git("diff", "--name-status", "main", "link-7", at=scene.bare)
        assert added == "A\tlinks/new.yaml" and proposed("links") == ["new"], added


def what_is_not_the_release_is_not_run(scene, releases):
    say("a program with another checksum")
    wrong = scene.directory("wrong")
    (wrong / f"v{VERSION}").mkdir()
    for file in (releases / f"v{VERSION}").iterdir():
        there = wrong / f"v{VERSION}" / file.name
        there.write_bytes(file.read_bytes() if file.name == "SHA256SUMS" else b"#!/bin/sh\necho it ran\n")
    for template, host in (("github.yaml", Actions), ("gitlab.yaml", GitLab), ("woodpecker.yaml", Woodpecker)):
        forge = Forge(wrong)
        variables = {"WAYPOST_VERSION": VERSION, "WAYPOST_RELEASES": f"{forge.address}/releases"}
        run = host(scene, forge).run(template, Change("good"), variables)
        assert not run.passed and "FAILED" in run.output and "it ran" not in run.output, run
        assert not forge.own(), forge.comments


def the_hooks(scene):
    for template, host in (("publish-hook.github.yaml", Actions), ("publish-hook.gitlab.yaml", GitLab)):
        say(template)
        directory = scene.directory("server")
        server = Serving(
            directory, "--repo", scene.bare.as_uri(), "--state-dir", directory / "state", "--pull-interval", "1h",
            env={"WAYPOST_HOOK_SECRET": "a secret"},
        )
        try:
            server.serving()
            commit = scene.commit("main", f"{BASE}- url: https://example.org/{template}\n")
            address = "http://{}:{}/-/hook".format(*server.public)
            job = lambda secret: host(scene, Forge(scene.work)).run(
                template, Change("main"), {"HOOK_URL": address}, {"HOOK_SECRET": secret}
            )
            assert not job("another secret").passed
            assert server.status()["revision"]["commit"] != commit
            run = job("a secret")
            assert run.passed, run
            wait_until(lambda: server.status()["revision"]["commit"] == commit, "it serves what was pushed")
            server.stop()
        finally:
            server.end()


def the_images(scene):
    registry = os.environ["REGISTRY"]
    waypost = f"{registry}/waypost:{VERSION}"
    for template, host in (("publish-image.github.yaml", Actions), ("publish-image.gitlab.yaml", GitLab)):
        say(template)
        commit = scene.commit("main", f"{BASE}- url: https://example.org/{template}\n")
        repository = f"{registry}/{REPOSITORY.lower()}"
        variables = {
            "WAYPOST_IMAGE": waypost,
            "REGISTRY": registry,
            "CI_REGISTRY": registry,
            "CI_REGISTRY_IMAGE": repository,
            "CI_REGISTRY_USER": "somebody",
            "CI_REGISTRY_PASSWORD": "the-token",
            # Storage apart from the machine's own, and without operations that need real root.
            **{name: os.environ[name] for name in SETTINGS},
        }
        job = lambda: host(scene, Forge(scene.work)).run(template, Change("main"), variables)
        run = job()
        assert run.passed, run
        for tag in (commit, "latest"):
            found = subprocess.run(
                ["buildah", "from", "--pull-always", f"{repository}:{tag}"], capture_output=True, text=True
            )
            assert found.returncode == 0, found.stderr
            mount = subprocess.run(
                ["buildah", "mount", found.stdout.strip()], capture_output=True, text=True, check=True
            ).stdout.strip()
            assert template in Path(mount, "srv/mapping.yaml").read_text()
        scene.commit("main", BROKEN)
        run = job()
        assert not run.passed and 'unknown key "shortcode"' in run.output, run


def the_commit_hook(scene):
    say("pre-commit-config.yaml")
    tree, programs = scene.directory("tree"), scene.directory("programs")
    (programs / "waypost").symlink_to(WAYPOST)
    environment = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(scene.directory("pre-commit")),
    }
    git("init", "--quiet", tree)
    (tree / ".pre-commit-config.yaml").write_text((TEMPLATES / "pre-commit-config.yaml").read_text())
    subprocess.run(["pre-commit", "install"], cwd=tree, env=environment, check=True, capture_output=True)

    def commit(table):
        (tree / "mapping.yaml").write_text(table)
        git("add", "--all", at=tree)
        command = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "--message", "x"]
        return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)

    made = commit(GOOD)
    assert made.returncode == 0 and "waypost check" in made.stderr, made
    refused = commit(BROKEN)
    assert refused.returncode != 0 and "mapping.yaml:7:3: error: unknown key" in refused.stderr, refused
    # A commit that does not change the table is not checked.
    git("reset", "--quiet", "--hard", at=tree)
    (tree / "notes").write_text("x")
    made = commit(GOOD)
    assert made.returncode == 0 and "Skipped" in made.stderr, made


def say(what):
    print(f"* {what}", flush=True)


def main():
    scene = Scene(Path(os.environ["WORK"]))
    releases = scene.directory("releases")
    release(releases)
    match sys.argv[1:]:
        case ["proposals"]:
            return the_proposals(scene, releases)
        case ["init"]:
            return what_init_makes(scene, releases)
    the_proposals(scene, releases)
    the_checks(scene, releases)
    the_owners(scene.directory("owned"), releases)
    what_init_makes(scene, releases)
    what_is_not_the_release_is_not_run(scene, releases)
    # After that, the other branches of the table cannot be merged any more.
    the_link_checks(scene, releases)
    the_commit_hook(scene)
    the_hooks(scene)
    the_images(scene)


main()
