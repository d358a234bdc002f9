/**
 * The statement that admits many devices on PostgreSQL restates `judge` of core/slot.ts: over all
 * cells of the rule it admits exactly the devices that the rule admits without freeing a slot.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../src/core/calendar.ts';
import { INSTALL_ACTIVE, INSTALL_DISABLED } from '../../src/core/port/link.ts';
import type { ImportedSlot } from '../../src/core/port/moving.ts';
import type { LinkName, OwnPolicy } from '../../src/core/port/slot.ts';
import type { Store } from '../../src/core/port/store.ts';
import { isAdmitted, judge, NO_POLICY, NO_TERMS } from '../../src/core/slot.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { ACT } from '../support/actor.ts';
import { describePostgres } from '../support/needs.ts';
import { placeOf } from '../support/place.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { addProvider, bind, CLOCK, FACTS, heard, NOW_MS } from './contract/fixture.ts';
import { addWebhook } from './contract/webhook.ts';

const HASHES = { active: 'a'.repeat(64), disabled: 'b'.repeat(64), none: 'c'.repeat(64) };
const STATUSES = { active: INSTALL_ACTIVE, disabled: INSTALL_DISABLED };
const DEVICES = ['has a slot', 'is known', 'is new'] as const;
const RIVAL_SEEN_MS = NOW_MS - 10 * DAY_MS;

/** Other slots of the link, its policy and its last replacement. */
interface Room {
  isFull: boolean;
  policy?: OwnPolicy;
  replacedAtMs?: number;
  /** The policy of the provider. */
  above?: Partial<OwnPolicy>;
  /** More slots than its limit. */
  isOver?: true;
  /** The switch of the caller. */
  enforces?: boolean;
}
const REPLACING: OwnPolicy = { ...NO_POLICY, inactiveDays: 5, whenFull: 'replace-oldest' };
const ROOMS: Record<string, Room> = {
  'one is free': { isFull: false },
  'it is full': { isFull: true },
  'one is free, and it refuses new devices': {
    isFull: false,
    policy: { ...NO_POLICY, whenNew: 'refuse' },
  },
  'one is free, and its provider refuses new devices': {
    isFull: false,
    above: { whenNew: 'refuse' },
  },
  'it refuses no new devices, its provider does': {
    isFull: false,
    policy: { ...NO_POLICY, whenNew: 'admit' },
    above: { whenNew: 'refuse' },
  },
  'its slot is inactive': { isFull: true, policy: { ...NO_POLICY, inactiveDays: 5 } },
  'its slot may be replaced': {
    isFull: true,
    policy: { ...NO_POLICY, whenFull: 'replace-oldest' },
  },
  'it cools down': {
    isFull: true,
    policy: { ...NO_POLICY, whenFull: 'replace-oldest' },
    replacedAtMs: NOW_MS - HOUR_MS,
  },
  'it only counts and has room': { isFull: false, policy: { ...NO_POLICY, enforce: 0 } },
  'it only counts': { isFull: true, policy: { ...REPLACING, enforce: 0 } },
  'it counts as its provider': { isFull: true, above: { enforce: 0 } },
  'it counts for its upstream': { isFull: true, policy: REPLACING, enforces: false },
  'it counts, over its limit': { isFull: true, isOver: true, policy: { ...NO_POLICY, enforce: 0 } },
  'it enforces, its provider counts': {
    isFull: true,
    policy: { ...NO_POLICY, enforce: 1 },
    above: { enforce: 0 },
    enforces: false,
  },
  'it enforces, over its limit': { isFull: true, isOver: true, policy: REPLACING },
};

interface Made {
  installCode: string;
  subscriptionKeyHash: string;
}

/** Names of a link; the statement takes no key without its provider. */
const NAMES: Record<string, { name(link: Made): LinkName; isPlain: boolean; provider?: string }> = {
  code: { name: ({ installCode }) => ({ installCode }), isPlain: true },
  'code, its provider': {
    name: ({ installCode }) => ({ installCode, providerCode: 'Provide1' }),
    isPlain: true,
  },
  'code, another provider': {
    name: ({ installCode }) => ({ installCode, providerCode: 'Provide2' }),
    isPlain: true,
  },
  'key, its provider': {
    name: ({ subscriptionKeyHash }) => ({ subscriptionKeyHash, providerCode: 'Provide1' }),
    isPlain: true,
  },
  'key alone': {
    name: ({ subscriptionKeyHash }) => ({ subscriptionKeyHash, providerCode: null }),
    isPlain: false,
  },
  'code, of a provider with a webhook': {
    name: ({ installCode }) => ({ installCode }),
    isPlain: false,
    provider: 'Provide2',
  },
};

const slotOf = (hwid: string, seenMs: number): ImportedSlot => ({
  ...FACTS,
  hwid,
  registeredAtMs: seenMs,
  firstSeenAtMs: seenMs,
  lastSeenAtMs: seenMs,
  slotSeenAtMs: seenMs,
});

