/** A store whose database is not a file: its backups are refused with a sentence. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { backupTools } from '../../src/backup/tools.ts';
import { SQLITE } from '../../src/store/sqlite/kind.ts';
import { ACT } from '../support/actor.ts';
import { freshFolder } from '../support/app.ts';
import { NOW_MS } from '../support/backup.ts';

const tools = backupTools({ ...SQLITE, file: null });
const SENTENCE =
  "the database is not a file of this machine: its server's own tools back it up and restore it";

let folder: string;
beforeEach(() => {
  folder = freshFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const order = () => ({
  dataDir: join(folder, 'data'),
  file: join(folder, 'one.backup'),
  passphrase: null,
  nowMs: NOW_MS,
});

test.each([
  ['made', () => tools.makeBackup({ ...order(), replaces: false })],
  ['verified', () => tools.verifyBackup(order())],
  ['restored', () => tools.restoreBackup({ ...order(), isForced: true, actor: ACT.actor })],
])('none is %s, and nothing is written', async (_, attempt) => {
  await expect(attempt()).rejects.toThrow(SENTENCE);
  expect(readdirSync(folder)).toEqual([]);
});
