/**
 * Rows in the text format of PostgreSQL's COPY: one line each, fields separated by tabs, null as
 * \N.
 */

import { OperatorError } from '../../base/operator-error.ts';
import type { Field, Rows } from './side.ts';
import type { MovedColumn, MovedTable } from './tables.ts';

/** Characters of a piece. */
const PIECE_LENGTH = 256 * 1024;

const SPECIAL = /[\\\n\r\t\0]/;
type Names = Readonly<Record<string, string>>;
const ESCAPES: Names = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const MEANINGS: Names = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v' };

/** Writes rows as whole lines. Throws {@link OperatorError} for a text PostgreSQL cannot hold. */
export async function* piecesOf(
  { name, columns }: MovedTable,
  rows: Rows,
): AsyncGenerator<{ text: string; rowCount: number }> {
  let [text, rowCount] = ['', 0];
  for await (const row of rows) {
    text += `${row.map((field, i) => fieldText(field, name, columns[i])).join('\t')}\n`;
    rowCount += 1;
    if (text.length < PIECE_LENGTH) continue;
    yield { text, rowCount };
    [text, rowCount] = ['', 0];
  }
  if (rowCount > 0) yield { text, rowCount };
}

function fieldText(field: Field, table: string, column: MovedColumn | undefined): string {
  if (field === null) return '\\N';
  if (typeof field === 'number') return String(field);
  if (typeof field !== 'string') return `\\\\x${Buffer.from(field).toString('hex')}`;
  if (!SPECIAL.test(field)) return field;
  return field.replaceAll(/[\\\n\r\t\0]/g, (character) => {
    const escaped = ESCAPES[character];
    if (escaped !== undefined) return escaped;
    throw new OperatorError(
      `${table}.${column?.name} has a text with the character NUL, which PostgreSQL cannot hold: ${JSON.stringify(field).slice(0, 80)}`,
    );
  });
}

/** Reads rows from pieces of text, which may end in the middle of a line. */
export async function* rowsOf(
  { columns }: MovedTable,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Field[]> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      yield line.split('\t').map((text, i) => fieldOf(text, columns[i]?.kind ?? 'text'));
    }
  }
}

function fieldOf(text: string, kind: MovedColumn['kind']): Field {
  if (text === '\\N') return null;
  if (kind === 'number') return Number(text);
  if (kind === 'bytes') return Buffer.from(text.slice('\\\\x'.length), 'hex');
  if (!text.includes('\\')) return text;
  return text.replaceAll(/\\(.)/gs, (_, character: string) => MEANINGS[character] ?? character);
}
