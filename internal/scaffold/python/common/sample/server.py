"""A service to try the plugin with: it serves the files of this folder and prints what is posted to it."""

import functools
import http.server
import os


class Sample(http.server.SimpleHTTPRequestHandler):
    def do_POST(self):
        print(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode(), flush=True)
        self.send_response(200)
        self.end_headers()


if __name__ == "__main__":
    print("listening on http://localhost:8080", flush=True)
    folder = os.path.dirname(os.path.abspath(__file__))
    http.server.ThreadingHTTPServer(("localhost", 8080), functools.partial(Sample, directory=folder)).serve_forever()
