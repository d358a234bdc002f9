/** Reads the SQLite file of a panel, which may be running. Writes nothing to it. */

import { Database, constants as sqlite } from 'bun:sqlite';
import { appendFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { OperatorError } from '../base/operator-error.ts';
import type { RowSink } from './rows.ts';

/** The byte of the header that shows whether the file has a write-ahead log. */
const MODE_AT = 18;
const MODE_WAL = 2;
/** The most bytes of a value: the settings of an inbound of 3x-ui hold all its clients. */
const VALUE_BYTES_MAX = 16 * 1024 ** 2;
/** The longest wait for writes of the panel, ms. */
const BUSY_MS = 10_000;

export const SQLITE_MAGIC = 'SQLite format 3\0';

/** Reads the tables of the panel from one snapshot of the file. */
export async function readSqliteFile(path: string, sink: RowSink): Promise<void> {
  const header = new Uint8Array(
    await Bun.file(path)
      .slice(0, MODE_AT + 1)
      .arrayBuffer(),
  );
  const opened = await open(path, header[MODE_AT] === MODE_WAL, sink);
  try {
    opened.db.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    // The definitions in the file may have been made by a stranger.
    opened.db.run('PRAGMA trusted_schema = OFF');
    opened.db.run('BEGIN');
    const { tables, userTables } = sink.schema;
    for (const name of Object.keys(tables)) {
      // An older table of users has their secrets in its cells.
      if (userTables.includes(name) && sink.hasUserTable) continue;
      readTable(opened.db, name, sink);
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`cannot read ${path}: ${(error as Error).message}`);
  } finally {
    opened.close();
  }
}

interface Opened {
  db: Database;
  close(): void;
}

async function open(path: string, hasLog: boolean, sink: RowSink): Promise<Opened> {
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = sqlite;
  try {
    if (hasLog && !existsSync(`${path}-wal`)) {
      // Without `immutable`, SQLite would create a log and leave it.
      const url = `${pathToFileURL(path).href}?immutable=1`;
      const db = new Database(url, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
      return { db, close: () => db.close() };
    }
    if (hasLog && !existsSync(`${path}-shm`)) return await openCopy(path, sink);
    const db = new Database(path, SQLITE_OPEN_READONLY);
    return { db, close: () => db.close() };
  } catch (error) {
    throw new OperatorError(`cannot read ${path}: ${(error as Error).message}`);
  }
}

/** Opens a copy: SQLite would have to recover the log that a killed panel or a file copy left. */
async function openCopy(path: string, sink: RowSink): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'gatepost-import-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, 'panel.db');
    for (const end of ['', '-wal']) {
      for await (const chunk of Bun.file(path + end).stream()) {
        appendFileSync(copy + end, chunk);
        sink.pass();
      }
    }
    const db = new Database(copy);
    return {
      db,
      close() {
        db.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

const IS_TABLE = `SELECT 1 FROM sqlite_schema
  WHERE type = 'table' AND rootpage > 0 AND name = ? COLLATE NOCASE`;

function readTable(db: Database, table: string, sink: RowSink): void {
  const wanted = sink.columnsOf(table) ?? [];
  // A view or a virtual table runs what its maker wrote.
  if (db.query(IS_TABLE).get(table) === null) return;
  // It lists no generated columns, which compute.
  const there = db
    .query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)')
    .all(table)
    .map(({ name }) => name);
  if (there.length === 0) return;
  sink.table(table);
  const names = wanted.filter((name) => there.includes(name)).map((name) => `"${name}"`);
  if (names.length === 0) return;
  const isLong = names.map((name) => `octet_length(${name}) > ${VALUE_BYTES_MAX}`).join(' OR ');
  if (db.query(`SELECT 1 FROM "${table}" WHERE ${isLong}`).get() !== null) {
    throw new OperatorError(`${sink.origin} has a value of more than 16 MiB in ${table}`);
  }
  // By rowid: the order in which the panel added them.
  for (const row of db.query(`SELECT ${names.join(', ')} FROM "${table}"`).iterate()) {
    sink.add(table, row as Record<string, unknown>);
  }
}
