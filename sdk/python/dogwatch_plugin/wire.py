"""The messages of the protocol, from protocol.binpb: the descriptors of its protos."""

import pkgutil

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# A pool of their own: an author may use messages of the same names.
_pool = descriptor_pool.DescriptorPool()
for _file in descriptor_pb2.FileDescriptorSet.FromString(pkgutil.get_data(__package__, "protocol.binpb")).file:
    _pool.AddSerializedFile(_file.SerializeToString())

if hasattr(message_factory, "GetMessageClass"):
    _class = message_factory.GetMessageClass
else:  # before version 4.22 of protobuf
    _class = message_factory.MessageFactory(_pool).GetPrototype


def message(name):
    """The class of a message of the protocol."""
    return _class(_pool.FindMessageTypeByName("dogwatch.plugin.v1." + name))


def detail(name):
    """The class of a detail of an error."""
    return _class(_pool.FindMessageTypeByName("google.rpc." + name))


def handler(name, **calls):
    """Serves a service with a function for each of its methods."""
    service = _pool.FindServiceByName(name)
    handlers = {}
    for method, call in calls.items():
        found = service.FindMethodByName(method)
        kind = "unary_stream" if _streams(found) else "unary_unary"
        make = getattr(grpc, kind + "_rpc_method_handler")
        handlers[method] = make(call, request_deserializer=_class(found.input_type).FromString,
                                response_serializer=lambda m: m.SerializeToString())
    return grpc.method_handlers_generic_handler(name, handlers)


def _streams(method):
    described = descriptor_pb2.MethodDescriptorProto()
    method.CopyToProto(described)
    return described.server_streaming


def response(service, method, **fields):
    """The response of a method that has no name here."""
    return _class(_pool.FindServiceByName(service).FindMethodByName(method).output_type)(**fields)
