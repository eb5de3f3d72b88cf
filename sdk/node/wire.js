'use strict';
// The messages and services of the protocol, read from the protos, which the bundler puts in as texts.
const fs = require('fs');
const grpc = require('@grpc/grpc-js');
const protobuf = require('protobufjs');

// Tests run without the bundler.
require('module')._extensions['.proto'] = (module, file) => { module.exports = fs.readFileSync(file, 'utf8'); };

const root = new protobuf.Root();
for (const name of ['any', 'duration', 'struct', 'timestamp']) {
  root.addJSON(protobuf.common.get(`google/protobuf/${name}.proto`).nested);
}
for (const text of [
  require('../proto/v1/plugin.proto'), require('../proto/v1/health.proto'),
  require('../proto/v1/controller.proto'), require('../proto/v1/details.proto'),
]) protobuf.parse(text, root);
root.resolveAll();

const encode = (type) => (value) => Buffer.from(type.encode(type.fromObject(value)).finish());
const decode = (type) => (bytes) => type.toObject(type.decode(bytes), { longs: Number, enums: String, defaults: true, oneofs: true });

/** service returns what grpc-js wants to know of a service. */
function service(name) {
  const found = root.lookupService(name);
  const methods = {};
  for (const m of found.methodsArray) {
    methods[m.name] = {
      path: `/${found.fullName.slice(1)}/${m.name}`, requestStream: !!m.requestStream, responseStream: !!m.responseStream,
      requestSerialize: encode(m.resolvedRequestType), requestDeserialize: decode(m.resolvedRequestType),
      responseSerialize: encode(m.resolvedResponseType), responseDeserialize: decode(m.resolvedResponseType),
    };
  }
  return methods;
}

/** value turns a value of a Struct into the one of JavaScript. */
function value(v) {
  if (v.listValue) return (v.listValue.values || []).map(value);
  if (v.structValue) return struct(v.structValue);
  if (v.kind === 'nullValue') return null;
  return v[v.kind];
}

function struct(s) {
  return Object.fromEntries(Object.entries((s && s.fields) || {}).map(([name, v]) => [name, value(v)]));
}

const any = (name, message) => ({ type_url: `type.googleapis.com/${name}`, value: encode(root.lookupType(name))(message) });

/** status is the error of a call: a code, a text, and details such as ['google.rpc.ErrorInfo', {…}]. */
function status(code, message, details = []) {
  const metadata = new grpc.Metadata();
  if (details.length > 0) {
    const packed = { code, message, details: details.map(([name, detail]) => any(name, detail)) };
    metadata.set('grpc-status-details-bin', encode(root.lookupType('google.rpc.Status'))(packed));
  }
  return Object.assign(new Error(message), { code, details: message, metadata });
}

module.exports = { service, struct, status };
