/** Ends of slots, as parts of writes: with the slots that are there, the story of a link. */

import { sql } from 'drizzle-orm';
import { DAY_MS } from '../../core/calendar.ts';
import { slotEnded } from '../../core/event/happenings.ts';
import type { EndReason } from '../../core/port/slot.ts';
import { SLOT_SEEN } from './lookups.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

/** Ends that a link remembers, and a provider. */
const LINK_COUNT_MAX = 100;
const PROVIDER_COUNT_MAX = 100_000;

export interface SlotRow {
  slotId: number;
  installId: number;
  providerId: number;
}

/** The circumstances of an end. */
interface Circumstances {
  why: EndReason;
  /** Name of the actor as the audit log has it; `device`: a newcomer. */
  actor: string;
  /** The newcomer that needed the slot. */
  forDeviceId: number | null;
  nowMs: number;
}

interface EndedRow {
  deviceId: number;
  hwid: string;
  installLimit: number;
  /** With the slot that ends. */
  deviceCount: number;
  lastSeenAtMs: number;
  newHwid: string | null;
}

const on = {
  lockProviders: prepare(sql`
      SELECT id FROM provider WHERE id = ANY(${value('ids')}::bigint[])
      ORDER BY id FOR NO KEY UPDATE`),
  lockLinks: prepare(sql`
      SELECT id FROM install WHERE id = ANY(${value('ids')}::bigint[])
      ORDER BY id FOR NO KEY UPDATE`),
  lockDevices: prepare(sql`
      SELECT d.id FROM device d WHERE d.id IN (
        SELECT device_id FROM install_device WHERE id = ANY(${value('slotIds')}::bigint[]))
      ORDER BY d.hwid FOR NO KEY UPDATE`),
  /** Triggers count behind the statement: `device_count` is as it was. */
  end: prepare<EndedRow>(sql`
      WITH gone AS (
        DELETE FROM install_device s USING device_provider p
        WHERE s.id = ${value('slotId')} AND p.device_id = s.device_id
          AND p.provider_id = s.provider_id
        RETURNING s.install_id, s.provider_id, s.device_id, s.registered_at_ms,
          ${SLOT_SEEN} AS seen_at_ms
      ), told AS (
        INSERT INTO slot_end (install_id, provider_id, device_id, registered_at_ms,
          last_seen_at_ms, ended_at_ms, why, actor, for_device_id)
        SELECT install_id, provider_id, device_id, registered_at_ms, seen_at_ms,
          ${value('nowMs')}, ${value('why')}, ${value('actor')}, ${value('forDeviceId')}
        FROM gone
      )
      SELECT g.device_id AS "deviceId", d.hwid AS hwid, i.install_limit AS "installLimit",
        i.device_count AS "deviceCount", g.seen_at_ms AS "lastSeenAtMs", n.hwid AS "newHwid"
      FROM gone g JOIN device d ON d.id = g.device_id JOIN install i ON i.id = g.install_id
        LEFT JOIN device n ON n.id = ${value('forDeviceId')}`),
  /**
   * What the slots that are left to the device are from now on. While this one was there, what was
   * addressed to the device was not for the links of later ones to claim; what a registration was
   * claimed by keeps its mark. The only one that is left may have been seen before the device was:
   * see lookups.ts.
   */
  left: prepare(sql`
      WITH marked AS (
        UPDATE install_device s
        SET after_recipient_id = (SELECT coalesce(max(id), 0) FROM recipient)
        FROM device_provider p
        WHERE p.device_id = ${value('deviceId')} AND p.provider_id = ${value('providerId')}
          AND p.claim_install_id IS NULL AND s.device_id = p.device_id
          AND s.provider_id = p.provider_id AND s.id > ${value('slotId')})
      UPDATE device_provider p SET seen_apart =
        (p.last_seen_at_ms / ${DAY_MS} > ${SLOT_SEEN} / ${DAY_MS})::integer
      FROM install_device s
      WHERE p.device_id = ${value('deviceId')} AND p.provider_id = ${value('providerId')}
        AND p.slot_count = 1 AND s.device_id = p.device_id AND s.provider_id = p.provider_id`),
  trimLink: prepare(sql`
      DELETE FROM slot_end WHERE install_id = ${value('installId')} AND id <= (
        SELECT id FROM slot_end WHERE install_id = ${value('installId')}
        ORDER BY id DESC LIMIT 1 OFFSET ${LINK_COUNT_MAX})`),
  trimProvider: prepare(sql`
      DELETE FROM slot_end WHERE id = (
        SELECT e.id FROM provider o JOIN slot_end e ON e.provider_id = o.id
        WHERE o.id = ${value('providerId')} AND o.slot_end_count > ${PROVIDER_COUNT_MAX}
        ORDER BY e.id LIMIT 1)`),
};

/** Statements that take a device out of the stories of links, some rows at a time. */
export const storySteps = ['device_id', 'for_device_id'].map((column) =>
  prepare(sql`
      UPDATE slot_end SET ${sql.raw(column)} = NULL WHERE id IN (
        SELECT id FROM slot_end WHERE ${sql.raw(column)} = ${value('id')}
        LIMIT ${value('countMax')})`),
);

/** Locks all that ends of these slots change, in the one order. Look at the slots behind it. */
export async function lockSlots(w: Write, slots: readonly SlotRow[]): Promise<void> {
  await on.lockProviders.run(w, { ids: slots.map(({ providerId }) => providerId) });
  await on.lockLinks.run(w, { ids: slots.map(({ installId }) => installId) });
  await on.lockDevices.run(w, { slotIds: slots.map(({ slotId }) => slotId) });
}

/**
 * Ends a slot and tells so, within a write that has locked what it changes. False: it was not there
 * any more.
 */
export async function endSlot(
  w: Write,
  { slotId, installId, providerId }: SlotRow,
  circumstances: Circumstances,
): Promise<boolean> {
  const row = await on.end.get(w, { slotId, ...circumstances });
  if (row === null) return false;
  const { deviceId, installLimit, deviceCount, ...slot } = row;
  await on.left.run(w, { deviceId, providerId, slotId });
  const { nowMs, why } = circumstances;
  w.figures.note(providerId, 'freed', nowMs);
  const link = { id: installId, installLimit, deviceCount: deviceCount - 1 };
  w.events.note(providerId, nowMs, () => slotEnded({ link, ...slot }, why));
  await on.trimLink.run(w, { installId });
  await on.trimProvider.run(w, { providerId });
  return true;
}
