/** Text in columns. Control characters in it become visible. */

import { visible } from '../base/visible.ts';

type Cell = string | number;

/** Columns by their headings: a field of the records, or a function of them. */
export type Columns<T> = Readonly<
  Record<string, { [K in keyof T]: T[K] extends Cell ? K : never }[keyof T] | ((row: T) => Cell)>
>;

/** Returns aligned columns, a line for each record; numbers are right-aligned. */
export function table<T>(records: readonly T[], columns: Columns<T>): string {
  const headings = Object.keys(columns);
  const sources = records.map((record) =>
    Object.values(columns).map((column) =>
      typeof column === 'function' ? column(record) : (record[column] as Cell),
    ),
  );
  const cells = sources.map((row) => row.map((cell) => visible(String(cell))));
  const widths = headings.map((heading, i) =>
    Math.max(width(heading), ...cells.map((row) => width(row[i] ?? ''))),
  );
  const line = (row: readonly string[], source?: readonly Cell[]) =>
    row
      .map((cell, i) => {
        const space = ' '.repeat((widths[i] ?? 0) - width(cell));
        return typeof source?.[i] === 'number' ? space + cell : cell + space;
      })
      .join('  ')
      .trimEnd();
  return [line(headings), ...cells.map((row, n) => line(row, sources[n]))].join('\n');
}

/** Returns a line with name and value for each fact; `-` stands for null. */
export function sheet(facts: Readonly<Record<string, Cell | boolean | null>>): string {
  const widest = Math.max(...Object.keys(facts).map((name) => name.length));
  return Object.entries(facts)
    .map(([name, value]) => `${name.padEnd(widest)}  ${visible(String(value ?? '-'))}`)
    .join('\n');
}

/** Returns the columns of a text on a terminal: wide letters take two. */
function width(text: string): number {
  return Bun.stringWidth(text);
}
