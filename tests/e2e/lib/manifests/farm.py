"""Hosts on loopback with working home pages, and a record of the requested pages."""

import http.server
import threading


class Farm:
    """One port on every loopback address."""

    def __enter__(self):
        farm, self.visits = self, []

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                farm.visits.append((self.connection.getsockname()[0], self.path))
                self.send_response(200 if self.path == "/" else 404)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_HEAD = do_GET

        self.server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()

    def homes(self):
        """Returns the hosts whose home pages were requested, once for each request."""
        return [host for host, path in self.visits if path == "/"]
