'use strict';
// What an author's types say of their options, before Dogwatch is told of them.

const keys = ['type', 'help', 'default', 'required', 'secret', 'mask', 'choices', 'aliases', 'min', 'max', 'deprecated', 'example', 'refers'];

/** distance is how many letters have to be changed, added or removed to make a of b. */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const above = row;
    row = [i];
    for (let j = 1; j <= b.length; j++) row[j] = Math.min(row[j - 1] + 1, above[j] + 1, above[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
  }
  return row[b.length];
}

function nearest(key) {
  const [best] = keys.map((k) => [distance(key.toLowerCase(), k), k]).sort((a, b) => a[0] - b[0]);
  return best[0] <= 2 ? `: did you mean ${best[1]}?` : '';
}

/** mistakes are what is wrong with the options of a bundle's types; kinds are the lists of types by kind. */
function mistakes(bundle, kinds) {
  const wrong = [];
  for (const [kind, list] of Object.entries(kinds)) {
    for (const [name, type] of Object.entries(bundle[list] || {})) {
      for (const [option, o] of Object.entries(type.options || {})) {
        const where = `${kind}.${name}: option ${option}`;
        if (o === null || typeof o !== 'object' || Array.isArray(o)) {
          wrong.push(`${where}: want an object such as { type: 'url', help: '…' }`);
          continue;
        }
        for (const key of Object.keys(o)) {
          if (!keys.includes(key)) wrong.push(`${where}: unknown key ${key}${nearest(key)} (keys: ${keys.join(', ')})`);
        }
        for (const key of ['choices', 'aliases']) {
          if (o[key] !== undefined && !Array.isArray(o[key])) wrong.push(`${where}: ${key}: want a list`);
        }
      }
    }
  }
  return wrong;
}

/** defaultOf is the default of an option as text: undefined for one without. */
const defaultOf = (o) => (o.default === undefined || o.default === null ? undefined : String(o.default));

const second = 1e9;
const units = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: second, m: 60 * second, h: 3600 * second };
const decimal = (n) => n.toFixed(9).replace(/\.?0+$/, '');

/** duration writes a duration such as 90s, or milliseconds, as Dogwatch does: 1m30s. */
function duration(text) {
  const parts = /^\d+$/.test(text) ? [[, text, 'ms']] : [...text.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)];
  const n = parts.reduce((sum, [, value, unit]) => sum + Math.round(value * units[unit]), 0);
  const small = ['ms', 'µs', 'ns'].find((unit) => n >= units[unit]);
  if (n > 0 && n < second) return decimal(n / units[small]) + small;
  const hours = Math.floor(n / units.h);
  const minutes = Math.floor((n % units.h) / units.m);
  return (hours ? `${hours}h` : '') + (hours || minutes ? `${minutes}m` : '') + `${decimal((n % units.m) / second)}s`;
}

const read = {
  int: (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text),
  float: Number,
  bool: (text) => ['true', 'yes', 'on', '1'].includes(text.toLowerCase()),
  list: (text) => text.split(',').map((item) => item.trim()).filter((item) => item !== ''),
  duration,
};

const isEmpty = (v) => v === undefined || v === null || v === '' || (Array.isArray(v) && v.length === 0);

/** withDefaults are options as Dogwatch sends them: those that are not set have the defaults of their type. */
function withDefaults(type, options) {
  const filled = {};
  for (const [name, o] of Object.entries(type.options || {})) {
    const text = defaultOf(o);
    if (!isEmpty(text)) filled[name] = (read[o.type] || String)(text);
  }
  return { ...filled, ...Object.fromEntries(Object.entries(options).filter(([, v]) => !isEmpty(v))) };
}

module.exports = { keys, mistakes, defaultOf, withDefaults };
