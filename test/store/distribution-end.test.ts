/** Each end of a distribution is told of, once it is on disk, whoever ends it. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { CANCELLED, FAILED, SENT, SENT_WITH_ERRORS } from '../../src/core/message/status.ts';
import type { Store } from '../../src/core/port/store.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ACT } from '../support/actor.ts';
import { freshFolder } from '../support/app.ts';
import { addDoor, CLOCK, NOW_MS } from './contract/fixture.ts';
import { at, deliver, EXPIRES_MS, send } from './contract/message-fixture.ts';
import {
  ACCEPTED,
  claimOne,
  dueAt,
  failedFor,
  fcm,
  registerAt,
  serve,
  settle,
} from './contract/outbox-fixture.ts';

let dataDir: string;
let store: Store;
let ends: number[];
let providerId: number;
beforeEach(async () => {
  CLOCK.set(NOW_MS);
  ends = [];
  dataDir = freshFolder();
  const onDistributionEnd = (status: number) => void ends.push(status);
  const options = { dataDir, create: true, commitBatchMax: 9, clock: CLOCK, onDistributionEnd };
  store = await openSqliteStore(options);
  ({ providerId } = await addDoor(store));
});
afterEach(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

test('by a worker, and by whoever cancels or blocks it', async () => {
  await deliver(store, providerId);
  expect(ends).toEqual([SENT]);
  const id = await send(store, providerId, at(NOW_MS + 60_000));
  expect(ends).toEqual([SENT]);
  const guard = { from: [10], dueFromMs: NOW_MS, nowMs: NOW_MS };
  await store.cancelDistribution(providerId, id, guard, ACT);
  await store.cancelDistribution(providerId, id, guard, ACT);
  expect(ends).toEqual([SENT, CANCELLED]);
});

test('by gateways, by a device that fetches it, and by time', async () => {
  const a = await registerAt(store, 'a', fcm('token a'));
  await registerAt(store, 'b', fcm('token b'));
  await serve(store, providerId);
  const { id: destinationId } = await claimOne(store);
  const [first = { id: 0 }, second = { id: 0 }] = await dueAt(store, destinationId);
  await settle(store, destinationId, [first], ACCEPTED);
  expect(ends).toEqual([]);
  await settle(store, destinationId, [second], failedFor('wrong'));
  await settle(store, destinationId, [second], failedFor('wrong'));
  expect(ends).toEqual([SENT_WITH_ERRORS]);

  const { id } = await serve(store, providerId, { targetOs: null, targetHwid: 'a' });
  await store.acknowledge(a, [{ id, state: 'received', detail: null }], NOW_MS);
  await serve(store, providerId, { targetOs: null, targetHwid: 'b' });
  expect(ends).toEqual([SENT_WITH_ERRORS, SENT]);
  await store.endHandedOver(EXPIRES_MS);
  expect(ends).toEqual([SENT_WITH_ERRORS, SENT, FAILED]);
});
