"""Triggers for Dogwatch in Python: an author writes options and run, and calls serve."""

import datetime
import json
import os
import sys
import threading
import time
from concurrent import futures

import grpc
from google.protobuf import json_format

from . import controller_pb2, details_pb2, health_pb2, plugin_pb2

MAX_TEXT = 16384


class DeliveryError(Exception):
    """What validate and run raise. Any other exception counts as a mistake of the plugin."""

    def __init__(self, code, text, *details):
        super().__init__(text)
        self.code, self.extra = code, details


def _answered():
    return details_pb2.ErrorInfo(domain="dogwatch", reason="ANSWERED")


def invalid(field, text):
    """An option has a wrong value."""
    violation = details_pb2.BadRequest.FieldViolation(field=field, description=text)
    return DeliveryError(grpc.StatusCode.INVALID_ARGUMENT, f"{field}: {text}", details_pb2.BadRequest(field_violations=[violation]))


def unavailable(text):
    """Worth another try."""
    return DeliveryError(grpc.StatusCode.UNAVAILABLE, text, _answered())


def unauthorized(text):
    """Credentials are missing, wrong or not enough."""
    return DeliveryError(grpc.StatusCode.UNAUTHENTICATED, text)


def not_found(text):
    """What an option names does not exist."""
    return DeliveryError(grpc.StatusCode.NOT_FOUND, text)


def limited(text, seconds):
    """The other side wants no request for some seconds."""
    wait = details_pb2.RetryInfo()
    wait.retry_delay.FromSeconds(int(seconds) + 1)
    return DeliveryError(grpc.StatusCode.RESOURCE_EXHAUSTED, text, wait)


class Call:
    """What run gets beside the request: the options of its instance, a log, and whether it is given up."""

    def __init__(self, instance, context):
        self.options, self.log = instance.options, instance.log
        self.cancelled = threading.Event()
        self._callbacks = []
        self._lock = threading.Lock()
        if not context.add_callback(self._end):
            self._end()

    def on_cancel(self, callback):
        """callback is called when the call is given up or has ended."""
        with self._lock:
            if not self.cancelled.is_set():
                self._callbacks.append(callback)
                return
        callback()

    def _end(self):
        with self._lock:
            self.cancelled.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()


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


class _Instance:
    def __init__(self, name, kind, options):
        self.kind, self.options = kind, options
        secrets = [str(options[n]) for n, o in kind.get("options", {}).items() if o.get("secret") and options.get(n)]
        self._secrets = [form for s in secrets for form in (s, json.dumps(s)[1:-1])]
        self.log = Log(name, self.blank)

    def blank(self, text):
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


class _Server:
    def __init__(self, version, triggers):
        self.version, self.triggers = version, triggers
        self.instances = {}
        self.ended = threading.Event()

    def describe(self, _request, _context):
        types = []
        for name, kind in self.triggers.items():
            options = []
            for option, o in kind.get("options", {}).items():
                o = {"type": "string", **o}
                if "default" in o:
                    o["default"] = str(o["default"])
                options.append(plugin_pb2.Option(name=option, **o))
            types.append(plugin_pb2.TypeInfo(kind="trigger", type=name, summary=kind["summary"], options=options,
                                             delivery=kind.get("delivery", "at-least-once"),
                                             capabilities=kind.get("capabilities", [])))
        return plugin_pb2.DescribeResponse(version=self.version, sdk_version="python", types=types)

    def configure(self, request, context):
        if request.type not in self.triggers:
            context.abort(grpc.StatusCode.NOT_FOUND, f"no trigger type {request.type}")
        instance = _Instance(request.instance, self.triggers[request.type], json_format.MessageToDict(request.options))
        try:
            for name, option in instance.kind.get("options", {}).items():
                if option.get("required") and instance.options.get(name) in (None, ""):
                    raise invalid(name, "is required")
            validate = instance.kind.get("validate")
            warnings = validate(instance.options) if validate else None
        except Exception as err:  # of the author's code
            _fail(context, err, instance.blank)
        if not request.validate_only:
            self.instances[request.instance] = instance
        return plugin_pb2.ConfigureResponse(warnings=warnings or [])

    def release(self, request, _context):
        self.instances.pop(request.instance, None)
        return plugin_pb2.ReleaseResponse()

    def run(self, request, context):
        instance = self.instances.get(request.instance)
        if instance is None:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not configured in this plugin")
        try:
            for step in instance.kind["run"](request, Call(instance, context)) or ():
                yield plugin_pb2.RunResponse(progress=plugin_pb2.Progress(**step))
        except Exception as err:  # of the author's code
            _fail(context, err, instance.blank)

    def check(self, request, context):
        if request.service != "plugin":
            context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
        return health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)

    def shutdown(self, _request, _context):
        self.ended.set()
        return controller_pb2.Empty()


def _fail(context, err, blank):
    text = blank(str(err) or type(err).__name__)[:MAX_TEXT]
    if not isinstance(err, DeliveryError):
        context.abort(grpc.StatusCode.INTERNAL, text)
    status = details_pb2.Status(code=err.code.value[0], message=text)
    for detail in err.extra:
        for violation in getattr(detail, "field_violations", ()):
            violation.description = blank(violation.description)
        status.details.add().Pack(detail)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(err.code, text)


def _service(name, **methods):
    handlers = {}
    for method, (call, request, stream) in methods.items():
        make = grpc.unary_stream_rpc_method_handler if stream else grpc.unary_unary_rpc_method_handler
        handlers[method] = make(call, request_deserializer=request.FromString, response_serializer=lambda m: m.SerializeToString())
    return grpc.method_handlers_generic_handler(name, handlers)


def serve(version, triggers):
    """Serves triggers, by type name, until Dogwatch ends the process. Each is a dict with summary,
    options, run(request, call) and, where wanted, delivery and validate(options)."""
    if os.environ.get("DOGWATCH_PLUGIN") != "6f3d0c1a-watch":
        sys.exit(f"This is a Dogwatch plugin, version {version}. Put it into the folder that plugins.dir names.")
    s = _Server(version, triggers)
    # Runs that hang must not keep the question whether the plugin lives from its answer.
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=64))
    server.add_generic_rpc_handlers((
        _service("dogwatch.plugin.v1.Component", Describe=(s.describe, plugin_pb2.DescribeRequest, False),
                 Configure=(s.configure, plugin_pb2.ConfigureRequest, False), Release=(s.release, plugin_pb2.ReleaseRequest, False)),
        _service("dogwatch.plugin.v1.Trigger", Run=(s.run, plugin_pb2.RunRequest, True)),
        _service("grpc.health.v1.Health", Check=(s.check, health_pb2.HealthCheckRequest, False)),
        _service("plugin.GRPCController", Shutdown=(s.shutdown, controller_pb2.Empty, False)),
    ))
    cert = os.environ["PLUGIN_CLIENT_CERT"].encode()
    key = os.environ.pop("DOGWATCH_PLUGIN_KEY").encode()  # what the plugin starts must not have it
    socket = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], f"python{os.getpid()}")
    server.add_secure_port("unix:" + socket, grpc.ssl_server_credentials([(key, cert)], cert, True))
    server.start()
    sys.stdout.write(f"1|1|unix|{socket}|grpc\n")
    sys.stdout.flush()
    parent = os.getppid()
    while not s.ended.wait(1):
        if os.getppid() != parent:
            os._exit(1)
    time.sleep(0.05)  # the answer to Shutdown is on its way
    server.stop(1).wait(1.4)
    os._exit(0)  # threads of runs that do not end are no reason to stay
