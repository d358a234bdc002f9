/** Links and slots on PostgreSQL: what goes together in one statement, and who waits for whom. */

import { expect, test } from 'bun:test';
import type { Act, Actor } from '../../src/core/port/audit.ts';
import type { Store } from '../../src/core/port/store.ts';
import { USUAL_WEBHOOK } from '../../src/core/webhook-fields.ts';
import { ACT } from '../support/actor.ts';
import { auditEntries } from '../support/audit.ts';
import { describePostgres } from '../support/needs.ts';
import { Random } from '../support/random.ts';
import {
  ALL,
  addDoor,
  addLink,
  addProvider,
  bind,
  CODE,
  FACTS,
  HASH,
  knock,
  linkDraft,
  NOW_MS,
  OTHER_CODE,
  OTHER_HASH,
} from './contract/fixture.ts';
import { useNodes } from './two-nodes.ts';

// Two nodes on a machine that others keep busy.

const POLICY = { inactiveDays: 1, whenFull: 'replace-oldest', coolDownHours: 5 } as const;
const KEY = 'c'.repeat(64);

describePostgres('on PostgreSQL', () => {
  const at = useNodes();

  test('links of a turn go together, and each is answered as it would be alone', async () => {
    const { store } = at;
    const { id: providerId } = await addProvider(store, 'Provide1');
    const { id: otherId } = await addProvider(store, 'Provide2');
    await addLink(store, otherId);
    const add = (installCode: string, more = {}) =>
      store.addLink(linkDraft(providerId, { installCode, installCountMax: 4, ...more }), ACT);
    const answers = await Promise.all([
      add('TogetherA'),
      add(CODE),
      add('TogetherB', { subscriptionKeyHash: KEY }),
      add('TogetherA'),
      add('TogetherC', { subscriptionKeyHash: KEY }),
      store.addLink(linkDraft(otherId, { installCode: 'TogetherX' }), ACT),
      add('TogetherD', POLICY),
      add('TogetherE'),
      add('TogetherF'),
    ]);
    const id = expect.any(Number);
    expect(answers).toEqual([
      { id },
      'install_code_exists',
      { id },
      'install_code_exists',
      'subscription_key_exists',
      { id },
      { id },
      { id },
      'install_code_limit_reached',
    ]);
    const codes = (await store.listLinksOf(providerId, ALL)).map((link) => link.installCode);
    expect(codes.sort()).toEqual(['TogetherA', 'TogetherB', 'TogetherD', 'TogetherE']);
    const found = await store.findLink('TogetherD');
    expect(found).toMatchObject({ ...POLICY, note: 'note', createdAtMs: NOW_MS });
    expect(await store.findLinkByKey(providerId, KEY)).toMatchObject({
      installCode: 'TogetherB',
    });
  });

  test('a link that is added with others leaves the entry that it leaves alone', async () => {
    const { store } = at;
    const alone = await addProvider(store, 'Provide1');
    const together = await addProvider(store, 'Provide2');
    // Whoever has a webhook is told of each link, so each is a transaction of its own.
    await store.addWebhook(
      {
        providerId: alone.id,
        target: { kind: 'webhook', url: 'https://hooks.example/', scheme: 'v1' },
        ...USUAL_WEBHOOK,
        secret: 'secret',
        createdAtMs: NOW_MS,
      },
      10,
      ACT,
    );
    const actors: Actor[] = [
      ACT.actor,
      { kind: 'provider', name: 'a "quoted" {"id":-1} name', from: '127.0.0.1', key: 'current' },
    ];
    for (const [n, actor] of actors.entries()) {
      const act: Act = { actor, atMs: NOW_MS + n };
      for (const [m, terms] of [{}, { ...POLICY, subscriptionKeyHash: KEY }].entries()) {
        for (const { id, code } of [alone, together]) {
          const installCode = `${code}Link${n}${m}`;
          if (n > 0 && m > 0) Object.assign(terms, { subscriptionKeyHash: 'd'.repeat(64) });
          const added = await store.addLink(linkDraft(id, { installCode, ...terms }), act);
          expect(added).toEqual({ id: expect.any(Number) });
        }
      }
    }
    const entries = await auditEntries({ store });
    const added = entries.filter(({ action }) => action === 'install.add');
    const told = added.map((entry) => JSON.stringify(entry).replace(/Provide\d/, 'CODE'));
    const bare = told.map((text) => text.replace(/"id":\d+/, '"id":0'));
    expect(bare).toHaveLength(8);
    expect(bare.filter((_, i) => i % 2 === 0)).toEqual(bare.filter((_, i) => i % 2 === 1));
    const links = await store.listLinks({
      providerCode: null,
      isFull: false,
      status: null,
      countMax: 100,
    });
    const ids = links.map(({ id }) => id).sort((a, b) => a - b);
    expect(added.map(({ object }) => Number(object.id))).toEqual(ids);
  });

  test('devices of a turn go together, and each is answered as it would be alone', async () => {
    const { store } = at;
    const { providerId, installId } = await addDoor(store);
    const [another, disabled] = [OTHER_CODE, 'Disabled0001'];
    await addLink(store, providerId, { installCode: another, subscriptionKeyHash: KEY });
    const id = await addLink(store, providerId, { installCode: disabled });
    await store.updateLink(providerId, id, { status: 5 }, ACT);
    await knock(store, 'known');
    const byKey = { subscriptionKeyHash: KEY, domainHash: HASH };
    const unbound = { installCode: CODE, domainHash: OTHER_HASH, hwid: 'a' };
    const answers = await Promise.all([
      knock(store, 'known', CODE, { ...FACTS, os: '', osVersion: '16' }, NOW_MS + 1),
      knock(store, 'first'),
      knock(store, 'second'),
      knock(store, 'first'),
      knock(store, 'x', disabled),
      knock(store, 'x', 'NobodysCode1'),
      store.takeSlot(unbound, FACTS, NOW_MS),
      store.takeSlot({ ...byKey, providerCode: 'Provide1', hwid: 'known' }, FACTS, NOW_MS),
      store.takeSlot({ ...byKey, providerCode: 'Provide9', hwid: 'y' }, FACTS, NOW_MS),
      store.takeSlot({ ...byKey, providerCode: null, hwid: 'z' }, FACTS, NOW_MS),
    ]);
    const link = { installId, providerId, providerCode: 'Provide1', status: 10, installLimit: 2 };
    // A turn that a busy machine splits may answer the known device after the new one.
    const either: unknown[] = [1, 2].map((deviceCount) => ({ ...link, deviceCount }));
    expect(either).toContainEqual(answers[0]);
    expect(answers[1]).toEqual({ ...link, deviceCount: 2 });
    expect(answers.slice(2, 7)).toMatchObject([
      'link_limit_reached',
      { deviceCount: 2 },
      'link_disabled',
      'link_not_found',
      { says: 'link_domain_not_bound' },
    ]);
    expect(answers[7]).toMatchObject({ installLimit: 2 });
    expect(answers[8]).toBe('link_not_found');
    expect(answers[9]).toMatchObject({ installLimit: 2 });
    const known = await store.findDevice('known');
    expect(known?.installs.map(({ installCode }) => installCode).sort()).toEqual(
      [CODE, another].sort(),
    );
    expect(known?.seenBy).toMatchObject([{ ...FACTS, osVersion: expect.any(String) }]);
    for (const hwid of ['second', 'x', 'y', 'a']) expect(await store.findDevice(hwid)).toBeNull();
  });

  test('the same newcomers at two nodes at the same time are let in once each', async () => {
    const { open, store } = at;
    const { providerId } = await addDoor(store);
    const other = await open();
    for (let round = 0; round < 8; round++) {
      const installCode = `RaceLink${round}`;
      await addLink(store, providerId, { installCode, installLimit: 20 });
      const hwids = Array.from({ length: 20 }, (_, n) => `${round}-${n}`);
      const answers = await Promise.all(
        [store, other].flatMap((node, i) =>
          // One begins with the last: without an order, each would wait for the other.
          (i === 0 ? hwids : hwids.toReversed()).map((hwid) => knock(node, hwid, installCode)),
        ),
      );
      for (const answer of answers) expect(answer).toMatchObject({ installLimit: 20 });
      expect(await store.findLink(installCode)).toMatchObject({ deviceCount: 20 });
    }
  });

  test('changes of links, slots and devices at two nodes never deadlock', async () => {
    const { open, store } = at;
    const random = new Random(12);
    const { providerId } = await addDoor(store);
    await store.updateProvider('Provide1', { ...POLICY, coolDownHours: 0 }, ACT);
    const links = ['RaceLink0', 'RaceLink1', 'RaceLink2', 'RaceLink3'];
    const ids: number[] = [];
    for (const installCode of links) {
      ids.push(await addLink(store, providerId, { installCode, installLimit: 3 }));
    }
    const domainId = await bind(store, providerId, OTHER_HASH);
    const pair = [store, await open()];
    const hwids = Array.from({ length: 10 }, (_, n) => `hwid-${n}`);
    const calls: ((node: Store, hwid: string, link: number) => Promise<unknown>)[] = [
      (node, hwid, link) => knock(node, hwid, links[link]),
      (node, hwid, link) => knock(node, hwid, links[link]),
      (node, hwid, link) => knock(node, hwid, links[link], FACTS, NOW_MS + 3 * 86_400_000),
      (node, hwid, link) =>
        node.freeSlot(providerId, { installCode: null, installId: ids[link] ?? 0 }, hwid, ACT),
      (node, hwid) =>
        node.recordCheckIn({ providerCode: 'Provide1', domainHash: HASH, hwid }, FACTS, NOW_MS),
      (node, _, link) => node.updateLink(providerId, ids[link] ?? 0, { note: 'other' }, ACT),
      (node) => node.disableDomain(providerId, domainId, ACT),
      (node, hwid) => node.forgetDevice(hwid, ACT),
      (node) => node.forgetSlotEnds(NOW_MS - 1),
    ];
    const caller = async (node: Store) => {
      for (let i = 0; i < 40; i++) {
        await random.pick(calls)(node, random.pick(hwids), random.int(0, links.length - 1));
      }
    };
    await Promise.all(pair.flatMap((node) => Array.from({ length: 6 }, () => caller(node))));
    const full = await store.listLinksOf(providerId, ALL);
    for (const { deviceCount } of full) expect(deviceCount).toBeLessThanOrEqual(3);
  });

  test('links that move in at two nodes with the same new devices never deadlock', async () => {
    const { open, store } = at;
    const { providerId } = await addDoor(store);
    const { id: otherId } = await addProvider(store, 'Provide2');
    const other = await open();
    const rules = { installCountMax: 100, updates: false };
    const times = { firstSeenAtMs: NOW_MS, lastSeenAtMs: NOW_MS, registeredAtMs: NOW_MS };
    for (let round = 0; round < 10; round++) {
      const slots = Array.from({ length: 60 }, (_, n) => {
        return { ...FACTS, ...times, hwid: `${round}-${String(n).padStart(2, '0')}` };
      });
      const install = { id: null, installLimit: 60, status: 10, note: '', createdAtMs: NOW_MS };
      // One begins with the last: without an order, each would wait for the other.
      const answers = await Promise.all([
        store.importLink(
          providerId,
          { ...install, installCode: `MovingLink${round}`, slots },
          rules,
          ACT,
        ),
        other.importLink(
          otherId,
          { ...install, installCode: `OtherMoving${round}`, slots: slots.toReversed() },
          rules,
          ACT,
        ),
      ]);
      for (const answer of answers) expect(answer).toMatchObject({ slotsAdded: 60 });
    }
  });
});
