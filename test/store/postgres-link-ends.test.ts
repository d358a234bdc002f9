/** Ends of links on PostgreSQL, at the same time as what other callers do with those links. */

import { expect, test } from 'bun:test';
import { SQL } from 'bun';
import type { Store } from '../../src/core/port/store.ts';
import { ACT } from '../support/actor.ts';
import { describePostgres } from '../support/needs.ts';
import { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import {
  addDoor,
  addLink,
  addProvider,
  CODE,
  FACTS,
  knock,
  linkDraft,
  NOW_MS,
  OTHER_CODE,
} from './contract/fixture.ts';
import { onLink, register } from './contract/message-fixture.ts';
import { hold, WELL } from './contract/outbox-fixture.ts';
import { addWebhook, webhookOf } from './contract/webhook.ts';
import { useNodes } from './two-nodes.ts';

const KEY = 'c'.repeat(64);

describePostgres('ends of links on PostgreSQL', () => {
  const at = useNodes();

  /** Waits until so many calls wait for locks, or one of these is done. */
  async function waiting(count: number, ...calls: Promise<unknown>[]): Promise<void> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    for (const call of calls) call.then(done, done);
    await until('the other call waits', async () => {
      const [row] = await at.database.sql.unsafe(`
        SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = '${at.database.name}' AND wait_event_type = 'Lock'`);
      return isDone || row.count >= count;
    });
  }

  /** Runs a transaction around `meanwhile`: it commits once that waits for a lock or is done. */
  async function during<T>(
    providerId: number,
    statements: readonly string[],
    meanwhile: () => Promise<T>,
  ): Promise<T> {
    const other = new SQL(at.database.url, { max: 1 });
    try {
      const { promise, resolve } = Promise.withResolvers<Promise<T>>();
      await other.begin(async (on) => {
        await on.unsafe(`SELECT id FROM provider WHERE id = ${providerId} FOR NO KEY UPDATE`);
        for (const statement of statements) await on.unsafe(statement);
        const called = meanwhile();
        resolve(called);
        await waiting(1, called);
      });
      return await await promise;
    } finally {
      await other.close();
    }
  }

  /** The statements of a removal. */
  const removal = (installId: number) => [
    `INSERT INTO install_tombstone (provider_id, install_code, subscription_key_hash,
       ended_at_ms, why)
     SELECT provider_id, install_code, subscription_key_hash, ${NOW_MS}, 'removed'
     FROM install WHERE id = ${installId}`,
    `DELETE FROM install WHERE id = ${installId}`,
  ];

  test('a link that is added while one with its code is removed is not added', async () => {
    const { store } = at;
    const { id: providerId } = await addProvider(store, 'Provide1');
    const installId = await addLink(store, providerId);
    const again = () => store.addLink(linkDraft(providerId), ACT);
    expect(await during(providerId, removal(installId), again)).toBe('install_code_ended');
    expect(await store.findLink(CODE)).toBeNull();
  });

  test('nor is one with its key', async () => {
    const { store } = at;
    const { id: providerId } = await addProvider(store, 'Provide1');
    const installId = await addLink(store, providerId, { subscriptionKeyHash: KEY });
    const draft = linkDraft(providerId, { installCode: OTHER_CODE, subscriptionKeyHash: KEY });
    expect(await during(providerId, removal(installId), () => store.addLink(draft, ACT))).toBe(
      'subscription_key_ended',
    );
    expect(await store.findLink(OTHER_CODE)).toBeNull();
  });

  test('nor is one of another provider with its code', async () => {
    const { store } = at;
    const { id: providerId } = await addProvider(store, 'Provide1');
    const { id: otherId } = await addProvider(store, 'Provide2');
    const installId = await addLink(store, providerId);
    const draft = linkDraft(otherId);
    expect(await during(providerId, removal(installId), () => store.addLink(draft, ACT))).toBe(
      'install_code_exists',
    );
    expect(await store.findLink(CODE)).toBeNull();
  });

  test('a device that asks with the old code while it is revoked is refused', async () => {
    const { store } = at;
    const { installId, providerId } = await addDoor(store);
    await knock(store, 'known');
    const revoke = `
      UPDATE install SET install_code = '${OTHER_CODE}' WHERE id = ${installId}`;
    const both = () => Promise.all([knock(store, 'known'), knock(store, 'new')]);
    expect(await during(providerId, [revoke], both)).toEqual(['link_not_found', 'link_not_found']);
    expect(await store.findLinkById(installId)).toMatchObject({ deviceCount: 1 });
  });

  test('a rule that changed before the lock of its link was had keeps the order of locks', async () => {
    const { open, store } = at;
    const beside = await open();
    const { installId, providerId } = await addDoor(store);
    await knock(store, 'known');
    const other = new SQL(at.database.url, { max: 1 });
    const calls: Promise<unknown>[] = [];
    await other.begin(async (on) => {
      await on.unsafe(`
        UPDATE install SET install_limit = 1, when_full = 'replace-oldest'
        WHERE id = ${installId}`);
      // It read that nothing is replaced. The change holds the provider, and is given the link
      // after it.
      calls.push(register(store, 'new', onLink()));
      await waiting(1, ...calls);
      calls.push(beside.updateLink(providerId, installId, { note: 'changed' }, ACT));
      await waiting(2, ...calls);
    });
    await other.close();
    await Promise.all(calls);
    expect(await store.findLinkById(installId)).toMatchObject({ deviceCount: 1, note: 'changed' });
    // None was ended by the database: see two-nodes.ts.
  });

  test('the end of a webhook is told to the others in the order of locks', async () => {
    const { open, store } = at;
    const beside = await open();
    const { providerId, installId } = await addDoor(store);
    await addWebhook(store, providerId);
    const ending = await addWebhook(store, providerId);
    await knock(store, 'known');
    const held = await store.claimDestinations(hold(), ['webhook'], 9, 9, []);
    const [first = 0, second = 0] = held.map(({ id }) => id).sort((a, b) => a - b);
    const other = new SQL(at.database.url, { max: 1 });
    const calls: Promise<unknown>[] = [];
    await other.begin(async (on) => {
      await on.unsafe(`SELECT id FROM destination WHERE id = ${first} FOR NO KEY UPDATE`);
      // Its event is for both webhooks.
      calls.push(store.removeLink(providerId, installId, ACT));
      await waiting(1, ...calls);
      const lease = { ...hold(), destinationId: second };
      calls.push(beside.settleDispatches(lease, [], WELL, 'it answered 410'));
      await waiting(2, ...calls);
    });
    await other.close();
    await Promise.all(calls);
    expect((await webhookOf(store, ending)).disabled?.why).toBe('it answered 410');
  });

  test('ends, refusals and entries at two nodes never deadlock', async () => {
    const { open, store } = at;
    const random = new Random(7);
    const { providerId } = await addDoor(store);
    await store.updateProvider('Provide1', { enforce: 0 }, ACT);
    const pair = [store, await open()];
    const links: { id: number; code: string }[] = [];
    let made = 0;
    const make = async (node: Store) => {
      made += 1;
      const code = `Ending${String(made).padStart(6, '0')}`;
      const added = await node.addLink(
        linkDraft(providerId, { installCode: code, installLimit: 2, installCountMax: 1000 }),
        ACT,
      );
      if (typeof added === 'object') links.push({ id: added.id, code });
    };
    for (let n = 0; n < 4; n++) await make(store);
    const hwids = Array.from({ length: 10 }, (_, n) => `hwid-${n}`);
    type Link = { id: number; code: string };
    const calls: ((node: Store, hwid: string, link: Link) => Promise<unknown>)[] = [
      (node, hwid, link) => knock(node, hwid, link.code),
      (node, hwid, link) => knock(node, hwid, link.code),
      (node, hwid, link) => knock(node, hwid, link.code, FACTS, NOW_MS + 3 * 86_400_000),
      (node, hwid, link) => register(node, hwid, onLink(link.code)).catch((fault) => fault),
      (node, _, link) => node.freeSlots(providerId, link.id, ACT),
      async (node, _, link) => {
        made += 1;
        const code = `Revoke${String(made).padStart(6, '0')}`;
        const done = await node.revokeLink(providerId, link.id, code, ACT);
        if (typeof done === 'object') link.code = code;
      },
      async (node, _, link) => {
        await node.removeLink(providerId, link.id, ACT);
        const at = links.indexOf(link);
        if (at >= 0) links.splice(at, 1);
        await make(node);
      },
      async (node, hwid, link) => {
        const of = { installId: link.id, providerId };
        const device = { hwid, deviceName: 'x', os: 'y' };
        node.countRefusal(of, 'link_limit_reached', NOW_MS, device);
        await node.saveFigures();
      },
      (node, hwid) => node.forgetDevice(hwid, ACT),
      (node) => node.updateProvider('Provide1', { enforce: random.int(0, 1) as 0 | 1 }, ACT),
      (node) =>
        node.updateProvider('Provide1', { whenFull: 'replace-oldest', coolDownHours: 1 }, ACT),
      (node) => node.forgetTombstones(NOW_MS + 1),
      (node) => node.forgetRefused(NOW_MS + 1),
      (node) => node.forgetSlotEnds(NOW_MS + 1),
      (node, _, link) => node.updateLink(providerId, link.id, { installLimit: 5 }, ACT),
    ];
    const caller = async (node: Store) => {
      for (let i = 0; i < 60; i++) {
        const link = links.length > 0 ? random.pick(links) : { id: 999, code: CODE };
        await random.pick(calls)(node, random.pick(hwids), link);
      }
    };
    await Promise.all(pair.flatMap((node) => Array.from({ length: 6 }, () => caller(node))));
  });
});
