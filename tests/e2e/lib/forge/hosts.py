"""Hosts: how each checks out a change, which variables it sets, and how it runs a template's shell.

A host's `run` returns a `Run`. Anything in a template that is not known here is an error: a key
of a step, a condition, an expression.
"""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

import yaml
from stand_in import NUMBER, PROJECT, REPOSITORY

TEMPLATES = Path(__file__).parents[4] / "deploy/ci"
VERSION = "1.2.3"


@dataclass
class Change:
    """The trigger of a job: a branch that is proposed or waits in a queue, or `main`, after a push, at night
    or because of an issue with this text."""

    branch: str
    by: str = "alice"
    fork: bool = False
    queued: bool = False
    nightly: bool = False
    issue: str | None = None

    @property
    def pushed(self):
        return self.branch == "main"

    @property
    def replaces(self):
        """Whether a commit was replaced by a push."""
        return self.pushed and self.issue is None

    @property
    def proposed(self):
        return not self.pushed and not self.queued


@dataclass
class Run:
    """The result of a job: whether it passed, its output, the steps that were allowed to fail, and its files."""

    passed: bool = True
    output: str = ""
    ignored: list = field(default_factory=list)
    artifacts: dict = field(default_factory=dict)

    def add(self, name, script, forgiven=False):
        self.output += script.stdout
        if script.returncode and forgiven:
            self.ignored.append(f"{name}: {script.stdout}")
        elif script.returncode:
            self.passed = False
        return script.returncode == 0 or forgiven


def git(*arguments, at=None):
    command = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(command, cwd=at, check=True, capture_output=True, text=True).stdout.strip()


def load(template):
    return yaml.safe_load((TEMPLATES / template).read_text())


# The scripts that were read: most run many times.
LINTED = set()


