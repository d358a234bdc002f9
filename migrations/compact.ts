/** Writes the snapshots of drizzle-kit with a table a line. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const folder = `${import.meta.dir}/sqlite/meta`;
for (const name of readdirSync(folder).filter((file) => file.endsWith('_snapshot.json'))) {
  const { tables, ...rest } = JSON.parse(readFileSync(`${folder}/${name}`, 'utf8'));
  const rows = Object.entries(tables).map(([table, it]) => `"${table}": ${JSON.stringify(it)}`);
  const around = JSON.stringify({ ...rest, tables: 0 }).replace(/0\}$/, '');
  writeFileSync(`${folder}/${name}`, `${around}{\n${rows.join(',\n')}\n}}\n`);
}
