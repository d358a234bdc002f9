/**
 * Devices on PostgreSQL: what is said without proof, and everything at once that writes to the same
 * devices, over three connections: nothing fails, no two wait for each other, and what is counted
 * is what is there.
 */

import { expect } from 'bun:test';
import { mergeUnproven } from '../../src/core/device.ts';
import type { Store } from '../../src/core/port/store.ts';
import { ACT } from '../support/actor.ts';
import { describePostgres, testPostgres } from '../support/needs.ts';
import { openPlace } from '../support/place.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { Random } from '../support/random.ts';
import { addLink, addProvider, bind, CLOCK, FACTS, HASH, NOW_MS } from './contract/fixture.ts';
import { deliver, onBinding, onLink, registration, tokenHash } from './contract/message-fixture.ts';

const DAY_MS = 86_400_000;
const CODES = ['LinkCode0001', 'LinkCode0002', 'LinkCode0003'];
const PROVIDERS = ['Provide1', 'Provide2'];
const HWIDS = ['a', 'b', 'c', 'd', 'e'];
const CONNECTIONS = 3;
const CALLERS = 8;
const CALLS = 40;
/** DEVICES_SEED=n draws other calls. */
const SEED = Number(process.env['DEVICES_SEED'] ?? 1);

async function inDatabase(use: (database: TestDatabase) => Promise<void>): Promise<void> {
  const database = await freshDatabase();
  try {
    await use(database);
  } finally {
    await database.drop();
  }
}

const open = (database: TestDatabase) =>
  openPlace({ dataDir: '', databaseUrl: database.url }, { clock: CLOCK });

/** Two providers with links that fill up, of which one lets newcomers replace others. */
async function addDoors(store: Store): Promise<number> {
  const { id } = await addProvider(store, 'Provide1');
  const other = await addProvider(store, 'Provide2');
  await addLink(store, id, { installCode: CODES[0] ?? '', installLimit: 2 });
  await addLink(store, other.id, { installCode: CODES[1] ?? '', installLimit: 3 });
  const last = await addLink(store, id, { installCode: CODES[2] ?? '', installLimit: 2 });
  await store.updateLink(id, last, { whenFull: 'replace-oldest' }, ACT);
  await bind(store, id);
  await bind(store, other.id);
  return id;
}

/** What callers do, each with any device. */
const CALLS_OF: readonly ((store: Store, random: Random, mark: string) => Promise<unknown>)[] = [
  (store, random, mark) => {
    const domainHash = random.chance(0.5) ? HASH : null;
    const key = { providerCode: random.pick(PROVIDERS), domainHash, hwid: random.pick(HWIDS) };
    return store.recordCheckIn(key, { ...FACTS, deviceName: mark }, NOW_MS);
  },
  (store, random) => {
    const key = { installCode: random.pick(CODES), domainHash: HASH, hwid: random.pick(HWIDS) };
    return store.takeSlot(key, FACTS, NOW_MS + random.int(0, DAY_MS));
  },
  (store, random, mark) => {
    const shown = random.chance(0.5)
      ? onLink(random.pick(CODES))
      : onBinding(random.pick(PROVIDERS));
    const more = { shown, tokenHash: tokenHash(mark) };
    return store.registerDevice(registration(random.pick(HWIDS), more));
  },
  async (store, random, mark) => {
    const hwid = random.pick(HWIDS);
    const registered = await store.registerDevice(
      registration(hwid, { tokenHash: tokenHash(mark) }),
    );
    if (typeof registered === 'string') return;
    const holder = { id: registered.deviceId, tokenHash: tokenHash(mark) };
    const token = await store.findDeviceByToken(holder.tokenHash);
    await store.noteSeen(holder.id, token?.tokenId ?? 0, NOW_MS + DAY_MS);
    const { messages } = await store.listInbox(holder, NOW_MS, { countMax: 9, bytesMax: 1e6 });
    const items = messages.map(({ id }) => ({ id, state: 'opened', detail: null }) as const);
    await store.acknowledge(holder, items, NOW_MS);
  },
  async (store, random) => {
    const installCode = random.pick(CODES);
    const providerCode = installCode === CODES[1] ? 'Provide2' : 'Provide1';
    const provider = await store.findProvider(providerCode);
    const selector = { installCode, installId: null };
    return store.freeSlot(provider?.id ?? 0, selector, random.pick(HWIDS), ACT);
  },
  (store, random) => store.forgetDevice(random.pick(HWIDS), ACT),
  async (store) => {
    await store.forgetStrangers({ seenBeforeMs: 0, countMax: 1 }, null);
    await store.forgetVisits(NOW_MS + 1);
  },
];

