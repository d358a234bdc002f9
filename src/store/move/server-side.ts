/** The PostgreSQL database as a side of a move, on one connection. */

import { SQL } from 'bun';
import type { EntryText } from '../../core/audit/entry.ts';
import type { AuditAnchor, AuditBlock } from '../../core/port/audit.ts';
import { messageOf, OperatorError } from '../../operator-error.ts';
import { type DatabaseOptions, poolOptions } from '../postgres/database-options.ts';
import { isLost, isStorageFault, sqlStateOf } from '../postgres/fault.ts';
import type { Ask, MoveMark } from '../postgres/migrate.ts';
import { openPatiently } from '../postgres/opening.ts';
import type { Piece } from './copy-text.ts';
import { type MovedTable, namesOf, orderOnServer } from './tables.ts';

/** Silence after which a node counts as ended, ms. */
const NODE_GONE_MS = 60_000;
/** Memory for making an index. */
const INDEX_MEMORY = '256MB';

/** Indexes, triggers and keys that are made after all rows, which is faster than row by row. */
interface Structure {
  /** Statements that remove them, and that make them again. */
  drop: string[];
  restore: string[];
}

/** Turns a fault into a sentence for the operator. */
function explained(fault: unknown): unknown {
  if (fault instanceof OperatorError) return fault;
  const again = 'run the same command again, which begins anew or goes on';
  if (isLost(fault)) {
    return new OperatorError(`PostgreSQL went away (${messageOf(fault)}): ${again}`, 'not_saved');
  }
  if (sqlStateOf(fault) === '55P03') {
    return new OperatorError(`something else uses the tables in PostgreSQL: ${again}`, 'locked');
  }
  if (!isStorageFault(fault)) return fault;
  return new OperatorError(`PostgreSQL could not save it: ${messageOf(fault)}`, 'not_saved');
}

export class ServerSide {
  readonly #db: SQL;
  readonly ask: Ask;

  private constructor(db: SQL) {
    this.#db = db;
    this.ask = (text) => db.unsafe(text).simple();
  }

