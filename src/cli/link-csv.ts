/** Reads a file of links in the form of core/link-csv.ts. */

import { readFileSync, statSync } from 'node:fs';
import { OperatorError } from '../base/operator-error.ts';
import { visible } from '../base/visible.ts';
import type { CsvMistake } from '../core/csv.ts';
import { type LinkRow, linkRows } from '../core/link-csv.ts';
import { type NamedRow, namedHwidRows } from '../core/named-csv.ts';

/**
 * The most bytes and rows of a file, which is read as a whole, and the most mistakes in a message.
 */
const BYTES_MAX = 32 * 1024 * 1024;
const ROWS_MAX = 100_000;
const LISTED_MAX = 20;

/**
 * Reads a UTF-8 file, without its byte order mark. Throws {@link OperatorError} if it cannot be
 * read.
 */
function readCsvFile(path: string): string {
  try {
    const found = statSync(path);
    if (!found.isFile()) throw new OperatorError(`${path} is no regular file`);
    if (found.size > BYTES_MAX) {
      throw new OperatorError(`${path} is larger than ${BYTES_MAX / 1024 ** 2} MiB`);
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    if (error instanceof TypeError) throw new OperatorError(`${path} is not valid UTF-8`);
    throw new OperatorError(`cannot read ${path}: ${(error as Error).message}`);
  }
}

/** Reads links. Throws {@link OperatorError} with the mistakes by line; none shows a key. */
export const readLinkFile = (path: string): LinkRow[] => readRows(path, linkRows);

/** Reads HWIDs to name. Throws {@link OperatorError} with the mistakes by line. */
export const readNamedFile = (path: string): NamedRow[] => readRows(path, namedHwidRows);

/** Reads a file. Throws {@link OperatorError} with its mistakes by line. */
function readRows<Row extends { line: number; what?: never }>(
  path: string,
  rowsIn: (text: string) => Iterable<Row | CsvMistake>,
): Row[] {
  const rows: Row[] = [];
  const mistakes: CsvMistake[] = [];
  for (const row of rowsIn(readCsvFile(path))) {
    if (row.what === undefined) rows.push(row as Row);
    else if (!row.isHead) mistakes.push(row);
    else if (mistakes.length === 0) throw new OperatorError(`${path}: ${visible(row.what)}`);
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
  return rows;
}
