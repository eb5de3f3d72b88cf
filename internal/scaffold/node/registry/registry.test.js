'use strict';
const assert = require('node:assert');
const fs = require('fs');
const http = require('http');
const { test } = require('node:test');
const type = require('./registry');
const { testCall } = require('./sdk/node');

const repository = { host: 'images.example.com', name: 'team/app' };
const digest = `sha256:${'1'.repeat(64)}`;

// serving has a service with the feed in sample.
async function serving(use) {
  const server = http.createServer((req, res) => {
    if (req.url !== '/feed/team/app.json') return res.writeHead(404).end();
    return fs.createReadStream(`${__dirname}/sample/feed/team/app.json`).pipe(res);
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  const call = testCall(type, { host: repository.host, url: `http://127.0.0.1:${server.address().port}/feed` });
  try { await use(call); } finally { server.closeAllConnections(); server.close(); }
}

test('lists tags', () => serving(async (call) => {
  assert.deepStrictEqual(await type.tags(repository, call), ['1.25.3', '1.26.0']);
}));

test('finds digests and images', () => serving(async (call) => {
  assert.strictEqual(await type.resolve(repository, '1.25.3', call), digest);
  const manifest = await type.manifest(repository, digest, {}, call);
  assert.strictEqual(manifest.created, '2026-01-02T03:04:05Z');
}));

test('says what does not exist', () => serving(async (call) => {
  await assert.rejects(type.tags({ ...repository, name: 'team/other' }, call), /answered 404/);
  await assert.rejects(type.resolve(repository, '9.9.9', call), /no tag 9.9.9/);
}));
