"""A Dogwatch plugin with one type of trigger, "lantern", which posts each update to a URL."""

from urllib.parse import urlsplit

from dogwatch_plugin import invalid, serve


def validate(options):
    """Checks what the schema cannot; warnings may be returned."""
    if urlsplit(options["url"]).scheme not in ("http", "https"):
        raise invalid("url", f"want an address that begins with http:// or https://, got {options['url']}")


def run(request, call):
    """Delivers once; it may yield steps such as {"phase": "post", "message": "nginx"}."""
    for container in request.containers:
        yield {"phase": "post", "message": container.name}
        update = {"id": request.delivery, "name": container.name,
                  "from": container.update_kind.local_value, "to": container.update_kind.remote_value}
        call.json(call.options["url"], method="POST", token=call.options.get("token"), body=update)
        call.log.info("the lantern blinked", container=container.name)


if __name__ == "__main__":
    serve("1.0.0", triggers={"lantern": {
        "summary": "Post each update to a lantern",
        "options": {
            "url": {"type": "url", "required": True, "help": "Where to post", "example": "https://lantern.example.org/blink"},
            "token": {"secret": True, "help": "Sent as a bearer token"},
        },
        "validate": validate,
        "run": run,
    }})
