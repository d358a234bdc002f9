/** Which blocks of the audit log are pruned, also those of a clock that was ahead. */

import { expect, test } from 'bun:test';
import { NO_ANCHOR } from '../../../src/core/audit/chain.ts';
import { blocksToPrune } from '../../../src/core/audit/prune.ts';

const NOW_MS = 1_000;
const hash = new Uint8Array(32);

/** One letter for each block of two entries: old, new, or of the future. */
const TIMES = { o: 100, n: 900, f: 5_000 } as const;

test.each([
  // Blocks, oldest first; how many entries there are at most, and in a step; what goes.
  ['oon', 100, 100, 2],
  ['noo', 100, 100, 0],
  ['ofon', 100, 100, 3],
  ['off', 100, 100, 1],
  ['ffn', 100, 100, 0],
  ['offfo', 100, 100, 5],
  // A step ends before a block of the future, or takes more than it should.
  ['ofon', 100, 4, 1],
  ['foon', 100, 2, 2],
  // Too many: the oldest go whatever their time is.
  ['fffn', 5, 100, 2],
  ['nnnn', 5, 100, 2],
] as const)('%s', (blocks, entriesMax, entries, count) => {
  const oldest = [...blocks].map((kind, at) => ({
    number: 2 * (at + 1),
    hash,
    atMs: TIMES[kind as keyof typeof TIMES],
  }));
  const end = { anchor: NO_ANCHOR, newest: 2 * blocks.length, oldest };
  const bounds = { beforeMs: 500, entriesMax };
  const { gone } = blocksToPrune(end, bounds, { blocks: 10, entries }, NOW_MS);
  expect(gone).toHaveLength(count);
});
