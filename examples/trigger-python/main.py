"""A Dogwatch plugin with one type of trigger, "lantern", which posts each update to a URL."""

import http.client
import json
import socket
from urllib.parse import urlsplit

from dogwatch_plugin import invalid, serve, unauthorized, unavailable


def validate(options):
    """Checks what the schema cannot; warnings may be returned."""
    if urlsplit(options["url"]).scheme not in ("http", "https"):
        raise invalid("url", f"want an address that begins with http:// or https://, got {options['url']}")


def run(request, call):
    """Delivers once; it may yield steps such as {"phase": "post", "message": "nginx"}."""
    for container in request.containers:
        status, text = post(call, {
            "id": request.delivery, "name": container.name,
            "from": container.update_kind.local_value, "to": container.update_kind.remote_value,
        })
        if status in (401, 403):
            raise unauthorized(f"the lantern answered {status}: {text}")
        if status >= 300:
            raise unavailable(f"the lantern answered {status}: {text}")
        call.log.info("the lantern blinked", container=container.name)


def post(call, update):
    """Sends one update, and gives up when Dogwatch does."""
    url = urlsplit(call.options["url"])
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.netloc, timeout=30)
    headers = {"content-type": "application/json"}
    if call.options.get("token"):
        headers["authorization"] = "Bearer " + call.options["token"]
    try:
        connection.connect()
        call.on_cancel(lambda s=connection.sock: close(s))
        connection.request("POST", url.path or "/", json.dumps(update), headers)
        response = connection.getresponse()
        return response.status, response.read(1 << 16).decode(errors="replace")
    except (OSError, http.client.HTTPException) as err:
        raise unavailable(f"post to the lantern: {err or type(err).__name__}") from err
    finally:
        connection.close()


def close(sock):
    """Ends what waits for the other side."""
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it has ended already


if __name__ == "__main__":
    serve("1.0.0", {"lantern": {
        "summary": "Post each update to a lantern",
        "options": {
            "url": {"type": "url", "required": True, "help": "Where to post", "example": "https://lantern.example.org/blink"},
            "token": {"secret": True, "help": "Sent as a bearer token"},
        },
        "validate": validate,
        "run": run,
    }})
