'use strict';
// What an author's types say of their options, before Dogwatch is told of them.

const keys = ['type', 'help', 'default', 'required', 'secret', 'mask', 'choices', 'aliases', 'min', 'max', 'deprecated', 'example'];

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

module.exports = { keys, mistakes };
