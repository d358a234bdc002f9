import { expect, test } from 'bun:test';
import type { LinkTermsAndKey } from '../../../src/core/port/link.ts';
import type {
  ExportRecord,
  ImportedDomain,
  ImportedLink,
  ImportedSlot,
} from '../../../src/core/port/moving.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { NO_TERMS } from '../../../src/core/slot.ts';
import { ACT } from '../../support/actor.ts';
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
  NOW_MS,
  OTHER_CODE,
  OTHER_HASH,
  provider,
  SILENCE,
  type Suite,
} from './fixture.ts';
import { deliver, inboxOf, onLink, register, to } from './message-fixture.ts';

type Method = 'reserveIds' | 'importLink' | 'importDomain' | 'exportProvider';

const EARLIER_MS = NOW_MS - 86_400_000;
const RULES = { installCountMax: 100, domainCountMax: 100, updates: false };
const UPDATES = { ...RULES, updates: true };

function slot(hwid: string, more: Partial<ImportedSlot> = {}): ImportedSlot {
  const times = { registeredAtMs: EARLIER_MS, firstSeenAtMs: EARLIER_MS, lastSeenAtMs: EARLIER_MS };
  return { hwid, ...SILENCE, deviceName: `phone ${hwid}`, ...times, ...more };
}

function link(more: Partial<ImportedLink> = {}): ImportedLink {
  return {
    id: 700,
    installCode: CODE,
    installLimit: 3,
    status: 5,
    note: 'from afar',
    createdAtMs: EARLIER_MS,
    slots: [slot('a'), slot('b', { registeredAtMs: EARLIER_MS + 1, slotSeenAtMs: EARLIER_MS })],
    ...more,
  };
}

function binding(more: Partial<ImportedDomain> = {}): ImportedDomain {
  return {
    id: 70,
    domainHash: HASH,
    domainName: 'shop',
    status: 5,
    createdAtMs: EARLIER_MS,
    ...more,
  };
}

const slotsOf = (store: Store, providerId: number, installCode = CODE) =>
  store.listSlots(providerId, { installCode, installId: null }, null, 5000);

const SHOP = { domainName: 'shop', status: 10, createdAtMs: NOW_MS };

async function exported(store: Store, code: string): Promise<ExportRecord[]> {
  return Array.fromAsync(store.exportProvider(code));
}

