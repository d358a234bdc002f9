/** The door of a link: all that is asked about a device there, in one look. */

import { type SQL, sql } from 'drizzle-orm';
import { DOMAIN_ACTIVE } from '../../core/port/domain.ts';
import type {
  AdmittedLink,
  Door,
  FullLink,
  NoLink,
  OldestSlot,
  OwnPolicy,
  SlotKey,
} from '../../core/port/slot.ts';
import { freesSlots, policyOf } from '../../core/slot.ts';
import {
  AT_PROVIDER_COLUMNS,
  lockProvider,
  type RowAtProvider,
  SEEN_AS_ONE,
  SLOT_SEEN,
} from './lookups.ts';
import { prepare, type Runner, value } from './statement.ts';
import type { Write } from './write.ts';

interface DoorRow extends Omit<RowAtProvider, 'lastSeenAtMs'>, AdmittedLink, OwnPolicy {
  /** Which of the doors that were asked for, from 1. */
  n: number;
  isBound: boolean;
  /** Null: the device holds no slot on the link, and what is said of it is null too. */
  slotSeenAtMs: number | null;
  providerInactiveDays: number | null;
  providerWhenFull: OwnPolicy['whenFull'];
  providerCoolDownHours: number | null;
  replacedAtMs: number | null;
}

/** A door as the core knows it, with the row of the slot that may be freed. */
export interface DoorHere extends Door {
  full: (FullLink & { oldest: OldestSlot & { slotId: number } }) | null;
}

/** Time at which the slot of `p` on the link `i` was seen. */
const SEEN_ON_LINK = sql`
  CASE WHEN ${SEEN_AS_ONE} THEN p.last_seen_at_ms ELSE ${SLOT_SEEN} END`;

const IS_BOUND = sql`coalesce(b.status = ${sql.raw(String(DOMAIN_ACTIVE))}, false)`;

/** Doors of the links `i` that `links` finds for each `k` of those who knock. */
const doors = (knocks: SQL, links: SQL, bounds: SQL) => sql`
  SELECT k.n AS n, x.* FROM ${knocks} CROSS JOIN LATERAL (
    SELECT i.id AS "installId", i.provider_id AS "providerId", o.code AS "providerCode",
      i.status AS status, i.install_limit AS "installLimit", i.device_count AS "deviceCount",
      i.inactive_days AS "inactiveDays", i.when_full AS "whenFull",
      i.cool_down_hours AS "coolDownHours", o.inactive_days AS "providerInactiveDays",
      o.when_full AS "providerWhenFull", o.cool_down_hours AS "providerCoolDownHours",
      i.replaced_at_ms AS "replacedAtMs", ${IS_BOUND} AS "isBound",
      ${SEEN_ON_LINK} AS "slotSeenAtMs", ${AT_PROVIDER_COLUMNS}
    FROM install i JOIN provider o ON o.id = i.provider_id
      LEFT JOIN domain b ON b.provider_id = i.provider_id AND b.domain_hash = k.domain_hash
      LEFT JOIN install_device s ON s.install_id = i.id
        AND s.device_id = (SELECT d.id FROM device d WHERE d.hwid = k.hwid)
      LEFT JOIN device_provider p
        ON p.device_id = s.device_id AND p.provider_id = s.provider_id
    WHERE ${links} ${bounds}) x`;

const KNOCKS = sql`
  unnest(${value('names')}::text[], ${value('codes')}::text[], ${value('hashes')}::text[],
    ${value('hwids')}::text[]) WITH ORDINALITY AS k(name, provider_code, domain_hash, hwid, n)`;
const OF_PROVIDER = sql`(k.provider_code IS NULL OR o.code = k.provider_code)`;

const on = {
  byCode: prepare<DoorRow>(
    doors(KNOCKS, sql`i.install_code = k.name AND ${OF_PROVIDER}`, sql`LIMIT 1`),
  ),
  /** Links with the key, those that are bound before the others: of two neither is meant. */
  byKey: prepare<DoorRow>(
    doors(
      KNOCKS,
      sql`i.subscription_key_hash = decode(k.name, 'hex') AND ${OF_PROVIDER}`,
      sql`ORDER BY ${IS_BOUND} DESC LIMIT 2`,
    ),
  ),
  oldest: prepare<OldestSlot & { slotId: number }>(sql`
      SELECT s.id AS "slotId", d.hwid AS hwid, s.registered_at_ms AS "registeredAtMs",
        ${SLOT_SEEN} AS "lastSeenAtMs"
      FROM install_device s JOIN device d ON d.id = s.device_id
        JOIN device_provider p ON p.device_id = s.device_id AND p.provider_id = s.provider_id
      WHERE s.install_id = ${value('installId')}
      ORDER BY "lastSeenAtMs", s.registered_at_ms, s.id LIMIT 1`),
  lockLink: prepare(sql`
      SELECT id FROM install WHERE id = ${value('installId')} FOR NO KEY UPDATE`),
  lockDevices: prepare(sql`
      SELECT id FROM device WHERE hwid = ANY(${value('hwids')}::text[])
      ORDER BY hwid FOR NO KEY UPDATE`),
};

