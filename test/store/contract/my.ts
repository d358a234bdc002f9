import { expect, test } from 'bun:test';
import { HOUR_MS } from '../../../src/core/calendar.ts';
import type { MyName } from '../../../src/core/port/my.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { subscriptionKeyHash } from '../../../src/core/secret.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries } from '../../support/audit.ts';
import {
  addDoor,
  CODE,
  HASH,
  knock,
  NOW_MS,
  OTHER_CODE,
  OTHER_HASH,
  type Suite,
} from './fixture.ts';
import { listening } from './happening.ts';
import type { Race } from './race.ts';

type Method = 'findMy' | 'freeOwnSlot';

const KEY = subscriptionKeyHash('panel-key');
const BY_CODE: MyName = { installCode: CODE, domainHash: null };
const byKey = (domainHash: string, providerCode: string | null = null): MyName => ({
  subscriptionKeyHash: KEY,
  providerCode,
  domainHash,
});

/** A user, as the log names one. */
const byUser = (atMs = NOW_MS) => ({
  actor: { kind: 'user' as const, name: 'user', from: '192.0.2.1' },
  atMs,
});

/** A door whose provider has the page. */
async function addPage(store: Store, code = 'Provide1', installCode = CODE) {
  const door = await addDoor(store, code, installCode);
  await store.updateProvider(code, { my: 1, myName: 'Northwind', myColor: '#1a2b3c' }, ACT);
  await store.updateLink(door.providerId, door.installId, { subscriptionKeyHash: KEY }, ACT);
  return door;
}

/** The youngest slot of a link. */
async function slotOf(store: Store, door: { providerId: number; installId: number }) {
  const { providerId, installId } = door;
  const [device] = await store.listLinkDevices(providerId, installId, 1);
  if (device === undefined) throw new Error('the link has no device');
  const { hwid, registeredAtMs } = device;
  return { providerId, installId, hwid, registeredAtMs };
}

/** Two hundred users of one link, each of whom frees another's place. */
export const MY_RACES: Readonly<Record<string, Race>> = {
  'for the one place that may be freed': {
    async given(store) {
      const { providerId, installId } = await addPage(store);
      await store.updateLink(providerId, installId, { installLimit: 100 }, ACT);
      for (let n = 0; n < 20; n++) await knock(store, `hwid-${n}`);
      return { providerId, installId };
    },
    callCount: 200,
    call: (store, { providerId = 0, installId = 0 }, n) => {
      const hwid = `hwid-${n % 20}`;
      const slot = { providerId, installId, hwid, registeredAtMs: NOW_MS };
      return store.freeOwnSlot(slot, byUser());
    },
    async check(store, { providerId = 0, installId = 0 }, answers) {
      expect(answers.filter((answer) => answer === 'ok')).toHaveLength(1);
      expect(await store.listLinkDevices(providerId, installId, 100)).toHaveLength(19);
    },
  },
};

