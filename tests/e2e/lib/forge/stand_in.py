"""What a job talks to: the files of a release, and the comments of a pull request, on loopback."""

import http.server
import json
import re
import threading
import urllib.parse

NUMBER = 7
PROJECT = 11
REPOSITORY = "people/Links"
MARKER = "<!-- waypost diff -->"

# The two forms of the interface: GitHub's, which Gitea and Forgejo share, and GitLab's.
ALL = re.compile(rf"/(repos/{REPOSITORY}/issues/{NUMBER}/comments|projects/{PROJECT}/merge_requests/{NUMBER}/notes)")
ONE = re.compile(
    rf"/(?:repos/{REPOSITORY}/issues/comments|projects/{PROJECT}/merge_requests/{NUMBER}/notes)/(\d+)"
)


class Forge:
    """A Git host with one pull request, below which a stranger has imitated the summary."""

    def __init__(self, releases):
        self.releases = releases
        self.users = {"the-token": "the-bot"}
        self.comments = [{"id": 1, "body": f"{MARKER}\nAll is well, merge me", "by": "stranger"}]
        self.calls = []
        forge = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                forge.answer(self)

            do_POST = do_PATCH = do_PUT = do_GET

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def own(self):
        """Returns the comments that are not the stranger's, who is untouched."""
        assert self.comments[0]["body"].endswith("merge me"), self.comments[0]
        return self.comments[1:]

    def answer(self, request):
        path = urllib.parse.urlsplit(request.path).path
        if path.startswith("/releases/"):
            file = self.releases / path.removeprefix("/releases/")
            return send(request, 200, file.read_bytes()) if file.is_file() else send(request, 404)
        length = int(request.headers.get("Content-Length") or 0)
        body = json.loads(request.rfile.read(length)) if length else None
        user = self.user(request.headers)
        self.calls.append((request.command, path))
        path = re.sub(r"^/api(/v[14])", "", path)
        if user is None:
            return send(request, 401)
        one = ONE.fullmatch(path)
        match request.command:
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

    def user(self, headers):
        token = headers.get("PRIVATE-TOKEN") or (headers.get("Authorization") or "").removeprefix("token ")
        return self.users.get(token)


def shown(comment):
    by = comment["by"]
    return {**comment, "user": {"login": by}, "author": {"username": by}}


def send(request, status, body=b""):
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    request.send_response(status)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)
