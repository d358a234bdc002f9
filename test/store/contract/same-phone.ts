/** Phones that come back to a full link with another HWID. */

import { expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../../src/core/calendar.ts';
import type { DeviceFacts } from '../../../src/core/port/device.ts';
import type { Policy, SlotKey } from '../../../src/core/port/slot.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, CODE, HASH, heard, knock, NOW_MS, type OpenedStore } from './fixture.ts';
import { listening } from './happening.ts';

const PHONE = {
  os: 'android',
  osVersion: '15',
  deviceName: 'Pixel 9',
  appVersion: '',
  userAgent: 'Happ/3.1',
};
const WEEK_LATER_MS = NOW_MS + 9 * DAY_MS;

const keyOf = (hwid: string, reported?: DeviceFacts): SlotKey => ({
  installCode: CODE,
  domainHash: HASH,
  hwid,
  ...(reported && { reported }),
});

async function ask(store: Store, hwid: string, facts: DeviceFacts, nowMs: number) {
  return heard(await store.takeSlot(keyOf(hwid, facts), facts, nowMs));
}

/** A full link of two phones: `old` was seen at the begin alone. */
async function fullLink(store: Store, samePhone: Policy['samePhone']) {
  const door = await addDoor(store);
  await store.updateLink(door.providerId, door.installId, { samePhone }, ACT);
  await knock(store, 'old', CODE, PHONE);
  await knock(store, 'other', CODE, { ...PHONE, deviceName: 'Galaxy' });
  await knock(store, 'other', CODE, { ...PHONE, deviceName: 'Galaxy' }, WEEK_LATER_MS);
  return door;
}

async function hwidsOn(store: Store, providerId: number): Promise<string[]> {
  const selector = { installCode: CODE, installId: null };
  const slots = await store.listSlots(providerId, selector, null, 100);
  return typeof slots === 'string' ? [] : slots.map(({ hwid }) => hwid).sort();
}

export function samePhoneContract(opened: () => OpenedStore): void {
  test('replace gives the silent slot to the phone, once in a cool-down', async () => {
    const { store } = opened();
    const { providerId, installId } = await fullLink(store, 'replace');
    const newer = { ...PHONE, osVersion: '16', userAgent: 'Happ/4.0' };
    expect(await ask(store, 'soon', newer, NOW_MS + 6 * DAY_MS)).toBe('link_limit_reached');
    for (const other of [
      { ...PHONE, deviceName: 'Pixel 8' },
      { ...PHONE, os: 'ios' },
      { ...PHONE, userAgent: 'INCY/1' },
      { ...PHONE, userAgent: '' },
    ]) {
      expect(await ask(store, 'stranger', other, WEEK_LATER_MS)).toBe('link_limit_reached');
    }
    expect(await store.findSlot(keyOf('new'))).toMatchObject({ full: { former: null } });
    expect(await store.findSlot(keyOf('new', newer))).toMatchObject({
      full: { former: { hwid: 'old', lastSeenAtMs: NOW_MS } },
    });
    expect(await ask(store, 'new', newer, WEEK_LATER_MS)).toMatchObject({ deviceCount: 2 });
    expect(await hwidsOn(store, providerId)).toEqual(['new', 'other']);
    const { ends } = await store.readLinkStory(installId);
    expect(ends).toMatchObject([{ hwid: 'old', why: 'replaced', actor: 'device', forHwid: 'new' }]);

    // Another week of silence, after the day; the cool-down counts from the first replacement.
    const laterMs = WEEK_LATER_MS + 9 * DAY_MS;
    await store.updateLink(providerId, installId, { coolDownHours: 720 }, ACT);
    expect(await ask(store, 'newest', PHONE, laterMs)).toBe('link_limit_reached');
    await store.updateLink(providerId, installId, { coolDownHours: 1 }, ACT);
    expect(await ask(store, 'newest', PHONE, laterMs)).toMatchObject({ deviceCount: 2 });
    expect(await hwidsOn(store, providerId)).toEqual(['newest', 'other']);
    expect(await ask(store, 'last', PHONE, laterMs + HOUR_MS)).toBe('link_limit_reached');
  });

  test('a phone takes its former slot on a link whose limit falls, which it does not lower', async () => {
    const { store } = opened();
    const { providerId, installId } = await fullLink(store, 'replace');
    const change = { installLimit: 1, asTheyLeave: true };
    await store.updateLink(providerId, installId, change, ACT);
    expect(await ask(store, 'new', PHONE, WEEK_LATER_MS)).toMatchObject({ deviceCount: 2 });
    expect(await hwidsOn(store, providerId)).toEqual(['new', 'other']);
    expect(await store.findLink(CODE)).toMatchObject({ installLimit: 2, limitWanted: 1 });
  });

  test('its event says so', async () => {
    const { store } = opened();
    const { providerId, installId, told } = await listening(store, { installLimit: 1 });
    const policy = { samePhone: 'replace', whenFull: 'replace-oldest' } as const;
    await store.updateLink(providerId, installId, policy, ACT);
    await knock(store, 'old', CODE, PHONE);
    await ask(store, 'new', PHONE, WEEK_LATER_MS);
    await ask(store, 'next', { ...PHONE, os: 'ios' }, WEEK_LATER_MS + DAY_MS);
    const replaced = (await told()).filter(([kind]) => kind === 'device.replaced');
    expect(replaced).toMatchObject([
      ['device.replaced', { hwid: 'old', new_hwid: 'new', same_phone: true }],
      ['device.replaced', { hwid: 'new', new_hwid: 'next' }],
    ]);
    expect(replaced[1]?.[1]).not.toHaveProperty('same_phone');
  });

  test('off and ask replace nothing; a link overrides its provider', async () => {
    const { store } = opened();
    const { providerId, installId } = await fullLink(store, 'ask');
    expect(await ask(store, 'new', PHONE, WEEK_LATER_MS)).toBe('link_limit_reached');
    const found = await store.findSlot(keyOf('new', PHONE));
    expect(found).toMatchObject({ full: { former: { hwid: 'old' } } });
    await store.updateProvider('Provide1', { samePhone: 'replace' }, ACT);
    await store.updateLink(providerId, installId, { samePhone: 'off' }, ACT);
    expect(await ask(store, 'new', PHONE, WEEK_LATER_MS)).toBe('link_limit_reached');
    expect(await store.findSlot(keyOf('new', PHONE))).toMatchObject({ full: null });
    await store.updateLink(providerId, installId, { inactiveDays: 90 }, ACT);
    expect(await store.findSlot(keyOf('new', PHONE))).toMatchObject({ full: { former: null } });
    await store.updateLink(providerId, installId, { samePhone: null }, ACT);
    expect(await ask(store, 'new', PHONE, WEEK_LATER_MS)).toMatchObject({ deviceCount: 2 });
  });

  test('many that seem to be the phone get one slot', async () => {
    const { store, openBeside } = opened();
    const { providerId } = await fullLink(store, 'replace');
    const beside = await openBeside();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        ask(n % 2 === 0 ? store : beside, `new-${n}`, PHONE, WEEK_LATER_MS),
      ),
    );
    const admitted = answers.flatMap((answer, n) => (typeof answer === 'object' ? [n] : []));
    expect(admitted).toHaveLength(1);
    expect(await hwidsOn(store, providerId)).toEqual([`new-${admitted[0]}`, 'other']);
  });
}
