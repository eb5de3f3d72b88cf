'use strict';
// The conformance kit: dogwatch plugin verify uses what is built as Dogwatch does. Run build.sh before.
const assert = require('node:assert');
const { spawnSync } = require('child_process');
const { test } = require('node:test');

test('dogwatch plugin verify', () => {
  const program = process.env.DOGWATCH || 'dogwatch';
  const { error, status } = spawnSync(program, ['plugin', 'verify', 'plugins/@id@'], { cwd: __dirname, stdio: 'inherit' });
  if (error && error.code === 'ENOENT') assert.fail(`${program} is not here: put dogwatch into the PATH, or run DOGWATCH=/path/to/dogwatch npm test`);
  assert.ifError(error);
  assert.strictEqual(status, 0, 'a check failed: see above');
});