export const myContract: Record<Method, Suite> = {
  findMy: (opened) => {
    test('finds the link by its code and by its key, with what its page shows', async () => {
      const { store } = opened();
      const { installId, providerId } = await addPage(store);
      await knock(store, 'a');
      const found = await store.findMy(BY_CODE, NOW_MS);
      expect(found).toMatchObject({
        installId,
        providerId,
        installCode: CODE,
        providerCode: 'Provide1',
        installLimit: 2,
        deviceCount: 1,
        freedAtMs: null,
        coolDownHours: 24,
        myName: 'Northwind',
        myColor: '#1a2b3c',
        supportUrl: null,
      });
      expect(found?.keyHash.length).toBe(32);
      expect((await store.findMy(byKey(HASH), NOW_MS))?.installId).toBe(installId);
      expect((await store.findMy(byKey(HASH, 'Provide1'), NOW_MS))?.installId).toBe(installId);
    });

    test('finds none that is unknown, disabled, switched off, or of another provider', async () => {
      const { store } = opened();
      const { providerId, installId } = await addPage(store);
      expect(await store.findMy({ ...BY_CODE, installCode: OTHER_CODE }, NOW_MS)).toBeNull();
      expect(await store.findMy({ ...BY_CODE, providerCode: 'Provide2' }, NOW_MS)).toBeNull();
      expect(await store.findMy(byKey(OTHER_HASH), NOW_MS)).toBeNull();
      const changes = [{ my: 0 }, { suspendedAtMs: NOW_MS }, { activeUntilMs: NOW_MS }] as const;
      for (const change of changes) {
        await store.updateProvider('Provide1', change, ACT);
        expect(await store.findMy(BY_CODE, NOW_MS)).toBeNull();
        const back = { my: 1, suspendedAtMs: null, activeUntilMs: null } as const;
        await store.updateProvider('Provide1', back, ACT);
        expect(await store.findMy(BY_CODE, NOW_MS)).not.toBeNull();
      }
      await store.updateLink(providerId, installId, { status: 5 }, ACT);
      expect(await store.findMy(BY_CODE, NOW_MS)).toBeNull();
      expect(await store.findMy(byKey(HASH), NOW_MS)).toBeNull();
    });

    test('finds none by a key that links of two providers have', async () => {
      const { store } = opened();
      await addPage(store);
      const { installId } = await addPage(store, 'Provide2', OTHER_CODE);
      expect(await store.findMy(byKey(HASH), NOW_MS)).toBeNull();
      expect((await store.findMy(byKey(HASH, 'Provide2'), NOW_MS))?.installId).toBe(installId);
    });
  },

  freeOwnSlot: (opened) => {
    test('frees the slot, with an entry, an event and an end in the history', async () => {
      const { store } = opened();
      const { installId, providerId, told } = await listening(store);
      const door = { installId, providerId };
      await store.updateProvider('Provide1', { my: 1 }, ACT);
      await knock(store, 'a');
      await knock(store, 'b');
      const before = (await auditEntries({ store })).length;
      expect(await store.freeOwnSlot(await slotOf(store, door), byUser())).toBe('ok');
      const entries = (await auditEntries({ store })).slice(before);
      expect(entries).toMatchObject([
        { who: 'user', from: '192.0.2.1', action: 'hwid.delete', provider: 'Provide1' },
      ]);
      const facts = { install_id: installId, install_limit: 2, install_count: 1 };
      expect((await told()).at(-1)).toEqual([
        'device.removed',
        { ...facts, hwid: 'b', why: 'freed' },
      ]);
      const { ends } = await store.readLinkStory(door.installId);
      expect(ends).toMatchObject([{ hwid: 'b', why: 'deleted', actor: 'user' }]);
      expect(await store.findMy(BY_CODE, NOW_MS)).toMatchObject({
        deviceCount: 1,
        freedAtMs: NOW_MS,
      });
    });

    test('waits for the end of the cool-down, which is the link’s own', async () => {
      const { store } = opened();
      const door = await addPage(store);
      const { providerId, installId } = door;
      await store.updateLink(providerId, installId, { coolDownHours: 2 }, ACT);
      await knock(store, 'a');
      await knock(store, 'b');
      expect(await store.freeOwnSlot(await slotOf(store, door), byUser())).toBe('ok');
      const next = await slotOf(store, door);
      const soon = byUser(NOW_MS + 2 * HOUR_MS - 1);
      expect(await store.freeOwnSlot(next, soon)).toBe('cooling_down');
      expect(await store.freeOwnSlot(next, byUser(NOW_MS + 2 * HOUR_MS))).toBe('ok');
    });

    test('frees no slot that ended, is younger, or of a link whose page is shut', async () => {
      const { store } = opened();
      const door = await addPage(store);
      await knock(store, 'a');
      const slot = await slotOf(store, door);
      const younger = { ...slot, registeredAtMs: slot.registeredAtMs - 1 };
      expect(await store.freeOwnSlot(younger, byUser())).toBe('slot_gone');
      expect(await store.freeOwnSlot({ ...slot, hwid: 'z' }, byUser())).toBe('slot_gone');
      await store.updateLink(door.providerId, door.installId, { status: 5 }, ACT);
      expect(await store.freeOwnSlot(slot, byUser())).toBe('slot_gone');
      await store.updateLink(door.providerId, door.installId, { status: 10 }, ACT);
      await store.updateProvider('Provide1', { my: 0 }, ACT);
      expect(await store.freeOwnSlot(slot, byUser())).toBe('slot_gone');
      expect(await store.findMy(BY_CODE, NOW_MS)).toBeNull();
    });
  },
};
