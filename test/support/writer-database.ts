/** A small database in WAL mode with a second connection beside it, anew for each test. */

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder } from './app.ts';

interface WriterDatabase {
  db: Database;
  /** The database of another process. */
  beside: Database;
  add(n: number): void;
  /** The rows as another connection sees them. */
  visible(): number[];
}

/** Sets up before each test of a file and tidies up after it; called once in the file. */
export function writerDatabase(): WriterDatabase {
  let folder: string;
  const at = {} as WriterDatabase;
  beforeEach(() => {
    folder = freshFolder();
    at.db = new Database(join(folder, 'test.db'), { create: true, strict: true });
    at.db.run('PRAGMA journal_mode = WAL');
    at.db.run('PRAGMA foreign_keys = ON');
    at.db.run('PRAGMA busy_timeout = 0');
    at.db.run('CREATE TABLE parent (id INTEGER PRIMARY KEY)');
    at.db.run(
      'CREATE TABLE fact (n INTEGER UNIQUE, parent_id INTEGER REFERENCES parent, text TEXT)',
    );
    at.beside = new Database(join(folder, 'test.db'), { strict: true });
  });
  afterEach(() => {
    at.beside.close();
    at.db.close();
    rmSync(folder, { recursive: true });
  });
  at.add = (n) => void at.db.run('INSERT INTO fact (n) VALUES (?)', [n]);
  at.visible = () =>
    at.beside
      .query<{ n: number }, []>('SELECT n FROM fact ORDER BY n')
      .all()
      .map(({ n }) => n);
  return at;
}

/** The refusal of a write. */
export async function faultOf(write: Promise<unknown>): Promise<unknown> {
  const [result] = await Promise.allSettled([write]);
  return result.status === 'rejected' ? result.reason : 'no fault';
}
