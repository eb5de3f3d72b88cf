"""A service on this machine for tests."""

import contextlib
import http.server
import threading


@contextlib.contextmanager
def serving(answer):
    """Yields the address of a service. answer(method, path, headers, body) returns its status and text."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            status, text = answer(self.command, self.path, self.headers, body)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        do_POST = do_PUT = do_GET

        def log_message(self, *_args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
