"""The errors that an author's code raises, and the statuses that they become."""

import os
import traceback

import grpc

from . import wire

MAX_TEXT = 16384
SHOWN_LINES = 8  # of a traceback


class CallError(Exception):
    """What an author's code raises. Any other exception counts as a mistake of the plugin."""

    def __init__(self, code, text, *details):
        super().__init__(text)
        self.code, self.extra = code, details


def _answered():
    return wire.detail("ErrorInfo")(domain="dogwatch", reason="ANSWERED")


def invalid(field, text):
    """An option has a wrong value."""
    request = wire.detail("BadRequest")()
    request.field_violations.add(field=field, description=text)
    return CallError(grpc.StatusCode.INVALID_ARGUMENT, f"{field}: {text}", request)


def unavailable(text):
    """Worth another try."""
    return CallError(grpc.StatusCode.UNAVAILABLE, text, _answered())


def unauthorized(text):
    """Credentials are missing, wrong or not enough."""
    return CallError(grpc.StatusCode.UNAUTHENTICATED, text)


def not_found(text):
    """What an option or the request names does not exist."""
    return CallError(grpc.StatusCode.NOT_FOUND, text)


def limited(text, seconds):
    """The other side wants no request for some seconds."""
    wait = wire.detail("RetryInfo")()
    wait.retry_delay.FromSeconds(int(seconds) + 1)
    return CallError(grpc.StatusCode.RESOURCE_EXHAUSTED, text, wait)


def unsupported(text):
    """The plugin does not have this ability."""
    return CallError(grpc.StatusCode.UNIMPLEMENTED, text)


def cancelled():
    return CallError(grpc.StatusCode.CANCELLED, "given up", _answered())


def of_status(status, text, after=None):
    """The error for the status of an HTTP response that is no success; after is its Retry-After."""
    if status in (401, 403):
        return unauthorized(text)
    if status in (404, 410):
        return not_found(text)
    if status == 429:
        return limited(text, int(after) if after and after.isdigit() else 60)
    return unavailable(text)


def _mistake(err):
    """The text of an exception that is no CallError, with the place where it was raised."""
    text = "".join(traceback.format_exception_only(type(err), err)).strip()
    frames = traceback.extract_tb(err.__traceback__)
    return f"{text} ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else text


def fail(context, err, instance):
    """Ends a call for an instance with the status of what an author's code raised. A mistake of that code is logged, too."""
    blank = instance.blank
    if not isinstance(err, CallError):
        instance.log.error("error in the plugin's code", stack="".join(traceback.format_exception(type(err), err, err.__traceback__)[-SHOWN_LINES:]))
        context.abort(grpc.StatusCode.INTERNAL, blank(f"error in the plugin's code: {_mistake(err)}")[:MAX_TEXT])
    text = blank(str(err) or type(err).__name__)[:MAX_TEXT]
    status = wire.detail("Status")(code=err.code.value[0], message=text)
    for detail in err.extra:
        for violation in getattr(detail, "field_violations", ()):
            violation.description = blank(violation.description)
        status.details.add().Pack(detail)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(err.code, text)
