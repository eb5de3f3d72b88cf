'use strict';
// What an author's code gets beside the request: options, a log, a signal, and requests by HTTP.
const { unavailable, ofStatus } = require('./errors');
const { withDefaults } = require('./definition');

const maxBody = 16 << 20;

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

/**
 * json sends a request, with body as JSON and token as a bearer token, and returns the JSON of the response:
 * undefined when that is empty. What goes wrong is thrown as the kind of error that it is.
 */
async function json(signal, url, { method = 'GET', headers = {}, token, body } = {}) {
  const sent = { accept: 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}), ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers };
  const where = `${method} ${new URL(url).host}`; // the rest of an address may be secret
  let response;
  let text;
  try {
    response = await fetch(url, { method, headers: sent, body: body === undefined ? undefined : JSON.stringify(body), signal: timed(signal) });
    text = await read(response);
  } catch (err) {
    throw unavailable(`${where}: ${err.cause ? err.cause.message : err.message}`);
  }
  if (!response.ok) throw ofStatus(response.status, `${where} answered ${response.status} ${text.slice(0, 200)}`.trim(), response.headers.get('retry-after'));
  if (text === '' || method !== 'GET' && !/json/.test(response.headers.get('content-type'))) return undefined;
  try {
    return JSON.parse(text);
  } catch (err) {
    throw unavailable(`${where} answered what is no JSON: ${err.message}`);
  }
}

const timed = (signal) => (AbortSignal.any ? AbortSignal.any([signal, AbortSignal.timeout(30000)]) : signal);

async function read(response) {
  const parts = [];
  let size = 0;
  for await (const part of response.body || []) {
    if ((size += part.length) > maxBody) throw new Error(`the response has more than ${maxBody >> 20} MiB`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** instanceOf is a configured instance of a type. */
function instanceOf(name, type, options) {
  const blank = blanker(type, options);
  return { type, options, blank, log: logger(name, blank), replaced: new AbortController() };
}

/** callOf is a call for an instance, which ends with signal. */
function callOf({ options, log }, signal, more = {}) {
  return { options, log, signal, json: (url, request) => json(signal, url, request), ...more };
}

/** testCall is a call for tests, with these options and the defaults of the others. */
const testCall = (type, options) => callOf(instanceOf('test', type, withDefaults(type, options)), new AbortController().signal, { progress() {} });

module.exports = { instanceOf, callOf, testCall };
