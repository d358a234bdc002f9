/** What `addDistribution` refuses beyond a provider's bounds. */

import { expect, test } from 'bun:test';
import type { NewDistribution, SendBounds } from '../../../src/core/port/distribution.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { ALL, addDoor, addProvider, knock, NOW_MS, type Suite } from './fixture.ts';
import { bringTo, deliver, draft, EXPIRES_MS, send, to, UNGUARDED } from './message-fixture.ts';

const MINUTE_MS = 60_000;
const { bounds: WIDE } = UNGUARDED;

const within = (bounds: Partial<SendBounds>) => ({ ...UNGUARDED, bounds: { ...WIDE, ...bounds } });

export const sendBoundsSuite: Suite = (opened) => {
  function sender(store: Store, providerId: number, bounds: Partial<SendBounds>) {
    return (more: Partial<NewDistribution> = {}) =>
      store.addDistribution(draft(providerId, more), within(bounds), ACT);
  }

  test('so many sends in a minute, and then again', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const { id: other } = await addProvider(store, 'Provide2');
    const add = sender(store, id, { sendsPerMinuteMax: 3 });
    for (let n = 0; n < 3; n++) expect(await add({ createdAtMs: NOW_MS + n })).toHaveProperty('id');
    const end = NOW_MS + MINUTE_MS;
    expect(await add({ createdAtMs: end - 1 })).toBe('too_many_sends');
    expect(await store.listDistributions(id, ALL)).toHaveLength(3);
    expect(await sender(store, other, { sendsPerMinuteMax: 1 })()).toHaveProperty('id');
    for (let n = 0; n < 3; n++) expect(await add({ createdAtMs: end })).toHaveProperty('id');
    expect(await add({ createdAtMs: end + MINUTE_MS - 1 })).toBe('too_many_sends');
  });

  test('of many at once, over two connections, as many as may', async () => {
    const { store, openBeside } = opened();
    const beside = await openBeside();
    const { id } = await addProvider(store, 'Provide1');
    const bounds = { sendsPerMinuteMax: 5 };
    const adds = [sender(store, id, bounds), sender(beside, id, bounds)];
    const added = await Promise.all(Array.from({ length: 24 }, (_, n) => adds[n % 2]?.()));
    expect(added.filter((one) => one === 'too_many_sends')).toHaveLength(19);
    expect(await store.listDistributions(id, ALL)).toHaveLength(5);
  });

  test('a clock set back holds nobody up for longer than a minute', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const add = sender(store, id, { sendsPerMinuteMax: 1 });
    expect(await add()).toHaveProperty('id');
    expect(await add({ createdAtMs: NOW_MS + 1 })).toBe('too_many_sends');
    const back = NOW_MS - MINUTE_MS;
    expect(await add({ createdAtMs: back })).toHaveProperty('id');
    expect(await add({ createdAtMs: back + 1 })).toBe('too_many_sends');
  });

  test('a send that was held back on its way begins no other minute', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const add = sender(store, id, { sendsPerMinuteMax: 2 });
    for (let n = 0; n < 2; n++) expect(await add()).toHaveProperty('id');
    for (const heldMs of [1, 15_000, MINUTE_MS - 1]) {
      expect(await add({ createdAtMs: NOW_MS - heldMs })).toBe('too_many_sends');
    }
    expect(await add({ createdAtMs: NOW_MS + 1 })).toBe('too_many_sends');
  });

  test('with none allowed, none', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    expect(await sender(store, id, { sendsPerMinuteMax: 0 })()).toBe('too_many_sends');
    expect(await sender(store, id, { keptBytesMax: 0 })()).toBe('kept_bytes_full');
    expect(await sender(store, id, { ledgerRowsMax: 0 })()).toBe('ledger_full');
    expect(await store.listDistributions(id, ALL)).toEqual([]);
  });

  test('a refusal uses up neither the minute nor the five minutes', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const general = { ...within({ keptBytesMax: 0 }), generalIntervalMs: 300_000 };
    expect(await store.addDistribution(draft(id), general, ACT)).toBe('kept_bytes_full');
    const now = { ...within({ sendsPerMinuteMax: 1 }), generalIntervalMs: 300_000 };
    expect(await store.addDistribution(draft(id), now, ACT)).toHaveProperty('id');
    // The rule of the contract is told before the operator's.
    expect(await store.addDistribution(draft(id), now, ACT)).toBe('general_too_soon');
  });

  test('bytes are kept up to the bound, to the byte: what is said, HWIDs, and some for each', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const { id: other } = await addProvider(store, 'Provide2');
    const one = { payload: '{"body":"über"}', ...to('ab', 'c') };
    const bytes = WIDE.bytesEach + Buffer.byteLength(one.payload) + 'ab,c'.length;
    const add = sender(store, id, { keptBytesMax: 2 * bytes });
    expect(await sender(store, id, { keptBytesMax: bytes - 1 })(one)).toBe('kept_bytes_full');
    expect(await add(one)).toHaveProperty('id');
    expect(await add({ ...one, payload: `${one.payload} ` })).toBe('kept_bytes_full');
    expect(await add(one)).toHaveProperty('id');
    expect(await add(one)).toBe('kept_bytes_full');
    expect(await sender(store, other, { keptBytesMax: bytes })(one)).toHaveProperty('id');
  });

  test('bytes and recipients are free again when the ledger is pruned', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    await knock(store, 'a');
    await deliver(store, providerId);
    const payload = draft(providerId).payload;
    const full = { keptBytesMax: WIDE.bytesEach + payload.length, ledgerRowsMax: 1 };
    const wide = { ...full, keptBytesMax: WIDE.keptBytesMax };
    expect(await sender(store, providerId, full)()).toBe('kept_bytes_full');
    expect(await sender(store, providerId, wide)()).toBe('ledger_full');
    await store.pruneLedger(EXPIRES_MS, EXPIRES_MS, null);
    expect(await sender(store, providerId, full)()).toHaveProperty('id');
    expect(await store.forgetDistributions(EXPIRES_MS)).toBe(true);
    expect(await sender(store, providerId, full)()).toBe('kept_bytes_full');
  });

  test('whoever takes up a send is told how many recipients the provider has', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    await knock(store, 'a');
    await knock(store, 'b');
    await deliver(store, providerId);
    await bringTo(store, await send(store, providerId), 20);
    const [work] = await store.claimWork({ owner: 'one', nowMs: NOW_MS, leaseMs: 5_000 });
    expect(work?.ledgerCount).toBe(2);
  });
};
