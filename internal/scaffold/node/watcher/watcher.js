'use strict';
// The watcher "@name@" reads what runs from a list in JSON:
//
//   [{"id": "1", "name": "web", "image": "nginx:1.25.3"}]
const { invalid, unavailable } = require('./sdk/node');

module.exports = {
  summary: 'Read what runs from a list in JSON',

  // The labels of the list are those of its author. Where images bring labels of their own, which
  // may say little about updates, list() has to name them in imageLabels.
  capabilities: ['labels'],

  // What a user may set: Dogwatch validates, documents and masks it, and draws a form.
  options: {
    url: { type: 'url', required: true, help: 'Address of the list', example: 'http://localhost:8080/list.json' },
    token: { secret: true, help: 'Token that is sent as Authorization: Bearer; none is sent without it' },
  },

  // What the schema cannot check. Texts that it returns in a list are warnings.
  validate(options) {
    if (!/^https?:/.test(options.url)) throw invalid('url', 'want an address that starts with http:// or https://');
  },

  // Returns every container. An error means that nothing is known at the moment: Dogwatch keeps
  // what it knew. A container of which only a part is known is returned with its error.
  async list(call) {
    const { url, token } = call.options;
    const entries = await call.json(url, { token });
    if (!Array.isArray(entries)) throw unavailable('the document is no list');
    const platform = { os: 'linux', architecture: 'amd64' };
    return entries.map((e) => ({ id: e.id, name: e.name, image: e.image, digest: e.digest, labels: e.labels, platform }));
  },
};
