import { visible } from './visible.ts';

/** Aligned columns. Numbers go to the right. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const cells = rows.map((row) => row.map((cell) => visible(String(cell))));
  const widths = headings.map((heading, i) =>
    Math.max(width(heading), ...cells.map((row) => width(row[i] ?? ''))),
  );
  const line = (row: readonly string[], source?: readonly (string | number)[]) =>
    row
      .map((cell, i) => {
        const space = ' '.repeat((widths[i] ?? 0) - width(cell));
        return typeof source?.[i] === 'number' ? space + cell : cell + space;
      })
      .join('  ')
      .trimEnd();
  return [line(headings), ...cells.map((row, n) => line(row, rows[n]))].join('\n');
}

/** A name and a value on each line, the values aligned. */
export function sheet(entries: readonly (readonly [string, string | number])[]): string {
  const widest = Math.max(...entries.map(([name]) => name.length));
  return entries
    .map(([name, value]) => `${name.padEnd(widest)}  ${visible(String(value))}`)
    .join('\n');
}

/** Columns on a terminal: wide letters take two. */
function width(text: string): number {
  return Bun.stringWidth(text);
}
