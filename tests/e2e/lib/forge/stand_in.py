"""The server that jobs talk to, on loopback: the files of a release, comments of a pull request, issues, packages,
and the pages to which links lead."""

import http.server
import json
import re
import threading
import urllib.parse

NUMBER = 7
PROJECT = 11
REPOSITORY = "people/Links"
MARKER = "<!-- waypost diff -->"
REPORT = "<!-- waypost linkcheck -->"

# The two forms of the interface: GitHub's, which Gitea and Forgejo share, and GitLab's.
ALL = re.compile(rf"/(repos/{REPOSITORY}/issues/{NUMBER}/comments|projects/{PROJECT}/(merge_request|issue)s/{NUMBER}/notes)")
ONE = re.compile(
    rf"/(?:repos/{REPOSITORY}/issues/comments|projects/{PROJECT}/(?:merge_request|issue)s/{NUMBER}/notes)/(\d+)"
)
BRANCH = re.compile(rf"/(?:repos/{REPOSITORY}|projects/{PROJECT}/repository)/branches/(.+)")
PULLS = re.compile(rf"/(?:repos/{REPOSITORY}/pulls|projects/{PROJECT}/merge_requests)")
ISSUES = re.compile(rf"/(?:repos/{REPOSITORY}|projects/{PROJECT})/issues(?:/(\d+))?")
PACKAGE = re.compile(r"/api/packages/([^/]+)/generic/[^/]+/[^/]+/[^/]+")


class Forge:
    """A Git host with one pull request, on which a stranger has imitated the summary, and likewise in an issue."""

    def __init__(self, releases):
        self.releases = releases
        self.users = {"the-token": "the-bot"}
        self.comments = [{"id": 1, "body": f"{MARKER}\nAll is well, merge me", "by": "stranger"}]
        self.issues = [{"number": 1, "body": f"{REPORT}\nAll is well", "state": "open", "by": "stranger"}]
        # The pull requests, for a job that looks for one; and the user who opened it, for a job
        # that needs that.
        self.pulls, self.proposer = [], None
        # An issue that proposes a link, the branches, and the pull requests that jobs open, if that
        # is allowed.
        self.proposal, self.has_branch = None, lambda name: False
        self.opened, self.may_open = [], True
        self.packages = {}
        # The files that jobs save for the next one, by key.
        self.caches = {}
        # The status of each page, and the requests for them.
        self.pages, self.visits = {}, []
        self.calls = []
        forge = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                forge.answer(self)

            do_HEAD = do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def own(self):
        """Returns the comments except the stranger's, which is unchanged."""
        assert self.comments[0]["body"].endswith("merge me"), self.comments[0]
        return self.comments[1:]

    def own_issues(self):
        """Returns the issues except the stranger's, which is unchanged."""
        assert self.issues[0]["body"].endswith("All is well") and self.issues[0]["state"] == "open", self.issues[0]
        return self.issues[1:]

    def answer(self, request):
        path = urllib.parse.urlsplit(request.path).path
        if path.startswith("/pages/"):
            self.visits.append((path, request.headers.get("User-Agent")))
            return send(request, self.pages.get(path, 404))
        if path.startswith("/releases/"):
            file = self.releases / path.removeprefix("/releases/")
            return send(request, 200, file.read_bytes()) if file.is_file() else send(request, 404)
        length = int(request.headers.get("Content-Length") or 0)
        body = request.rfile.read(length)
        user = self.user(request.headers)
        self.calls.append((request.command, path))
        if user is None:
            return send(request, 401)
        package = PACKAGE.fullmatch(path)
        if package:
            return self.package(request, path, body) if package[1] == user else send(request, 403)
        body = json.loads(body) if body else None
        path = re.sub(r"^/api(/v[14])", "", path)
        issue = ISSUES.fullmatch(path)
        if issue:
            return self.issue(request, issue[1], body, user)
        one, branch = ONE.fullmatch(path), BRANCH.fullmatch(path)
        match request.command:
            case "GET" if branch:
                return send(request, 200 if self.has_branch(branch[1]) else 404)
            case "POST" if PULLS.fullmatch(path):
                if not self.may_open:
                    return send(request, 403)
                self.opened.append(body)
                page = f"{self.address}/{REPOSITORY}/pulls/{len(self.opened)}"
                return send(request, 201, {"html_url": page, "web_url": page})
            case "GET" if path == f"/repos/{REPOSITORY}/pulls":
                asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(request.path).query))
                assert asked["state"] == "open", asked
                return send(request, 200, [pull for pull in self.pulls if pull["label"] == asked["head"]])
            case "GET" if path == f"/projects/{PROJECT}/merge_requests/{NUMBER}":
                return send(request, 200, {"iid": NUMBER, "author": {"username": self.proposer}})
            case "GET" if path == "/user":
                return send(request, 200, {"login": user, "username": user})
            case "GET" if ALL.fullmatch(path):
                return send(request, 200, [shown(comment) for comment in self.comments])
            case "POST" if ALL.fullmatch(path):
                self.comments.append({"id": len(self.comments) + 1, "body": body["body"], "by": user})
                return send(request, 201, shown(self.comments[-1]))
            case "PATCH" | "PUT" if one:
                comment = self.comments[int(one[1]) - 1]
                comment["body"] = body["body"]
                return send(request, 200, shown(comment))
        send(request, 404)

    def issue(self, request, number, body, user):
        """Answers requests for issues of either interface: `body` and `state`, or `description` and an event."""
        text = lambda: body.get("body") or body.get("description")
        match request.command:
            case "GET" if number == str(NUMBER):
                return send(request, 200, {"iid": NUMBER, "description": self.proposal, "confidential": False})
            case "GET" if number is None:
                return send(request, 200, [issue_shown(issue) for issue in self.issues])
            case "POST" if number is None:
                assert body["title"] == "Links that need attention", body
                self.issues.append({"number": len(self.issues) + 1, "body": text(), "state": "open", "by": user})
                return send(request, 201, issue_shown(self.issues[-1]))
            case "PATCH" | "PUT" if number:
                issue = self.issues[int(number) - 1]
                event = {"close": "closed", "reopen": "open", None: body.get("state")}[body.get("state_event")]
                issue |= {"body": text(), "state": event}
                return send(request, 200, issue_shown(issue))
        send(request, 404)

    def package(self, request, path, body):
        """Answers requests for files of packages, which are never replaced."""
        match request.command:
            case "PUT" if path in self.packages:
                return send(request, 409)
            case "PUT":
                self.packages[path] = body
                return send(request, 201)
            case "GET" if path in self.packages:
                return send(request, 200, self.packages[path])
            case "DELETE" if path in self.packages:
                del self.packages[path]
                return send(request, 204)
        send(request, 404)

    def user(self, headers):
        token = headers.get("PRIVATE-TOKEN") or (headers.get("Authorization") or "").removeprefix("token ")
        return self.users.get(token)


def shown(comment):
    by = comment["by"]
    return {**comment, "user": {"login": by}, "author": {"username": by}}


def issue_shown(issue):
    return {**shown(issue), "iid": issue["number"], "description": issue["body"]}


def send(request, status, body=b""):
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    request.send_response(status)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    if request.command != "HEAD":
        request.wfile.write(body)
