/**
 * Devices become known, as parts of writes: the HWID itself, what it says at a provider, and the
 * bindings by which it came in. The row of `device` is the lock of all that hangs on it: each of
 * these writes takes it first, so what is read behind it stays as it is.
 */

import { sql } from 'drizzle-orm';
import { sameUtcDay } from '../../core/calendar.ts';
import { TIES_MAX } from '../../core/device.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import type { Figure } from '../../core/port/figure.ts';
import { FACT_COLUMNS } from '../noun/known-device.ts';
import { mergedUnproven } from './set/unproven.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

const FACT_VALUES = sql`${value('os')}, ${value('osVersion')}, ${value('deviceName')},
  ${value('appVersion')}, ${value('userAgent')}`;
const SET_FACTS = sql`os = ${value('os')}, os_version = ${value('osVersion')},
  device_name = ${value('deviceName')}, app_version = ${value('appVersion')},
  user_agent = ${value('userAgent')}`;

const SET_EXCLUDED = sql`os = excluded.os, os_version = excluded.os_version,
  device_name = excluded.device_name, app_version = excluded.app_version,
  user_agent = excluded.user_agent`;

const on = {
  see: prepare<{ id: number }>(sql`
      INSERT INTO device (hwid, ${FACT_COLUMNS}, first_seen_at_ms, last_seen_at_ms)
      VALUES (${value('hwid')}, '', '', '', '', '', ${value('nowMs')}, ${value('nowMs')})
      ON CONFLICT (hwid) DO UPDATE SET last_seen_at_ms = excluded.last_seen_at_ms
      RETURNING id`),
  visit: prepare<{ seenBeforeMs: number | null }>(sql`
      WITH before AS (
        SELECT last_seen_at_ms FROM device_provider
        WHERE device_id = ${value('deviceId')} AND provider_id = ${value('providerId')})
      INSERT INTO device_provider AS p (device_id, provider_id, ${FACT_COLUMNS}, last_seen_at_ms)
      VALUES (${value('deviceId')}, ${value('providerId')}, ${FACT_VALUES}, ${value('nowMs')})
      ON CONFLICT (device_id, provider_id) DO UPDATE SET ${mergedUnproven('p', 'excluded')},
        last_seen_at_ms = excluded.last_seen_at_ms
      RETURNING (SELECT last_seen_at_ms FROM before) AS "seenBeforeMs"`),
  setOwnFacts: prepare(sql`UPDATE device SET ${SET_FACTS} WHERE id = ${value('id')}`),
  set: prepare(sql`
      INSERT INTO device_provider AS p (device_id, provider_id, ${FACT_COLUMNS},
        last_seen_at_ms, checked_in_at_ms)
      VALUES (${value('deviceId')}, ${value('providerId')}, ${FACT_VALUES}, ${value('nowMs')},
        ${value('checkedInAtMs')})
      ON CONFLICT (device_id, provider_id) DO UPDATE SET ${SET_EXCLUDED},
        last_seen_at_ms = excluded.last_seen_at_ms,
        checked_in_at_ms = coalesce(nullif(excluded.checked_in_at_ms, 0), p.checked_in_at_ms)`),
  checkIn: prepare(sql`
      UPDATE device_provider SET checked_in_at_ms = ${value('nowMs')}
      WHERE device_id = ${value('deviceId')} AND provider_id = ${value('providerId')}`),
  tie: prepare(sql`
      INSERT INTO device_domain (device_id, domain_id, provider_id, linked_at_ms)
      SELECT ${value('deviceId')}::bigint, id, provider_id, ${value('nowMs')}::bigint FROM domain
      WHERE id = ${value('domainId')}
      ON CONFLICT DO NOTHING`),
  /** In the order in which they came: ids grow. */
  dropOldestTies: prepare(sql`
      DELETE FROM device_domain WHERE device_id = ${value('deviceId')} AND id IN (
        SELECT id FROM device_domain
        WHERE device_id = ${value('deviceId')} AND provider_id = ${value('providerId')}
        ORDER BY id DESC OFFSET ${TIES_MAX})`),
};

/** Whatever counts: a write, or the figures of the process for what is saved already. */
interface Counting {
  figures: { note(providerId: number, figure: Figure, atMs: number): void };
}

/** Counts a device that is seen at a provider, the first time of a UTC day; null: of all time. */
export function countSeen(
  { figures }: Counting,
  providerId: number,
  seenBeforeMs: number | null,
  nowMs: number,
): void {
  const isFirst = seenBeforeMs === null || !sameUtcDay(seenBeforeMs, nowMs);
  if (isFirst) figures.note(providerId, 'seen', nowMs);
}

/** Steps by which a device becomes known, to be called within a write. */
export const keep = {
  /** Makes a device known, or notes that it is there, and locks it; returns its id. */
  see: (w: Write, hwid: string, nowMs: number): Promise<number> =>
    on.see.insert(w, { hwid, nowMs }),

  /** Sees a device at a provider, and keeps what it says there without proof; returns its id. */
  async visit(
    w: Write,
    hwid: string,
    providerId: number,
    reported: DeviceFacts,
    nowMs: number,
  ): Promise<number> {
    const deviceId = await on.see.insert(w, { hwid, nowMs });
    const row = await on.visit.get(w, { deviceId, providerId, nowMs, ...reported });
    countSeen(w, providerId, row?.seenBeforeMs ?? null, nowMs);
    return deviceId;
  },

  /** Sets what a device told to nobody in particular. */
  setOwnFacts: (w: Write, id: number, facts: DeviceFacts): Promise<number> =>
    on.setOwnFacts.run(w, { id, ...facts }),

  /**
   * Sees a device at a provider, where its facts are these from now on. `seenBeforeMs`: null: it
   * was never there.
   */
  async setAt(
    w: Write,
    deviceId: number,
    providerId: number,
    facts: DeviceFacts,
    seen: { seenBeforeMs: number | null; nowMs: number; isCheckIn: boolean },
  ): Promise<void> {
    const { seenBeforeMs, nowMs, isCheckIn } = seen;
    const key = { deviceId, providerId, nowMs, checkedInAtMs: isCheckIn ? nowMs : 0 };
    const { os, osVersion, deviceName, appVersion, userAgent } = facts;
    await on.set.run(w, { ...key, os, osVersion, deviceName, appVersion, userAgent });
    countSeen(w, providerId, seenBeforeMs, nowMs);
  },

  /** Notes that a device that is known at a provider called it without naming a link. */
  checkIn: (w: Write, deviceId: number, providerId: number, nowMs: number): Promise<number> =>
    on.checkIn.run(w, { deviceId, providerId, nowMs }),

  /** Ties a device to a binding, unless it is tied to it already. */
  async tie(
    w: Write,
    deviceId: number,
    providerId: number,
    domainId: number,
    nowMs: number,
  ): Promise<void> {
    if ((await on.tie.run(w, { deviceId, domainId, nowMs })) === 0) return;
    await on.dropOldestTies.run(w, { deviceId, providerId });
  },
};
