/**
 * The meaning of the port `Store`: every method, its refusals, and that it happens whole or not at
 * all. A store is finished when it passes every part. Each part has a test file in
 * `test/store/contract/`, so that the parts run side by side.
 *
 *   bun test ./test/store/contract
 *   TEST_STORE=postgres bun test ./test/store/contract/outbox.test.ts
 */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Store } from '../../src/core/port/store.ts';
import { CONNECTIONS, STORE } from '../support/place.ts';
import { accountContract } from './contract/account.ts';
import { auditContract } from './contract/audit.ts';
import { botContract } from './contract/bot.ts';
import { browserContract } from './contract/browser.ts';
import { changeContract } from './contract/change.ts';
import { countContract } from './contract/count.ts';
import { cutListContract } from './contract/cut-list.ts';
import { cutOffContract } from './contract/cut-off.ts';
import { deliveryContract } from './contract/delivery.ts';
import { deviceContract } from './contract/device.ts';
import { deviceMixContract } from './contract/device-mix.ts';
import { deviceSearchContract } from './contract/device-search.ts';
import { discoveryContract } from './contract/discovery.ts';
import { distributionContract } from './contract/distribution.ts';
import { domainContract } from './contract/domain.ts';
import { endedContract } from './contract/ended.ts';
import { eventContract } from './contract/event.ts';
import { figureContract } from './contract/figure.ts';
import { fillContract } from './contract/fill.ts';
import { firstPhoneContract } from './contract/first-phone.ts';
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
import { followContract } from './contract/follow.ts';
import { glanceContract } from './contract/glance.ts';
import { happeningContract } from './contract/happening.ts';
import { healthContract } from './contract/health.ts';
import { heldByHashContract } from './contract/held-by-hash.ts';
import { idempotencyContract } from './contract/idempotency.ts';
import { importContract } from './contract/import.ts';
import { panelContract } from './contract/import-panel.ts';
import { panelUserContract } from './contract/import-panel-user.ts';
import { importTogetherContract } from './contract/import-together.ts';
import { inboxContract } from './contract/inbox.ts';
import { jobContract } from './contract/job.ts';
import { keepingContract } from './contract/keeping.ts';
import { laneContract } from './contract/lane.ts';
import { ledgerContract } from './contract/ledger.ts';
import { linkContract } from './contract/link.ts';
import { linkEndContract } from './contract/link-end.ts';
import { linkJoinContract } from './contract/link-join.ts';
import { linkTieContract } from './contract/link-tie.ts';
import { linkViewContract } from './contract/link-view.ts';
import { messageContract } from './contract/message.ts';
import { myContract } from './contract/my.ts';
import { namedContract } from './contract/named.ts';
import { namedHwidContract } from './contract/named-hwid.ts';
import { nodeContract } from './contract/node.ts';
import { openContractStore } from './contract/open.ts';
import { operatorContract } from './contract/operator.ts';
import { outboxContract } from './contract/outbox.ts';
import { panelTieContract } from './contract/panel-tie.ts';
import { partyContract } from './contract/party.ts';
import { copiedHwidContract, phoneContract } from './contract/phone.ts';
import { providerContract } from './contract/provider.ts';
import { pushingSuite } from './contract/pushing.ts';
import { makeCalls, RACERS, type Race } from './contract/race.ts';
import { RACES } from './contract/races.ts';
import { receiptContract } from './contract/receipt.ts';
import { recipientContract } from './contract/recipient.ts';
import { refusedContract } from './contract/refused.ts';
import { registrationContract } from './contract/registration.ts';
import { remindContract } from './contract/remind.ts';
import { reminderContract } from './contract/reminder.ts';
import { remindingContract } from './contract/reminding.ts';
import { rideContract } from './contract/ride.ts';
import { samePhoneContract } from './contract/same-phone.ts';
import { segmentContract } from './contract/segment.ts';
import { sessionContract } from './contract/session.ts';
import { sightingContract } from './contract/sighting.ts';
import { slotContract } from './contract/slot.ts';
import { subscriptionFiguresContract } from './contract/subscription-figures.ts';
import { targetContract } from './contract/target.ts';
import { timeContract } from './contract/time.ts';
import { upkeepContract } from './contract/upkeep.ts';
import { upstreamContract } from './contract/upstream.ts';
import { watchContract } from './contract/watch.ts';
import { webhookContract } from './contract/webhook.ts';

const { sendRecipients, ...loading } = recipientContract;

/** The suites of the methods, by part. */
export const PARTS = {
  provider: {
    ...providerContract,
    ...partyContract,
    ...countContract,
    ...figureContract,
    ...refusedContract,
    ...sightingContract,
  },
  link: {
    ...linkContract,
    ...slotContract,
    ...phoneContract,
    ...linkViewContract,
    ...linkEndContract,
    ...linkJoinContract,
    ...linkTieContract,
    ...namedHwidContract,
    ...cutOffContract,
    ...cutListContract,
    ...subscriptionFiguresContract,
    ...fillContract,
    ...domainContract,
    ...idempotencyContract,
    ...myContract,
    ...browserContract,
  },
  account: {
    ...accountContract,
    ...botContract,
    ...reminderContract,
    ...sessionContract,
    ...upstreamContract,
    ...upkeepContract,
  },
  job: { ...jobContract, ...deviceMixContract, ...deviceSearchContract },
  change: changeContract,
  device: {
    ...deviceContract,
    ...targetContract,
    ...segmentContract,
    ...registrationContract,
    ...discoveryContract,
  },
  move: {
    ...importContract,
    ...panelTieContract,
    ...followContract,
    listPanelLinks: panelContract,
    findPanelFacts: panelUserContract,
  },
  audit: { ...auditContract, ...operatorContract },
  node: { ...nodeContract, ...healthContract, ...watchContract, ...timeContract },
  distribution: { ...distributionContract, ...laneContract, ...namedContract },
  delivery: { ...deliveryContract, ...rideContract },
  recipient: loading,
  // Of sendRecipients too, with gateways: half a minute on PostgreSQL if it were in one file.
  pushing: {},
  serving: { sendRecipients, ...receiptContract, ...messageContract },
  inbox: {
    ...inboxContract,
    ...endedContract,
    ...glanceContract,
    ...ledgerContract,
    ...keepingContract,
  },
  outbox: outboxContract,
  event: { ...eventContract, ...webhookContract },
  reminding: { ...remindingContract, ...remindContract },
};
type Part = keyof typeof PARTS;