describePostgres('on PostgreSQL', () => {
  let database: TestDatabase;
  /** The store with its fast paths, and without. */
  let fast: Store;
  let plain: Store;
  const providers = new Map<string, number>();
  let transactionCount = 0;
  let admittedCount = 0;
  let made = 0;

  beforeAll(async () => {
    database = await freshDatabase();
    const options = { dataDir: '', create: false, commitBatchMax: 1, clock: CLOCK };
    const place = { ...placeOf(database.url), connections: 2 };
    CLOCK.set(NOW_MS);
    fast = await openPostgresStore(
      {
        ...options,
        onStatement: (kind) => {
          if (kind === 'transaction') transactionCount += 1;
        },
        onFigure: (figure) => {
          if (figure === 'admitted') admittedCount += 1;
        },
      },
      { ...place, set: true },
    );
    plain = await openPostgresStore(options, { ...place, set: false });
    for (const code of ['Provide1', 'Provide2']) {
      const { id } = await addProvider(plain, code);
      providers.set(code, id);
      await bind(plain, id, HASHES.active);
      const disabled = await bind(plain, id, HASHES.disabled);
      await plain.disableDomain(id, disabled, ACT);
    }
    await addWebhook(plain, providers.get('Provide2') ?? 0);
  });
  afterAll(async () => {
    await fast.close();
    await plain.close();
    await database.drop();
  });

  /** Adds a link with its slots. */
  async function addCell(
    { isFull, isOver, policy = NO_POLICY, replacedAtMs }: Room,
    cell: { providerId: number; status: number; device: (typeof DEVICES)[number] },
  ): Promise<Made & { hwid: string }> {
    made += 1;
    const hwid = `device ${made}`;
    const installCode = `LinkCode${String(made).padStart(4, '0')}`;
    const subscriptionKeyHash = String(made).padStart(64, '0');
    const { providerId, status, device } = cell;
    const has = device === 'has a slot' ? [slotOf(hwid, RIVAL_SEEN_MS + 1)] : [];
    const rivals = isOver ? [slotOf(`rival of ${made}`, RIVAL_SEEN_MS)] : [];
    const slots = [slotOf(`rival ${made}`, RIVAL_SEEN_MS), ...rivals, ...has];
    const link = { id: null, note: null, createdAtMs: NOW_MS };
    const terms = { ...NO_TERMS, ...policy, subscriptionKeyHash };
    const installLimit = slots.length + (isFull ? 0 : 1) - rivals.length;
    const rules = { installCountMax: 10_000, updates: false };
    const replaced = {
      ...(replacedAtMs !== undefined && { replacedAtMs }),
      ...(isOver && { overMax: slots.length }),
    };
    const adding = plain.importLink(
      providerId,
      { ...link, installCode, installLimit, status, terms, slots, ...replaced },
      rules,
      ACT,
    );
    if (device === 'is known') {
      const spare = { ...link, installCode: `Spare${String(made).padStart(7, '0')}` };
      const known = [slotOf(hwid, RIVAL_SEEN_MS)];
      await plain.importLink(
        providerId,
        { ...spare, installLimit: 1, status: INSTALL_ACTIVE, slots: known },
        rules,
        ACT,
      );
    }
    await adding;
    return { hwid, installCode, subscriptionKeyHash };
  }

  describe.each(Object.entries(NAMES))('named by its %s', (_, { name, isPlain, provider }) => {
    test.each(DEVICES)('a device that %s is admitted as the rule says', async (device) => {
      const providerId = providers.get(provider ?? 'Provide1') ?? 0;
      for (const room of Object.values(ROOMS)) {
        const above = { ...NO_POLICY, ...room.above };
        for (const code of providers.keys()) await plain.updateProvider(code, above, ACT);
        for (const status of Object.values(STATUSES)) {
          for (const domainHash of Object.values(HASHES)) {
            const { hwid, ...link } = await addCell(room, { providerId, status, device });
            const switched = room.enforces === undefined ? {} : { enforces: room.enforces };
            const key = { ...name(link), domainHash, hwid, ...switched };
            const door = await plain.findSlot(key);
            const verdict = typeof door === 'string' ? door : judge(door, NOW_MS);
            transactionCount = 0;
            admittedCount = 0;
            const taken = heard(await fast.takeSlot(key, FACTS, NOW_MS));
            const isIn = typeof taken !== 'string';
            expect(isIn ? 'in' : taken).toBe(
              typeof door !== 'string' && isAdmitted(judge(door, NOW_MS)) ? 'in' : verdict,
            );
            if (isIn && typeof door !== 'string') {
              const isMore = verdict === 'room' || verdict === 'over' ? 1 : 0;
              expect(taken).toEqual({
                ...door.link,
                deviceCount: door.link.deviceCount + isMore,
              });
            }
            // Plain cells need no transaction; all others fall back to one.
            const isSimple = verdict === 'known' || verdict === 'room';
            // A device with its home on another link may move it here.
            const isByStatement = isPlain && isSimple && device !== 'is known';
            expect([verdict, transactionCount]).toEqual([verdict, isByStatement ? 0 : 1]);
            expect(admittedCount).toBe(isIn && verdict !== 'known' ? 1 : 0);
          }
        }
      }
    });
  });
});
