'use strict';
const assert = require('node:assert');
const http = require('http');
const { test } = require('node:test');
const type = require('./watcher');
const { testCall } = require('./sdk/node');

// serving has a service that answers with a text.
async function serving(text, use) {
  const server = http.createServer((_, res) => res.end(text));
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  try { await use(`http://127.0.0.1:${server.address().port}/list.json`); } finally { server.closeAllConnections(); server.close(); }
}

test('lists what runs', () => serving('[{"id": "1", "name": "web", "image": "nginx:1.25.3"}, {"id": "2", "name": "cache"}]', async (url) => {
  const found = await type.list(testCall(type, { url }));
  assert.deepStrictEqual(found.map((c) => [c.id, c.name, c.image]), [['1', 'web', 'nginx:1.25.3'], ['2', 'cache', undefined]]);
}));

test('says when there is no list', () => serving('{}', (url) => assert.rejects(type.list(testCall(type, { url })), /no list/)));

test('refuses other addresses', () => assert.throws(() => type.validate({ url: 'ftp://example.com' }), /url: want/));
