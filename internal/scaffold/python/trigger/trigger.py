"""The trigger "@name@" posts every message as JSON."""

from dogwatch_plugin import invalid

# What a user may set: Dogwatch validates, documents and masks it, and draws a form.
OPTIONS = {
    "url": {"type": "url", "required": True, "help": "Address that gets a request for every message", "example": "http://localhost:8080/hook"},
    "method": {"choices": ["POST", "PUT"], "default": "POST", "help": "Method of the request"},
    "token": {"secret": True, "help": "Token that is sent as Authorization: Bearer; none is sent without it"},
}


def validate(options):
    """Checks what the schema cannot. Texts that it returns in a list are warnings."""
    if not options["url"].startswith(("http://", "https://")):
        raise invalid("url", "want an address that starts with http:// or https://")


def run(request, call):
    """Delivers one message. What call.json raises says whether another try may help."""
    names = [c.name for c in request.containers]
    message = {"id": request.delivery, "title": request.title, "text": request.body, "containers": names, "test": request.test}
    call.json(call.options["url"], method=call.options["method"], token=call.options.get("token"), body=message)
    call.log.debug("posted", containers=names)


TYPE = {"summary": "Post every message as JSON", "options": OPTIONS, "validate": validate, "run": run}
