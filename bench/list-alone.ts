/**
 * The cost of a list of 5000 without Gatepost: bun:sqlite and JSON.stringify, nothing else.
 * Arguments: data directory, providers, seconds. Prints the processor time of a list, us.
 */

import { openDatabase } from '../src/store/sqlite/file/open.ts';

const [dataDir = '', providers = '', seconds = ''] = process.argv.slice(2);
// With the product's own settings of SQLite: what is compared is everything else.
const { db } = openDatabase(dataDir, false);
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
const before = process.cpuUsage();
const endMs = performance.now() + Number(seconds) * 1000;
let lists = 0;
while (performance.now() < endMs) {
  once();
  lists += 1;
}
const { user, system } = process.cpuUsage(before);
console.log((user + system) / lists);
