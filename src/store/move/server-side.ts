/** The PostgreSQL database as a side of a move, on one connection. */

import type { SQL } from 'bun';
import { messageOf, OperatorError } from '../../base/operator-error.ts';
import { moveDatabase } from '../../core/audit/deeds.ts';
import { entryText } from '../../core/audit/entry.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Reader } from '../backend.ts';
import { type DatabaseOptions, poolOptions } from '../postgres/database-options.ts';
import { runOn, STATEMENTS } from '../postgres/dialect.ts';
import { isLost, isStorageFault, sqlStateOf } from '../postgres/fault.ts';
import type { Ask, MoveMark } from '../postgres/migrate.ts';
import { openPatiently } from '../postgres/opening.ts';
import { runnerOn } from '../postgres/pools.ts';
import { piecesOf, rowsOf } from './copy-text.ts';
import type { Field, Rows, Target } from './side.ts';
import { type MovedTable, namesOf, orderOf } from './tables.ts';

/** Silence after which a node counts as ended, ms. */
const NODE_GONE_MS = 60_000;
/** Memory for making an index. */
const INDEX_MEMORY = '256MB';

/** Turns an error of the database into a sentence for the operator. */
function explained(fault: unknown): unknown {
  if (fault instanceof OperatorError) return fault;
  const again = 'run the same command again, which starts again or continues';
  if (isLost(fault)) {
    return new OperatorError(`PostgreSQL went away (${messageOf(fault)}): ${again}`, 'not_saved');
  }
  if (sqlStateOf(fault) === '55P03') {
    return new OperatorError(`something else uses the tables in PostgreSQL: ${again}`, 'locked');
  }
  if (!isStorageFault(fault)) return fault;
  return new OperatorError(`PostgreSQL could not save it: ${messageOf(fault)}`, 'not_saved');
}

export class ServerSide implements Target {
  readonly ask: Ask = (text) => this.db.unsafe(text).simple();
  readonly backend: Reader = {
    prepare: STATEMENTS.prepare,
    read: (step) => runOn(runnerOn(this.db), step()),
  };
  /** Statements that make foreign keys, indexes and triggers again after all rows are added. */
  #later: string[] = [];

  private constructor(private readonly db: SQL) {}

  /** Runs `use` on a separate connection, and closes it. */
  static async with<T>(place: DatabaseOptions, use: (server: ServerSide) => Promise<T>) {
    // A table is one statement, and making an index takes long.
    const connection = { application_name: `gatepost/${place.node}/move` };
    const db = new Bun.SQL({ ...poolOptions(place, 1), connection } as SQL.PostgresOrMySQLOptions);
    const server = new ServerSide(db);
    try {
      await openPatiently(place, () => server.ask('SELECT 1'));
      return await use(server);
    } catch (fault) {
      throw explained(fault);
    } finally {
      await db.close({ timeout: 0 });
    }
  }

  /** Runs `work` in a transaction; rolls it back if `work` throws. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    await this.ask('BEGIN');
    try {
      await this.ask(`SET LOCAL statement_timeout = 0;
        SET LOCAL idle_in_transaction_session_timeout = 0;
        SET LOCAL lock_timeout = '10s';
        SET LOCAL maintenance_work_mem = '${INDEX_MEMORY}'`);
      const value = await work();
      await this.ask('COMMIT');
      return value;
    } catch (fault) {
      await this.ask('ROLLBACK').catch(() => undefined);
      throw fault;
    }
  }

  /** Locks out writes, with `isAlone` also reads. Throws {@link OperatorError} as a node runs. */
  async hold(tables: readonly MovedTable[], isAlone: boolean): Promise<void> {
    await this.ask('SELECT FROM gatepost_schema FOR UPDATE');
    const names = [...tables.map(({ name }) => name), 'audit_pending'].join(', ');
    await this.ask(`LOCK TABLE ${names} IN ${isAlone ? 'ACCESS EXCLUSIVE' : 'SHARE'} MODE`);
    await this.refuseNodes();
  }

  /** Throws {@link OperatorError} while a node runs. */
  async refuseNodes(): Promise<void> {
    const [node] = await this.ask(`SELECT name FROM node
      WHERE seen_at_ms > extract(epoch FROM clock_timestamp()) * 1000 - ${NODE_GONE_MS} LIMIT 1`);
    if (node === undefined) return;
    throw new OperatorError(
      `the node ${node['name']} works on the database: stop 'gatepost serve' on all nodes; one that was killed counts for a minute more`,
      'locked',
    );
  }