  /** Runs `use` on a connection of its own, and closes it. */
  static async with<T>(
    place: DatabaseOptions,
    use: (server: ServerSide) => Promise<T>,
  ): Promise<T> {
    const options = poolOptions(place, 1);
    // A table is one statement, and an index takes its time.
    const connection = { application_name: `gatepost/${place.node}/move` };
    const db = new SQL({ ...options, bigint: false, connection } as SQL.PostgresOrMySQLOptions);
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

  /**
   * Locks out writes, with `isAlone` also reads. Throws {@link OperatorError} while a node runs.
   */
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

  async count({ name }: Pick<MovedTable, 'name'>): Promise<number> {
    const [row] = await this.ask(`SELECT count(*)::float8 AS count FROM ${name}`);
    return Number(row?.['count']);
  }

  /** Returns the name of a table with rows; null: all are empty. */
  async findFilled(tables: readonly Pick<MovedTable, 'name'>[]): Promise<string | null> {
    for (const { name } of tables) {
      const [row] = await this.ask(`SELECT 1 AS one FROM ${name} LIMIT 1`);
      if (row !== undefined) return name;
    }
    return null;
  }

  /** Deletes all rows of the tables, and entries that are not sealed. */
  async empty(tables: readonly MovedTable[]): Promise<void> {
    const names = [...tables.map(({ name }) => name), 'audit_pending', 'node'];
    await this.ask(`TRUNCATE ${names.join(', ')}`);
  }

  /** Finds foreign keys, indexes that no constraint needs, and triggers. */
  async structure(tables: readonly MovedTable[]): Promise<Structure> {
    const list = tables.map(({ name }) => `'${name}'`).join(', ');
    const keys = await this.ask(`SELECT conrelid::regclass::text AS "table", conname AS name,
        pg_get_constraintdef(oid) AS text
      FROM pg_constraint WHERE contype = 'f' AND conrelid::regclass::text IN (${list})`);
    const indexes = await this.ask(`SELECT indexrelid::regclass::text AS name,
        pg_get_indexdef(indexrelid) AS text
      FROM pg_index i WHERE indrelid::regclass::text IN (${list})
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid)`);
    const names = tables.map(({ name }) => name);
    return {
      drop: [
        ...keys.map(({ table, name }) => `ALTER TABLE ${table} DROP CONSTRAINT "${name}"`),
        ...indexes.map(({ name }) => `DROP INDEX ${name}`),
        ...names.map((name) => `ALTER TABLE ${name} DISABLE TRIGGER USER`),
      ],
      restore: [
        ...indexes.map(({ text }) => String(text)),
        ...keys.map(
          ({ table, name, text }) => `ALTER TABLE ${table} ADD CONSTRAINT "${name}" ${text}`,
        ),
        ...names.map((name) => `ALTER TABLE ${name} ENABLE TRIGGER USER`),
      ],
    };
  }

  /** Adds rows to a table; `onRows` is called after each piece. */
  async takeRows(
    table: MovedTable,
    pieces: Iterable<Piece>,
    onRows: (count: number) => void,
  ): Promise<void> {
    const copy = this.#db.unsafe(`COPY ${table.name} (${namesOf(table)}) FROM STDIN`);
    const writer = copy.writable().getWriter();
    try {
      for (const { text, rowCount } of pieces) {
        await writer.write(text);
        onRows(rowCount);
      }
      await writer.close();
    } catch (fault) {
      await writer.abort(fault).catch(() => undefined);
      throw fault;
    }
  }

  /** Reads the rows of a table in order, as COPY writes them. */
  giveRows(table: MovedTable): AsyncIterable<Uint8Array> {
    const rows = `SELECT ${namesOf(table)} FROM ${table.name} ORDER BY ${orderOnServer(table)}`;
    return this.#db.unsafe(`COPY (${rows}) TO STDOUT`).readable();
  }

  /** Returns the last id of a table; 0: none yet. */
  async lastId({ name }: MovedTable): Promise<number> {
    const [row] =
      await this.ask(`SELECT CASE WHEN is_called THEN last_value ELSE 0 END::float8 AS id
      FROM ${name}_id_seq`);
    return Number(row?.['id']);
  }

  async setLastId({ name }: MovedTable, id: number): Promise<void> {
    await this.ask(`SELECT setval('${name}_id_seq', ${Math.max(id, 1)}, ${id > 0})`);
  }

  /** Reads the audit log as `readAudit` of the port does. */
  async readAudit(
    after: number,
    countMax: number,
  ): Promise<{ anchor: AuditAnchor; blocks: AuditBlock[] }> {
    const from = Number.isFinite(after) ? `WHERE last_number > ${after}` : '';
    const blocks = await this.ask(`SELECT last_number::float8 AS number, at_ms::float8 AS "atMs",
        encode(prev_hash, 'hex') AS "prevHash", encode(hash, 'hex') AS hash, entries
      FROM audit ${from} ORDER BY last_number LIMIT ${countMax}`);
    const [anchor] = await this.ask(`SELECT last_number::float8 AS number,
        encode(hash, 'hex') AS hash, until_ms::float8 AS "untilMs" FROM audit_anchor`);
    return {
      anchor: {
        number: Number(anchor?.['number'] ?? 0),
        hash:
          anchor === undefined ? new Uint8Array(32) : Buffer.from(String(anchor['hash']), 'hex'),
        untilMs: anchor === undefined ? null : Number(anchor['untilMs']),
      },
      blocks: blocks.map((row) => ({
        number: Number(row['number']),
        atMs: Number(row['atMs']),
        prevHash: Buffer.from(String(row['prevHash']), 'hex'),
        hash: Buffer.from(String(row['hash']), 'hex'),
        entries: String(row['entries']),
      })),
    };
  }

  /** Returns true if this log has the block `NUMBER:HASH`; null: the head of an empty log. */
  async hasHead(head: string | null): Promise<boolean> {
    if (head === null) return true;
    const [number = '', hash = ''] = head.split(':');
    const rows = await this.#db.unsafe(
      "SELECT 1 FROM audit WHERE last_number = $1::bigint AND encode(hash, 'hex') = $2",
      [Number(number), hash],
    );
    return rows.length > 0;
  }

  /** Adds an entry; the next read of the log seals it. */
  async note({ atMs, text }: EntryText): Promise<void> {
    await this.#db.unsafe('INSERT INTO audit_pending (at_ms, entry) VALUES ($1, $2)', [atMs, text]);
  }

  /** Sets the mark of a move; null: the database is in use. */
  async mark(mark: MoveMark | null): Promise<void> {
    await this.ask(`UPDATE gatepost_schema SET move = ${mark === null ? 'NULL' : `'${mark}'`}`);
  }
}
