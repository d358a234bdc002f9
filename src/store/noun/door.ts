/** The door of a link: everything that the rule needs to know about a device there. */

import type { SQL } from 'drizzle-orm';
import { barHashesOf } from '../../core/bar.ts';
import { mergeFacts } from '../../core/device.ts';
import { hwidOfHash } from '../../core/formats.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import { DOMAIN_ACTIVE } from '../../core/port/domain.ts';
import type { DoorRides } from '../../core/port/ride.ts';
import type { AdmittedLink, Door, NoLink, SightedKey, SlotKey } from '../../core/port/slot.ts';
import { hwidHash } from '../../core/secret.ts';
import type { Dialect, NeededRows, Statements, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { ACTIVE_BINDING } from '../status.ts';
import { firstPhoneSteps } from './first-phone.ts';
import { type Asking, type FullDoor, fullLinkSteps } from './full-link.ts';
import {
  AT_PROVIDER_COLUMNS,
  atProvider,
  type RowAtProvider,
  SEEN_AS_ONE,
  slotSeen,
} from './look-ups.ts';
import { namedRows } from './named-hwid-rows.ts';
import { phoneSteps } from './phone.ts';
import type { PhoneHere } from './phone-rows.ts';
import { shared } from './shared.ts';

export interface DoorRow
  extends Omit<RowAtProvider, 'lastSeenAtMs'>,
    Omit<AdmittedLink, 'providerCode' | 'rides' | 'awaitsFetch'>,
    Pick<DoorRides, 'homeSinceMs' | 'supportUrl' | 'webPageUrl'> {
  /** Absent if it was not selected. */
  providerCode?: string;
  /** The device with the HWID; null: there is none. */
  deviceId: number | null;
  /** Status of the provider's binding of the hash; null: there is none. */
  domainStatus: number | null;
  /**
   * Version of the messages that ride to all devices of the provider; null: the hash has no
   * binding.
   */
  rideVersion: number | null;
  rideUntilMs: number | null;
  /** Null: the device has no slot on the link, and the slot's columns are null too. */
  slotSeenAtMs: number | null;
  /** 1: a slot may be stored under the hash of the HWID, or be that of a named one. */
  hasHashes: number;
  /** 1: phones of some HWIDs of the link are known; 2: of this one too. */
  phones: number;
  /** 1: the device has no slot on the link, and the provider knows it. */
  isKnown: number;
  /** The rule for new HWIDs of link or provider; null: none, or the device has a slot. */
  whenNew: string | null;
  /** 1: the HWID may be barred. */
  hasBars: number;
  /** 1: devices may have to fetch again soon. */
  awaitsFetch: number;
  namedUntilMs: number | null;
}

/** A door of the core, with the ids of the slots that may be freed or taken over. */
export interface DoorHere extends Door {
  full: FullDoor['full'];
  byHash?: { slotId: number; deviceId: number; registeredAtMs: number };
  /** The row of the named HWID. */
  nameId?: number;
  knownId?: number;
  /** True if the device has a slot here and its home on another link. */
  isAway?: boolean;
  phone?: PhoneHere;
}

/**
 * Returns the facts that a device reports; one that was found by its hash or name keeps its
 * imported facts.
 */
export const factsAt = (
  { byHash, device, isNamed }: DoorHere,
  reported: DeviceFacts,
): DeviceFacts => ((byHash || isNamed) && device ? mergeFacts(device, reported) : reported);

/** A column for {@link selectDoor}. */
export const PROVIDER_CODE = sql`
  (SELECT o.code FROM provider o WHERE o.id = i.provider_id) AS "providerCode",`;

/**
 * Condition under which {@link ridesIn} is null. SQLite then need not read the slot's row: 0.4 of
 * 3.2 us.
 */
const NOTHING_RIDES = sql.raw(`coalesce(b.ride_until_ms, 0) = 0 AND p.ride_until_ms = 0
  AND i.support_url IS NULL AND i.web_page_url IS NULL`);

/** Selects the doors of links `i` for a device and a domain, with further columns. */
export const selectDoor = (
  dialect: Dialect,
  { hwid, hash, more = sql.empty() }: { hwid: SQL; hash: SQL; more?: SQL },
) => sql`
  SELECT ${more} ${columns(
    { i: 'install', b: 'domain?', d: 'device?', p: 'device_provider?' },
    `i.id AS installId, i.providerId, i.status, i.installLimit, i.deviceCount, i.supportUrl,
      i.webPageUrl, i.hasHashes, i.hasBars, i.awaitsFetch, b.status AS domainStatus,
      b.rideVersion, b.rideUntilMs, d.id AS deviceId, p.rideUntilMs AS namedUntilMs`,
  )}, ${values<Pick<DoorRow, 'homeSinceMs' | 'slotSeenAtMs' | 'phones' | 'isKnown' | 'whenNew'>>({
    homeSinceMs: sql`CASE WHEN p.home_install_id = i.id THEN CASE WHEN ${NOTHING_RIDES} THEN 0
      ELSE ${dialect.greatest(
        sql.raw('s.registered_at_ms'),
        sql.raw('p.home_moved_at_ms'),
      )} END END`,
    slotSeenAtMs: sql`CASE WHEN ${SEEN_AS_ONE} THEN p.last_seen_at_ms
      ELSE ${slotSeen(dialect)} END`,
    phones: sql`CASE WHEN i.has_phones = 1 THEN 1 + CAST(EXISTS (SELECT 1 FROM slot_phone f
      WHERE f.install_id = i.id AND f.device_id = d.id) AS integer) ELSE 0 END`,
    // Read for new devices alone.
    isKnown: sql`CASE WHEN s.id IS NULL THEN CAST(EXISTS (SELECT 1 FROM device_provider q
      WHERE q.device_id = d.id AND q.provider_id = i.provider_id) AS integer) ELSE 0 END`,
    whenNew: sql`CASE WHEN s.id IS NULL THEN coalesce(i.when_new,
      (SELECT o.when_new FROM provider o WHERE o.id = i.provider_id)) END`,
  })}, ${AT_PROVIDER_COLUMNS}
  FROM install i LEFT JOIN domain b ON b.provider_id = i.provider_id AND b.domain_hash = ${hash}
    LEFT JOIN device d ON d.hwid = ${hwid}
    LEFT JOIN install_device s ON s.install_id = i.id AND s.device_id = d.id
    LEFT JOIN device_provider p ON p.device_id = s.device_id AND p.provider_id = i.provider_id`;

function statements(backend: Statements) {
  const { prepare, join, once } = backend;
  const door = selectDoor(backend, { hwid: once('hwid'), hash: once('domainHash') });
  const hasKey = sql`i.subscription_key_hash = ${backend.bytes('subscriptionKeyHash')}
    AND (CAST(${once('providerCode')} AS text) IS NULL OR i.provider_id =
      (SELECT o.id FROM provider o WHERE o.code = ${once('providerCode')}))`;
  return {
    byCode: prepare(sql`${door} WHERE i.install_code = ${once('installCode')}`),
    /** Finds up to two links with the key. */
    byKey: prepare(sql`${door} WHERE ${hasKey} LIMIT 2`),
    /** Nearly all links are bound: SQLite sorts nothing for those. */
    byKeyBound: prepare(sql`
        ${door} WHERE ${hasKey} AND EXISTS (SELECT 1 FROM domain b
          WHERE b.provider_id = i.provider_id AND b.domain_hash = ${once('domainHash')}
            AND b.status = ${ACTIVE_BINDING}) LIMIT 2`),
    code: prepare(sql`SELECT ${columns('provider', 'code')} FROM provider WHERE id = :providerId`),
    bar: prepare(sql`
        SELECT ${values<{ untilMs: number }>({ untilMs: sql`until_ms` })} FROM slot_bar
        WHERE install_id = ${once('installId')}
          AND hwid_hash IN (${backend.bytes('exact')}, ${backend.bytes('spelled')})
        ORDER BY until_ms DESC LIMIT 1`),
    byHash: prepare(sql`
        SELECT ${columns({ s: 'install_device' }, 's.id AS slotId, s.deviceId, s.registeredAtMs')},
          ${values<{ lastSeenAtMs: number }>({ lastSeenAtMs: slotSeen(backend) })},
          ${AT_PROVIDER_COLUMNS}
        FROM install_device s ${join} device_provider p
          ON p.device_id = s.device_id AND p.provider_id = s.provider_id
        WHERE s.install_id = ${once('installId')}
          AND s.device_id = (SELECT d.id FROM device d WHERE d.hwid = ${once('hashed')})`),
  };
}

/** Returns the steps that find the door at which a device asks for a slot. */
export const doorSteps = shared((backend: Statements) => {
  const on = statements(backend);
  const { changesMore, fullDoor, policyOn } = fullLinkSteps(backend);
  const phones = phoneSteps(backend);
  const firsts = firstPhoneSteps(backend);
  const { findName } = namedRows(backend);
  /** A provider keeps its code, and its id is never given to another provider. */
  const codes = new Map<number, string>();

  /** Reads a code once: reading it at each door would cost SQLite 0.16 us. */
  function* readCode(providerId: number): Step<string> {
    const code = (yield* on.code.get({ providerId }))?.code ?? '';
    if (code !== '') codes.set(providerId, code);
    return code;
  }

  /** Finds the slot of a named HWID, or that is stored under the hash of the HWID. */
  function* heldOtherwise(
    installId: number,
    hwid: string,
  ): Step<Pick<DoorHere, 'device' | 'byHash' | 'isNamed' | 'nameId'> | null> {
    const name = yield* findName.get({ installId, hwid });
    if (name !== null) {
      const { nameId, namedAtMs, ...facts } = name;
      const device = { ...facts, lastSeenAtMs: namedAtMs, isRegistered: false };
      return { device, isNamed: true, nameId };
    }
    const hashed = hwidOfHash(hwidHash(hwid));
    const held = yield* on.byHash.get({ installId, hashed });
    if (held === null) return null;
    const { slotId, deviceId, registeredAtMs, ...device } = held;
    const byHash = { slotId, deviceId, registeredAtMs };
    return { device: atProvider(device), byHash };
  }

  /** Finds the bar of a HWID, in any spelling. */
  function* barOf(installId: number, hwid: string): Step<{ untilMs: number } | null> {
    const [exact, spelled] = barHashesOf(hwid);
    return yield* on.bar.get({ installId, exact, spelled });
  }

  /** Makes a door of the links found; several links are ambiguous. */
  function* doorOf([row, other]: readonly DoorRow[], key: Asking): Step<DoorHere | NoLink> {
    if (row === undefined) return 'link_not_found';
    if (other !== undefined) return 'key_ambiguous';
    const { providerId } = row;
    const code = row.providerCode ?? codes.get(providerId) ?? (yield* readCode(providerId));
    const door = doorIn(row, code);
    if (!needsMore(row)) return door;
    const { installId, deviceCount, installLimit, hasBars, hasHashes } = row;
    if (hasBars === 1) {
      const bar = yield* barOf(installId, key.hwid);
      if (bar !== null) return { ...door, barredUntilMs: bar.untilMs };
      if (row.slotSeenAtMs !== null) return door;
    }
    const held = hasHashes === 1 ? yield* heldOtherwise(installId, key.hwid) : null;
    if (held !== null) return { ...door, ...held };
    if (row.whenNew === 'refuse' && !key.isFirst) {
      const link = yield* policyOn(installId, key.enforces);
      if (link?.policy.enforce !== 0) return { ...door, isClosed: true };
    }
    const isFull = deviceCount >= installLimit;
    return isFull ? { ...door, ...(yield* fullDoor(installId, key)) } : door;
  }

  /** Finds the door for the phone that asks. */
  const findPhone = (door: DoorHere, { sight, ...key }: SightedKey): Step<DoorHere | NoLink> =>
    phones.at(door, { hwid: key.hwid, sight }, (hwid) => findDoor({ ...key, hwid }));

  function* findSighted(key: SightedKey): Step<DoorHere | NoLink> {
    const { sight: _, ...plain } = key;
    const door = yield* findDoor(plain);
    return typeof door === 'string' ? door : yield* findPhone(door, key);
  }

  /** Serves nearly all calls: a nested step would cost 0.2 us. */
  function* findDoor(key: SlotKey): Step<DoorHere | NoLink> {
    if (key.sight !== undefined) return yield* findSighted({ ...key, sight: key.sight });
    if ('installCode' in key) {
      const { domainHash, hwid, installCode, providerCode = null } = key;
      const row = yield* on.byCode.get({ domainHash, hwid, installCode });
      if (row === null) return 'link_not_found';
      const code = codes.get(row.providerId) ?? (yield* readCode(row.providerId));
      if (providerCode !== null && code !== providerCode) return 'link_not_found';
      return needsMore(row) ? yield* doorOf([row], key) : doorIn(row, code);
    }
    const { domainHash, hwid, providerCode, subscriptionKeyHash } = key;
    const values = { domainHash, hwid, providerCode, subscriptionKeyHash };
    const bound = yield* on.byKeyBound.all(values);
    return yield* doorOf(bound.length > 0 ? bound : yield* on.byKey.all(values), key);
  }

  /** Returns the rows on which a door depends. */
  function* rowsOf(key: SlotKey, door: DoorHere | NoLink): Step<NeededRows> {
    if (typeof door === 'string') return { provider: [], install: [], device: [] };
    const { installId, providerId } = door.link;
    const { phone } = door;
    const others = othersAt(door, phone?.hwid ?? key.hwid);
    const shares = key.sight === undefined ? [] : yield* firsts.sharing(door);
    const isTold = phone?.isTold === true && phone.judged.found.length > 0;
    // It may have changed since the door was read; the value that may free a slot counts.
    const isMore =
      door.full !== null || door.counts || (yield* changesMore(installId, key.enforces));
    return {
      // The provider counts ends of slots and may begin to enforce limits meanwhile.
      provider: isMore || isTold ? [providerId] : [],
      install: [installId, ...shares.map((slot) => slot.installId)],
      device: others.length > 0 ? [phone?.hwid ?? key.hwid, ...others] : [],
    };
  }

  return {
    doorOf,
    findDoor,
    findPhone,
    policyOn,

    /**
     * Finds the door after locking all rows that a new slot there changes, so that the door stays
     * true.
     */
    findDoorLocked: (key: SlotKey): Step<DoorHere | NoLink> =>
      backend.readLocked(
        () => findDoor(key),
        (door) => rowsOf(key, door),
      ),
  };
});

/** Returns the HWIDs of other devices whose slots may be freed or taken over. */
function othersAt({ byHash, full }: DoorHere, hwid: string): string[] {
  if (byHash) return [hwidOfHash(hwidHash(hwid))];
  if (full === null) return [];
  return full.former === null ? [full.oldest.hwid] : [full.oldest.hwid, full.former.hwid];
}

/**
 * True if the HWID may be barred; or has no slot, and the link is full, has slots of hashes or
 * names, or refuses new devices.
 */
const needsMore = (row: DoorRow) => {
  const { slotSeenAtMs, deviceCount, installLimit, hasBars, hasHashes, whenNew } = row;
  const isOpen = deviceCount < installLimit && hasHashes === 0 && whenNew !== 'refuse';
  return hasBars === 1 || (slotSeenAtMs === null && !isOpen);
};

function doorIn(row: DoorRow, providerCode: string): DoorHere {
  const { installId, providerId, status, installLimit, deviceCount } = row;
  const link: AdmittedLink = {
    installId,
    providerId,
    providerCode,
    status,
    installLimit,
    deviceCount,
  };
  const rides = ridesIn(row);
  if (rides !== null) link.rides = rides;
  if (row.awaitsFetch === 1) link.awaitsFetch = true;
  const isBound = row.domainStatus === DOMAIN_ACTIVE;
  const door: DoorHere = { link, isBound, device: deviceIn(row), full: null, counts: false };
  const { deviceId, slotSeenAtMs, homeSinceMs } = row;
  if (row.phones > 0) door.mayBeDerived = true;
  if (row.phones > 1) door.hasPhones = true;
  if (row.isKnown === 1) door.isKnown = true;
  if (row.hasBars === 1) door.hasBars = true;
  if (deviceId !== null) door.knownId = deviceId;
  if (slotSeenAtMs !== null && homeSinceMs === null) door.isAway = true;
  return door;
}

/** Returns the messages that may ride; null for nearly all calls. */
function ridesIn(row: DoorRow): DoorRides | null {
  const { rideUntilMs: untilMs, supportUrl, webPageUrl } = row;
  // On other links no answer, nor the time that it takes, may reveal that a message names the
  // device.
  const namedUntilMs = row.homeSinceMs === null ? 0 : row.namedUntilMs;
  if (!(untilMs || namedUntilMs || supportUrl || webPageUrl)) return null;
  const { rideVersion: version, homeSinceMs } = row;
  const deviceId = row.slotSeenAtMs === null ? null : row.deviceId;
  return {
    version: version ?? 0,
    untilMs: untilMs ?? 0,
    supportUrl,
    webPageUrl,
    deviceId,
    namedUntilMs: namedUntilMs ?? 0,
    homeSinceMs,
  };
}

function deviceIn(row: DoorRow): Door['device'] {
  const { slotSeenAtMs: lastSeenAtMs, os, osVersion, deviceName, appVersion, userAgent } = row;
  if (lastSeenAtMs === null) return null;
  const isRegistered = row.isRegistered === 1;
  return { os, osVersion, deviceName, appVersion, userAgent, lastSeenAtMs, isRegistered };
}
