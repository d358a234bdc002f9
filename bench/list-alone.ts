/**
 * What a list of 5000 costs without Gatepost: bun:sqlite and JSON.stringify, nothing else.
 * Arguments: database file, providers, seconds. Prints the mean microseconds of a list.
 */

import { Database } from 'bun:sqlite';

const [file = '', providers = '', seconds = ''] = process.argv.slice(2);
const db = new Database(file, { readonly: true });
// As much page cache as the product has.
db.run('PRAGMA cache_size = -32768');
const list = db.prepare<unknown, [number]>(
  `SELECT id, install_code, install_limit, device_count AS install_count, status, note,
     created_at_ms AS created_at
   FROM install WHERE provider_id = ? ORDER BY id DESC LIMIT 5000`,
);
const once = () => {
  const provider = 1 + Math.floor(Math.random() * Number(providers));
  return JSON.stringify({ rc: 1, msg: 'Ok', data: list.all(provider) }).length;
};

for (let i = 0; i < 20; i++) once();
const startMs = performance.now();
let lists = 0;
let passedMs = 0;
while (passedMs < Number(seconds) * 1000) {
  once();
  lists += 1;
  passedMs = performance.now() - startMs;
}
console.log((passedMs * 1000) / lists);
