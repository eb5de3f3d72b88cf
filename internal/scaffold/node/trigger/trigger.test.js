'use strict';
const assert = require('node:assert');
const http = require('http');
const { test } = require('node:test');
const type = require('./trigger');
const { testCall } = require('./sdk/node');

const request = { delivery: '1', title: 'A title', body: 'A text', containers: [{ name: 'web' }], test: true };

// serving has a service that answers with a status, and collects what is posted.
async function serving(status, use) {
  const posted = [];
  const server = http.createServer(async (req, res) => {
    let text = '';
    for await (const part of req) text += part;
    posted.push({ method: req.method, authorization: req.headers.authorization, ...JSON.parse(text) });
    res.writeHead(status).end();
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  try { await use(`http://127.0.0.1:${server.address().port}/hook`, posted); } finally { server.closeAllConnections(); server.close(); }
}

test('posts the message', () => serving(200, async (url, posted) => {
  await type.run(request, testCall(type, { url, method: 'PUT', token: 'abc' }));
  assert.deepStrictEqual(posted, [{ method: 'PUT', authorization: 'Bearer abc', id: '1', title: 'A title', text: 'A text', containers: ['web'], test: true }]);
}));

test('says when it is refused', () => serving(401, (url) => assert.rejects(type.run(request, testCall(type, { url })), /answered 401/)));

test('refuses other addresses', () => assert.throws(() => type.validate({ url: 'ftp://example.com' }), /url: want/));
