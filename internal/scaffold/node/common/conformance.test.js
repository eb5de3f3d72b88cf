'use strict';
// The conformance kit: dogwatch plugin verify uses what is built as Dogwatch does. Run build.sh before.
const { execFileSync } = require('child_process');
const { test } = require('node:test');

test('dogwatch plugin verify', () => {
  execFileSync(process.env.DOGWATCH || 'dogwatch', ['plugin', 'verify', 'plugins/@id@'], { cwd: __dirname, stdio: 'inherit' });
});
