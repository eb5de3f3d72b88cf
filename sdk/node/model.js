'use strict';
// What watchers and registries return, in the form of the protocol.

/** parseImage reads an image reference, such as ghcr.io/team/app:1.2.3@sha256:…; it throws when that is none. */
function parseImage(text) {
  if (!text) throw new Error('no image');
  const [name, digest] = String(text).split('@');
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(slash, 0));
  const host = /[.:]|^localhost$/.test(first) ? first : '';
  const path = host ? name.slice(slash + 1) : name;
  const colon = path.indexOf(':');
  const repository = colon < 0 ? path : path.slice(0, colon);
  const tag = colon < 0 ? '' : path.slice(colon + 1);
  if (!/^[a-z0-9]+([._/-]+[a-z0-9]+)*$/.test(repository)) throw new Error(`image ${JSON.stringify(text)} has no repository of lower-case letters and digits`);
  if (colon >= 0 && !/^\w[\w.-]{0,127}$/.test(tag)) throw new Error(`image ${JSON.stringify(text)} has no tag after its colon`);
  if (digest !== undefined && !/^[a-z0-9]+:[0-9a-f]{32,}$/.test(digest)) throw new Error(`image ${JSON.stringify(text)} has no digest after its @`);
  return { host, name: repository, tag: tag || (digest ? '' : 'latest'), digest: digest || '', pinned: !!digest };
}

const timestamp = (at) => {
  const ms = at === undefined || at === null || at === '' ? NaN : new Date(at).getTime();
  return Number.isNaN(ms) ? undefined : { seconds: Math.floor(ms / 1000), nanos: (((ms % 1000) + 1000) % 1000) * 1e6 };
};

/** container is one of { id, name, status, labels, imageLabels, image, imageId, digest, platform, created, error }. */
function container(c) {
  let image = {};
  let { error } = c;
  try {
    image = parseImage(c.image);
  } catch (err) {
    error = error || err.message;
  }
  const digest = c.digest || image.digest || '';
  const repository = image.host ? `${image.host}/${image.name}` : image.name;
  const platform = c.platform || {};
  return {
    id: String(c.id || ''), name: String(c.name || ''), status: c.status || 'running', labels: c.labels || {}, imageLabels: c.imageLabels || [], error: error || '',
    image: {
      id: c.imageId || '', registry: { host: image.host }, name: image.name, tag: { value: image.tag },
      digest: { repo: digest, pinned: !!image.pinned, repos: digest && repository ? [`${repository}@${digest}`] : [] },
      os: platform.os, architecture: platform.architecture, variant: platform.variant, created: timestamp(c.created),
    },
  };
}

/** pages are the messages of a list, well below the 4 MiB that one may have. */
function* pages(items, size) {
  for (let at = 0; at === 0 || at < items.length; at += size) yield items.slice(at, at + size);
}

const host = (h) => (typeof h === 'string' ? { pattern: h } : h);
const tagList = (found) => (Array.isArray(found) ? { tags: found } : found);
const manifest = (m) => ({ ...m, created: timestamp(m.created) });
const event = (e) => ({ containerId: e.container || '', action: e.action, status: e.status || '', at: timestamp(e.at || Date.now()) });

module.exports = { parseImage, container, pages, host, tagList, manifest, event };
