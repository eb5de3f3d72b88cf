// Writes oracle.json: what JavaScript itself makes of every expression in expressions.txt and every
// template in literals.json. The tests need only the result. Run it again after changing either:
//   cd core/config/template/testdata && TZ=UTC node oracle.mjs
import { readFileSync, writeFileSync } from 'node:fs';

const variables = JSON.parse(readFileSync('variables.json', 'utf8'));
const expressions = readFileSync('expressions.txt', 'utf8').split('\n').filter((line) => line && !line.startsWith('# '));
const templates = expressions.map((e) => '${' + e + '}').concat(JSON.parse(readFileSync('literals.json', 'utf8')));
const cases = templates.map((template) => {
  try {
    const render = new Function(...Object.keys(variables), 'return `' + template + '`');
    return { template, want: render(...Object.values(structuredClone(variables))).toWellFormed() };
  } catch (error) {
    return { template, throws: String(error) };
  }
});
writeFileSync('oracle.json', JSON.stringify({ node: process.version, cases }, null, 1) + '\n');
