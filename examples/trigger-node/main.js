#!/usr/bin/env node
'use strict';
// A Dogwatch plugin with one type of trigger, "lamp", which posts each update to a URL.
const { serve, invalid } = require('../../sdk/node');

serve({
  version: '1.0.0',
  triggers: {
    lamp: {
      summary: 'Post each update to a lamp',
      options: {
        url: { type: 'url', required: true, help: 'Where to post', example: 'https://lamp.example.org/blink' },
        token: { secret: true, help: 'Sent as a bearer token' },
      },
      // What the schema cannot check; warnings may be returned.
      validate(options) {
        if (!/^https?:/.test(options.url)) throw invalid('url', `want an address that begins with http:// or https://, got ${options.url}`);
      },
      // What call.json throws says whether another try may help.
      async run(request, call) {
        const { url, token } = call.options;
        for (const c of request.containers) {
          call.progress({ phase: 'post', message: c.name });
          const { localValue: from, remoteValue: to } = c.updateKind || {};
          await call.json(url, { method: 'POST', token, body: { id: request.delivery, name: c.name, from, to } });
          call.log.info('the lamp blinked', { container: c.name });
        }
      },
    },
  },
});
