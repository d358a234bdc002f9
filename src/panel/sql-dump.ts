/**
 * Reads a text dump of PostgreSQL (COPY or INSERT), MySQL, MariaDB or SQLite as a stream, and keeps
 * the rows of a few tables. A statement begins a line. Rows of other tables are parsed too, as
 * texts in them may look like statements.
 */

import { OperatorError } from '../base/operator-error.ts';
import type { RowSink } from './rows.ts';
import {
  copied,
  endOfParens,
  namesIn,
  parts,
  readTuple,
  unquoted,
  type Value,
} from './sql-values.ts';

/** The most characters of the head of a statement, and of a row or a line. */
const HEAD_MAX = 64 * 1024;
const ROW_MAX = 16 * 1024 ** 2;

const NAME = '(?:[`"]?\\w+[`"]?\\.)?([`"]?)(\\w+)[`"]?';
const COPY = new RegExp(`COPY ${NAME} \\(([^)]*)\\) FROM stdin;\\r?\\n`, 'y');
const INSERT = new RegExp(
  `(?:INSERT|REPLACE)\\s+(?:(?:IGNORE|DELAYED|LOW_PRIORITY|OR\\s+\\w+)\\s+)*INTO ${NAME}\\s*(?:\\(([^)]*)\\)\\s*)?VALUES\\s*`,
  'iy',
);
const CREATE = new RegExp(`CREATE TABLE (?:IF NOT EXISTS )?${NAME}\\s*\\(`, 'iy');
/** Statements that add or change rows in another form, and the table. */
const OTHER = new RegExp(
  `(?:COPY|(?:INSERT|REPLACE)\\b[^;]{0,64}?\\bINTO|LOAD\\s+DATA\\b[^;]{0,4096}?\\bINTO\\s+TABLE|MERGE\\s+INTO|UPDATE|DELETE\\s+FROM)\\s+${NAME}`,
  'iy',
);
/** The first lines of dumps, and the line without which the end is missing. */
const ENDS = [
  { head: /^-- (?:MySQL|MariaDB) dump /m, end: '-- Dump completed' },
  {
    head: /^-- PostgreSQL database (?:cluster )?dump\s*$/m,
    end: '-- PostgreSQL database dump complete',
  },
  // SQLite's `.dump`, and phpMyAdmin.
  { head: /^(?:BEGIN|START) TRANSACTION;/m, end: 'COMMIT;' },
];
/** Lines in the definition of a table that are no columns. */
const NO_COLUMN =
  /^(?:primary|unique|key|index|constraint|foreign|check|fulltext|spatial|period)\b/i;

export async function readSqlDump(chunks: AsyncIterable<string>, sink: RowSink): Promise<void> {
  await new DumpReader(chunks[Symbol.asyncIterator](), sink).read();
}

class DumpReader {
  #text = '';
  #at = 0;
  #isOver = false;
  /** False before the end of the dump. */
  #isWhole = false;
  readonly #columns = new Map<string, string[]>();

  constructor(
    readonly chunks: AsyncIterator<string>,
    readonly sink: RowSink,
  ) {}

  async read(): Promise<void> {
    await this.#has(HEAD_MAX);
    const head = this.#text.slice(0, HEAD_MAX);
    const end = ENDS.find((one) => one.head.test(head))?.end ?? null;
    while (await this.#has(HEAD_MAX)) {
      if (end !== null && this.#text.startsWith(end, this.#at)) {
        this.#isWhole = true;
        await this.#skipLine();
        continue;
      }
      const copy = this.#match(COPY);
      if (copy !== null) {
        this.#isWhole = false;
        await this.#copy(copy[2] ?? '', namesIn(copy[3] ?? ''));
        continue;
      }
      const insert = this.#match(INSERT);
      if (insert !== null) {
        const [, quote, table = '', names] = insert;
        const columns = names === undefined ? this.#columns.get(table) : namesIn(names);
        this.#isWhole = false;
        await this.#insert(table, columns, quote === '`');
        continue;
      }
      const create = this.#match(CREATE);
      if (create === null) {
        this.#refuseOther();
        await this.#skipLine();
      } else await this.#create(create[2] ?? '', create[1] === '`');
    }
    if (this.#isWhole || !this.sink.hasUserTable) return;
    if (end === null) {
      throw new OperatorError(
        `${this.sink.origin} may be truncated: it has no head by which its end is known (dump it with comments)`,
      );
    }
    throw new OperatorError(`${this.sink.origin} is truncated: it does not end with '${end}'`);
  }

  /** Throws if the statement changes a table of users in a form that this reader does not know. */
  #refuseOther(): void {
    OTHER.lastIndex = this.#at;
    const [statement = '', , table = ''] = OTHER.exec(this.#text) ?? [];
    if (this.sink.columnsOf(table) === null) return;
    const form = statement.replace(/\s+/g, ' ').slice(0, 60);
    throw new OperatorError(
      `${this.sink.origin} has statements that cannot be read (${form}): dump it with the default options`,
    );
  }

  /** Reads until `count` characters are buffered. Returns false at the end of the dump. */
  async #has(count: number): Promise<boolean> {
    while (!this.#isOver && this.#text.length - this.#at < count) await this.#more();
    return this.#at < this.#text.length;
  }

  /** Doubles the buffer at least: what is read again after it costs no more than what is new. */
  async #more(): Promise<void> {
    const rest = this.#text.slice(this.#at);
    if (rest.length > ROW_MAX) {
      throw new OperatorError(`${this.sink.origin} has a row of more than 16 MiB`);
    }
    const pieces = [rest];
    const wanted = Math.min(2 * rest.length, ROW_MAX);
    for (let length = rest.length; !this.#isOver && length <= wanted; ) {
      const next = await this.chunks.next();
      if (next.done) this.#isOver = true;
      else {
        pieces.push(next.value);
        length += next.value.length;
      }
    }
    this.#text = pieces.join('');
    this.#at = 0;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }

  /** Returns the next line without its end. */
  async #line(): Promise<string> {
    for (;;) {
      const end = this.#text.indexOf('\n', this.#at);
      if (end < 0 && !this.#isOver) {
        await this.#more();
        continue;
      }
      const line = this.#text.slice(this.#at, end < 0 ? undefined : end);
      this.#at = end < 0 ? this.#text.length : end + 1;
      return line.endsWith('\r') ? line.slice(0, -1) : line;
    }
  }