/** Rows whose counts are not those of what they count; and what belongs to nothing. */
const WRONG = `
  SELECT 'slots of a link' AS what FROM install i
    WHERE device_count <> (SELECT count(*) FROM install_device WHERE install_id = i.id)
      OR device_count > install_limit
  UNION ALL SELECT 'slots and ties' FROM device_provider p
    WHERE slot_count <> (SELECT count(*) FROM install_device s
        WHERE s.device_id = p.device_id AND s.provider_id = p.provider_id)
      OR tie_count <> (SELECT count(*) FROM device_domain b
        WHERE b.device_id = p.device_id AND b.provider_id = p.provider_id)
  UNION ALL SELECT 'holders' FROM device d
    WHERE holder_count <> (SELECT count(*) FROM device_provider p
      WHERE p.device_id = d.id AND p.slot_count + p.tie_count > 0)
  UNION ALL SELECT 'ends' FROM provider o
    WHERE slot_end_count <> (SELECT count(*) FROM slot_end e WHERE e.provider_id = o.id)
  UNION ALL SELECT 'a token without a place' FROM device_token t
    WHERE stands_alone = 0
      AND NOT EXISTS (SELECT 1 FROM device_provider p WHERE p.token_id = t.id)`;

const factsOf = (word: string) => ({
  os: word,
  osVersion: word,
  deviceName: word,
  appVersion: word,
  userAgent: word,
});

describePostgres('devices', () => {
  testPostgres('what is said without proof is merged by the rule of the core', () =>
    inDatabase(async (database) => {
      const store = await open(database);
      await addDoors(store);
      for (const known of ['', 'known']) {
        for (const said of ['', 'said']) {
          for (const isRegistered of [false, true]) {
            const hwid = `${known} ${said} ${isRegistered}`;
            const key = { providerCode: 'Provide1', domainHash: HASH, hwid };
            await store.recordCheckIn(key, factsOf(known), NOW_MS);
            const more = { shown: onBinding(), tokenHash: tokenHash(hwid), facts: factsOf('') };
            if (isRegistered) await store.registerDevice(registration(hwid, more));
            await store.recordCheckIn(key, factsOf(said), NOW_MS);
            const before = { ...factsOf(known), isRegistered, lastSeenAtMs: NOW_MS };
            const wanted = mergeUnproven(before, factsOf(said));
            expect((await store.findDevice(hwid))?.seenBy).toEqual([
              { ...before, ...wanted, providerCode: 'Provide1' },
            ]);
          }
        }
      }
      await store.close();
    }),
  );

  testPostgres('a device that a node of 0.10.0 admitted gets a home with its next call', () =>
    inDatabase(async (database) => {
      const store = await open(database);
      await addDoors(store);
      const key = { installCode: CODES[0] ?? '', domainHash: HASH, hwid: 'a' };
      const homeOf = async () => {
        const rows = await database.sql`
          SELECT home_install_id::integer AS home FROM device_provider`;
        return Array.from(rows, ({ home }: { home: number | null }) => home);
      };
      await store.takeSlot(key, FACTS, NOW_MS);
      const homes = await homeOf();
      expect(homes).toEqual([expect.any(Number)]);
      await database.sql`UPDATE device_provider SET home_install_id = NULL`;
      await store.takeSlot(key, FACTS, NOW_MS + DAY_MS);
      expect(await homeOf()).toEqual(homes);
      await store.close();
    }),
  );

  testPostgres('everything at once fails nowhere, waits in no circle, and leaves true counts', () =>
    inDatabase(async (database) => {
      const opening = Array.from({ length: CONNECTIONS }, () => open(database));
      const stores = await Promise.all(opening);
      const [first] = stores as [Store];
      const providerId = await addDoors(first);
      const caller = async (n: number) => {
        const random = new Random(SEED + n);
        const store = random.pick(stores);
        for (let call = 0; call < CALLS; call++) {
          await random.pick(CALLS_OF)(store, random, `${n} ${call}`);
        }
      };
      const sender = async () => {
        for (let n = 0; n < 5; n++) await deliver(first, providerId);
      };
      await Promise.all([sender(), ...Array.from({ length: CALLERS }, (_, n) => caller(n))]);
      expect(Array.from(await database.sql.unsafe(WRONG))).toEqual([]);
      await Promise.all(stores.map((store) => store.close()));
      const [told] = await database.sql`
          SELECT deadlocks::integer AS count FROM pg_stat_database
          WHERE datname = current_database()`;
      expect(told.count).toBe(0);
    }),
  );
});
