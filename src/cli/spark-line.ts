/** Numbers as a line of small bars, for a terminal. */

const BARS = ' ▁▂▃▄▅▆▇█';
/** The fewest bars of a line, also on a narrow terminal. */
const BARS_MIN = 10;
/** Columns of the text beside them: ` |`, `| at most 123456789 in 99 days`. */
const TEXT_WIDTH = 32;

interface Row {
  name: string;
  /** Numbers in the order of time, the same count in each row. */
  values: readonly number[];
}

/** Returns a line for each row, with its largest value; in `columns` if it fits. */
export function sparkLines(rows: readonly Row[], columns: number): string {
  const nameWidth = Math.max(...rows.map(({ name }) => name.length));
  const count = rows[0]?.values.length ?? 0;
  const barsMax = Math.max(columns - nameWidth - TEXT_WIDTH, BARS_MIN);
  const share = Math.ceil(count / barsMax);
  const of = share === 1 ? 'a day' : `in ${share} days`;
  return rows
    .map(({ name, values }) => {
      const sums = groups(values, share);
      const top = Math.max(...sums);
      const bars = sums.map((sum) => BARS[Math.ceil((sum / top) * (BARS.length - 1))] ?? ' ');
      return `${name.padEnd(nameWidth)} |${bars.join('')}| at most ${top} ${of}`;
    })
    .join('\n');
}

/** Sums groups of `share` neighbours from the end, so that the newest bar is complete. */
function groups(values: readonly number[], share: number): number[] {
  const sums: number[] = [];
  for (let end = values.length; end > 0; end -= share) {
    const group = values.slice(Math.max(end - share, 0), end);
    sums.unshift(group.reduce((sum, value) => sum + value, 0));
  }
  return sums;
}
