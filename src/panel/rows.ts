/** Collects the rows of a panel's tables, within bounds. */

import { OperatorError } from '../base/operator-error.ts';
import type { Cells, PanelRows, PanelSchema } from '../core/panel/cells.ts';

/** The most rows in memory, and the most characters in them. */
const ROWS_MAX = 2_000_000;
const LENGTH_MAX = 512 * 1024 ** 2;
const ROWS_PER_SIGN = 1024;

export interface Reading {
  /** Stops the reading. */
  signal: AbortSignal;
  /** Is called while rows come, or are waited for. */
  onSign(): void;
}

export class RowSink {
  readonly #rows = new Map<string, Cells[]>();
  #count = 0;
  #length = 0;
  #passed = 0;

  constructor(
    readonly schema: PanelSchema,
    readonly origin: string,
    readonly reading: Reading,
  ) {}

  /** Returns the columns to read of a table; null: skip the table. */
  columnsOf(table: string): readonly string[] | null {
    return Object.hasOwn(this.schema.tables, table) ? (this.schema.tables[table] ?? null) : null;
  }

  /** Adds a table, which may have no rows. */
  table(name: string): void {
    if (!this.#rows.has(name)) this.#rows.set(name, []);
  }

  add(table: string, row: Cells): void {
    this.table(table);
    this.#rows.get(table)?.push(row);
    this.#count += 1;
    for (const cell of Object.values(row)) {
      this.#length += typeof cell === 'string' ? cell.length : 8;
    }
    if (this.#count > ROWS_MAX || this.#length > LENGTH_MAX) {
      throw new OperatorError(
        `${this.origin} has more than ${ROWS_MAX} users and devices, or 512 MiB`,
      );
    }
    this.pass();
  }

  /** Notes a row or a piece that is read and not kept. */
  pass(): void {
    this.#passed += 1;
    if (this.#passed % ROWS_PER_SIGN === 0) this.sign();
  }

  /** Shows that the reading goes on. Throws {@link OperatorError} if it is stopped. */
  sign(): void {
    this.reading.onSign();
    if (!this.reading.signal.aborted) return;
    throw new OperatorError(`stopped while reading ${this.origin}`, 'interrupted');
  }

  /** True once a table of users came, perhaps an empty one. */
  get hasUserTable(): boolean {
    return this.schema.userTables.some((name) => this.#rows.has(name));
  }

  /** Returns all rows. Throws {@link OperatorError} if the tables of users are missing or empty. */
  finish(panel: string): PanelRows {
    const { userTables } = this.schema;
    if (!this.hasUserTable) {
      const names = userTables.join(' nor ');
      throw new OperatorError(
        `${this.origin} is no database of ${panel}: it has no table ${names}`,
      );
    }
    if (!userTables.some((name) => (this.#rows.get(name)?.length ?? 0) > 0)) {
      throw new OperatorError(
        `${this.origin} has no users: dump the tables with their rows, or use a token that sees them`,
      );
    }
    return this.#rows;
  }
}
