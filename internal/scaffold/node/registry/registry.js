'use strict';
// The registry "@name@" reads the tags of images from a feed: one JSON document for each
// repository, at URL/REPOSITORY.json:
//
//   {"tags": {"1.25.3": {"digest": "sha256:…", "config": "sha256:…", "created": "2026-01-02T03:04:05Z"}}}
const { invalid, notFound } = require('./sdk/node');

// images reads the document of a repository.
async function images(repository, call) {
  const { url, token } = call.options;
  const feed = await call.json(`${url.replace(/\/$/, '')}/${repository.name}.json`, { token });
  return (feed && feed.tags) || {};
}

module.exports = {
  summary: 'Read the tags of images from a JSON feed',

  // What a user may set: Dogwatch validates, documents and masks it, and draws a form.
  options: {
    host: { required: true, help: 'Host of the image references that the feed is for, with a port if they have one', example: 'images.example.com' },
    url: { type: 'url', required: true, help: 'Address of the feed: the document of a repository is below it', example: 'http://localhost:8080/feed' },
    token: { secret: true, help: 'Token that is sent as Authorization: Bearer; none is sent without it' },
  },

  // What the schema cannot check. Texts that it returns in a list are warnings.
  validate(options) {
    if (!/^https?:/.test(options.url)) throw invalid('url', 'want an address that starts with http:// or https://');
  },

  // Which image references this registry is responsible for.
  hosts(options) { return [options.host]; },

  // Lists the tags of a repository, in any order.
  async tags(repository, call) { return Object.keys(await images(repository, call)); },

  // Returns the digest behind a tag.
  async resolve(repository, tag, call) {
    const found = (await images(repository, call))[tag];
    if (!found) throw notFound(`${repository.name} has no tag ${tag}`);
    return found.digest;
  },

  // Describes the image behind a digest. A feed with images for several platforms would choose the one of platform.
  async manifest(repository, digest, platform, call) {
    const found = Object.values(await images(repository, call)).find((image) => image.digest === digest);
    if (!found) throw notFound(`${repository.name} has no image ${digest}`);
    return { digest, config: found.config, created: found.created };
  },
};
