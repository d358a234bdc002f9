/**
 * Devices become known, as parts of writes: the HWID itself, what it says at a provider, and the
 * bindings by which it came in.
 */

import { sql } from 'drizzle-orm';
import { sameUtcDay } from '../../core/calendar.ts';
import { mergeFacts, mergeUnproven, TIES_MAX } from '../../core/device.ts';
import type { DeviceAtProvider, DeviceFacts } from '../../core/port/device.ts';
import type { Context } from './context.ts';
import { atProvider, lookups, type RowAtProvider } from './lookups.ts';
import { value } from './statement.ts';

const FACT_VALUES = sql`${value('os')}, ${value('osVersion')}, ${value('deviceName')},
  ${value('appVersion')}, ${value('userAgent')}`;
const SET_FACTS = sql`os = ${value('os')}, os_version = ${value('osVersion')},
  device_name = ${value('deviceName')}, app_version = ${value('appVersion')},
  user_agent = ${value('userAgent')}`;

function statements({ db }: Context) {
  return {
    add: db.prepare(sql`
        INSERT INTO device (hwid, os, os_version, device_name, app_version, user_agent,
          first_seen_at_ms, last_seen_at_ms)
        VALUES (${value('hwid')}, '', '', '', '', '', ${value('firstSeenAtMs')},
          ${value('lastSeenAtMs')})`),
    see: db.prepare(sql`
        UPDATE device SET last_seen_at_ms = ${value('nowMs')} WHERE id = ${value('id')}`),
    seeElsewhere: db.prepare(sql`
        UPDATE device SET first_seen_at_ms = min(first_seen_at_ms, ${value('firstSeenAtMs')}),
          last_seen_at_ms = max(last_seen_at_ms, ${value('lastSeenAtMs')})
        WHERE id = ${value('id')}`),
    ownFacts: db.prepare<DeviceFacts>(sql`
        SELECT os, os_version AS "osVersion", device_name AS "deviceName",
          app_version AS "appVersion", user_agent AS "userAgent"
        FROM device WHERE id = ${value('id')}`),
    setOwnFacts: db.prepare(sql`UPDATE device SET ${SET_FACTS} WHERE id = ${value('id')}`),
    addAtProvider: db.prepare(sql`
        INSERT INTO device_provider (device_id, provider_id, os, os_version, device_name,
          app_version, user_agent, last_seen_at_ms)
        VALUES (${value('deviceId')}, ${value('providerId')}, ${FACT_VALUES},
          ${value('lastSeenAtMs')})`),
    setAtProvider: db.prepare(sql`
        UPDATE device_provider SET ${SET_FACTS}, last_seen_at_ms = ${value('lastSeenAtMs')}
        WHERE device_id = ${value('deviceId')} AND provider_id = ${value('providerId')}`),
    checkIn: db.prepare(sql`
        UPDATE device_provider SET checked_in_at_ms = ${value('nowMs')}
        WHERE device_id = ${value('deviceId')} AND provider_id = ${value('providerId')}`),
    isTied: db.prepare<{ one: number }>(sql`
        SELECT 1 AS one FROM device_domain
        WHERE device_id = ${value('deviceId')} AND domain_id = ${value('domainId')}`),
    tie: db.prepare(sql`
        INSERT INTO device_domain (device_id, domain_id, provider_id, linked_at_ms)
        SELECT ${value('deviceId')}, id, provider_id, ${value('nowMs')} FROM domain
        WHERE id = ${value('domainId')}`),
    /** In the order in which they came: rowids grow. */
    dropOldestTies: db.prepare(sql`
        DELETE FROM device_domain WHERE rowid IN (
          SELECT rowid FROM device_domain
          WHERE device_id = ${value('deviceId')} AND provider_id = ${value('providerId')}
          ORDER BY rowid DESC LIMIT -1 OFFSET ${TIES_MAX})`),
  };
}

/** Choice among a HWID's facts, of those that are known and those that come. */
type Merge = (known: DeviceAtProvider, reported: DeviceFacts) => DeviceFacts;

