'use strict';
// Plugins for Dogwatch in JavaScript: an author writes options and what is done with them, and calls serve.
const fs = require('fs');
const path = require('path');
const grpc = require('@grpc/grpc-js');
const wire = require('./wire');
const errors = require('./errors');
const model = require('./model');
const { instanceOf, callOf, testCall } = require('./call');
const { mistakes, defaultOf } = require('./definition');

// On stdout there is the handshake alone, which Dogwatch reads.
if (process.env.DOGWATCH_PLUGIN) console.log = console.info = console.debug = console.error;

const kinds = { trigger: 'triggers', watcher: 'watchers', registry: 'registries' };

/** typeInfo is what a type says of itself. */
function typeInfo(kind, type, t) {
  const can = [...(t.capabilities || []), ...(t.watch ? ['watch'] : [])];
  return {
    kind, type, summary: t.summary, delivery: kind === 'trigger' ? t.delivery || 'at-least-once' : '', capabilities: can,
    options: Object.entries(t.options || {}).map(([name, o]) => ({ type: 'string', ...o, name, default: defaultOf(o) })),
  };
}

function describe(bundle) {
  const types = Object.entries(kinds).flatMap(([kind, list]) => Object.entries(bundle[list] || {}).map(([type, t]) => typeInfo(kind, type, t)));
  return { version: bundle.version, sdkVersion: 'node', types };
}

/** component serves what every plugin has: its description, and its instances. */
function component(bundle, instances) {
  async function configure({ request }, done) {
    let instance = instanceOf(request.instance, {}, {});
    try {
      const type = (bundle[kinds[request.kind]] || {})[request.type];
      if (!type) throw errors.notFound(`no ${request.kind} type ${request.type}`);
      instance = instanceOf(request.instance, type, wire.struct(request.options));
      const { options } = instance;
      for (const [name, option] of Object.entries(type.options || {})) {
        if (option.required && (options[name] === undefined || options[name] === '')) throw errors.invalid(name, 'is required');
      }
      const warnings = (type.validate && await type.validate(options)) || [];
      const hosts = (type.hosts ? type.hosts(options) : []).map(model.host);
      if (!request.validateOnly) {
        drop(request.instance);
        instances.set(request.instance, instance);
      }
      done(null, { warnings, hosts });
    } catch (err) { done(errors.statusOf(err, instance)); }
  }
  function drop(name) {
    const old = instances.get(name);
    instances.delete(name);
    if (old) old.replaced.abort();
  }
  return {
    Describe: (_, done) => done(null, describe(bundle)),
    Configure: configure,
    Release: ({ request }, done) => { drop(request.instance); done(null, {}); },
  };
}

/** handlers make what grpc-js calls of what is done for an instance. */
function handlers(instances, stopping) {
  function begin(call) {
    const instance = instances.get(call.request.instance);
    if (!instance) return {};
    const given = new AbortController();
    call.on('cancelled', () => given.abort());
    for (const other of [stopping.signal, instance.replaced.signal]) {
      other.addEventListener('abort', () => given.abort(), { once: true, signal: given.signal });
    }
    return { instance, signal: given.signal };
  }
  /** failed is the status of what was thrown; a call that was given up has its own. */
  const failed = (err, { instance, signal }) => errors.statusOf(signal.aborted ? errors.cancelled() : err, instance);
  return {
    unary: (work) => async (call, done) => {
      const begun = begin(call);
      if (!begun.instance) return done(errors.unknown());
      try {
        done(null, await work(begun.instance.type, call.request, callOf(begun.instance, begun.signal)));
      } catch (err) { done(failed(err, begun)); }
    },
    stream: (work) => async (call) => {
      const begun = begin(call);
      if (!begun.instance) return call.emit('error', errors.unknown());
      try {
        await work(begun.instance.type, call.request, (more) => callOf(begun.instance, begun.signal, more), (message) => call.write(message), begun.instance);
        call.end();
      } catch (err) {
        if (!call.cancelled) call.emit('error', failed(err, begun));
      }
    },
  };
}

