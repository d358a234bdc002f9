/** The rows of a panel have bounds, and reading them ends when the operator stops it. */

import { expect, test } from 'bun:test';
import { PANEL_TRAITS } from '../../src/core/panel/index.ts';
import { RowSink } from '../../src/panel/rows.ts';
import { READING } from '../support/reading.ts';

const BOUND = 'has more than 2000000 users and devices, or 512 MiB';
const sinkOf = (reading = READING) =>
  new RowSink(PANEL_TRAITS.marzban.database, 'dump.sql', reading);

/** Adds the same row again and again. */
function addMany(sink: RowSink, count: number, row: Record<string, string>): void {
  for (let n = 0; n < count; n++) sink.add('users', row);
}

test('two million rows are read, and no more', () => {
  const sink = sinkOf();
  addMany(sink, 2_000_000, {});
  expect(() => sink.add('users', {})).toThrow(BOUND);
});

test('512 MiB are read, and no more', () => {
  const sink = sinkOf();
  addMany(sink, 512, { note: 'x'.repeat(1024 ** 2) });
  expect(() => sink.add('users', { note: 'x' })).toThrow(BOUND);
});

test('a stop is noticed within 1,024 rows', () => {
  const sink = sinkOf({ ...READING, signal: AbortSignal.abort() });
  expect(() => addMany(sink, 1_024, {})).toThrow('stopped while reading dump.sql');
});
