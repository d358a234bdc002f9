/** Messages by filter, through the core: of any size, over crashes, within the bounds of sends. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { ANY_DEVICE, SEARCHED_HWIDS_MAX } from '../../../src/core/device-search.ts';
import {
  deliver,
  deliverUntil,
  type Engine,
  HOUR_MS,
  inboxOf,
  ledgerOf,
  makeDevices,
  makeProvider,
  notify,
  openEngine,
  putOnLinks,
} from '../../support/delivery.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
});
afterEach(() => engine.close());

const to = (more: Partial<typeof ANY_DEVICE> = {}) => ({
  targets: { segment: { ...ANY_DEVICE, ...more } },
});
const hwids = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, n) => `${prefix}-${n}`);

test('3,000 devices of two systems, each once, after a crash; a later message waits', async () => {
  const provider = await makeProvider(engine);
  const phones = makeDevices(engine, hwids(2_000, 'phone'));
  const desks = makeDevices(engine, hwids(1_000, 'desk'), 'windows');
  putOnLinks(engine, provider, [...phones, ...desks], 100);
  const all = await notify(engine, provider, to());
  const later = await notify(engine, provider, { targets: { hwids: ['desk-7'] } });
  await deliverUntil(engine, all, 5, 'lost');
  engine.clock.advance(HOUR_MS);
  await deliver(engine);
  const counts = { recipientCount: 3_000, sent: 3_000 };
  expect(await ledgerOf(engine, all)).toMatchObject({ status: 100, ...counts });
  expect(await inboxOf(engine, desks[7] ?? 0)).toEqual([all, later]);
  expect(await inboxOf(engine, phones.at(-1) ?? 0)).toEqual([all]);
});

test('to as many as named lists hold it is no general notification, to one more it is', async () => {
  const provider = await makeProvider(engine);
  const phones = makeDevices(engine, hwids(SEARCHED_HWIDS_MAX, 'phone'));
  putOnLinks(engine, provider, phones, 100);
  const isGeneral = async () => {
    await notify(engine, provider, to());
    const row = engine.db.query('SELECT last_general_at_ms AS atMs FROM provider').get();
    return (row as { atMs: number | null }).atMs !== null;
  };
  expect(await isGeneral()).toBe(false);
  putOnLinks(engine, provider, makeDevices(engine, ['one-more']));
  expect(await isGeneral()).toBe(true);
});

test('a scheduled one may find nobody yet; one at once may not', async () => {
  const provider = await makeProvider(engine);
  const nobody = to({ os: 'ios' });
  expect(notify(engine, provider, nobody)).rejects.toThrow('no_devices_found');
  const id = await notify(engine, provider, { ...nobody, dueInMs: 2 * HOUR_MS });
  const [late = 0] = makeDevices(engine, ['late'], 'ios');
  putOnLinks(engine, provider, [late]);
  engine.clock.advance(2 * HOUR_MS);
  await deliver(engine);
  expect(await inboxOf(engine, late)).toEqual([id]);
});