  /** Returns the name of a table with rows; null: all are empty. */
  async findFilled(tables: readonly Pick<MovedTable, 'name'>[]): Promise<string | null> {
    for (const { name } of tables) {
      const [row] = await this.ask(`SELECT 1 AS one FROM ${name} LIMIT 1`);
      if (row !== undefined) return name;
    }
    return null;
  }

  /**
   * Empties the tables and drops foreign keys, indexes and triggers: making them once later is
   * faster.
   */
  async begin(tables: readonly MovedTable[]): Promise<void> {
    const names = tables.map(({ name }) => name);
    await this.ask(`TRUNCATE ${[...names, 'audit_pending', 'node'].join(', ')}`);
    const list = names.map((name) => `'${name}'`).join(', ');
    const keys = await this.ask(`SELECT 'ALTER TABLE ' || conrelid::regclass AS "table",
        'CONSTRAINT ' || quote_ident(conname) AS name, pg_get_constraintdef(oid) AS text
      FROM pg_constraint WHERE contype = 'f' AND conrelid::regclass::text IN (${list})`);
    const indexes = await this.ask(`SELECT indexrelid::regclass::text AS name,
        pg_get_indexdef(indexrelid) AS text
      FROM pg_index i WHERE indrelid::regclass::text IN (${list})
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid)`);
    this.#later = [
      ...indexes.map(({ text }) => String(text)),
      ...keys.map(({ table, name, text }) => `${table} ADD ${name} ${text}`),
      ...names.map((name) => `ALTER TABLE ${name} ENABLE TRIGGER USER`),
    ];
    for (const { table, name } of keys) await this.ask(`${table} DROP ${name}`);
    for (const { name } of indexes) await this.ask(`DROP INDEX ${name}`);
    for (const name of names) await this.ask(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
  }

  async take(table: MovedTable, rows: Rows, onRows: (count: number) => void): Promise<void> {
    const copy = this.db.unsafe(`COPY ${table.name} (${namesOf(table)}) FROM STDIN`);
    const writer = copy.writable().getWriter();
    try {
      for await (const { text, rowCount } of piecesOf(table, rows)) {
        await writer.write(text);
        onRows(rowCount);
      }
      await writer.close();
    } catch (fault) {
      await writer.abort(fault).catch(() => undefined);
      throw fault;
    }
  }

  async finish(lastIds: ReadonlyMap<string, number>): Promise<void> {
    for (const text of this.#later) await this.ask(text);
    for (const [name, id] of lastIds) {
      await this.ask(`SELECT setval('${name}_id_seq', ${Math.max(id, 1)}, ${id > 0})`);
    }
  }

  rows(table: MovedTable): AsyncIterable<Field[]> {
    const rows = `SELECT ${namesOf(table)} FROM ${table.name} ORDER BY ${orderOf(table, 'id')}`;
    return rowsOf(table, this.db.unsafe(`COPY (${rows}) TO STDOUT`).readable());
  }

  async lastId({ name }: MovedTable): Promise<number> {
    const [row] = await this.ask(`SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS id
      FROM ${name}_id_seq`);
    return Number(row?.['id']);
  }

  /** The next read of the log seals the entry. */
  async note(act: Act): Promise<void> {
    const { atMs, text } = entryText(act, moveDatabase('sqlite'));
    await this.db.unsafe('INSERT INTO audit_pending (at_ms, entry) VALUES ($1, $2)', [atMs, text]);
  }

  /** Sets the mark of a move; null: the database is in use. */
  async mark(mark: MoveMark | null): Promise<void> {
    // A move that is given up leaves the place of the one before.
    const place = mark === null ? ', moved_to = NULL' : '';
    const value = mark === null ? 'NULL' : `'${mark}'`;
    await this.ask(`UPDATE gatepost_schema SET move = ${value}${place}`);
  }

  /** Marks that the data moved to a place. */
  async markLeft(movedTo: string): Promise<void> {
    await this.db`UPDATE gatepost_schema SET move = 'left', moved_to = ${movedTo}`;
  }
}
