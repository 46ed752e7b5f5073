"""A fake forge: its editor for a new file, filled in from the address, as Gitea, GitHub and
GitLab do, and a button that writes the file into a directory.
"""

import html
import os
import re
import urllib.parse

from page_handler import PageHandler

# The pages of new files, and the parameters with the name and the text of the file.
PAGES = [
    (r"/o/r/new/main", "filename", "value"),
    (r"/o/r/_new/main", "filename", "value"),
    (r"/o/r/-/new/main", "file_name", "content"),
]

EDITOR = """<!doctype html><html lang="en"><title>New file</title><link rel="icon" href="data:,">
<script>document.title = "scripts run"</script>
<form method="post" action="/commit"><input name="path" value="{path}">
<textarea name="text">
{text}</textarea><button>Propose</button></form>"""


# The editor of a file that exists, and an issue form whose fields are filled in from the address.
CHANGED = "/o/r/_edit/main/"
ISSUE = "/o/r/issues/new"

ISSUE_FORM = """<!doctype html><html lang="en"><title>New issue</title><link rel="icon" href="data:,">
<form method="post" action="/issue">{fields}<button>Submit</button></form>"""


class Forge(PageHandler):
    # The directory with a copy of the table, and the last issue.
    root = None
    issue = None

    def do_GET(self):
        address = urllib.parse.urlsplit(self.path)
        values = dict(urllib.parse.parse_qsl(address.query, strict_parsing=True))
        for page, path, text in PAGES:
            if re.fullmatch(page, address.path):
                self.answer(EDITOR.format(path=html.escape(values[path]), text=html.escape(values[text])))
                return
        if address.path.startswith(CHANGED):
            path = urllib.parse.unquote(address.path.removeprefix(CHANGED))
            editor = EDITOR.replace("/commit", "/change")
            self.answer(editor.format(path=html.escape(path), text=html.escape(values["value"])))
            return
        if address.path == ISSUE:
            field = lambda name: f'<input name="{html.escape(name)}" value="{html.escape(values[name])}">'
            self.answer(ISSUE_FORM.format(fields="".join(map(field, values))))
            return
        self.answer("no such page", 404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        values = dict(urllib.parse.parse_qsl(body))
        root = str(self.root)
        if self.path == "/issue":
            type(self).issue = values
            self.answer("<!doctype html><title>Submitted</title><h1>Submitted</h1>")
            return
        path = os.path.normpath(os.path.join(root, values["path"]))
        assert path.startswith(root + os.sep) and (self.path == "/change" or not os.path.exists(path)), path
        # Forms send line breaks as CR LF, which forges convert back.
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(values["text"].replace("\r", ""))
        self.answer("<!doctype html><title>Proposed</title><h1>Proposed</h1>")
