/** Refusals in chats: by phone, within bounds, and the sums of the rest when the hour is over. */

import { expect, test } from 'bun:test';
import type { RefusedDevice } from '../../../src/core/port/figure.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { addLink, NOW_MS, type Suite } from './fixture.ts';
import { listening, toldTo } from './happening.ts';
import { addWebhook } from './webhook.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const CHAT = { kind: 'telegram', chat: '-100', locale: 'en' } as const;
const DISABLED = { atMs: NOW_MS, why: 'it answered 403' };

/** A provider with a link, a webhook and a chat. */
async function withChat(store: Store) {
  const link = await listening(store);
  const chat = await addWebhook(store, link.providerId, { target: CHAT });
  /** The link refuses a phone at each of these minutes. */
  const refuse = async (
    minutes: readonly number[],
    device: Partial<RefusedDevice> = {},
    of: { installId: number; providerId: number } = link,
  ) => {
    for (const minute of minutes) {
      const phone = { hwid: `phone ${minute}`, deviceName: 'Pixel 9', os: 'android', ...device };
      store.countRefusal(of, 'link_limit_reached', NOW_MS + minute * MINUTE_MS, phone);
      await store.saveFigures();
    }
  };
  const toldChat = async (): Promise<Record<string, unknown>[]> =>
    (await toldTo(store, chat)).map(([kind, data]) => ({ kind, ...data }));
  return { ...link, chat, refuse, toldChat };
}

export const eventFoldContract: Suite = (opened) => {
  test('a chat gets the first refusal of each phone, then the 10th; a URL those of the link', async () => {
    const { store } = opened();
    const { installId, refuse, told, toldChat } = await withChat(store);
    const phone = { hwid: 'a', deviceName: 'Pixel 9', os: 'android' };
    await refuse([0, 1, 2], { hwid: 'a' });
    await refuse([3], { hwid: 'b' });
    await refuse([4, 5, 6, 7, 8, 9, 10], { hwid: 'a' });
    const about = { kind: 'link.refused', install_id: installId, note: 'note' };
    const reason = 'link_limit_reached';
    const device = { device_name: 'Pixel 9', os: 'android' };
    expect(await toldChat()).toEqual([
      { ...about, reason, phone_count: 1, ...device, hwid: phone.hwid },
      { ...about, reason, phone_count: 1, ...device, hwid: 'b' },
      { ...about, reason, phone_count: 10, ...device, hwid: phone.hwid },
    ]);
    const counts = (await told()).map(([, data]) => [data['count'], data['code']]);
    expect(counts).toEqual([
      [1, 'Link…'],
      [10, 'Link…'],
    ]);
    expect(JSON.stringify(await toldChat())).not.toContain('Link');
  });

  test('a phone without a HWID is a phone too; one address is one phone', async () => {
    const { store } = opened();
    const { refuse, toldChat } = await withChat(store);
    await refuse([0], { hwid: '', address: '192.0.2.1' });
    await refuse([2, 4], { address: '192.0.2.1' });
    expect(await toldChat()).toHaveLength(1);
    await refuse([6], { address: '192.0.2.2' });
    expect(await toldChat()).toHaveLength(2);
  });

  test('a flood of made-up phones is three messages an hour, then one with the sums', async () => {
    const { store } = opened();
    const { chat, installId, providerId, refuse, toldChat } = await withChat(store);
    const other = await addWebhook(store, providerId, { target: CHAT });
    const minutes = Array.from({ length: 40 }, (_, n) => n);
    await refuse(minutes);
    expect(await toldChat()).toHaveLength(3);
    expect(await store.endEventFolds(NOW_MS + HOUR_MS - 1)).toBe(false);
    await store.updateWebhook(other, providerId, { disabled: DISABLED }, ACT);
    expect(await store.endEventFolds(NOW_MS + HOUR_MS)).toBe(true);
    expect(await store.endEventFolds(NOW_MS + HOUR_MS)).toBe(false);
    const [sum, ...more] = (await toldChat()).slice(3);
    expect(more).toEqual([]);
    expect(sum).toEqual({
      kind: 'events.folded',
      refusals: 37,
      phones: 37,
      install_ids: `${installId}`,
      since: new Date(NOW_MS).toISOString(),
    });
    await store.updateWebhook(other, providerId, { disabled: null }, ACT);
    expect(await toldTo(store, other)).toHaveLength(3);
    expect((await store.findWebhook(chat))?.disabled).toBeNull();
    // The next hour has its own messages.
    await refuse([61, 63]);
    expect(await toldChat()).toHaveLength(6);
    expect(await store.endEventFolds(NOW_MS + 3 * HOUR_MS)).toBe(true);
    expect(await toldChat()).toHaveLength(6);
  });

  test('a chat has thirty messages an hour, of all links together', async () => {
    const { store } = opened();
    const { providerId, refuse, told, toldChat } = await withChat(store);
    for (let n = 0; n < 33; n++) {
      const installCode = `Many${String(n).padStart(8, '0')}`;
      const installId = await addLink(store, providerId, { installCode });
      await refuse([0], {}, { installId, providerId });
    }
    const refusals = (await toldChat()).filter(({ kind }) => kind === 'link.refused');
    expect(refusals).toHaveLength(30);
    expect((await told()).filter(([kind]) => kind === 'link.refused')).toHaveLength(33);
    // The sums of an hour come before the first message of the next one.
    await refuse([70]);
    const later = (await toldChat()).filter(({ kind }) => kind !== 'link.created').slice(30);
    expect(later.map(({ kind }) => kind).sort()).toEqual(['events.folded', 'link.refused']);
    expect(later.find(({ kind }) => kind === 'events.folded')).toMatchObject({ refusals: 3 });
  });

  test('a replay sends chats the refusals of phones, and URLs those of links', async () => {
    const { store } = opened();
    const { chat, own, providerId, refuse } = await withChat(store);
    await refuse([0]);
    await refuse([2]);
    const kinds = { events: ['link.refused'] } as const;
    const [again, url] = [
      await addWebhook(store, providerId, { target: CHAT, ...kinds }),
      await addWebhook(store, providerId, kinds),
    ];
    for (const id of [again, url]) {
      const webhook = await store.findWebhook(id);
      if (webhook === null) throw new Error('it is gone');
      await store.replayEvents(webhook, { sinceMs: 0, afterEventId: 0 }, NOW_MS);
    }
    expect(await toldTo(store, again)).toEqual(await toldTo(store, chat));
    expect(await toldTo(store, url)).toEqual(await toldTo(store, own));
  });

  test('several nodes share the bounds', async () => {
    const { store, openBeside } = opened();
    const beside = await openBeside();
    const { installId, providerId, toldChat } = await withChat(store);
    const phone = (n: number) => ({ hwid: `phone ${n}`, deviceName: '', os: '' });
    for (let n = 0; n < 12; n++) {
      const node = n % 2 === 0 ? store : beside;
      const atMs = NOW_MS + 2 * n * MINUTE_MS;
      node.countRefusal({ installId, providerId }, 'link_limit_reached', atMs, phone(n));
      await node.saveFigures();
    }
    expect(await toldChat()).toHaveLength(3);
  });
};
