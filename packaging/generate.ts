/**
 * Generates the example file, the tables of the documents, and the files of docs/gate with a line
 * for each header that rides.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleFile } from '../src/config/render.ts';
import { RIDE_FILES } from './ride-files.ts';
import { TABLES } from './tables.ts';

const ROOT = join(import.meta.dir, '..');

function rewrite(path: string, change: (page: string) => string): void {
  const file = join(ROOT, path);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

writeFileSync(join(ROOT, 'packaging/gatepost.toml'), exampleFile());
for (const [name, text] of Object.entries(RIDE_FILES)) {
  writeFileSync(join(ROOT, 'docs/gate', name), text);
}
for (const { page, head, table } of TABLES) {
  const old = new RegExp(`^\\| ${head} .*?\\n(?!\\|)`, 'ms');
  rewrite(page, (text) => text.replace(old, () => `${table}\n`));
}
