/**
 * A file of links: CSV whose first row names its columns, in any order.
 *
 * | Column | Contents |
 * |---|---|
 * | `key` | the subscription key of the panel |
 * | `code` | the code of the link, 8 to 12 letters and digits; a random one if empty |
 * | `limit` | the most HWIDs on it; that of the command if empty |
 * | `note` | a note |
 *
 * A row has a key, a code or both, by which a repeated import knows its link.
 */

import {
  type Format,
  INSTALL_CODE,
  INSTALL_LIMIT,
  NOTE,
  SUBSCRIPTION_KEY,
} from '../core/formats.ts';
import { isRefused } from '../core/outcome.ts';
import { tidyNote } from '../core/text.ts';
import { OperatorError } from '../operator-error.ts';
import { type CsvMistake, csvRows, readCsvFile } from './csv.ts';
import { visible } from './table.ts';

/** A link of the file; null: the field is empty. */
export interface LinkRow {
  line: number;
  key: string | null;
  code: string | null;
  limit: number | null;
  note: string | null;
}

const COLUMNS = ['key', 'code', 'limit', 'note'] as const;
type Column = (typeof COLUMNS)[number];

const FORMATS: Readonly<Record<Column, Format<string | number>>> = {
  key: SUBSCRIPTION_KEY,
  code: INSTALL_CODE,
  limit: INSTALL_LIMIT,
  note: NOTE,
};

/** Most rows of a file, and most mistakes that a message lists. */
const ROWS_MAX = 100_000;
const LISTED_MAX = 20;

/** Reads the file. Throws {@link OperatorError} with its mistakes by line; none shows a key. */
export function readLinkFile(path: string): LinkRow[] {
  const rows: LinkRow[] = [];
  const mistakes: CsvMistake[] = [];
  const seen = new Map<string, number>();
  let columns: Column[] | null = null;
  for (const row of csvRows(readCsvFile(path))) {
    if ('what' in row) mistakes.push(row);
    else if (columns === null) columns = columnsOf(path, row.fields);
    else {
      const read = rowOf(row.line, columns, row.fields, seen);
      if ('what' in read) mistakes.push(read);
      else rows.push(read);
    }
    if (rows.length > ROWS_MAX) throw new OperatorError(`${path} has more than ${ROWS_MAX} rows`);
    if (mistakes.length > LISTED_MAX) break;
  }
  if (mistakes.length > 0) {
    const lines = mistakes.slice(0, LISTED_MAX).map(({ line, what }) => `line ${line}: ${what}`);
    const more = mistakes.length > LISTED_MAX ? '\n  and more' : '';
    throw new OperatorError(
      `${path} is not valid, nothing was changed:\n  ${lines.join('\n  ')}${more}`,
    );
  }
  if (columns === null) throw new OperatorError(`${path} is empty`);
  return rows;
}

function columnsOf(path: string, fields: readonly string[]): Column[] {
  const names = fields.map((field) => field.trim().toLowerCase());
  const other = names.find((name) => !COLUMNS.some((column) => column === name));
  const repeated = names.find((name, n) => names.indexOf(name) !== n);
  const wrong = other ?? repeated;
  if (wrong === undefined && (names.includes('key') || names.includes('code'))) {
    return names as Column[];
  }
  const what =
    wrong === undefined
      ? 'names neither key nor code'
      : `names '${visible(wrong.slice(0, 40))}'${other === undefined ? ' twice' : ''}`;
  throw new OperatorError(
    `${path}: the first row ${what}; it names columns out of ${COLUMNS.join(', ')}`,
  );
}

/** Reads a row. `seen` has the lines of the keys and codes of earlier rows. */
function rowOf(
  line: number,
  columns: readonly Column[],
  fields: readonly string[],
  seen: Map<string, number>,
): LinkRow | CsvMistake {
  if (fields.length !== columns.length) {
    return { line, what: `it has ${fields.length} fields, the first row ${columns.length}` };
  }
  const row: LinkRow = { line, key: null, code: null, limit: null, note: null };
  for (const [n, column] of columns.entries()) {
    const text = fields[n] ?? '';
    const field = column === 'note' ? tidyNote(text) : text.trim();
    if (field === '') continue;
    const value = FORMATS[column].read(field);
    if (isRefused(value)) return { line, what: `${column} is not ${FORMATS[column].rule}` };
    Object.assign(row, { [column]: value });
  }
  if (row.key === null && row.code === null) return { line, what: 'it has neither key nor code' };
  for (const column of ['key', 'code'] as const) {
    if (row[column] === null) continue;
    const name = `${column} ${row[column]}`;
    const before = seen.get(name);
    if (before !== undefined) return { line, what: `its ${column} is that of line ${before}` };
    seen.set(name, line);
  }
  return row;
}
