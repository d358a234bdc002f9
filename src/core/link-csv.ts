/**
 * A file of links: CSV whose first row names its columns, in any order.
 *
 * | Column | Contents |
 * |---|---|
 * | `key` | the subscription key of the panel |
 * | `code` | the code of the link, 8 to 12 letters and digits; a random one if empty |
 * | `limit` | the most HWIDs on it; that of the command if empty |
 * | `note` | a note |
 * | `greeting` | what `{greeting}` of messages shows |
 *
 * A row has a key, a code or both, by which a repeated import knows its link. The other columns of
 * a file from the console are ignored.
 */

import { counted } from './counted.ts';
import { type CsvMistake, cellText, csvLine, csvRows } from './csv.ts';
import { rowsOf } from './field.ts';
import { LINK_FORM, type LinkForm, STAFF_TERMS } from './link-form.ts';
import { isRefused } from './outcome.ts';
import { INSTALL_ACTIVE, type LinkTerms } from './port/link.ts';
import type { OwnedLink } from './port/link-view.ts';
import type { ShownFigures } from './port/subscription-figures.ts';
import { activityWord } from './status-word.ts';
import { tidyNote } from './text.ts';

/** A link of the file; null: the field is empty. */
export interface LinkRow extends Omit<LinkForm, 'limit'> {
  line: number;
  limit: number | null;
}

const COLUMNS = new Map(rowsOf<LinkForm>(LINK_FORM).map((row) => [row.name, row]));
const TERMS = rowsOf<Partial<LinkTerms>>(STAFF_TERMS);

/** The columns of figures, where they are shown. */
const FIGURES = ['ends_at', 'total_bytes', 'used_bytes', 'read_at'] as const;

/** Further columns of a file from the console. */
const WRITTEN: readonly string[] = ['id', 'devices', 'status', 'created_at', ...FIGURES];

/** Yields the links of a text and its mistakes by line; none shows a key. */
export function* linkRows(text: string): Generator<LinkRow | CsvMistake> {
  const seen = new Map<string, number>();
  let columns: string[] | null = null;
  for (const row of csvRows(text)) {
    if ('what' in row) yield row;
    else if (columns !== null) yield rowOf(row.line, columns, row.fields, seen);
    else {
      const read = columnsOf(row.fields);
      if (!Array.isArray(read)) return yield { line: row.line, what: read.what, isHead: true };
      columns = read;
    }
  }
  if (columns === null) yield { line: 1, what: 'the file is empty', isHead: true };
}

/** Reads the first row. */
function columnsOf(fields: readonly string[]): string[] | { what: string } {
  const names = fields.map((field) => field.trim().toLowerCase());
  const other = names.find((name) => !COLUMNS.has(name) && !WRITTEN.includes(name));
  const repeated = names.find((name, n) => names.indexOf(name) !== n);
  const wrong = other ?? repeated;
  if (wrong === undefined && (names.includes('key') || names.includes('code'))) return names;
  const what =
    wrong === undefined
      ? 'names neither key nor code'
      : `names '${wrong.slice(0, 40)}'${other === undefined ? ' twice' : ''}`;
  return {
    what: `the first row ${what}; it names columns out of ${[...COLUMNS.keys()].join(', ')}`,
  };
}

/** Reads a row. `seen` has the lines of the keys and codes of earlier rows. */
function rowOf(
  line: number,
  columns: readonly string[],
  fields: readonly string[],
  seen: Map<string, number>,
): LinkRow | CsvMistake {
  if (fields.length !== columns.length) {
    return {
      line,
      what: `it has ${counted(fields.length, 'field')}, the first row ${columns.length}`,
    };
  }
  const row: LinkRow = { line, key: null, code: null, limit: null, note: null };
  for (const [n, name] of columns.entries()) {
    const column = COLUMNS.get(name);
    const text = cellText(fields[n] ?? '');
    const given = name === 'note' ? tidyNote(text) : text.trim();
    if (column === undefined || given === '') continue;
    const { field, format } = column;
    const value = format.read(given);
    if (isRefused(value)) return { line, what: `${name} is not ${format.rule}` };
    Object.assign(row, { [field]: value });
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

/** Returns the first line of a file of links; `isFigured`: each has its figures. */
export const linkHead = (isFigured: boolean): string =>
  csvLine([
    ...['id', 'code', 'limit', 'note', 'devices', 'status', 'created_at'],
    ...TERMS.map(({ name }) => name),
    ...(isFigured ? FIGURES : []),
  ]);

const iso = (ms: number) => new Date(ms).toISOString();

/** Returns the values of figures in the order of their columns. */
function figureCells(figures: ShownFigures | null): (string | number)[] {
  if (figures === null) return FIGURES.map(() => '');
  const { endsAtMs, totalBytes, usedBytes, readAtMs } = figures;
  return [endsAtMs === null ? '' : iso(endsAtMs), totalBytes ?? '', usedBytes ?? '', iso(readAtMs)];
}

/** Returns the line of a link; figures that are absent have no columns. */
export function linkLine({ figures, ...link }: OwnedLink & { figures?: ShownFigures | null }) {
  const { id, installCode, installLimit, deviceCount, note, createdAtMs } = link;
  const status = activityWord(link.status === INSTALL_ACTIVE);
  const madeAt = iso(createdAtMs);
  const terms = TERMS.map(({ field }) => link[field] ?? '');
  return csvLine([
    id,
    installCode,
    installLimit,
    note ?? '',
    deviceCount,
    status,
    madeAt,
    ...terms,
    ...(figures === undefined ? [] : figureCells(figures)),
  ]);
}
