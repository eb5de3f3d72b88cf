"""What an author's code gets beside the request: options, a log, cancellation, and requests by HTTP."""

import datetime
import http.client
import json
import socket
import sys
import threading
from urllib.parse import urlsplit

from .definition import with_defaults
from .errors import of_status, unavailable

MAX_BODY = 16 << 20


class Log:
    """Writes lines in the form that Dogwatch reads, without the secrets."""

    def __init__(self, module, blank):
        self._module, self._blank = module, blank

    def _write(self, level, message, fields):
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        line = {**fields, "@level": level, "@message": str(message), "@module": self._module, "@timestamp": now}
        sys.stderr.write(self._blank(json.dumps(line, default=str)) + "\n")
        sys.stderr.flush()

    def debug(self, message, **fields):
        self._write("debug", message, fields)

    def info(self, message, **fields):
        self._write("info", message, fields)

    def warn(self, message, **fields):
        self._write("warn", message, fields)

    def error(self, message, **fields):
        self._write("error", message, fields)


class Instance:
    """A configured instance of a type."""

    def __init__(self, name, kind, options):
        self.kind, self.options = kind, options
        self.replaced, self.calls = False, set()
        secrets = [str(options[n]) for n, o in kind.get("options", {}).items() if o.get("secret") and options.get(n)]
        self._secrets = [form for s in secrets for form in (s, json.dumps(s)[1:-1])]
        self.log = Log(name, self.blank)

    def blank(self, text):
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def replace(self):
        """Ends its calls that wait: another instance has its name, or none."""
        self.replaced = True
        for call in list(self.calls):
            call.end()


class Call:
    """A call for an instance. cancelled is set when it is given up, or has ended."""

    def __init__(self, instance, validator=""):
        self.options, self.log, self.validator = instance.options, instance.log, validator
        self.cancelled = threading.Event()
        self._callbacks = []
        self._lock = threading.Lock()

    def on_cancel(self, callback):
        """callback is called when the call is given up or has ended."""
        with self._lock:
            if not self.cancelled.is_set():
                self._callbacks.append(callback)
                return
        callback()

    def end(self):
        with self._lock:
            self.cancelled.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def json(self, url, method="GET", headers=None, token=None, body=None):
        """Sends a request, with body as JSON and token as a bearer token, and returns the JSON of the response:
        None when that is empty. What goes wrong is raised as the kind of error that it is."""
        sent = {"Accept": "application/json", **(headers or {})}
        if token:
            sent["Authorization"] = "Bearer " + token
        if body is not None:
            sent["Content-Type"] = "application/json"
        address = urlsplit(url)
        where = f"{method} {address.hostname}"  # the rest of an address may be secret
        try:
            response, text = self._send(address, method, None if body is None else json.dumps(body), sent)
        except (OSError, http.client.HTTPException) as err:
            raise unavailable(f"{where}: {err or type(err).__name__}") from err
        if response.status >= 300:
            raise of_status(response.status, f"{where} answered {response.status} {text[:200]}".strip(), response.getheader("Retry-After"))
        if not text or method != "GET" and "json" not in (response.getheader("Content-Type") or ""):
            return None
        try:
            return json.loads(text)
        except ValueError as err:
            raise unavailable(f"{where} answered what is no JSON: {err}") from err

    def _send(self, address, method, body, headers):
        make = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        connection = make(address.hostname, address.port, timeout=30)
        try:
            connection.connect()
            sock = connection.sock
            self.on_cancel(lambda: _shut(sock))
            connection.request(method, (address.path or "/") + ("?" + address.query if address.query else ""), body, headers)
            response = connection.getresponse()
            text = response.read(MAX_BODY + 1)
            if len(text) > MAX_BODY:
                raise OSError(f"the response has more than {MAX_BODY >> 20} MiB")
            return response, text.decode(errors="replace")
        finally:
            connection.close()


def _shut(sock):
    """Ends what waits for the other side."""
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it has ended already


def test_call(kind, options):
    """A call for tests, with these options and the defaults of the others."""
    return Call(Instance("test", kind, with_defaults(kind, options)))