def lint(shell, file):
    """Runs shellcheck on a script, which is written for busybox unless it is for bash."""
    # Busybox knows `pipefail`, unlike other small shells.
    dialect = ["--shell", "bash"] if shell == "bash" else ["--shell", "dash", "--exclude", "SC3040"]
    script = (shell, file.read_text())
    if script in LINTED:
        return
    LINTED.add(script)
    found = subprocess.run(["shellcheck", *dialect, file], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def restore(forge, prefix, path):
    """Restores the newest file that was saved under a key with this prefix, if there is one."""
    keys = [key for key in forge.caches if key.startswith(prefix)]
    if keys:
        path.write_bytes(forge.caches[keys[-1]])


def save(forge, key, path):
    """Saves a file for the next job, if it exists."""
    if path.exists():
        forge.caches.pop(key, None)
        forge.caches[key] = path.read_bytes()


class Host:
    """The machine of one job: a home, a temporary directory, and the programs on its path."""

    def __init__(self, scene, forge):
        self.scene, self.forge = scene, forge
        self.temporary = scene.directory("job")
        self.programs = []

    def shell(self, command, script, environment, at):
        """Runs a text as a file, which is how each of the hosts does it."""
        file = self.temporary / "script"
        file.write_text(script)
        lint(command[0], file)
        return subprocess.run(
            [*command, file],
            cwd=at,
            env={
                "HOME": str(self.scene.directory("home")),
                "PATH": ":".join(map(str, self.programs)),
                **{name: str(value) for name, value in environment.items()},
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )

    def checkout(self):
        """Returns a clone with all branches as those of `origin`, at no commit yet."""
        work = self.scene.directory("work")
        git("clone", "--quiet", "--no-checkout", self.scene.bare.as_uri(), work)
        return work

    def small_image(self, manager):
        """Provides only the programs of the image, here busybox, and those that the job installs with its package manager."""
        busybox, installed = self.scene.directory("busybox"), self.scene.directory("installed")
        subprocess.run(["busybox", "--install", "-s", busybox], check=True)
        self.stub(busybox / manager, installed)
        self.programs = [installed, busybox]

    def stub(self, path, installed):
        """Writes a package manager that adds programs of this machine to the path."""
        path.write_text(
            '#!/bin/sh\nset -e\nfor it; do case $it in -*|add|update|install) ;; *)\n'
            f'    program=$(PATH=/usr/local/bin:/usr/bin:/bin command -v "$it")\n'
            f'    /bin/ln -sf "$program" {installed}/ ;; esac; done\n'
        )
        path.chmod(0o755)


class Actions(Host):
    """GitHub Actions, and its equivalents in Forgejo and Gitea."""

    login = "github-actions[bot]"

    def __init__(self, scene, forge):
        super().__init__(scene, forge)
        self.programs = os.environ["PATH"].split(":")

    def checked_out(self, change):
        """The trial merge that `actions/checkout` checks out for a pull request."""
        work = self.checkout()
        git("checkout", "--quiet", "--detach", "origin/main", at=work)
        if not change.pushed:
            git("merge", "--quiet", "--no-ff", "--no-edit", f"origin/{change.branch}", at=work)
        return work

    def expressions(self, change, secrets, work):
        before = git("rev-parse", "origin/main", at=work)
        return {
            "github.token": "the-token",
            "github.event.merge_group.base_sha": before if change.queued else "",
            "github.event.before": git("rev-parse", "origin/main~", at=work) if change.replaces else "",
            "github.event.pull_request.number": NUMBER,
            "github.event.pull_request.user.login": change.by if change.proposed else "",
            "github.event.pull_request.head.repo.full_name": "stranger/Links" if change.fork else REPOSITORY,
            "github.event.workflow_run.head_repository.owner.login": owner_of(change),
            "github.event.workflow_run.head_branch": change.branch,
            "github.event.workflow_run.head_sha": git("rev-parse", f"origin/{change.branch}", at=work),
            "github.repository": REPOSITORY,
            "github.run_id": len(self.forge.caches),
            "github.server_url": self.forge.address,
            **{f"secrets.{name}": value for name, value in secrets.items()},
        }

    def run(self, template, change, variables=(), secrets=()):
        self.forge.users = {"the-token": self.login}
        workflow, work = load(template), self.checked_out(change)
        (job,) = workflow["jobs"].values()
        if change.issue is not None:
            assert job["if"] == "startsWith(github.event.issue.body, '### URL')", job["if"]
            if not change.issue.startswith("### URL"):
                return Run()
        expressions = self.expressions(change, dict(secrets), work)
        known = lambda name: str(expressions.get(name, "") if name.startswith("secrets.") else expressions[name])
        value = lambda found: next(filter(None, map(known, found[1].split(" || "))), "")
        fill = lambda text: re.sub(r"\$\{\{ (.+?) \}\}", value, str(text))
        assert workflow["defaults"] == {"run": {"shell": "bash"}}
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
        paths, step_summary = self.temporary / "paths", self.temporary / "step-summary"
        paths.touch()
        environment = {
            "GITHUB_ACTOR": "somebody",
            "GITHUB_API_URL": f"{self.forge.address}/api/v1",
            "GITHUB_BASE_REF": "main" if change.proposed else "",
            "GITHUB_PATH": paths,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": git("rev-parse", "HEAD", at=work),
            "GITHUB_STEP_SUMMARY": step_summary,
            "RUNNER_TEMP": self.temporary,
            **self.event(change),
            **{name: fill(value) for name, value in workflow.get("env", {}).items()},
            **job.get("env", {}),
            **dict(variables),
        }
        run = Run()
        for step in job["steps"]:
            condition = step.get("if", "")
            always, condition = condition.startswith("always() && "), condition.removeprefix("always() && ")
            assert condition in ("", *(f"github.event_name {it} 'pull_request'" for it in ("==", "!="))), step
            if not run.passed and not always or condition and ("==" in condition) != change.proposed:
                continue
            if "uses" in step:
                self.use(step["uses"], {name: fill(value) for name, value in step.get("with", {}).items()}, work)
                continue
            assert step.keys() <= {"name", "run", "env", "if", "continue-on-error"}, step
            # Text of an event never becomes part of a script.
            assert "${{" not in step["run"], step
            own = {name: fill(value) for name, value in step.get("env", {}).items()}
            script = self.shell(shell, step["run"], {**environment, **own}, work)
            run.add(step["name"], script, step.get("continue-on-error"))
            self.programs = paths.read_text().split() + self.programs
            paths.write_text("")
        if step_summary.exists():
            run.artifacts["page"] = step_summary.read_text()
        return run

    def event(self, change):
        """Returns the further variables that a host sets for an event."""
        return {}

    def use(self, action, given, work):
        """Restores the newest cache, or saves one; the repository is checked out already."""
        if "actions/cache/restore@" in action:
            assert given["key"].startswith(given["restore-keys"]), given
            restore(self.forge, given["restore-keys"], work / given["path"])
        elif "actions/cache/save@" in action:
            save(self.forge, given["key"], work / given["path"])
        else:
            assert "actions/checkout@" in action, action


class AfterTheCheck(Actions):
    """GitHub Actions after another workflow: at the default branch, not the proposed one."""

    def checked_out(self, change):
        git("update-ref", f"refs/pull/{NUMBER}/head", f"refs/heads/{change.branch}", at=self.scene.bare)
        head = git("rev-parse", change.branch, at=self.scene.bare)
        # A pull request of the same branch with another commit.
        self.forge.pulls = [
            {"number": number, "label": f"{owner_of(change)}:{change.branch}", "head": {"sha": sha}, "base": {"ref": "main"}}
            for number, sha in ((NUMBER - 1, "0" * 40), (NUMBER, head))
        ]
        work = self.checkout()
        git("checkout", "--quiet", "main", at=work)
        return work


class OnIssue(Actions):
    """GitHub Actions after an issue was opened or edited: at the default branch, with the event in a file."""

    def checked_out(self, change):
        work = self.checkout()
        git("checkout", "--quiet", "main", at=work)
        return work

    def event(self, change):
        served = self.scene.directory("served")
        (served / REPOSITORY).parent.mkdir()
        (served / REPOSITORY).symlink_to(self.scene.bare)
        event = self.scene.directory("event") / "event.json"
        issue = {"number": NUMBER, "body": change.issue}
        event.write_text(json.dumps({"issue": issue, "repository": {"default_branch": "main"}}))
        return {"GITHUB_EVENT_PATH": event, "GITHUB_SERVER_URL": served.as_uri()}


def owner_of(change):
    return "stranger" if change.fork else REPOSITORY.split("/")[0]


class Forgejo(Actions):
    """A runner with a Debian image: all programs of this machine but jq, which is installed."""

    login = "forgejo-actions"

    def __init__(self, scene, forge):
        super().__init__(scene, forge)
        image, installed = scene.directory("image"), scene.directory("installed")
        for directory in (Path(path) for path in reversed(self.programs)):
            for program in directory.iterdir() if directory.is_dir() else ():
                if program.name not in ("jq", "apt-get"):
                    (image / program.name).unlink(missing_ok=True)
                    (image / program.name).symlink_to(program)
        self.stub(image / "apt-get", installed)
        self.programs = [installed, image]


class ForgejoOnIssue(OnIssue, Forgejo):
    """The same of Forgejo."""


class GitLab(Host):
    """GitLab CI with an image of busybox. With `merged`, it runs on a trial merge."""

    def __init__(self, scene, forge, merged=False):
        super().__init__(scene, forge)
        self.merged = merged

    def run(self, template, change, variables=(), secrets=(("COMMENT_TOKEN", "the-token"),)):
        jobs = load(template)
        self.forge.proposer = change.by
        run = Run()
        for name, job in jobs.items():
            if name.startswith(".") or name == "include":
                continue
            for base in [jobs[job["extends"]]] if "extends" in job else []:
                job = {**base, **job}
            known = {"image", "variables", "before_script", "script", "rules", "artifacts", "extends"}
            assert job.keys() <= known | {"allow_failure", "cache", "resource_group", "timeout"}, job
            if not any(self.holds(rule["if"], change) for rule in job["rules"]):
                continue
            if job["image"].startswith("alpine:"):
                shell = "sh"
                self.small_image("apk")
                if change.issue is not None:
                    # Needed for pushing to a path, unlike for pushing to the host.
                    (self.programs[0] / "git").symlink_to(shutil.which("git"))
            else:
                shell = "bash"
                self.programs = os.environ["PATH"].split(":")
            work = self.checkout()
            git("checkout", "--quiet", "--detach", f"origin/{change.branch}", at=work)
            target = git("rev-parse", "origin/main", at=work)
            if self.merged:
                git("merge", "--quiet", "--no-ff", "--no-edit", target, at=work)
            environment = {
                "CI_API_V4_URL": f"{self.forge.address}/api/v4",
                # Anyone can put this author into a commit, and run the pipeline of another user's
                # request.
                "CI_COMMIT_AUTHOR": "somebody <somebody@example.org>",
                "GITLAB_USER_LOGIN": "somebody",
                "CI_COMMIT_BEFORE_SHA": git("rev-parse", "origin/main~", at=work) if change.replaces else "0" * 40,
                "CI_COMMIT_SHA": git("rev-parse", "HEAD", at=work),
                "CI_PROJECT_ID": PROJECT,
                "CI_PROJECT_URL": f"{self.forge.address}/{REPOSITORY}",
                "CI_DEFAULT_BRANCH": "main",
                "TMPDIR": self.temporary,
            }
            if change.issue is not None:
                self.forge.proposal = change.issue
                payload = self.scene.directory("payload") / "payload"
                payload.write_text(json.dumps({"object_kind": "issue", "object_attributes": {"iid": NUMBER}}))
                environment["TRIGGER_PAYLOAD"] = payload
            if change.proposed:
                environment |= {
                    "CI_MERGE_REQUEST_DIFF_BASE_SHA": git("merge-base", f"origin/{change.branch}", target, at=work),
                    "CI_MERGE_REQUEST_IID": NUMBER,
                    "CI_MERGE_REQUEST_PROJECT_ID": PROJECT,
                    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
                    "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": target if self.merged else "",
                }
            own = {name: Template(str(it)).substitute(environment) for name, it in job.get("variables", {}).items()}
            environment |= {**own, **dict(variables)}
            environment |= {} if change.fork else dict(secrets)
            cache = job.get("cache")
            if cache:
                assert cache.keys() == {"key", "paths", "when"} and cache["when"] == "always", cache
                (cached,) = cache["paths"]
                restore(self.forge, cache["key"], work / cached)
            lines = job.get("before_script", []) + job["script"]
            script = self.shell([shell], "\n".join(["set -eo pipefail", *lines, ""]), environment, work)
            run.add(name, script, job.get("allow_failure"))
            if cache:
                save(self.forge, cache["key"], work / cached)
            kept = job.get("artifacts", {})
            for artifact in kept.get("paths", []) + list(kept.get("reports", {}).values()):
                if (work / artifact).exists():
                    run.artifacts[artifact] = (work / artifact).read_text()
        return run

    def holds(self, rule, change):
        return {
            '$CI_PIPELINE_SOURCE == "merge_request_event"': change.proposed,
            "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH": change.pushed,
            '$CI_PIPELINE_SOURCE == "schedule"': change.nightly,
            '$CI_PIPELINE_SOURCE == "trigger" && $TRIGGER_PAYLOAD': change.issue is not None,
        }[rule]


class Woodpecker(Host):
    """Woodpecker with an image of busybox: one container a step, and one directory for all."""

    def run(self, template, change, variables=(), secrets=(("comment_token", "the-token"),)):
        text = (TEMPLATES / template).read_text()
        assert "${" not in text, "Woodpecker itself would replace it"
        pipeline = yaml.safe_load(text)
        otherwise = {"event": "cron", "cron": "linkcheck"} if change.nightly else {"event": "push", "branch": "main"}
        assert change.proposed or otherwise in pipeline["when"], pipeline["when"]
        assert {"event": "pull_request"} in pipeline["when"] and len(pipeline["when"]) == 2, pipeline["when"]
        assert pipeline["clone"]["git"]["settings"] == {"partial": False, "depth": 0}
        work = self.scene.directory("work")
        git("init", "--quiet", work)
        git("remote", "add", "origin", self.scene.bare.as_uri(), at=work)
        # The clone has only the head of the pull request.
        git("fetch", "--quiet", "origin", f"+refs/heads/{change.branch}:", at=work)
        git("checkout", "--quiet", "FETCH_HEAD", at=work)
        environment = {
            "CI_COMMIT_AUTHOR": "somebody",
            "CI_COMMIT_PULL_REQUEST": NUMBER if change.proposed else "",
            "CI_COMMIT_TARGET_BRANCH": "main" if change.proposed else "",
            "CI_FORGE_URL": self.forge.address,
            "CI_PIPELINE_AUTHOR": change.by,
            "CI_REPO": REPOSITORY,
            "CI_REPO_ID": PROJECT,
            "CI_REPO_URL": f"{self.forge.address}/{REPOSITORY}",
        }
        run = Run()
        for step in pipeline["steps"]:
            assert step.keys() <= {"name", "image", "when", "failure", "environment", "commands"}, step
            assert step["image"] == "alpine:3"
            event = "pull_request" if change.proposed else "cron" if change.nightly else "push"
            if "when" in step and step["when"] != [{"event": event}]:
                continue
            own = step.get("environment", {}) | dict(variables)
            own = {
                name: dict(secrets)[value["from_secret"]] if isinstance(value, dict) else value
                for name, value in own.items()
            }
            self.small_image("apk")
            script = self.shell(["sh", "-e"], "\n".join([*step["commands"], ""]), environment | own, work)
            if not run.add(step["name"], script, step.get("failure") == "ignore"):
                break
        return run
