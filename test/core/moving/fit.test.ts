/** Records of another server are cut to the sizes that a store handles quickly. */

import { describe, expect, test } from 'bun:test';
import { byRows, past, pastLink } from '../../../src/core/moving/fit.ts';
import { Source } from '../../../src/core/moving/source.ts';
import { Tally } from '../../../src/core/moving/tally.ts';
import type { ImportedLink } from '../../../src/core/port/moving.ts';

const NOW_MS = Date.UTC(2026, 10, 20);
const DAY_MS = 86_400_000;

function install(slotCount: number, atMs = NOW_MS): ImportedLink {
  const slots = Array.from({ length: slotCount }, (_, n) => ({
    hwid: `device-${n}`,
    registeredAtMs: atMs,
    firstSeenAtMs: atMs,
    lastSeenAtMs: atMs,
    os: '',
    osVersion: '',
    deviceName: '',
    appVersion: '',
    userAgent: '',
  }));
  const facts = { installCode: 'Code00000001', installLimit: 100, status: 10, note: null };
  return { id: null, ...facts, createdAtMs: NOW_MS, slots };
}

describe('rows that share a commit', () => {
  const sizes = (slotCounts: number[]) =>
    [...byRows(slotCounts.map((count) => install(count)))].map((group) =>
      group.map(({ slots }) => slots.length),
    );

  test('are 200 at most, in the order of the links', () => {
    expect(sizes([100, 98, 0, 1, 100, 100, 100])).toEqual([[100, 98], [0, 1, 100], [100], [100]]);
    expect(sizes(Array.from({ length: 450 }, () => 0)).map((group) => group.length)).toEqual([
      200, 200, 50,
    ]);
  });

  test('are those of one link, however many it has', () => {
    expect(sizes([300, 1])).toEqual([[300], [1]]);
    expect(sizes([])).toEqual([]);
  });
});

test('a time is let pass up to a day ahead, and is now beyond', () => {
  expect(past(NOW_MS + DAY_MS, NOW_MS)).toBe(NOW_MS + DAY_MS);
  expect(past(NOW_MS + DAY_MS + 1, NOW_MS)).toBe(NOW_MS);
  const fine = install(2);
  expect(pastLink(fine, NOW_MS)).toBe(fine);
  expect(pastLink(install(2, NOW_MS + 2 * DAY_MS), NOW_MS)).toEqual(fine);
});

test('a link keeps the first hundred of the HWIDs that a source lists for it', async () => {
  const tally = new Tally();
  const rows = Array.from({ length: 250 }, (_, n) => ({
    hwid: `device-${n}`,
    date: '2026-01-02 03:04:05',
    device_name: '',
  }));
  const source = new Source(async () => rows.toReversed(), tally, {
    offsetMinutes: 180,
    isStopped: () => false,
  });
  const slots = await source.slots('Code00000001');
  expect(typeof slots === 'string' ? slots : slots.map(({ hwid }) => hwid)).toEqual(
    rows.slice(0, 100).map(({ hwid }) => hwid),
  );
  expect(tally.slots.withoutRoom).toBe(150);
  expect(tally.problems).toEqual(['link Code00000001: the source lists 250 HWIDs for it']);
});
