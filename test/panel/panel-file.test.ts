/** The file of a panel is read whatever its form, and left as it was. */

import { expect, test } from 'bun:test';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { readPanelFile } from '../../src/panel/panel-file.ts';
import { freshFolder } from '../support/app.ts';
import { writeSqlite } from '../support/panel-tables.ts';
import { makeUser, tablesOf, writePanel } from '../support/panel-world.ts';

const USERS = [0, 1, 2].map(makeUser);
const read = async (file: string, panel: 'marzban' | 'remnawave' = 'marzban') =>
  (await readPanelFile(file, panel, () => false)).get('users')?.length;

/** The files of a folder with their contents. */
const contentsOf = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toBase64()]),
  );

test('SQLite while the panel has it open, with a log beside it', async () => {
  const folder = freshFolder();
  const file = join(folder, 'panel.db');
  const panel = writeSqlite(file, tablesOf.marzban(USERS), true);
  panel.run("INSERT INTO users (id, username, status) VALUES (9, 'late', 'active')");
  const { 'panel.db': before, 'panel.db-wal': log } = contentsOf(folder);
  expect(await read(file)).toBe(4);
  expect(contentsOf(folder)).toMatchObject({ 'panel.db': before, 'panel.db-wal': log });

  // A copy of both files alone, as a killed panel leaves them.
  const other = freshFolder();
  for (const end of ['', '-wal']) copyFileSync(file + end, join(other, `copy.db${end}`));
  const left = contentsOf(other);
  expect(await read(join(other, 'copy.db'))).toBe(4);
  expect(contentsOf(other)).toEqual(left);

  // A panel that has ended in order: nothing is made beside it.
  panel.close();
  for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
  expect(await read(file)).toBe(4);
  expect(readdirSync(folder)).toEqual(['panel.db']);
});

test('a dump, and one that is gzipped', async () => {
  const file = join(freshFolder(), 'dump.sql');
  writePanel('remnawave', file, USERS);
  expect(await read(file, 'remnawave')).toBe(3);
  writeFileSync(`${file}.gz`, Bun.gzipSync(readFileSync(file)));
  expect(await read(`${file}.gz`, 'remnawave')).toBe(3);
});

test('what is no database of the panel is refused', async () => {
  const file = join(freshFolder(), 'x');
  await expect(read(file)).rejects.toThrow(`cannot read ${file}`);
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, 'PGDMP\u0001');
  await expect(read(file)).rejects.toThrow('pg_restore');
  writeSqlite(file, []).close();
  await expect(read(file)).rejects.toThrow(/cannot read|no database of marzban/);
  writeFileSync(`${file}.gz`, Buffer.from([0x1f, 0x8b, 1, 2, 3]));
  await expect(read(`${file}.gz`)).rejects.toThrow('cannot read');
});
