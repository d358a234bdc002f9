/** What a provider changes over and over does not push out of the log what others did. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { LISTED_MAX, LISTED_WINDOW_MS } from '../../../src/core/audit/listed.ts';
import { verifyAudit } from '../../../src/core/audit/verify.ts';
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

test('10,000 changes in an hour have an entry each, beyond that a few, and none is uncounted', async () => {
  const id = await addLink(looping, 'LoopingCode1');
  await change(looping, id, LISTED_MAX + 20);
  const entries = await changesOf(looping);
  // The 1st, 2nd, 4th, 8th and 16th of those beyond.
  expect(entries).toHaveLength(LISTED_MAX + 5);
  expect(unlistedBefore(entries)).toEqual([1, 3, 7]);

  const otherId = await addLink(other, 'OtherCode001');
  await change(other, otherId, 1);
  expect(await changesOf(other)).toHaveLength(1);
  // What has a cap of its own, and what an operator does, has an entry always.
  await addLink(looping, 'LoopingCode2');
  await change(looping, id, 3, ACT);
  const all = await auditEntries(engine.core);
  expect(
    all.filter(({ name, action }) => name === looping.code && action === 'install.add'),
  ).toHaveLength(2);
  expect(
    all.filter(({ name, action }) => name === ACT.actor.name && action === 'install.update'),
  ).toHaveLength(3);

  // A call that was held back on its way begins no other hour.
  engine.clock.advance(-15_000);
  await change(looping, id, 1);
  engine.clock.advance(15_000);
  expect(await changesOf(looping)).toHaveLength(LISTED_MAX + 5);

  // The next hour begins with what was left.
  engine.clock.advance(LISTED_WINDOW_MS);
  await change(looping, id, 2);
  expect(unlistedBefore(await changesOf(looping))).toEqual([1, 3, 7, 5]);
  // So does one after the clock was set back.
  engine.clock.advance(-2 * LISTED_WINDOW_MS);
  await change(looping, id, 2);
  expect(await changesOf(looping)).toHaveLength(LISTED_MAX + 9);
  const bounds = { auditDays: 365, auditEntriesMax: 1_000_000 };
  const measure = { expected: [], nowMs: engine.clock.nowMs(), ...bounds };
  expect((await verifyAudit(engine.core, measure)).problem).toBeNull();
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
