'use strict';
// Triggers for Dogwatch in JavaScript: an author writes options and run, and calls serve.
const fs = require('fs');
const path = require('path');
const grpc = require('@grpc/grpc-js');
const wire = require('./wire');

const answered = { domain: 'dogwatch', reason: 'ANSWERED' };

/** DeliveryError is what validate and run throw. Any other error counts as a mistake of the plugin. */
class DeliveryError extends Error {
  constructor(code, text, details) { super(text); this.code = code; this.extra = details; }
}
const info = ['google.rpc.ErrorInfo', answered];
/** invalid: an option has a wrong value. */
const invalid = (field, text) => new DeliveryError(grpc.status.INVALID_ARGUMENT, `${field}: ${text}`,
  [['google.rpc.BadRequest', { fieldViolations: [{ field, description: text }] }]]);
/** unavailable: worth another try. */
const unavailable = (text) => new DeliveryError(grpc.status.UNAVAILABLE, text, [info]);
/** unauthorized: credentials are missing, wrong or not enough. */
const unauthorized = (text) => new DeliveryError(grpc.status.UNAUTHENTICATED, text, []);
/** notFound: what an option names does not exist. */
const notFound = (text) => new DeliveryError(grpc.status.NOT_FOUND, text, []);
/** limited: the other side wants no request for some seconds. */
const limited = (text, seconds) => new DeliveryError(grpc.status.RESOURCE_EXHAUSTED, text,
  [['google.rpc.RetryInfo', { retryDelay: { seconds: Math.ceil(seconds) } }]]);

/** logger writes lines in the form that Dogwatch reads, without the secrets. */
function logger(module, blank) {
  const at = (level) => (message, fields = {}) => process.stderr.write(blank(JSON.stringify({
    ...fields, '@level': level, '@message': String(message), '@module': module, '@timestamp': new Date().toISOString().replace('Z', '000Z'),
  })) + '\n');
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** blanker replaces the values of secret options in texts; JSON has them escaped. */
function blanker(type, options) {
  const secrets = Object.entries(type.options || {}).filter(([name, o]) => o.secret && options[name])
    .flatMap(([name]) => [String(options[name]), JSON.stringify(String(options[name])).slice(1, -1)]);
  return (text) => secrets.reduce((t, s) => t.split(s).join('***'), String(text));
}

function describe(bundle) {
  return {
    version: bundle.version, sdkVersion: 'node',
    types: Object.entries(bundle.triggers).map(([type, t]) => ({
      kind: 'trigger', type, summary: t.summary, delivery: t.delivery || 'at-least-once', capabilities: t.capabilities || [],
      options: Object.entries(t.options || {}).map(([name, o]) => ({ type: 'string', ...o, name, default: o.default === undefined ? undefined : String(o.default) })),
    })),
  };
}

/** statusOf is the status of what a plugin's own code threw. */
function statusOf(err, blank) {
  const text = blank(err.message || err).slice(0, 16384);
  if (err instanceof DeliveryError) {
    const details = (err.extra || []).map(([name, d]) => [name, JSON.parse(blank(JSON.stringify(d)))]);
    return wire.status(err.code, text, details);
  }
  return wire.status(grpc.status.INTERNAL, text);
}

/**
 * serve serves a bundle { version, triggers: { type: { summary, delivery, capabilities, options, validate, run } } }
 * until Dogwatch ends it. validate(options) and run(request, { options, log, signal, progress }) may be async.
 */
function serve(bundle) {
  if (process.env.DOGWATCH_PLUGIN !== '6f3d0c1a-watch') {
    process.stderr.write(`This is a Dogwatch plugin, version ${bundle.version}. Put it into the folder that plugins.dir names.\n`);
    process.exit(1);
  }
  const instances = new Map();
  const stopping = new AbortController();

  async function configure({ request }, done) {
    let blank = String;
    try {
      const type = bundle.triggers[request.type];
      if (!type) throw new DeliveryError(grpc.status.NOT_FOUND, `no trigger type ${request.type}`);
      const options = wire.struct(request.options);
      blank = blanker(type, options);
      for (const [name, option] of Object.entries(type.options || {})) {
        if (option.required && (options[name] === undefined || options[name] === '')) throw invalid(name, 'is required');
      }
      const warnings = type.validate ? await type.validate(options) : [];
      if (!request.validateOnly) instances.set(request.instance, { type, options, blank, log: logger(request.instance, blank) });
      done(null, { warnings: warnings || [] });
    } catch (err) { done(statusOf(err, blank)); }
  }

  async function run(call) {
    const instance = instances.get(call.request.instance);
    if (!instance) return call.emit('error', wire.status(grpc.status.FAILED_PRECONDITION, 'not configured in this plugin'));
    const { type, options, log, blank } = instance;
    const cancelled = new AbortController();
    call.on('cancelled', () => cancelled.abort());
    const signal = AbortSignal.any ? AbortSignal.any([cancelled.signal, stopping.signal]) : cancelled.signal;
    try {
      await type.run(call.request, { options, log, signal, progress: (p) => call.write({ progress: p }) });
      call.end();
    } catch (err) {
      if (!call.cancelled) call.emit('error', signal.aborted ? wire.status(grpc.status.CANCELLED, 'given up', [info]) : statusOf(err, blank));
    }
  }

  const server = new grpc.Server();
  const end = () => {
    stopping.abort();
    server.tryShutdown(() => process.exit(0));
    setTimeout(() => process.exit(0), 1500).unref();
  };
  server.addService(wire.service('dogwatch.plugin.v1.Component'), {
    Describe: (_, done) => done(null, describe(bundle)),
    Configure: configure,
    Release: ({ request }, done) => { instances.delete(request.instance); done(null, {}); },
  });
  server.addService(wire.service('dogwatch.plugin.v1.Trigger'), { Run: run });
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

module.exports = { serve, invalid, unavailable, unauthorized, notFound, limited, DeliveryError };