/** The suite of each method: a method without one does not compile. */
export const SUITES: Record<keyof Store, Suite> = {
  ...PARTS.account,
  ...PARTS.job,
  ...PARTS.change,
  ...PARTS.provider,
  ...PARTS.link,
  ...PARTS.device,
  ...PARTS.move,
  ...PARTS.audit,
  ...PARTS.node,
  ...PARTS.distribution,
  ...PARTS.delivery,
  ...PARTS.recipient,
  ...PARTS.serving,
  ...PARTS.inbox,
  ...PARTS.outbox,
  ...PARTS.event,
  ...PARTS.reminding,
};

/** What a part shows beside its methods. */
const MORE: Partial<Record<Part, Suite>> = {
  link: (opened) => {
    visibleContract(opened);
    describe('the same phone', () => samePhoneContract(opened));
    describe('a copied HWID', () => copiedHwidContract(opened));
    describe('a HWID on several links', () => firstPhoneContract(opened));
  },
  move: (opened) => {
    describe('links that move in at once', () => importTogetherContract(opened));
    describe('a slot held by a hash', () => heldByHashContract(opened));
  },
  pushing: (opened) => describe('sendRecipients to gateways', () => pushingSuite(opened)),
  event: (opened) => describe('events', () => happeningContract(opened)),
};

/** Parts that show what a store keeps in its own memory: who it is, and what it will save. */
const IN_MEMORY: ReadonlySet<Part> = new Set(['delivery', 'node', 'provider', 'serving']);

/** Tests one part of the contract on the kind of store that `TEST_STORE` names. */
export function storeContract(part: Part): void {
  const suites: [string, Suite][] = Object.entries(PARTS[part]);
  onStore(
    part,
    (opened) => {
      for (const [method, suite] of suites) describe(method, () => suite(opened));
      MORE[part]?.(opened);
    },
    { mayRest: !IN_MEMORY.has(part) },
  );
}

/** Tests the races of the contract, whose racers are as `how` says. */
export function raceContract(how: 'connections' | 'processes'): void {
  const suite: Suite = (opened) => {
    test.each(Object.entries(RACES))('%s', (name, race) => runRace(opened(), name, race, how));
  };
  onStore(`races over three ${how}`, suite, { connections: CONNECTIONS, mayRest: true });
}

/** Runs tests on an empty store each. */
function onStore(
  part: string,
  suite: Suite,
  { connections, mayRest }: { connections?: number; mayRest: boolean },
): void {
  describe(`the ${STORE === 'sqlite' ? 'SQLite' : 'PostgreSQL'} store, ${part}`, () => {
    let opened: OpenedStore;
    beforeEach(async () => {
      CLOCK.set(NOW_MS);
      opened = await openContractStore(connections, mayRest);
    });
    afterEach(() => opened.close());
    suite(() => opened);
  });
}

/** Lets every racer make its share of the calls; checks the answers in the order of the calls. */
async function runRace(
  { store, openBeside, race: raceOfProcesses }: OpenedStore,
  name: string,
  race: Race,
  how: 'connections' | 'processes',
): Promise<void> {
  const given = await race.given(store);
  const numbers = Array.from({ length: race.callCount }, (_, n) => n);
  const shares = Array.from({ length: RACERS }, (_, racer) =>
    numbers.filter((n) => n % RACERS === racer),
  );
  const byRacer = how === 'processes' ? await overProcesses() : await overConnections();
  const answers = numbers.map((n) => byRacer[n % RACERS]?.[Math.floor(n / RACERS)]);
  await race.check(store, given, answers);

  function overProcesses(): Promise<unknown[][]> {
    return raceOfProcesses(shares.map((calls) => ({ race: name, given, calls })));
  }

  async function overConnections(): Promise<unknown[][]> {
    const beside = await Promise.all(shares.slice(1).map(openBeside));
    const stores = [store, ...beside];
    return Promise.all(
      stores.map((each, racer) => makeCalls(race, each, given, shares[racer] ?? [])),
    );
  }
}

function visibleContract(opened: () => OpenedStore): void {
  test('a committed change is visible to every connection at once', async () => {
    const { store, openBeside } = opened();
    const beside = await openBeside();
    const { providerId } = await addDoor(store);
    await knock(store, 'a');
    expect(await beside.listLinksOf(providerId, ALL)).toMatchObject([{ deviceCount: 1 }]);
    await knock(beside, 'b');
    expect(await store.listLinksOf(providerId, ALL)).toMatchObject([{ deviceCount: 2 }]);
  });

  test('an id is never used twice', async () => {
    const { store } = opened();
    const { providerId, installId } = await addDoor(store);
    await removeProvider(store, 'Provide1');
    const again = await addDoor(store);
    expect(again.providerId).toBeGreaterThan(providerId);
    expect(again.installId).toBeGreaterThan(installId);
    await addLink(store, again.providerId, { installCode: 'LinkCode0009' });
  });
}