/** Counts a device that is seen at a provider, the first time of a UTC day; null: of all time. */
export function countSeen(
  { figures }: Context,
  providerId: number,
  seenBeforeMs: number | null,
  nowMs: number,
): void {
  const isFirst = seenBeforeMs === null || !sameUtcDay(seenBeforeMs, nowMs);
  if (isFirst) figures.note(providerId, 'seen', nowMs);
}

/** Steps by which a device becomes known. To be called within a write. */
export function deviceKeeper(context: Context) {
  const on = statements(context);
  const find = lookups(context);

  function addDevice(hwid: string, firstSeenAtMs: number, lastSeenAtMs: number): number {
    return on.add.insert({ hwid, firstSeenAtMs, lastSeenAtMs });
  }

  /**
   * Keeps what a device says at a provider, where it becomes known if it was not. Returns when it
   * was seen there before; null: never.
   */
  function keepFacts(
    deviceId: number,
    providerId: number,
    reported: DeviceFacts,
    lastSeenAtMs: number,
    merge: Merge,
  ): number | null {
    const key = { deviceId, providerId, lastSeenAtMs };
    const row: RowAtProvider | null = find.atProvider.get({ deviceId, providerId });
    if (row === null) on.addAtProvider.run({ ...key, ...reported });
    else on.setAtProvider.run({ ...key, ...merge(atProvider(row), reported) });
    return row === null ? null : row.lastSeenAtMs;
  }

  /** Sees a device at a provider, and keeps what it says there. */
  function seeAt(
    deviceId: number,
    providerId: number,
    reported: DeviceFacts,
    nowMs: number,
    merge: Merge,
  ): void {
    const seenBeforeMs = keepFacts(deviceId, providerId, reported, nowMs, merge);
    countSeen(context, providerId, seenBeforeMs, nowMs);
  }

  return {
    /** Makes a device known, or notes that it is there; returns its id. */
    see(hwid: string, nowMs: number): number {
      const known = find.deviceId.get({ hwid });
      if (known === null) return addDevice(hwid, nowMs, nowMs);
      on.see.run({ id: known.id, nowMs });
      return known.id;
    },

    /** The same for one that was seen elsewhere, which may be long ago. */
    seeElsewhere(hwid: string, firstSeenAtMs: number, lastSeenAtMs: number): number {
      const known = find.deviceId.get({ hwid });
      if (known === null) return addDevice(hwid, firstSeenAtMs, lastSeenAtMs);
      on.seeElsewhere.run({ id: known.id, firstSeenAtMs, lastSeenAtMs });
      return known.id;
    },

    /** Sees a device at a provider, and keeps what it says there without proof; returns its id. */
    visit(hwid: string, providerId: number, reported: DeviceFacts, nowMs: number): number {
      const known = find.deviceId.get({ hwid });
      if (known !== null) {
        on.see.run({ id: known.id, nowMs });
        seeAt(known.id, providerId, reported, nowMs, mergeUnproven);
        return known.id;
      }
      // Nothing is known anywhere of a device that is new.
      const deviceId = addDevice(hwid, nowMs, nowMs);
      on.addAtProvider.run({ deviceId, providerId, lastSeenAtMs: nowMs, ...reported });
      countSeen(context, providerId, null, nowMs);
      return deviceId;
    },

    /** Keeps what a device says to nobody in particular. */
    keepOwnFacts(id: number, reported: DeviceFacts): void {
      const known = on.ownFacts.get({ id });
      if (known !== null) on.setOwnFacts.run({ id, ...mergeFacts(known, reported) });
    },

    seeAt,
    keepFacts,

    /** Notes that a device that is known at a provider called it without naming a link. */
    checkIn(deviceId: number, providerId: number, nowMs: number): void {
      on.checkIn.run({ deviceId, providerId, nowMs });
    },

    /** Ties a device to a binding, unless it is tied to it already. */
    tie(deviceId: number, providerId: number, domainId: number, nowMs: number): void {
      if (on.isTied.get({ deviceId, domainId }) !== null) return;
      on.tie.run({ deviceId, domainId, nowMs });
      on.dropOldestTies.run({ deviceId, providerId });
    },

    isTied: (deviceId: number, domainId: number): boolean =>
      on.isTied.get({ deviceId, domainId }) !== null,
  };
}