/** services are those of the kinds. */
function services({ unary, stream }) {
  return {
    Trigger: {
      Run: stream((type, request, call, send) => type.run(request, call({ progress: (p) => send({ progress: p }) }))),
    },
    Watcher: {
      List: stream(async (type, _, call, send) => {
        const found = await type.list(call());
        for (const page of model.pages(found.map(model.container), 50)) send({ containers: page });
      }),
      Watch: stream(async (type, _, call, send, { replaced }) => {
        if (!type.watch) throw errors.unsupported('it does not follow events');
        await type.watch(call(), (e) => send(model.event(e)));
        if (replaced.signal.aborted) throw errors.unavailable('configured anew; watch again');
      }),
    },
    Registry: {
      Tags: stream(async (type, request, call, send) => {
        const found = model.tagList(await type.tags(request.repository, call({ validator: request.validator })));
        let more = { validator: found.validator, notModified: found.notModified };
        for (const tags of model.pages(found.tags || [], 2000)) {
          send({ tags, ...more });
          more = {};
        }
      }),
      Resolve: unary(async (type, r, call) => ({ digest: await type.resolve(r.repository, r.tag, call) })),
      Manifest: unary(async (type, r, call) => (type.manifest ? model.manifest(await type.manifest(r.repository, r.digest, r.platform, call)) : { digest: r.digest })),
    },
  };
}

/**
 * serve serves a bundle { version, triggers, watchers, registries }, each of types by name, until Dogwatch ends it.
 * README.md says what a type is.
 */
function serve(bundle) {
  if (process.env.DOGWATCH_PLUGIN !== '6f3d0c1a-watch') {
    process.stderr.write(`This is a Dogwatch plugin, version ${bundle.version}. Put it into the folder that plugins.dir names.\n`);
    process.exit(1);
  }
  const wrong = mistakes(bundle, kinds);
  if (wrong.length > 0) {
    process.stderr.write(`${wrong.join('\n')}\n`);
    process.exit(1);
  }
  const instances = new Map();
  const stopping = new AbortController();
  const server = new grpc.Server();
  const end = () => {
    stopping.abort();
    server.tryShutdown(() => process.exit(0));
    setTimeout(() => process.exit(0), 1500).unref();
  };
  server.addService(wire.service('dogwatch.plugin.v1.Component'), component(bundle, instances));
  for (const [name, methods] of Object.entries(services(handlers(instances, stopping)))) {
    server.addService(wire.service(`dogwatch.plugin.v1.${name}`), methods);
  }
  server.addService(wire.service('grpc.health.v1.Health'), {
    Check: ({ request }, done) => (request.service === 'plugin' ? done(null, { status: 'SERVING' }) : done(wire.status(grpc.status.NOT_FOUND, 'unknown service'))),
  });
  server.addService(wire.service('plugin.GRPCController'), { Shutdown: (_, done) => { done(null, {}); setImmediate(end); } });

  const cert = Buffer.from(process.env.PLUGIN_CLIENT_CERT || '');
  const key = Buffer.from(process.env.DOGWATCH_PLUGIN_KEY || '');
  delete process.env.DOGWATCH_PLUGIN_KEY; // what the plugin starts must not have it
  const socket = path.join(process.env.PLUGIN_UNIX_SOCKET_DIR, `node${process.pid}`);
  process.umask(0o077);
  server.bindAsync(`unix:${socket}`, grpc.ServerCredentials.createSsl(cert, [{ cert_chain: cert, private_key: key }], true), (err) => {
    if (err) throw err;
    fs.writeSync(1, `1|1|unix|${socket}|grpc\n`);
  });
  const parent = process.ppid;
  setInterval(() => { if (process.ppid !== parent) process.exit(1); }, 1000).unref();
}

const { CallError, invalid, unavailable, unauthorized, notFound, limited, ofStatus } = errors;
module.exports = { serve, testCall, parseImage: model.parseImage, CallError, invalid, unavailable, unauthorized, notFound, limited, ofStatus };
