'use strict';
// The errors that an author's code throws, and the statuses that they become.
const grpc = require('@grpc/grpc-js');
const wire = require('./wire');

/** CallError is what an author's code throws. Any other error counts as a mistake of the plugin. */
class CallError extends Error {
  constructor(code, text, details = []) { super(text); this.code = code; this.extra = details; }
}
const answered = ['google.rpc.ErrorInfo', { domain: 'dogwatch', reason: 'ANSWERED' }];
/** invalid: an option has a wrong value. */
const invalid = (field, text) => new CallError(grpc.status.INVALID_ARGUMENT, `${field}: ${text}`,
  [['google.rpc.BadRequest', { fieldViolations: [{ field, description: text }] }]]);
/** unavailable: worth another try. */
const unavailable = (text) => new CallError(grpc.status.UNAVAILABLE, text, [answered]);
/** unauthorized: credentials are missing, wrong or not enough. */
const unauthorized = (text) => new CallError(grpc.status.UNAUTHENTICATED, text);
/** notFound: what an option or the request names does not exist. */
const notFound = (text) => new CallError(grpc.status.NOT_FOUND, text);
/** limited: the other side wants no request for some seconds. */
const limited = (text, seconds) => new CallError(grpc.status.RESOURCE_EXHAUSTED, text,
  [['google.rpc.RetryInfo', { retryDelay: { seconds: Math.ceil(seconds) } }]]);
/** unsupported: the plugin does not have this ability. */
const unsupported = (text) => new CallError(grpc.status.UNIMPLEMENTED, text);
const cancelled = () => new CallError(grpc.status.CANCELLED, 'given up', [answered]);
const unknown = () => wire.status(grpc.status.FAILED_PRECONDITION, 'not configured in this plugin');

/** ofStatus is the error for the status of an HTTP response that is no success; after is its Retry-After. */
function ofStatus(status, text, after) {
  if (status === 401 || status === 403) return unauthorized(text);
  if (status === 404 || status === 410) return notFound(text);
  if (status === 429) return limited(text, Number(after) || 60);
  return unavailable(text);
}

const shownLines = 8; // of a stack

/** mistakeOf is the text of an error that is none of these, with the place where it was thrown. */
function mistakeOf(err) {
  if (!(err instanceof Error)) return String(err);
  const place = /^\s+at .*?([^/\\(]+:\d+):\d+\)?$/m.exec(err.stack);
  return `${err.name}: ${err.message}${place ? ` (${place[1]})` : ''}`;
}

/** statusOf is the status of what an author's code threw for an instance. A mistake of that code is logged, too. */
function statusOf(err, { blank, log }) {
  const cut = (text) => blank(text).slice(0, 16384);
  if (!(err instanceof CallError)) {
    log.error("error in the plugin's code", { stack: String((err && err.stack) || err).split('\n').slice(0, shownLines).join('\n') });
    return wire.status(grpc.status.INTERNAL, cut(`error in the plugin's code: ${mistakeOf(err)}`));
  }
  const text = cut(err.message);
  return wire.status(err.code, text, err.extra.map(([name, d]) => [name, JSON.parse(blank(JSON.stringify(d)))]));
}

module.exports = { CallError, invalid, unavailable, unauthorized, notFound, limited, unsupported, cancelled, unknown, ofStatus, statusOf };
