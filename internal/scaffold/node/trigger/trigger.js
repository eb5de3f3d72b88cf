'use strict';
// The trigger "@name@" posts every message as JSON.
const { invalid } = require('./sdk/node');

module.exports = {
  summary: 'Post every message as JSON',

  // What a user may set: Dogwatch validates, documents and masks it, and draws a form.
  options: {
    url: { type: 'url', required: true, help: 'Address that gets a request for every message', example: 'http://localhost:8080/hook' },
    method: { choices: ['POST', 'PUT'], default: 'POST', help: 'Method of the request' },
    token: { secret: true, help: 'Token that is sent as Authorization: Bearer; none is sent without it' },
  },

  // What the schema cannot check. Texts that it returns in a list are warnings.
  validate(options) {
    if (!/^https?:/.test(options.url)) throw invalid('url', 'want an address that starts with http:// or https://');
  },

  // Delivers one message. What call.json throws says whether another try may help.
  async run(request, call) {
    const { url, method, token } = call.options;
    const containers = request.containers.map((c) => c.name);
    const message = { id: request.delivery, title: request.title, text: request.body, containers, test: request.test };
    await call.json(url, { method, token, body: message });
    call.log.debug('posted', { containers });
  },
};
