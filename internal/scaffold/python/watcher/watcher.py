"""The watcher "@name@" reads what runs from a list in JSON:

    [{"id": "1", "name": "web", "image": "nginx:1.25.3"}]
"""

from dogwatch_plugin import invalid, unavailable

# What a user may set: Dogwatch validates, documents and masks it, and draws a form.
OPTIONS = {
    "url": {"type": "url", "required": True, "help": "Address of the list", "example": "http://localhost:8080/list.json"},
    "token": {"secret": True, "help": "Token that is sent as Authorization: Bearer; none is sent without it"},
}


def validate(options):
    """Checks what the schema cannot. Texts that it returns in a list are warnings."""
    if not options["url"].startswith(("http://", "https://")):
        raise invalid("url", "want an address that starts with http:// or https://")


def list_containers(call):
    """Returns every container. An error means that nothing is known at the moment: Dogwatch keeps
    what it knew. A container of which only a part is known is returned with its error."""
    entries = call.json(call.options["url"], token=call.options.get("token"))
    if not isinstance(entries, list):
        raise unavailable("the document is no list")
    known = ("id", "name", "image", "digest", "labels")
    return [{**{k: e.get(k) for k in known}, "platform": {"os": "linux", "architecture": "amd64"}} for e in entries]


TYPE = {
    "summary": "Read what runs from a list in JSON",
    # The labels of the list are those of its author. Where images bring labels of their own, which
    # may say little about updates, list_containers has to name them in image_labels.
    "capabilities": ["labels"],
    "options": OPTIONS,
    "validate": validate,
    "list": list_containers,
}
