/**
 * Plays the model of copied HWIDs for all its seeds and rules, and writes the table of
 * docs/gate.md: `make simulate`, some minutes.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { playLinks, SEEDS, tableOf, withTable } from './support/copied-hwid.ts';

const page = join(import.meta.dir, '../docs/gate.md');
const table = tableOf(playLinks, SEEDS);
writeFileSync(page, withTable(readFileSync(page, 'utf8'), table));
process.stdout.write(`${table}\n`);
