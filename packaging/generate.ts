/**
 * Writes what is made from the tables of the program: the example file and the table of the
 * settings, the endpoints of docs/api.md, and the codes of errors.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleFile, settingsTable } from '../src/config/render.ts';
import { apiPage } from './api-page.ts';
import { errorCodeTable } from './error-codes.ts';

const ROOT = join(import.meta.dir, '..');

function rewrite(path: string, change: (page: string) => string): void {
  const file = join(ROOT, path);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

writeFileSync(join(ROOT, 'packaging/gatepost.toml'), exampleFile());
rewrite('docs/configuration.md', (page) =>
  page.replace(/^\| Key .*?\n(?!\|)/ms, () => `${settingsTable()}\n`),
);
rewrite('docs/api.md', apiPage);
rewrite('docs/operating.md', (page) =>
  page.replace(/^\| Code .*?\n(?!\|)/ms, () => `${errorCodeTable()}\n`),
);
