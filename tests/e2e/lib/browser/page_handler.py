"""What the servers of pages that a browser visits have in common."""

import http.server


class PageHandler(http.server.BaseHTTPRequestHandler):
    """Answers with pages, and logs nothing."""

    def answer(self, page, status=200):
        page = page.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass
