"""Plugins for Dogwatch in Python: an author writes options and what is done with them, and calls serve."""

import os
import sys
import threading
import time
from concurrent import futures

import grpc
from google.protobuf import json_format

from . import model, wire
from .call import Call, Instance, test_call
from .definition import default_of, mistakes
from .errors import CallError, cancelled, fail, invalid, limited, not_found, of_status, unauthorized, unavailable, unsupported
from .model import parse_image

__all__ = ["serve", "test_call", "parse_image", "CallError", "invalid", "limited", "not_found", "of_status", "unauthorized", "unavailable"]

# On stdout there is the handshake alone, which Dogwatch reads.
_handshake = sys.stdout
if "DOGWATCH_PLUGIN" in os.environ:
    sys.stdout = sys.stderr

COMPONENT, HEALTH, CONTROLLER = "dogwatch.plugin.v1.Component", "grpc.health.v1.Health", "plugin.GRPCController"


class _Server:
    def __init__(self, version, kinds):
        self.version, self.kinds = version, kinds
        self.instances = {}
        self.ended = threading.Event()

    def describe(self, _request, _context):
        types = []
        for kind, held in self.kinds.items():
            for name, t in held.items():
                options = []
                for option, o in t.get("options", {}).items():
                    o = {"type": "string", **o}
                    if "default" in o:
                        o["default"] = default_of(o)
                    options.append(wire.message("Option")(name=option, **o))
                can = list(t.get("capabilities", [])) + (["watch"] if "watch" in t else [])
                delivery = t.get("delivery", "at-least-once") if kind == "trigger" else ""
                types.append(wire.message("TypeInfo")(kind=kind, type=name, summary=t["summary"], options=options, delivery=delivery, capabilities=can))
        return wire.message("DescribeResponse")(version=self.version, sdk_version="python", types=types)

    def configure(self, request, context):
        held = self.kinds.get(request.kind, {})
        if request.type not in held:
            context.abort(grpc.StatusCode.NOT_FOUND, f"no {request.kind} type {request.type}")
        instance = Instance(request.instance, held[request.type], model.options(held[request.type], json_format.MessageToDict(request.options)))
        t, options = instance.kind, instance.options
        try:
            for name, option in t.get("options", {}).items():
                if option.get("required") and options.get(name) in (None, ""):
                    raise invalid(name, "is required")
            warnings = t["validate"](options) if "validate" in t else None
            hosts = model.hosts(t["hosts"](options) if "hosts" in t else ())
        except Exception as err:  # of the author's code
            fail(context, err, instance)
        if not request.validate_only:
            self._drop(request.instance)
            self.instances[request.instance] = instance
        return wire.message("ConfigureResponse")(warnings=warnings or [], hosts=hosts)

    def release(self, request, _context):
        self._drop(request.instance)
        return wire.message("ReleaseResponse")()

    def _drop(self, name):
        old = self.instances.pop(name, None)
        if old:
            old.replace()

    def call(self, request, context, work):
        """Yields what work(type, call) yields, and ends with the status of what it raises."""
        instance = self.instances.get(request.instance)
        if instance is None:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not configured in this plugin")
        call = Call(instance, getattr(request, "validator", ""))
        instance.calls.add(call)
        if not context.add_callback(call.end):
            call.end()
        try:
            yield from work(instance.kind, call)
            if instance.replaced:
                raise unavailable("configured anew")
        except Exception as err:  # of the author's code
            fail(context, cancelled() if call.cancelled.is_set() and not instance.replaced else err, instance)
        finally:
            instance.calls.discard(call)

    def run(self, request, context):
        def work(t, call):
            for step in t["run"](request, call) or ():
                yield wire.message("RunResponse")(progress=wire.message("Progress")(**step))
        return self.call(request, context, work)

    def list(self, request, context):
        def work(t, call):
            for page in model.pages([model.container(c) for c in t["list"](call)], 50):
                yield wire.message("ListResponse")(containers=page)
        return self.call(request, context, work)

    def watch(self, request, context):
        def work(t, call):
            if "watch" not in t:
                raise unsupported("it does not follow events")
            for e in t["watch"](call):
                yield model.event(e)
        return self.call(request, context, work)

    def tags(self, request, context):
        def work(t, call):
            found = model.tag_list(t["tags"](request.repository, call))
            for page in model.pages(found.pop("tags", []), 2000):
                yield wire.message("TagsResponse")(tags=page, **found)
                found = {}
        return self.call(request, context, work)

    def resolve(self, request, context):
        def work(t, call):
            yield wire.message("ResolveResponse")(digest=t["resolve"](request.repository, request.tag, call))
        return next(self.call(request, context, work))

    def manifest(self, request, context):
        def work(t, call):
            known = t["manifest"](request.repository, request.digest, request.platform, call) if "manifest" in t else {"digest": request.digest}
            yield model.manifest(known)
        return next(self.call(request, context, work))

    def check(self, request, context):
        if request.service != "plugin":
            context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
        return wire.response(HEALTH, "Check", status="SERVING")

    def shutdown(self, _request, _context):
        self.ended.set()
        return wire.response(CONTROLLER, "Shutdown")

    def handlers(self):
        yield wire.handler(COMPONENT, Describe=self.describe, Configure=self.configure, Release=self.release)
        yield wire.handler("dogwatch.plugin.v1.Trigger", Run=self.run)
        yield wire.handler("dogwatch.plugin.v1.Watcher", List=self.list, Watch=self.watch)
        yield wire.handler("dogwatch.plugin.v1.Registry", Tags=self.tags, Resolve=self.resolve, Manifest=self.manifest)
        yield wire.handler(HEALTH, Check=self.check)
        yield wire.handler(CONTROLLER, Shutdown=self.shutdown)


def serve(version, triggers=None, watchers=None, registries=None):
    """Serves types, by their names, until Dogwatch ends the process. README.md says what a type is."""
    if os.environ.get("DOGWATCH_PLUGIN") != "6f3d0c1a-watch":
        sys.exit(f"This is a Dogwatch plugin, version {version}. Put it into the folder that plugins.dir names.")
    kinds = {"trigger": triggers or {}, "watcher": watchers or {}, "registry": registries or {}}
    wrong = mistakes(kinds)
    if wrong:
        sys.exit("\n".join(wrong))
    s = _Server(version, kinds)
    # Calls that hang must not keep the question whether the plugin lives from its answer.
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=64))
    server.add_generic_rpc_handlers(tuple(s.handlers()))
    cert = os.environ["PLUGIN_CLIENT_CERT"].encode()
    key = os.environ.pop("DOGWATCH_PLUGIN_KEY").encode()  # what the plugin starts must not have it
    socket = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], f"python{os.getpid()}")
    server.add_secure_port("unix:" + socket, grpc.ssl_server_credentials([(key, cert)], cert, True))
    server.start()
    _handshake.write(f"1|1|unix|{socket}|grpc\n")
    _handshake.flush()
    parent = os.getppid()
    while not s.ended.wait(1):
        if os.getppid() != parent:
            os._exit(1)
    time.sleep(0.05)  # the answer to Shutdown is on its way
    server.stop(1).wait(1.4)
    os._exit(0)  # threads of calls that do not end are no reason to stay