  /** Skips a line of another statement, which may be longer than memory. */
  async #skipLine(): Promise<void> {
    for (;;) {
      const end = this.#text.indexOf('\n', this.#at);
      this.#at = end < 0 ? this.#text.length : end + 1;
      if (end >= 0 || this.#isOver) return;
      await this.#more();
    }
  }

  async #copy(table: string, columns: readonly string[]): Promise<void> {
    const take = this.#taker(table, columns);
    while (await this.#has(1)) {
      const line = await this.#line();
      if (line === '\\.') return;
      if (take === null) this.sink.pass();
      else take(line.split('\t').map(copied));
    }
    throw new OperatorError(`${this.sink.origin} is truncated in the table ${table}`);
  }

  async #insert(
    table: string,
    columns: readonly string[] | undefined,
    isMysql: boolean,
  ): Promise<void> {
    const take = this.#taker(table, columns);
    for (;;) {
      const row = await this.#whole(() => readTuple(this.#text, this.#at, isMysql));
      if (row === null) {
        throw new OperatorError(`${this.sink.origin} is truncated in the table ${table}`);
      }
      this.#at = row.end;
      if (take === null) this.sink.pass();
      else take(row.values);
      await this.#has(1024);
      if (this.#match(/\s*,\s*/y) === null) return this.#skipLine();
    }
  }

  async #create(table: string, isMysql: boolean): Promise<void> {
    this.#at -= 1;
    const body = await this.#whole(() => {
      const end = endOfParens(this.#text, this.#at, isMysql);
      return end === null ? null : { end, text: this.#text.slice(this.#at + 1, end - 1) };
    });
    if (body === null) return this.#skipLine();
    this.#at = body.end;
    const names = parts(body.text, isMysql)
      .map((part) => part.trim())
      .filter((part) => part !== '' && !NO_COLUMN.test(part))
      .map((part) => unquoted(/^(?:`[^`]+`|"[^"]+"|\S+)/.exec(part)?.[0] ?? ''));
    this.#columns.set(table, names);
    if (this.sink.columnsOf(table) !== null) this.sink.table(table);
    await this.#skipLine();
  }

  /** Repeats a read until the buffer has all that it needs; null: the dump ends before. */
  async #whole<T>(read: () => T | null): Promise<T | null> {
    for (;;) {
      const found = read();
      if (found !== null || this.#isOver) return found;
      await this.#more();
    }
  }

  /** Returns the function that takes the rows of a table; null: the table is skipped. */
  #taker(table: string, columns: readonly string[] | undefined) {
    const wanted = this.sink.columnsOf(table);
    if (wanted === null) return null;
    if (columns === undefined) {
      throw new OperatorError(
        `${this.sink.origin} does not name the columns of ${table}: dump the table with its definition`,
      );
    }
    this.sink.table(table);
    const places = columns.flatMap((name, at) =>
      wanted.includes(name) ? [[name, at] as const] : [],
    );
    return (values: readonly Value[]) =>
      this.sink.add(
        table,
        Object.fromEntries(places.map(([name, at]) => [name, values[at] ?? null])),
      );
  }
}
