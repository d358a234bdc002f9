/**
 * The meaning of the port `Store`: every method, its refusals, and that it happens whole or not at
 * all. A second store is finished when it passes.
 */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Store } from '../../src/core/port/store.ts';
import { auditContract } from './contract/audit.ts';
import { countContract } from './contract/count.ts';
import { deliveryContract } from './contract/delivery.ts';
import { deviceContract } from './contract/device.ts';
import { distributionContract } from './contract/distribution.ts';
import { domainContract } from './contract/domain.ts';
import { eventContract } from './contract/event.ts';
import { figureContract } from './contract/figure.ts';
import {
  ALL,
  addDoor,
  addLink,
  CLOCK,
  knock,
  NOW_MS,
  type OpenedStore,
  removeProvider,
  type Suite,
} from './contract/fixture.ts';
import { happeningContract } from './contract/happening.ts';
import { healthContract } from './contract/health.ts';
import { importContract } from './contract/import.ts';
import { importTogetherContract } from './contract/import-together.ts';
import { inboxContract } from './contract/inbox.ts';
import { installContract } from './contract/install.ts';
import { keepingContract } from './contract/keeping.ts';
import { laneContract } from './contract/lane.ts';
import { ledgerContract } from './contract/ledger.ts';
import { linkContract } from './contract/link.ts';
import { namedContract } from './contract/named.ts';
import { nodeContract } from './contract/node.ts';
import { operatorContract } from './contract/operator.ts';
import { outboxContract } from './contract/outbox.ts';
import { partyContract } from './contract/party.ts';
import { providerContract } from './contract/provider.ts';
import { type Given, makeCalls, RACERS, type Race } from './contract/race.ts';
import { RACES } from './contract/races.ts';
import { recipientContract } from './contract/recipient.ts';
import { registrationContract } from './contract/registration.ts';
import { slotContract } from './contract/slot.ts';
import { targetContract } from './contract/target.ts';
import { watchContract } from './contract/watch.ts';
import { webhookContract } from './contract/webhook.ts';

/** A method without a suite does not compile. */
const SUITES: Record<keyof Store, Suite> = {
  ...providerContract,
  ...outboxContract,
  ...eventContract,
  ...webhookContract,
  ...installContract,
  ...slotContract,
  ...linkContract,
  ...domainContract,
  ...deviceContract,
  ...targetContract,
  ...distributionContract,
  ...operatorContract,
  ...laneContract,
  ...namedContract,
  ...deliveryContract,
  ...recipientContract,
  ...ledgerContract,
  ...keepingContract,
  ...registrationContract,
  ...inboxContract,
  ...auditContract,
  ...healthContract,
  ...importContract,
  ...countContract,
  ...figureContract,
  ...watchContract,
  ...nodeContract,
  ...partyContract,
};

export function storeContract(name: string, open: () => Promise<OpenedStore>): void {
  describe(name, () => {
    let opened: OpenedStore;
    beforeEach(async () => {
      CLOCK.set(NOW_MS);
      opened = await open();
    });
    afterEach(() => opened.close());

    for (const [method, suite] of Object.entries(SUITES)) {
      describe(method, () => suite(() => opened));
    }

    describe('events', () => happeningContract(() => opened));

    describe('links that move in at once', () => importTogetherContract(() => opened));

    describe('a race', () => {
      const racers = Array.from({ length: RACERS }, (_, racer) => racer);
      const all = Object.entries(RACES);
      /** Has every racer make its share, and judges the answers by call. */
      async function run(
        race: Race,
        answersOf: (given: Given, shares: number[][]) => Promise<unknown[][]>,
      ): Promise<void> {
        const { store } = opened;
        const given = await race.given(store);
        const numbers = Array.from({ length: race.callCount }, (_, n) => n);
        const shares = racers.map((racer) => numbers.filter((n) => n % RACERS === racer));
        const told = await answersOf(given, shares);
        const answers = numbers.map((n) => told[n % RACERS]?.[Math.floor(n / RACERS)]);
        await race.check(store, given, answers);
      }

      test.each(all)('%s, over three connections', (_, race) =>
        run(race, async (given, shares) => {
          const beside = racers.slice(1).map(opened.openBeside);
          const stores = [opened.store, ...(await Promise.all(beside))];
          return Promise.all(
            stores.map((store, racer) => makeCalls(race, store, given, shares[racer] ?? [])),
          );
        }),
      );

      test.each(all)('%s, over three processes', (name, race) =>
        run(race, (given, shares) =>
          opened.race(shares.map((calls) => ({ race: name, given, calls }))),
        ),
      );
    });

    test('what is answered is there for everybody at once', async () => {
      const { store, openBeside } = opened;
      const beside = await openBeside();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      expect(await beside.listInstalls(providerId, ALL)).toMatchObject([{ deviceCount: 1 }]);
      await knock(beside, 'b');
      expect(await store.listInstalls(providerId, ALL)).toMatchObject([{ deviceCount: 2 }]);
    });

    test('ids are never given twice', async () => {
      const { store } = opened;
      const { providerId, installId } = await addDoor(store);
      await removeProvider(store, 'Provide1');
      const again = await addDoor(store);
      expect(again.providerId).toBeGreaterThan(providerId);
      expect(again.installId).toBeGreaterThan(installId);
      await addLink(store, again.providerId, { installCode: 'LinkCode0009' });
    });
  });
}
