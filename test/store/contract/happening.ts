/** Changes that are told of: each in the commit that makes it, to its owner, and to nobody else. */

import { describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../../src/core/calendar.ts';
import type { EventData } from '../../../src/core/port/event.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { NO_TERMS } from '../../../src/core/slot.ts';
import { ACT, actOfKey } from '../../support/actor.ts';
import { GUARD_BOUNDS } from '../../support/bounds.ts';
import {
  addDoor,
  addLink,
  addProvider,
  bind,
  CODE,
  FACTS,
  HASH,
  knock,
  NOW_MS,
  OTHER_CODE,
  OTHER_HASH,
  providerDraft,
  removeProvider,
  SILENCE,
  type Suite,
} from './fixture.ts';
import {
  bringTo,
  deliver,
  draft,
  HOUR_MS,
  lease,
  onLink,
  register,
  send,
  to,
  UNGUARDED,
} from './message-fixture.ts';
import { fcm, hold, registerAt, serve, WELL } from './outbox-fixture.ts';
import { addWebhook, waitingFor, webhookOf } from './webhook.ts';

type Told = [kind: string, data: EventData];

/** All that waits for a webhook, as it would hear it; its time must be that of the change. */
export async function toldTo(store: Store, webhookId: number, nowMs = NOW_MS): Promise<Told[]> {
  const kinds = ['webhook', 'telegram'] as const;
  const held = await store.claimDestinations(hold('ear', nowMs), kinds, 100, 100, []);
  const own = held.find((destination) => destination.webhookId === webhookId);
  const due = own ? await store.listDispatches(own.id, nowMs, 1_000, null) : [];
  await store.releaseDestinations('ear', null);
  return due.map((dispatch) => {
    if (dispatch.kind !== 'event') throw new Error('that is no event');
    return [dispatch.event.kind, dispatch.event.data];
  });
}

/** A door whose provider listens, and an operator who does; nothing has been told yet. */
export async function listening(store: Store, more: { installLimit?: number } = {}) {
  const { id: providerId } = await addProvider(store, 'Provide1');
  const installId = await addLink(store, providerId, { installCode: CODE, ...more });
  await bind(store, providerId);
  const own = await addWebhook(store, providerId);
  const operators = await addWebhook(store, null);
  return {
    providerId,
    installId,
    own,
    operators,
    told: () => toldTo(store, own),
    toldOperator: () => toldTo(store, operators),
  };
}

const SELECTOR = { installCode: CODE, installId: null };
const KEY_HASH = 'c'.repeat(64);

const links: Suite = (opened) => {
  test('made, and changed by name of what is another', async () => {
    const { store } = opened();
    const { providerId, told, toldOperator } = await listening(store);
    const id = await addLink(store, providerId, { installCode: OTHER_CODE, installLimit: 5 });
    const wanted = { installLimit: 6, note: 'new', inactiveDays: 3 };
    await store.updateLink(providerId, id, wanted, ACT);
    await store.updateLink(providerId, id, wanted, ACT);
    const facts = { install_id: id, install_count: 0, install_limit: 6, status: 10 };
    expect(await told()).toEqual([
      ['link.created', { install_id: id, install_limit: 5 }],
      ['link.updated', { ...facts, changed: 'install_limit,inactive_days,note' }],
    ]);
    expect(await toldOperator()).toEqual([]);
  });

  test('full with the device that took the last slot, once', async () => {
    const { store } = opened();
    const { installId: install_id, told } = await listening(store);
    for (const hwid of ['a', 'a', 'b', 'b', 'c']) await knock(store, hwid);
    const [one, two] = [1, 2].map((install_count) => ({
      install_id,
      install_count,
      install_limit: 2,
    }));
    expect(await told()).toEqual([
      ['device.admitted', { ...one, hwid: 'a' }],
      ['device.admitted', { ...two, hwid: 'b' }],
      ['link.full', { ...two }],
    ]);
  });

  test('made by the first device with a subscription key, which is told too', async () => {
    const { store } = opened();
    const { providerId, told } = await listening(store);
    const of = { ...NO_TERMS, providerId };
    const draftOf = { ...of, installCode: OTHER_CODE, installLimit: 1, note: null };
    await store.addLinkWithSlot(
      {
        ...draftOf,
        subscriptionKeyHash: KEY_HASH,
        createdAtMs: NOW_MS,
        installCountMax: 9,
      },
      { subscriptionKeyHash: KEY_HASH, providerCode: null, domainHash: HASH, hwid: 'a' },
      FACTS,
      ACT,
    );
    const kinds = (await told()).map(([kind]) => kind);
    expect(kinds).toEqual(['link.created', 'device.admitted', 'link.full']);
  });

  test('not when they move in, nor their devices', async () => {
    const { store } = opened();
    const { providerId, told } = await listening(store);
    const times = { registeredAtMs: NOW_MS, firstSeenAtMs: NOW_MS, lastSeenAtMs: NOW_MS };
    const slots = ['a', 'b'].map((hwid) => ({ hwid, ...SILENCE, ...times }));
    const moved = { id: null, installCode: OTHER_CODE, installLimit: 2, status: 10, note: null };
    const rules = { installCountMax: 100, domainCountMax: 100, updates: true };
    const link = { ...moved, createdAtMs: NOW_MS, terms: NO_TERMS, slots };
    await store.importLink(providerId, link, rules, ACT);
    await store.importLink(providerId, { ...link, installLimit: 3 }, rules, ACT);
    const domain = { domainHash: OTHER_HASH, domainName: 'x', status: 10, createdAtMs: NOW_MS };
    await store.importDomain(providerId, { id: null, ...domain }, rules, ACT);
    expect(await told()).toEqual([]);
  });

  test('refusing the first of a UTC day, and then ten times as many', async () => {
    const { store } = opened();
    const { providerId, installId, told } = await listening(store);
    const refuse = async (count: number, atMs = NOW_MS) => {
      for (let n = 0; n < count; n++) {
        store.countRefusal({ installId, providerId }, 'link_limit_reached', atMs);
      }
      await store.saveFigures();
    };
    for (const count of [1, 8, 1, 1, 5, 200]) await refuse(count);
    await refuse(3, NOW_MS + DAY_MS);
    await refuse(3, NOW_MS);
    const on = (day: string, count: number): Told => [
      'link.refused',
      {
        install_id: installId,
        code: 'Link…',
        note: 'note',
        reason: 'link_limit_reached',
        count,
        day,
        hwid: null,
        device_name: null,
        os: null,
      },
    ];
    const [first, second] = [NOW_MS, NOW_MS + DAY_MS].map((ms) =>
      new Date(ms).toISOString().slice(0, 10),
    );
    expect(await told()).toEqual([
      ...[1, 10, 100].map((count) => on(first as string, count)),
      on(second as string, 1),
    ]);
  });
};

const devices: Suite = (opened) => {
  test('admitted by a registration too', async () => {
    const { store } = opened();
    const { told } = await listening(store);
    await register(store, 'a', onLink());
    await register(store, 'a', onLink());
    expect((await told()).map(([kind]) => kind)).toEqual(['device.admitted']);
  });

  test('taken off a link, and forgotten', async () => {
    const { store } = opened();
    const { providerId, installId: install_id, told } = await listening(store, { installLimit: 9 });
    for (const hwid of ['a', 'b']) await knock(store, hwid);
    await store.freeSlot(providerId, SELECTOR, 'a', ACT);
    await store.freeSlot(providerId, SELECTOR, 'a', ACT);
    await store.forgetDevice('b', ACT);
    const facts = { install_id, install_limit: 9 };
    expect((await told()).slice(2)).toEqual([
      ['device.removed', { ...facts, install_count: 1, hwid: 'a', why: 'deleted' }],
      ['device.removed', { ...facts, install_count: 0, hwid: 'b', why: 'forgotten' }],
    ]);
  });

  test('replaced, or inactive when another came', async () => {
    const { store } = opened();
    const { providerId, installId, told } = await listening(store, { installLimit: 1 });
    const policy = { inactiveDays: 1, whenFull: 'replace-oldest', coolDownHours: 1 } as const;
    await store.updateLink(providerId, installId, policy, ACT);
    await knock(store, 'a');
    await knock(store, 'b', CODE, FACTS, NOW_MS + 1);
    await knock(store, 'c', CODE, FACTS, NOW_MS + 3 * DAY_MS);
    const ended = (hwid: string, new_hwid: string, seenMs: number): EventData => ({
      install_id: installId,
      hwid,
      new_hwid,
      last_seen_at: new Date(seenMs).toISOString(),
    });
    const after = (await told()).slice(3);
    expect(after.map(([kind]) => kind)).toEqual([
      ...['device.replaced', 'device.admitted', 'device.inactive', 'device.admitted'],
    ]);
    expect(after[0]?.[1]).toEqual(ended('a', 'b', NOW_MS));
    expect(after[2]?.[1]).toEqual(ended('b', 'c', NOW_MS + 1));
  });
};

const distributions: Suite = (opened) => {
  test('however they end, with their counts', async () => {
    const { store } = opened();
    const { providerId, told } = await listening(store);
    await knock(store, 'a');
    const later = { dueAtMs: NOW_MS + HOUR_MS };
    const cancelled = await send(store, providerId, later);
    await store.cancelDistribution(
      providerId,
      cancelled,
      { from: [10], dueFromMs: NOW_MS, nowMs: NOW_MS },
      ACT,
    );
    const blocked = await send(store, providerId, { ...later, notificationType: 20 });
    await store.blockDistribution(blocked, [10], NOW_MS, ACT);
    const sent = await deliver(store, providerId, to('a'));
    const failed = await send(store, providerId, to('a'));
    await bringTo(store, failed, 40);
    await store.moveDistribution(lease(failed), 40, 120);
    const refused = await send(store, providerId, to('a'));
    await bringTo(store, refused, 20);
    await store.moveDistribution(lease(refused), 20, 140);
    await store.moveDistribution(lease(refused), 20, 140);
    const of = (distribution_id: number, status: number, counts: [number, number, number]) => {
      const [recipients, sent, failed] = counts;
      const type = distribution_id === blocked ? 'command' : 'notification';
      const late = { at_next_fetch: 0, not_known: 0, cannot: recipients, carried: 0 };
      const reach = { reachable: 0, now: 0, by_push: 0, ...late, at_least: false };
      return { distribution_id, type, status, recipients, sent, failed, ...reach };
    };
    expect((await told()).slice(1)).toEqual([
      ['distribution.cancelled', of(cancelled, 130, [0, 0, 0])],
      ['distribution.blocked', of(blocked, 140, [0, 0, 0])],
      ['distribution.finished', of(sent, 100, [1, 1, 0])],
      ['distribution.failed', of(failed, 120, [1, 0, 0])],
      ['distribution.blocked', of(refused, 140, [0, 0, 0])],
    ]);
  });

  test('by the last answer of a gateway, with the counts as they are then', async () => {
    const { store } = opened();
    const { providerId, told } = await listening(store);
    await registerAt(store, 'a', fcm('one'));
    const { id } = await serve(store, providerId, to('a'));
    expect((await told()).slice(1)).toEqual([]);
    const [gateway] = await store.claimDestinations(hold(), ['fcm'], 9, 9, []);
    const destinationId = gateway?.id ?? 0;
    const [push] = await store.listDispatches(destinationId, NOW_MS, 9, null);
    const lost = { id: push?.id ?? 0, outcome: 'failed', problem: 'no' } as const;
    await store.settleDispatches({ ...hold(), destinationId }, [lost], WELL, null);
    const [kind, data] = (await told())[1] ?? [];
    expect(kind).toBe('distribution.failed');
    expect(data).toMatchObject({ distribution_id: id, sent: 0, failed: 1 });
  });
};

const quotas: Suite = (opened) => {
  const reached = async (told: () => Promise<Told[]>) =>
    (await told()).filter(([kind]) => kind === 'quota.reached').map(([, data]) => data);

  test('of links and bindings, at 80 % and when nothing is left', async () => {
    const { store } = opened();
    const { providerId, told } = await listening(store);
    for (let n = 0; n < 9; n++) {
      const installCode = `QuotaCode${n}00`;
      await addLink(store, providerId, { installCode, installCountMax: 10 });
    }
    const domain = { providerId, domainName: 'x', createdAtMs: NOW_MS, domainCountMax: 2 };
    await store.addDomain({ ...domain, domainHash: OTHER_HASH }, ACT);
    const links = { quota: 'links', limit: 10 };
    expect(await reached(told)).toEqual([
      { ...links, percent: 80, used: 8 },
      { ...links, percent: 100, used: 10 },
      { quota: 'domains', percent: 100, used: 2, limit: 2 },
    ]);
  });

  test('of ledger rows, while they are written', async () => {
    const { store } = opened();
    const { providerId, told } = await listening(store, { installLimit: 100 });
    for (let n = 0; n < 10; n++) await knock(store, `device-${n}`);
    const id = await send(store, providerId, { targetOs: 'android' });
    await bringTo(store, id, 5);
    await store.loadRecipients(lease(id), 12);
    const rows = { quota: 'ledger_rows', limit: 12 };
    expect(await reached(told)).toEqual([{ ...rows, percent: 80, used: 10 }]);
  });

  test('of what is kept, also when it refused a send; up and down is no news', async () => {
    const { store } = opened();
    const { providerId, told } = await listening(store);
    const bounds = { ...GUARD_BOUNDS, keptBytesMax: 1_100 };
    const sendBytes = (bytes: number) =>
      store.addDistribution(
        draft(providerId, { payload: JSON.stringify('x'.repeat(bytes)) }),
        { ...UNGUARDED, bounds },
        ACT,
      );
    expect(await sendBytes(300)).toMatchObject({ id: expect.any(Number) });
    expect(await reached(told)).toEqual([]);
    expect(await sendBytes(300)).toMatchObject({ id: expect.any(Number) });
    for (let n = 0; n < 3; n++) expect(await sendBytes(300)).toBe('kept_bytes_full');
    const kept = { quota: 'kept_bytes', limit: 1_100 };
    expect(await reached(told)).toEqual([
      { ...kept, percent: 80, used: 1_004 },
      { ...kept, percent: 100, used: 1_100 },
    ]);
  });
};

const owners: Suite = (opened) => {
  test('the operator hears of providers, and a provider of its own key', async () => {
    const { store } = opened();
    const { told, toldOperator } = await listening(store);
    const until = NOW_MS + DAY_MS;
    await store.addProvider(providerDraft('Provide2', { plan: 'pro' }), ACT);
    const changed = { plan: 'basic', activeUntilMs: until, suspendedAtMs: NOW_MS } as const;
    await store.updateProvider('Provide2', changed, ACT);
    await store.updateProvider('Provide2', { suspendedAtMs: null }, ACT);
    await store.updateProvider('Provide2', { suspendedAtMs: null }, ACT);
    await store.rotateKey('Provide1', new Uint8Array(32), until, ACT);
    await removeProvider(store, 'Provide2');
    const two = { provider_code: 'Provide2' };
    const ends = new Date(until).toISOString();
    expect(await toldOperator()).toEqual([
      ['provider.added', { ...two, plan: 'pro' }],
      ['provider.suspended', two],
      [
        'provider.changed',
        { ...two, plan: 'basic', active_until: ends, changed: 'plan,active_until' },
      ],
      ['provider.resumed', two],
      ['provider.key-rotated', { provider_code: 'Provide1', old_key_until: ends }],
      ['provider.removed', two],
    ]);
    expect(await told()).toEqual([['key.rotated', { old_key_until: ends }]]);
  });

  test('both hear what a key changed of what users see, with the hosts', async () => {
    const { store } = opened();
    const { installId, providerId, told, toldOperator } = await listening(store);
    const by = actOfKey('Provide1', NOW_MS);
    const [ours, evil] = ['https://ours.example/', 'https://evil.example/pay'];
    await store.updateProvider('Provide1', { webPageUrl: ours }, ACT);
    await store.updateProvider('Provide1', { webPageUrl: evil, supportUrl: null }, by);
    await store.updateLink(providerId, installId, { supportUrl: evil }, by);
    const own = { kind: 'traffic', amount: 80, pushText: 'neutral', enabled: 0 } as const;
    const texts = { en: `<a href="${evil}">Pay</a>`, fa: 'پرداخت' };
    const draft = { ...own, texts, providerId, createdAtMs: NOW_MS, countMax: 10 };
    await store.addReminder(draft, by);
    await store.setReminder(providerId, 1, { texts: { en: 'Pay' } }, by);
    await store.setReminder(providerId, 1, { texts: { en: 'Hi' } }, ACT);
    const of = {
      provider_code: 'Provide1',
      install_id: null as number | null,
      reminder_id: null as number | null,
      old_host: null as string | null,
      new_host: 'evil.example' as string | null,
      used_from: new Date(NOW_MS + DAY_MS).toISOString(),
    };
    const waiting = [
      { ...of, changed: 'web_page_url', old_host: 'ours.example' },
      { ...of, changed: 'support_url', install_id: installId },
      { ...of, changed: 'texts', reminder_id: 1 },
      { ...of, changed: 'texts', reminder_id: 1, old_host: 'evil.example', new_host: null },
    ].map((data): Told => ['change.waiting', data]);
    const ofChanges = ([kind]: unknown[]) => kind === 'change.waiting';
    expect((await toldOperator()).filter(ofChanges)).toEqual(waiting);
    expect((await told()).filter(ofChanges)).toEqual(waiting);
  });

  test('a provider that is removed hears of nothing any more', async () => {
    const { store } = opened();
    const { own, providerId, toldOperator } = await listening(store);
    await knock(store, 'a');
    await store.closeProvider('Provide1', ACT);
    await store.freeSlot(providerId, SELECTOR, 'a', ACT);
    expect(await waitingFor(store, own)).toEqual(['device.admitted']);
    await removeProvider(store, 'Provide1');
    expect(await store.findWebhook(own)).toBeNull();
    const removed: Told = ['provider.removed', { provider_code: 'Provide1' }];
    expect(await toldOperator()).toEqual([removed]);
  });

  test('a webhook that is disabled is told of to the others, and a gateway that stops', async () => {
    const { store } = opened();
    const { own, providerId, toldOperator } = await listening(store);
    const other = await addWebhook(store, providerId);
    await knock(store, 'a');
    const held = await store.claimDestinations(hold(), ['webhook'], 9, 9, []);
    const { id: destinationId = 0 } = held.find(({ webhookId }) => webhookId === own) ?? {};
    const at = { ...hold(), destinationId };
    await store.settleDispatches(at, [], WELL, 'it answered 410');
    await store.settleDispatches(at, [], WELL, 'it answered 410');
    const disabled = { webhook_id: own, target: 'webhook', why: 'it answered 410' };
    await store.releaseDestinations('one', null);
    expect((await toldTo(store, other)).slice(1)).toEqual([['webhook.disabled', disabled]]);
    expect((await webhookOf(store, own)).disabled?.why).toBe('it answered 410');

    await registerAt(store, 'a', fcm('one'));
    await serve(store, providerId, to('a'));
    const [gateway] = await store.claimDestinations(hold(), ['fcm'], 9, 9, []);
    const stopped = { ...WELL, stoppedAtMs: NOW_MS, problem: 'wrong key' };
    const there = { ...hold(), destinationId: gateway?.id ?? 0 };
    for (let n = 0; n < 2; n++) await store.settleDispatches(there, [], stopped, null);
    await store.releaseDestinations('one', null);
    const stop: Told = ['gateway.stopped', { gateway: 'fcm', problem: 'wrong key' }];
    expect(await toldOperator()).toEqual([stop]);
  });
};

/** Methods of the port all tell by themselves: what of, by the nouns. */
export const happeningContract: Suite = (opened) => {
  describe('of links', () => links(opened));
  describe('of devices', () => devices(opened));
  describe('of distributions', () => distributions(opened));
  describe('of quotas', () => quotas(opened));
  describe('of owners', () => owners(opened));

  test('nothing is kept where nobody listens, or nobody to that', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    await knock(store, 'a');
    const id = await addWebhook(store, providerId, { events: ['key.rotated'] });
    await knock(store, 'b');
    const webhook = { ...(await webhookOf(store, id)), events: [] };
    const all = { sinceMs: 0, afterEventId: 0 };
    expect(await store.replayEvents(webhook, all, NOW_MS)).toMatchObject({ count: 0 });
  });

  test('a change that is refused is told to nobody', async () => {
    const { store } = opened();
    const { providerId, installId, told } = await listening(store, { installLimit: 1 });
    const again = await Promise.all([
      store.addLink({ ...linkDraft(providerId), installCode: CODE }, ACT),
      store.updateLink(providerId, installId + 9, { installLimit: 5 }, ACT),
      store.freeSlot(providerId, SELECTOR, 'nobody', ACT),
      store.rotateKey('NoSuchOne', new Uint8Array(32), NOW_MS, ACT),
    ]);
    expect(again.slice(0, 2)).toEqual(['install_code_exists', 'install_not_found']);
    expect(await told()).toEqual([]);
  });
};

const linkDraft = (providerId: number) => ({
  ...NO_TERMS,
  providerId,
  installLimit: 1,
  note: null,
  createdAtMs: NOW_MS,
  installCountMax: 100,
});
