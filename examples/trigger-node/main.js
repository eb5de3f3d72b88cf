#!/usr/bin/env node
'use strict';
// A Dogwatch plugin with one type of trigger, "lamp", which posts each update to a URL.
const { serve, invalid, unavailable, unauthorized } = require('../../sdk/node');

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
      async run(request, { options, log, signal }) {
        for (const c of request.containers) {
          let response;
          try {
            response = await fetch(options.url, {
              method: 'POST', signal,
              headers: { 'content-type': 'application/json', ...(options.token ? { authorization: `Bearer ${options.token}` } : {}) },
              body: JSON.stringify({ id: request.delivery, name: c.name, from: c.updateKind && c.updateKind.localValue, to: c.updateKind && c.updateKind.remoteValue }),
            });
          } catch (err) {
            throw unavailable(`post to the lamp: ${err.cause ? err.cause.message : err.message}`);
          }
          const text = await response.text();
          if (response.status === 401 || response.status === 403) throw unauthorized(`the lamp answered ${response.status}: ${text}`);
          if (!response.ok) throw unavailable(`the lamp answered ${response.status}: ${text}`);
          log.info('the lamp blinked', { container: c.name });
        }
      },
    },
  },
});
