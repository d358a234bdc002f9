/**
 * The statements that take many calls of devices at once on PostgreSQL restate rules of the nouns:
 * over all cells of these rules a store with the statements and one without answer the same.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { TIES_MAX } from '../../src/core/device.ts';
import { ACK_STATES, type AckItem } from '../../src/core/port/inbox.ts';
import type { Store } from '../../src/core/port/store.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { ACT } from '../support/actor.ts';
import { describePostgres } from '../support/needs.ts';
import { placeOf } from '../support/place.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { addDoor, addProvider, bind, CLOCK, FACTS, HASH, NOW_MS } from './contract/fixture.ts';
import { deliver, HOUR_MS, onBinding, register, to } from './contract/message-fixture.ts';

const hashOf = (n: number) => n.toString(16).padStart(64, 'e');
const DISABLED = 'd'.repeat(64);
const LATER_MS = NOW_MS + HOUR_MS;

/** Bindings through which a device came in before; null: it called without a binding. */
const PASTS: Record<string, readonly (string | null)[]> = {
  new: [],
  seen: [null],
  attached: [HASH],
  'attached to as many as it may be': Array.from({ length: TIES_MAX }, (_, n) => hashOf(n)),
};
const HASHES = [null, HASH, hashOf(0), DISABLED, 'f'.repeat(64)];

describePostgres('on PostgreSQL', () => {
  const databases: TestDatabase[] = [];
  const stores: Store[] = [];
  /** The figures that each store has counted. */
  const figures: Record<string, number>[] = [];
  let providerId = 0;

  beforeAll(async () => {
    CLOCK.set(NOW_MS);
    for (const set of [true, false]) {
      const database = await freshDatabase();
      databases.push(database);
      const counts: Record<string, number> = {};
      figures.push(counts);
      const options = {
        dataDir: '',
        create: false,
        commitBatchMax: 1,
        clock: CLOCK,
        onFigure: (figure: string, by: number) => {
          counts[figure] = (counts[figure] ?? 0) + by;
        },
      };
      const store = await openPostgresStore(options, { ...placeOf(database.url), set });
      stores.push(store);
      providerId = (await addDoor(store)).providerId;
      await addProvider(store, 'Provide2');
      for (let n = 0; n < TIES_MAX; n++) await bind(store, providerId, hashOf(n));
      const id = await bind(store, providerId, DISABLED);
      await store.disableDomain(providerId, id, ACT);
    }
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    for (const database of databases) await database.drop();
  });

  /** Runs a scenario on both stores and expects the same of both. */
  async function expectSame(scenario: (store: Store) => Promise<unknown>): Promise<void> {
    const answers = [];
    for (const store of stores) answers.push(await scenario(store));
    expect(answers[0]).toEqual(answers[1]);
    expect(figures[0]).toEqual(figures[1] ?? {});
  }

  test.each(Object.keys(PASTS))('the calls of a device that is %s', async (past) => {
    for (const [n, domainHash] of HASHES.entries()) {
      for (const providerCode of ['Provide1', 'Provide2', 'Provide3']) {
        const hwid = `${past} ${n} ${providerCode}`;
        await expectSame(async (store) => {
          for (const hash of PASTS[past] ?? []) {
            const key = { providerCode: 'Provide1', domainHash: hash, hwid };
            await store.recordCheckIn(key, FACTS, NOW_MS);
          }
          const key = { providerCode, domainHash, hwid };
          const before = await store.findCheckIn(key);
          const recorded = await store.recordCheckIn(key, { ...FACTS, os: '' }, LATER_MS);
          const after = await store.findCheckIn(key);
          const { device, ...detail } = (await store.findDevice(hwid)) ?? { device: null };
          return [before, recorded, after, { ...device, id: null }, detail];
        });
      }
    }
  });

  test('a token that is shown on the same day and later', async () => {
    for (const seenAtMs of [LATER_MS, NOW_MS + 24 * HOUR_MS]) {
      const hwid = `shows its token at ${seenAtMs}`;
      await expectSame(async (store) => {
        const { id, tokenHash } = await register(store, hwid, onBinding());
        const found = await store.findDeviceByToken(tokenHash);
        await store.noteSeen(id, found?.tokenId ?? 0, seenAtMs);
        const after = await store.findDeviceByToken(tokenHash);
        return [found?.lastSeenAtMs, after?.lastSeenAtMs, (await store.findDevice(hwid))?.seenBy];
      });
    }
  });

  test('acknowledgements, each after each', async () => {
    const item = (id: number, state: AckItem['state']) => ({ id, state, detail: state });
    for (const first of ACK_STATES) {
      for (const second of ACK_STATES) {
        for (const isTogether of [true, false]) {
          const hwid = `acknowledges ${first} ${second} ${isTogether}`;
          await expectSame(async (store) => {
            const key = { providerCode: 'Provide1', domainHash: HASH, hwid };
            await store.recordCheckIn(key, FACTS, NOW_MS);
            const holder = await register(store, hwid, onBinding());
            const id = await deliver(store, providerId, to(hwid));
            const items = [item(id, first), item(id, second), item(id + 1000, first)];
            const calls = isTogether ? [items] : items.map((one) => [one]);
            const changed = [];
            for (const call of [...calls, items]) {
              changed.push((await store.acknowledge(holder, call, LATER_MS)).map((a) => a.state));
            }
            const { distribution, ...found } = (await store.findDistribution(id, 10)) ?? {
              distribution: null,
            };
            return [changed, { ...distribution, id: null }, found];
          });
        }
      }
    }
  });
});