/** A door, and whether its policy ever frees a slot. */
interface Look {
  door: DoorHere;
  mayFree: boolean;
}

/** Finds the doors at which devices stand, by links that are all named in the same way. */
async function lookAt(runner: Runner, keys: readonly SlotKey[]): Promise<(Look | NoLink)[]> {
  const [first] = keys;
  if (first === undefined) return [];
  const statement = 'installCode' in first ? on.byCode : on.byKey;
  const rows = await statement.all(runner, {
    names: keys.map((key) => ('installCode' in key ? key.installCode : key.subscriptionKeyHash)),
    codes: keys.map(({ providerCode = null }) => providerCode),
    hashes: keys.map(({ domainHash }) => domainHash),
    hwids: keys.map(({ hwid }) => hwid),
  });
  const found: DoorRow[][] = keys.map(() => []);
  for (const row of rows) found[row.n - 1]?.push(row);
  return Promise.all(found.map((links) => lookOf(runner, links)));
}

async function lookOf(runner: Runner, [row, other]: readonly DoorRow[]): Promise<Look | NoLink> {
  if (row === undefined) return 'link_not_found';
  if (other !== undefined && other.isBound === row.isBound) return 'key_ambiguous';
  const { installId, providerId, providerCode, status, installLimit, deviceCount } = row;
  const link = { installId, providerId, providerCode, status, installLimit, deviceCount };
  const device = deviceIn(row);
  const policy = policyOf(row, {
    inactiveDays: row.providerInactiveDays,
    whenFull: row.providerWhenFull,
    coolDownHours: row.providerCoolDownHours,
  });
  const mayFree = freesSlots(policy);
  const isFull = device === null && deviceCount >= installLimit;
  const oldest = isFull && mayFree ? await on.oldest.get(runner, { installId }) : null;
  const full = oldest && { policy, replacedAtMs: row.replacedAtMs, oldest };
  return { door: { link, isBound: row.isBound, device, full }, mayFree };
}

/** Finds the doors at which devices stand, by links that are all named in the same way. */
export async function findDoors(
  runner: Runner,
  keys: readonly SlotKey[],
): Promise<(DoorHere | NoLink)[]> {
  const looks = await lookAt(runner, keys);
  return looks.map((look) => (typeof look === 'string' ? look : look.door));
}

/**
 * Finds the door at which a device stands, as it stays for this write: what a slot there changes is
 * locked in the one order, and looked at behind it.
 */
export async function findDoorLocked(w: Write, key: SlotKey): Promise<DoorHere | NoLink> {
  const links = new Set<number>();
  const providers = new Set<number>();
  const hwids = new Set<string>();
  for (;;) {
    const [look = 'link_not_found'] = await lookAt(w, [key]);
    if (typeof look === 'string') return look;
    const { door, mayFree } = look;
    const { installId, providerId } = door.link;
    const oldest = door.full?.oldest.hwid ?? key.hwid;
    const isFreer = mayFree && !providers.has(providerId);
    if (links.has(installId) && !isFreer && (door.full === null || hwids.has(oldest))) return door;
    // An end of a slot is counted at its provider.
    if (isFreer) await lockProvider.run(w, { providerId });
    if (mayFree) providers.add(providerId);
    if (!links.has(installId)) await on.lockLink.run(w, { installId });
    links.add(installId);
    if (door.full !== null) await on.lockDevices.run(w, { hwids: [key.hwid, oldest] });
    if (door.full !== null) hwids.add(oldest);
  }
}

function deviceIn(row: DoorRow): Door['device'] {
  const { slotSeenAtMs, os, osVersion, deviceName, appVersion, userAgent, isRegistered } = row;
  if (slotSeenAtMs === null) return null;
  const lastSeenAtMs = slotSeenAtMs;
  return { os, osVersion, deviceName, appVersion, userAgent, lastSeenAtMs, isRegistered };
}
