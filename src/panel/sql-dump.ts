/**
 * Reads a text dump of PostgreSQL (COPY or INSERT), MySQL, MariaDB or SQLite as a stream, and keeps
 * the rows of a few tables. A statement begins a line. Rows of other tables are parsed too, as
 * texts in them may look like statements.
 */

import { OperatorError } from '../operator-error.ts';
import type { RowSink } from './rows.ts';

/** The most characters of the head of a statement, and of a row or a line. */
const HEAD_MAX = 64 * 1024;
const ROW_MAX = 16 * 1024 ** 2;

const NAME = '(?:[`"]?\\w+[`"]?\\.)?([`"]?)(\\w+)[`"]?';
const COPY = new RegExp(`COPY ${NAME} \\(([^)]*)\\) FROM stdin;\\r?\\n`, 'y');
const INSERT = new RegExp(
  `INSERT (?:IGNORE )?INTO ${NAME}\\s*(?:\\(([^)]*)\\)\\s*)?VALUES\\s*`,
  'iy',
);
const CREATE = new RegExp(`CREATE TABLE (?:IF NOT EXISTS )?${NAME}\\s*\\(`, 'iy');
/** Lines in the definition of a table that are no columns. */
const NO_COLUMN =
  /^(?:primary|unique|key|index|constraint|foreign|check|fulltext|spatial|period)\b/i;

type Value = string | null;

export async function readSqlDump(chunks: AsyncIterable<string>, sink: RowSink): Promise<void> {
  await new DumpReader(chunks[Symbol.asyncIterator](), sink).read();
}

class DumpReader {
  #text = '';
  #at = 0;
  #isOver = false;
  readonly #columns = new Map<string, string[]>();

  constructor(
    readonly chunks: AsyncIterator<string>,
    readonly sink: RowSink,
  ) {}

  async read(): Promise<void> {
    while (await this.#has(HEAD_MAX)) {
      const copy = this.#match(COPY);
      if (copy !== null) {
        await this.#copy(copy[2] ?? '', namesIn(copy[3] ?? ''));
        continue;
      }
      const insert = this.#match(INSERT);
      if (insert !== null) {
        const [, quote, table = '', names] = insert;
        const columns = names === undefined ? this.#columns.get(table) : namesIn(names);
        await this.#insert(table, columns, quote === '`');
        continue;
      }
      const create = this.#match(CREATE);
      if (create === null) await this.#skipLine();
      else await this.#create(create[2] ?? '', create[1] === '`');
    }
  }

  /** Reads until `count` characters are buffered. Returns false at the end of the dump. */
  async #has(count: number): Promise<boolean> {
    while (!this.#isOver && this.#text.length - this.#at < count) await this.#more();
    return this.#at < this.#text.length;
  }

  async #more(): Promise<void> {
    const next = await this.chunks.next();
    if (next.done) {
      this.#isOver = true;
      return;
    }
    const rest = this.#text.slice(this.#at);
    if (rest.length > ROW_MAX) {
      throw new OperatorError(`${this.sink.origin} has a row of more than 16 MiB`);
    }
    this.#text = rest + next.value;
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
      take?.(line.split('\t').map(copied));
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
      take?.(row.values);
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

const unquoted = (name: string) => name.trim().replace(/^[`"]|[`"]$/g, '');
const namesIn = (list: string) => list.split(',').map(unquoted);

const COPIED: Readonly<Record<string, string>> = {
  ...{ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
};

/** Reads a value of COPY. */
function copied(text: string): Value {
  if (text === '\\N') return null;
  return text.includes('\\')
    ? text.replace(/\\(.)/gs, (_, letter: string) => COPIED[letter] ?? letter)
    : text;
}

/** Returns the position after the quoted text that begins at `at`; null: it does not end. */
function endOfQuotes(text: string, at: number, hasEscapes: boolean): number | null {
  const quote = text[at];
  for (let next = at + 1; next < text.length; next++) {
    if (hasEscapes && text[next] === '\\') next += 1;
    else if (text[next] === quote) {
      if (text[next + 1] !== quote) return next + 1;
      next += 1;
    }
  }
  return null;
}

/** Returns the position after the parentheses that begin at `at`; null: they do not end. */
function endOfParens(text: string, at: number, isMysql: boolean): number | null {
  let depth = 0;
  for (let next = at; next < text.length; next++) {
    const sign = text[next];
    if (sign === "'" || sign === '"' || sign === '`') {
      const isEscaped = sign === "'" && (isMysql || /E/i.test(text[next - 1] ?? ''));
      const end = endOfQuotes(text, next, isEscaped);
      if (end === null) return null;
      next = end - 1;
    } else if (sign === '(') depth += 1;
    else if (sign === ')' && --depth === 0) return next + 1;
  }
  return null;
}

/** Splits at commas outside of quotes and parentheses. */
function parts(text: string, isMysql: boolean): string[] {
  const found: string[] = [];
  let begin = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? '';
    if (sign === ',') {
      found.push(text.slice(begin, at));
      begin = at + 1;
    } else if (sign === '(') at = (endOfParens(text, at, isMysql) ?? text.length) - 1;
    else if ('\'"`'.includes(sign)) {
      const isEscaped = sign === "'" && (isMysql || /E/i.test(text[at - 1] ?? ''));
      at = (endOfQuotes(text, at, isEscaped) ?? text.length) - 1;
    }
  }
  found.push(text.slice(begin));
  return found;
}

function readTuple(
  text: string,
  at: number,
  isMysql: boolean,
): { values: Value[]; end: number } | null {
  const end = endOfParens(text, at, isMysql);
  if (end === null) return null;
  return {
    values: parts(text.slice(at + 1, end - 1), isMysql).map((part) => valueIn(part, isMysql)),
    end,
  };
}

const ESCAPED: Readonly<Record<string, string>> = {
  ...{ n: '\n', t: '\t', r: '\r', b: '\b', 0: '\0', Z: '\x1a' },
};

/** Reads a value: a text in quotes, perhaps within a cast or a call, or a bare word. */
function valueIn(written: string, isMysql: boolean): Value {
  const word = written.trim();
  const quoteAt = word.indexOf("'");
  if (quoteAt < 0) return /^null$/i.test(word) ? null : word;
  const hasEscapes = isMysql || /E/i.test(word[quoteAt - 1] ?? '');
  const end = endOfQuotes(word, quoteAt, hasEscapes) ?? word.length;
  const text = word.slice(quoteAt + 1, end - 1);
  const read = hasEscapes
    ? text.replace(/\\(.)|''/gs, (_, letter?: string) =>
        letter === undefined ? "'" : (ESCAPED[letter] ?? letter),
      )
    : text.replaceAll("''", "'");
  // SQLite writes line breaks this way.
  return /^replace\(/i.test(word) ? read.replaceAll('\\n', '\n').replaceAll('\\r', '\r') : read;
}
