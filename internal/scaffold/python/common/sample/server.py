"""A service to try the plugin with: it serves the files of this folder and prints what is sent to it."""

import functools
import http.server
import os


class Sample(http.server.SimpleHTTPRequestHandler):
    def do_POST(self):
        print(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode(), flush=True)
        self.send_response(200)
        self.end_headers()

    do_PUT = do_PATCH = do_DELETE = do_POST


if __name__ == "__main__":
    port = int(os.environ.get("PORT", 8080))
    folder = os.path.dirname(os.path.abspath(__file__))
    server = http.server.ThreadingHTTPServer(("localhost", port), functools.partial(Sample, directory=folder))
    print(f"listening on http://localhost:{port}", flush=True)
    server.serve_forever()
