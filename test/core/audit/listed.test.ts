/** A provider that repeats a change pushes no entries about others out of the log. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Deed } from '../../../src/core/audit/entry.ts';
import {
  countDeed,
  isCounted,
  LISTED_MAX,
  LISTED_WINDOW_MS,
} from '../../../src/core/audit/listed.ts';
import { verifyAudit } from '../../../src/core/audit/verify.ts';
import { HOUR_MS } from '../../../src/core/calendar.ts';
import type { Act, Actor } from '../../../src/core/port/audit.ts';
import type { Provider } from '../../../src/core/port/provider.ts';
import { NO_TERMS } from '../../../src/core/slot.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries } from '../../support/audit.ts';
import { type Engine, makeProvider, openEngine } from '../../support/delivery.ts';
import { PATIENCE_MS } from '../../support/until.ts';

setDefaultTimeout(4 * PATIENCE_MS);

let engine: Engine;
let looping: Provider;
let other: Provider;
beforeAll(async () => {
  engine = await openEngine();
  looping = await makeProvider(engine);
  other = await makeProvider(engine);
});
afterAll(() => engine.close());

const actOf = ({ code: name }: Provider): Act => {
  const actor: Actor = { kind: 'provider', name, key: 'aaaaaaaa', from: '203.0.113.7' };
  return { actor, atMs: engine.clock.nowMs() };
};

async function addLink({ id: providerId, ...rest }: Provider, installCode: string) {
  const facts = { installCode, installLimit: 2, note: null, createdAtMs: 0 };
  const link = { ...NO_TERMS, providerId, ...facts };
  const act = actOf({ id: providerId, ...rest });
  const added = await engine.core.store.addInstall({ ...link, installCountMax: 99 }, act);
  if (typeof added === 'string') throw new Error(added);
  return added.id;
}

const DEED: Deed = { action: 'install.update', object: { id: 1 } };

let changeCount = 0;

/** Changes the limit of a link so many times, each to another one. */
async function change(by: Provider, id: number, count: number, act = actOf(by)): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, () => {
      const installLimit = 10 + (changeCount++ % 89);
      return engine.core.store.updateInstall(by.id, id, { installLimit }, act);
    }),
  );
}

async function changesOf({ code }: Provider) {
  const entries = await auditEntries(engine.core);
  return entries.filter(({ name, action }) => name === code && action === 'install.update');
}

const unlistedBefore = (entries: Awaited<ReturnType<typeof changesOf>>) =>
  entries.flatMap(({ object }) => object['unlisted_before'] ?? []);

test('600 changes a minute have an entry each, and the next entry counts those beyond', async () => {
  const id = await addLink(looping, 'LoopingCode1');
  await change(looping, id, LISTED_MAX + 20);
  expect(await changesOf(looping)).toHaveLength(LISTED_MAX);
  expect(unlistedBefore(await changesOf(looping))).toEqual([]);

  const otherId = await addLink(other, 'OtherCode001');
  await change(other, otherId, 1);
  expect(await changesOf(other)).toHaveLength(1);
  // Additions, and changes by an operator, always have an entry.
  expect(isCounted({ kind: 'operator', name: looping.code, from: 'local' }, DEED)).toBe(false);
  await addLink(looping, 'LoopingCode2');
  await change(looping, id, 3, ACT);
  const all = await auditEntries(engine.core);
  expect(
    all.filter(({ name, action }) => name === looping.code && action === 'install.add'),
  ).toHaveLength(2);
  expect(
    all.filter(({ name, action }) => name === ACT.actor.name && action === 'install.update'),
  ).toHaveLength(3);

  engine.clock.advance(LISTED_WINDOW_MS);
  await change(looping, id, 2);
  expect(await changesOf(looping)).toHaveLength(LISTED_MAX + 2);
  expect(unlistedBefore(await changesOf(looping))).toEqual([20]);
  const bounds = { auditDays: 365, auditEntriesMax: 1_000_000 };
  const measure = { expected: [], nowMs: engine.clock.nowMs(), ...bounds };
  expect((await verifyAudit(engine.core, measure)).problem).toBeNull();
});

describe('the window', () => {
  const NOW_MS = 1_000_000_000;
  const FULL = { fromMs: NOW_MS, count: LISTED_MAX, unlisted: 7 };
  const isListed = (atMs: number) => countDeed(FULL, atMs, DEED).listed !== null;

  test('takes its last entry', () => {
    const { after, listed } = countDeed({ ...FULL, count: LISTED_MAX - 1 }, NOW_MS, DEED);
    expect(after).toEqual({ ...FULL, unlisted: 0 });
    expect(listed?.object).toEqual({ id: 1, unlisted_before: 7 });
  });

  test('counts a deed beyond it', () => {
    const { after, listed } = countDeed(FULL, NOW_MS + LISTED_WINDOW_MS - 1, DEED);
    expect(after).toEqual({ ...FULL, unlisted: 8 });
    expect(listed).toBeNull();
  });

  test('ends after a minute', () => {
    const atMs = NOW_MS + LISTED_WINDOW_MS;
    const { after, listed } = countDeed(FULL, atMs, DEED);
    expect(after).toEqual({ fromMs: atMs, count: 1, unlisted: 0 });
    expect(listed?.object).toEqual({ id: 1, unlisted_before: 7 });
  });

  test('has room for no request that took long, but ends with a clock set back by an hour', () => {
    expect(isListed(NOW_MS - LISTED_WINDOW_MS)).toBe(false);
    expect(isListed(NOW_MS - HOUR_MS + 1)).toBe(false);
    expect(isListed(NOW_MS - HOUR_MS)).toBe(true);
  });
});

test('a change that is taken back is not counted', async () => {
  const before = engine.db.query('SELECT change_count, unlisted_count FROM provider').all();
  const id = await addLink(other, 'OtherCode002');
  const broken = { installLimit: 1_000 };
  await expect(
    engine.core.store.updateInstall(other.id, id, broken, actOf(other)),
  ).rejects.toThrow();
  expect(engine.db.query('SELECT change_count, unlisted_count FROM provider').all()).toEqual(
    before,
  );
});
