/** What processes do to the outbox at the same time. */

import { expect } from 'bun:test';
import { type Destination, PUSH_SERVICES_MAX } from '../../../src/core/port/outbox.ts';
import { PUSH_GATEWAYS, type PushAddress } from '../../../src/core/port/registration.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { addDoor, NOW_MS } from './fixture.ts';
import {
  bringTo,
  fillBinding,
  lease,
  onBinding,
  registration,
  send,
  tokenHash,
  WAITING_MAX,
} from './message-fixture.ts';
import { claimOne, countsOf, dueAt, fcm, hold, serve, WELL, webpush } from './outbox-fixture.ts';
import type { Given, Race } from './race.ts';

const DEVICES = 24;
const idOf = (given: Given, name: string) => given[name] ?? 0;

/** Devices with an address each, of one gateway or of a push service of their own. */
async function devices(store: Store, addressOf: (n: number) => PushAddress) {
  const { providerId } = await addDoor(store);
  await fillBinding(store, { count: DEVICES });
  for (let n = 0; n < DEVICES; n++) {
    const more = { shown: onBinding(), push: addressOf(n), tokenHash: tokenHash(`device ${n}`) };
    await store.registerDevice(registration(`device-${n}`, more));
  }
  return providerId;
}

export const OUTBOX_RACES: Readonly<Record<string, Race>> = {
  'a destination is held by one': {
    callCount: 3 * DEVICES,
    async given(store) {
      const providerId = await devices(store, (n) => webpush(`https://push-${n}.example/`));
      const { id } = await serve(store, providerId);
      return { id };
    },
    call: (store, _given, n) =>
      store.claimDestinations(hold(`worker ${n}`), PUSH_GATEWAYS, 1, PUSH_SERVICES_MAX, []),
    async check(_store, _given, answers) {
      const ids = (answers as Destination[][]).flat().map(({ id }) => id);
      expect(ids).toHaveLength(DEVICES);
      expect(new Set(ids).size).toBe(DEVICES);
    },
  },

  'a push is counted once, whoever settles it': {
    callCount: 12,
    async given(store) {
      const { id } = await serve(store, await devices(store, (n) => fcm(`token ${n}`)));
      return { id, destinationId: (await claimOne(store)).id };
    },
    async call(store, given, n) {
      const destinationId = idOf(given, 'destinationId');
      const due = await dueAt(store, destinationId);
      const settlements = due.map(({ id }) =>
        n % 2 === 0
          ? ({ id, outcome: 'accepted' } as const)
          : ({ id, outcome: 'failed', problem: 'wrong' } as const),
      );
      return store.settleDispatches({ ...hold('one'), destinationId }, settlements, WELL, null);
    },
    async check(store, given, answers) {
      expect(answers).toEqual(answers.map(() => true));
      const [status, recipients, sent = 0, failed = 0] = await countsOf(store, idOf(given, 'id'));
      expect([100, 110, 120]).toContain(status ?? 0);
      expect([recipients, sent + failed]).toEqual([DEVICES, DEVICES]);
      const [total] = await store.readOutboxTotals();
      expect(total?.waitingCount).toBe(0);
    },
  },

  'a message is put in once for each, whoever hands it over': {
    callCount: 12,
    async given(store) {
      const providerId = await devices(store, (n) => fcm(`token ${n}`));
      const id = await send(store, providerId);
      await bringTo(store, id, 40);
      return { id };
    },
    call: (store, given) =>
      store.sendRecipients(lease(idOf(given, 'id')), WAITING_MAX, PUSH_GATEWAYS),
    async check(store, given, answers) {
      expect(answers.filter((answer) => answer !== null)).toMatchObject([
        { outcome: { isHandedOver: true } },
      ]);
      expect(await countsOf(store, idOf(given, 'id'))).toEqual([40, DEVICES, 0, 0]);
      expect(await store.readOutboxTotals()).toMatchObject([
        { waitingCount: DEVICES, oldestQueuedAtMs: NOW_MS },
      ]);
    },
  },
};