export const importContract: Record<Method & keyof Store, Suite> = {
  reserveIds(opened) {
    test('ids given later are higher, also before the first and also beside', async () => {
      const { store, openBeside } = opened();
      const { id } = await addProvider(store, 'Provide1');
      await store.reserveIds({ installId: 500, domainId: 50 });
      expect(await addLink(store, id)).toBe(501);
      expect(await bind(await openBeside(), id)).toBe(51);
    });

    test('lower ones take nothing back', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      await store.reserveIds({ installId: 500, domainId: 50 });
      await store.reserveIds({ installId: 5, domainId: 5 });
      expect(await addLink(store, id)).toBe(501);
      expect(await bind(store, id)).toBe(51);
    });
  },

  importLink(opened) {
    test('a link comes with its id, facts and HWIDs, the earliest first', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      expect(await store.importLink(id, link(), RULES, ACT)).toEqual({
        was: 'added',
        id: 700,
        slotsAdded: 2,
        slotsPresent: 0,
        slotsWithoutRoom: 0,
      });
      const { slots: _, ...facts } = link();
      const here = [{ ...facts, id: 700, deviceCount: 2 }];
      expect(await store.listLinksOf(id, ALL)).toEqual(here);
      expect(await slotsOf(store, id)).toEqual([
        {
          hwid: 'b',
          deviceName: 'phone b',
          registeredAtMs: EARLIER_MS + 1,
          lastSeenAtMs: EARLIER_MS,
        },
        // Nobody said when its slot was last seen.
        { hwid: 'a', deviceName: 'phone a', registeredAtMs: EARLIER_MS, lastSeenAtMs: NOW_MS },
      ]);
      expect(await provider(store, 'Provide1')).toMatchObject({ installCount: 1 });
    });

    test('a taken id, or none, becomes the next free one', async () => {
      const { store } = opened();
      const { id: foreign } = await addProvider(store, 'Provide2');
      const taken = await addLink(store, foreign, { installCode: OTHER_CODE });
      const { id } = await addProvider(store, 'Provide1');
      const added = await store.importLink(id, link({ id: taken }), RULES, ACT);
      expect(added).toMatchObject({ was: 'added', id: taken + 1 });
      const next = await store.importLink(
        id,
        link({ id: null, installCode: 'c'.repeat(12) }),
        RULES,
        ACT,
      );
      expect(next).toMatchObject({ id: taken + 2 });
    });

    test('again changes nothing, and adds what is missing in the room that there is', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      await store.importLink(id, link(), RULES, ACT);
      const before = [await store.listLinksOf(id, ALL), await slotsOf(store, id)];
      const again = { was: 'present', id: 700, slotsAdded: 0, slotsPresent: 2 };
      expect(await store.importLink(id, link(), RULES, ACT)).toMatchObject(again);
      expect([await store.listLinksOf(id, ALL), await slotsOf(store, id)]).toEqual(before);

      const more = link({ slots: [slot('b'), slot('c'), slot('d')] });
      expect(await store.importLink(id, more, RULES, ACT)).toMatchObject({
        was: 'present',
        slotsAdded: 1,
        slotsPresent: 1,
        slotsWithoutRoom: 1,
      });
      expect(await store.listLinksOf(id, ALL)).toMatchObject([{ deviceCount: 3 }]);
    });

    test('what differs stays, and is told; with updates it comes, but not below the count', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      await store.importLink(id, link(), RULES, ACT);
      const changed = link({ id: 9, status: 10, note: null, installLimit: 1, createdAtMs: 1 });
      expect(await store.importLink(id, changed, RULES, ACT)).toMatchObject({
        was: 'different',
      });
      expect(await store.listLinksOf(id, ALL)).toMatchObject([{ id: 700, note: 'from afar' }]);
      expect(await store.importLink(id, changed, UPDATES, ACT)).toMatchObject({
        was: 'updated',
        id: 700,
        slotsPresent: 2,
      });
      expect(await store.listLinksOf(id, ALL)).toEqual([
        {
          id: 700,
          installCode: CODE,
          installLimit: 2,
          deviceCount: 2,
          status: 10,
          note: null,
          createdAtMs: EARLIER_MS,
        },
      ]);
    });

    test('terms come along, unless nobody told them or another link has the key', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const policy = { ...NO_TERMS, inactiveDays: 30, whenFull: 'refuse' } as const;
      const terms = { ...policy, subscriptionKeyHash: HASH };
      const bring = (install: ImportedLink, rules = RULES) =>
        store.importLink(id, install, rules, ACT);
      const termsOf = async (installCode: string) => {
        const records = await exported(store, 'Provide1');
        const found = records.find(
          (one) => one.kind === 'install' && one.install.installCode === installCode,
        );
        return found?.kind === 'install' ? found.install.terms : undefined;
      };
      await bring(link({ terms }));
      expect(await termsOf(CODE)).toEqual(terms);
      expect(await bring(link({ terms }))).toMatchObject({ was: 'present' });
      expect(await bring(link(), UPDATES)).toMatchObject({ was: 'present' });
      expect(await termsOf(CODE)).toEqual(terms);

      const other = { id: null, installCode: OTHER_CODE };
      expect(await bring(link({ ...other, terms }))).toMatchObject({ was: 'added' });
      expect(await termsOf(OTHER_CODE)).toEqual({ ...policy, subscriptionKeyHash: null });
      const changed = { ...terms, inactiveDays: null, subscriptionKeyHash: OTHER_HASH };
      expect(await bring(link({ terms: changed }))).toMatchObject({ was: 'different' });
      expect(await termsOf(CODE)).toEqual(terms);
      expect(await bring(link({ terms: changed }), UPDATES)).toMatchObject({ was: 'updated' });
      expect(await termsOf(CODE)).toEqual(changed);
      const taken = { ...other, terms: changed };
      expect(await bring(link(taken), UPDATES)).toMatchObject({ was: 'updated' });
      expect(await termsOf(OTHER_CODE)).toEqual({ ...changed, subscriptionKeyHash: null });
    });

    test('a cool-down that began elsewhere goes on', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const terms = { ...NO_TERMS, whenFull: 'replace-oldest', coolDownHours: 2 } as const;
      const full = { id: 9, installCode: OTHER_CODE, installLimit: 2, status: 10 };
      await store.importLink(providerId, link({ ...full, terms, replacedAtMs: 1 }), RULES, ACT);
      const late = (ms: number) => knock(store, 'new', OTHER_CODE, FACTS, ms);
      expect(await late(7_200_000)).toBe('link_limit_reached');
      expect(await late(7_200_001)).toMatchObject({ deviceCount: 2 });
    });

    test('updates make room before HWIDs are added', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      await store.importLink(id, link({ installLimit: 2 }), RULES, ACT);
      const grown = link({
        installLimit: 4,
        slots: ['a', 'b', 'c', 'd'].map((hwid) => slot(hwid)),
      });
      const counts = { slotsAdded: 2, slotsPresent: 2, slotsWithoutRoom: 0 };
      expect(await store.importLink(id, grown, UPDATES, ACT)).toMatchObject(counts);
    });

    test('never over its limit, and a HWID named twice takes one slot', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const slots = ['a', 'a', 'b', 'c'].map((hwid) => slot(hwid));
      const counts = { slotsAdded: 2, slotsPresent: 1, slotsWithoutRoom: 1 };
      const full = link({ installLimit: 2, slots });
      expect(await store.importLink(id, full, RULES, ACT)).toMatchObject(counts);
      expect(await store.listLinksOf(id, ALL)).toMatchObject([{ deviceCount: 2 }]);
    });

    test('what a device said here wins over what is said of it elsewhere', async () => {
      const { store } = opened();
      await addDoor(store);
      await knock(store, 'a');
      const { id } = await addProvider(store, 'Provide2');
      const known = slot('a', { deviceName: 'old name', userAgent: 'Old/1', os: 'ios' });
      await store.importLink(id, link({ installCode: OTHER_CODE, slots: [known] }), RULES, ACT);
      const a = async () => (await store.findDevice('a'))?.device;
      const first = { firstSeenAtMs: EARLIER_MS };
      expect(await a()).toMatchObject({ ...FACTS, ...first, lastSeenAtMs: NOW_MS });
      const slots = [slot('a', { firstSeenAtMs: NOW_MS, lastSeenAtMs: NOW_MS + 1 })];
      await store.importLink(id, link({ id: null, installCode: 'Link3333', slots }), RULES, ACT);
      expect(await a()).toMatchObject({ ...first, lastSeenAtMs: NOW_MS + 1 });
    });

    test('what was sent since a HWID moved in is its own, whatever times it came with', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      await bind(store, id);
      const years = 365 * 86_400_000;
      const slots = ['past', 'future'].map((hwid, n) =>
        slot(hwid, { registeredAtMs: NOW_MS + (n === 0 ? -years : years) }),
      );
      await store.importLink(id, link({ slots, status: 10 }), RULES, ACT);
      for (const hwid of ['past', 'future']) {
        const message = await deliver(store, id, to(hwid));
        const holder = await register(store, hwid, onLink());
        expect(await inboxOf(store, holder)).toEqual([message]);
      }
    });

    test('refuses a code of another provider, which keeps its link', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const { id } = await addProvider(store, 'Provide2');
      const before = await store.listLinksOf(providerId, ALL);
      expect(await store.importLink(id, link(), UPDATES, ACT)).toBe('install_code_exists');
      expect(await store.listLinksOf(providerId, ALL)).toEqual(before);
      expect(await store.listLinksOf(id, ALL)).toEqual([]);
    });

    test('refuses a new link beyond the cap, not one that is here', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const rules = { ...RULES, installCountMax: 1 };
      await store.importLink(id, link(), rules, ACT);
      const second = link({ installCode: OTHER_CODE, id: 701 });
      expect(await store.importLink(id, second, rules, ACT)).toBe('install_code_limit_reached');
      expect(await store.importLink(id, link(), rules, ACT)).toMatchObject({ was: 'present' });
    });
  },

  importDomain(opened) {
    test('a binding comes with its id, name, state and date; again changes nothing', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const rules = RULES;
      expect(await store.importDomain(id, binding(), rules, ACT)).toEqual({ was: 'added', id: 70 });
      expect(await store.listDomains(id, ALL)).toEqual([{ ...binding(), id: 70 }]);
      expect(await store.importDomain(id, binding(), rules, ACT)).toEqual({
        was: 'present',
        id: 70,
      });
      expect(await store.listDomains(id, ALL)).toEqual([{ ...binding(), id: 70 }]);
    });

    test('a taken id becomes the next free one; another provider may bind the same', async () => {
      const { store } = opened();
      const { domainId } = await addDoor(store);
      const { id } = await addProvider(store, 'Provide2');
      const wanted = binding({ id: domainId });
      expect(await store.importDomain(id, wanted, RULES, ACT)).toEqual({
        was: 'added',
        id: domainId + 1,
      });
    });

    test('refuses a new one beyond the cap, not one that is here', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const rules = { ...RULES, domainCountMax: 1 };
      await store.importDomain(id, binding(), rules, ACT);
      const second = binding({ domainHash: OTHER_HASH, id: 71 });
      expect(await store.importDomain(id, second, rules, ACT)).toBe('domain_limit_reached');
      expect(await store.importDomain(id, binding(), rules, ACT)).toMatchObject({ was: 'present' });
      expect(await store.listDomains(id, ALL)).toHaveLength(1);
    });

    test('what differs stays, and is told; with updates it comes', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      await store.importDomain(id, binding(), RULES, ACT);
      const changed = binding({ id: 9, domainName: 'new', status: 10, createdAtMs: 1 });
      const told = await store.importDomain(id, changed, RULES, ACT);
      expect(told).toEqual({ was: 'different', id: 70 });
      expect(await store.listDomains(id, ALL)).toMatchObject([{ domainName: 'shop', status: 5 }]);
      const updated = await store.importDomain(id, changed, UPDATES, ACT);
      expect(updated).toEqual({ was: 'updated', id: 70 });
      const after = { id: 70, domainName: 'new', status: 10, createdAtMs: EARLIER_MS };
      expect(await store.listDomains(id, ALL)).toMatchObject([after]);
    });
  },

  exportProvider(opened) {
    test('all that a provider owns and nothing of others, oldest first', async () => {
      const { store } = opened();
      const { id: foreign } = await addProvider(store, 'Provide2');
      await addLink(store, foreign, { installCode: 'Foreign00001' });
      const { providerId } = await addDoor(store);
      await store.importDomain(providerId, binding({ domainHash: OTHER_HASH }), RULES, ACT);
      const slots = link().slots.map((one) => ({ slotSeenAtMs: NOW_MS, ...one }));
      const terms: LinkTermsAndKey = {
        ...NO_TERMS,
        inactiveDays: 30,
        whenFull: 'replace-oldest',
        coolDownHours: 1,
        enforce: 0,
        withoutHwid: 'pass',
        samePhone: 'replace',
        webPageUrl: 'https://a/',
        subscriptionKeyHash: HASH,
      };
      const over = { installLimit: 1, overMax: slots.length };
      const moved = link({ installCode: OTHER_CODE, slots, terms, ...over });
      await store.importLink(providerId, moved, RULES, ACT);
      await knock(store, 'x');
      const [owner, ...rest] = await exported(store, 'Provide1');
      expect(owner).toEqual({ kind: 'provider', provider: await provider(store, 'Provide1') });
      expect(rest).toEqual([
        { kind: 'domain', domain: { ...binding({ id: 1, domainHash: HASH }), ...SHOP } },
        { kind: 'domain', domain: binding({ domainHash: OTHER_HASH }) },
        {
          kind: 'install',
          install: {
            id: 2,
            installCode: CODE,
            installLimit: 2,
            status: 10,
            note: 'note',
            createdAtMs: NOW_MS,
            terms: NO_TERMS,
            slots: [
              {
                hwid: 'x',
                ...FACTS,
                registeredAtMs: NOW_MS,
                firstSeenAtMs: NOW_MS,
                lastSeenAtMs: NOW_MS,
                slotSeenAtMs: NOW_MS,
              },
            ],
          },
        },
        { kind: 'install', install: moved },
      ]);
    });

    test('what changes while it is read does not show', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      for (let n = 100; n < 350; n++)
        await addLink(store, id, { installCode: `code00000${n}`, installCountMax: 999 });
      const codes: string[] = [];
      for await (const record of store.exportProvider('Provide1')) {
        if (record.kind !== 'install') continue;
        if (codes.length === 0) {
          await addLink(store, id, { installCode: 'LateLink0001', installCountMax: 999 });
          await store.updateLink(id, record.install.id ?? 0, { note: 'late' }, ACT);
        }
        expect(record.install.note).toBe('note');
        codes.push(record.install.installCode);
      }
      expect(codes).toHaveLength(250);
      expect(codes).not.toContain('LateLink0001');
      expect(await exported(store, 'Provide1')).toHaveLength(252);
    });

    test('nothing for an unknown provider; breaking off is no harm', async () => {
      const { store } = opened();
      await addDoor(store);
      expect(await exported(store, 'Nobody00')).toEqual([]);
      for await (const record of store.exportProvider('Provide1')) {
        expect(record.kind).toBe('provider');
        break;
      }
      await knock(store, 'a');
      expect(await exported(store, 'Provide1')).toHaveLength(3);
    });
  },
};
