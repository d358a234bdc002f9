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
import { PANEL_TRAITS } from '../../src/core/panel/index.ts';
import { readPanelFile } from '../../src/panel/panel-file.ts';
import { RowSink } from '../../src/panel/rows.ts';
import { readSqliteFile } from '../../src/panel/sqlite-file.ts';
import { freshFolder } from '../support/app.ts';
import { writeSqlite } from '../support/panel-tables.ts';
import { makeUser, tablesOf, writePanel } from '../support/panel-world.ts';
import { READING } from '../support/reading.ts';

const USERS = [0, 1, 2].map(makeUser);
const read = async (file: string, panel: 'marzban' | 'remnawave' = 'marzban') =>
  (await readPanelFile(file, panel, READING)).get('users')?.length;

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

test('all tables of one moment, though the panel writes between two of them', async () => {
  const file = join(freshFolder(), 'panel.db');
  const device = "INSERT INTO hwid_user_devices (hwid) VALUES ('late')";
  const tables = [
    { name: 'users', definition: 'CREATE TABLE users (id)', rows: [{ id: 1 }] },
    { name: 'hwid_user_devices', definition: 'CREATE TABLE hwid_user_devices (hwid)', rows: [] },
  ];
  const panel = writeSqlite(file, tables, true);
  const sink = new (class extends RowSink {
    override table(name: string): void {
      if (name === 'users') panel.run(device);
      super.table(name);
    }
  })(PANEL_TRAITS.remnawave.database, file, READING);
  await readSqliteFile(file, sink);
  panel.close();
  expect(sink.finish('remnawave').get('hwid_user_devices')).toEqual([]);
});

test('a table of which no column is known has no users, and is refused', async () => {
  const file = join(freshFolder(), 'panel.db');
  const table = { name: 'users', definition: 'CREATE TABLE users (x)', rows: [{ x: 1 }] };
  writeSqlite(file, [table]).close();
  await expect(read(file)).rejects.toThrow(`${file} has no users`);
});

test('a dump, and one that is gzipped', async () => {
  const file = join(freshFolder(), 'dump.sql');
  writePanel('remnawave', file, USERS);
  expect(await read(file, 'remnawave')).toBe(3);
  writeFileSync(`${file}.gz`, Bun.gzipSync(readFileSync(file)));
  expect(await read(`${file}.gz`, 'remnawave')).toBe(3);
});

test('a dump whose letters lie across two reads of the file', async () => {
  const file = join(freshFolder(), 'dump.sql');
  // Two bytes each after an odd number of bytes: a read ends within a letter.
  const [begin, end] = ['-- PostgreSQL database dump\n', '-- PostgreSQL database dump complete\n'];
  const head = 'COPY public.users (id, username) FROM stdin;\n1\t';
  const name = 'ю'.repeat(1024 ** 2);
  for (const pad of ['', 'x']) {
    writeFileSync(file, `${begin}${head}${pad}${name}\n\\.\n${end}`);
    const rows = (await readPanelFile(file, 'marzban', READING)).get('users');
    expect(rows?.[0]?.['username'] === pad + name).toBe(true);
  }
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
