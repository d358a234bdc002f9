/** Writes what is made from the table of settings: the example file, the table of the docs. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleFile, settingsTable } from '../src/config/render.ts';

const ROOT = join(import.meta.dir, '..');
const PAGE = join(ROOT, 'docs/configuration.md');

writeFileSync(join(ROOT, 'packaging/gatepost.toml'), exampleFile());
const page = readFileSync(PAGE, 'utf8');
writeFileSync(
  PAGE,
  page.replace(/^\| Key .*?\n(?!\|)/ms, () => `${settingsTable()}\n`),
);
