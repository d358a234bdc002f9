/** Ends of slots, as parts of writes: with the slots that are there, the story of a link. */

import { sql } from 'drizzle-orm';
import { DAY_MS } from '../../core/calendar.ts';
import { slotEnded } from '../../core/event/happenings.ts';
import type { EndReason } from '../../core/port/slot.ts';
import type { Context } from './context.ts';
import { SLOT_SEEN } from './lookups.ts';
import { value } from './statement.ts';

/** Ends that a link remembers, and a provider. */
const LINK_COUNT_MAX = 100;
const PROVIDER_COUNT_MAX = 100_000;

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
  hwid: string;
  installLimit: number;
  deviceCount: number;
  lastSeenAtMs: number;
  newHwid: string | null;
}

function statements({ db }: Context) {
  const ofProvider = sql`provider_id = ${value('providerId')}`;
  return {
    tell: db.prepare(sql`
        INSERT INTO slot_end (install_id, provider_id, device_id, registered_at_ms,
          last_seen_at_ms, ended_at_ms, why, actor, for_device_id)
        SELECT s.install_id, s.provider_id, s.device_id, s.registered_at_ms, ${SLOT_SEEN},
          ${value('nowMs')}, ${value('why')}, ${value('actor')}, ${value('forDeviceId')}
        FROM install_device s CROSS JOIN device_provider p
          ON p.device_id = s.device_id AND p.provider_id = s.provider_id
        WHERE s.id = ${value('slotId')}`),
    end: db.prepare(sql`DELETE FROM install_device WHERE id = ${value('slotId')}`),
    left: db.prepare<{ leftId: number }>(sql`
        SELECT l.id AS "leftId" FROM install_device s CROSS JOIN install_device l
          ON l.device_id = s.device_id AND l.provider_id = s.provider_id AND l.id <> s.id
        WHERE s.id = ${value('slotId')} LIMIT 2`),
    /** The only slot that is left may have been seen before the device was: see lookups.ts. */
    setApart: db.prepare(sql`
        UPDATE device_provider AS p SET seen_apart =
          (SELECT p.last_seen_at_ms / ${DAY_MS} > ${SLOT_SEEN} / ${DAY_MS}
           FROM install_device s WHERE s.id = ${value('leftId')})
        WHERE (p.device_id, p.provider_id) = (
          SELECT device_id, provider_id FROM install_device WHERE id = ${value('leftId')})`),
    /**
     * While this slot was there, what was addressed to the device was not for the links of later
     * ones to claim. What a registration was claimed by keeps its mark.
     */
    claimFromNow: db.prepare(sql`
        UPDATE install_device SET after_recipient_id = (SELECT coalesce(max(id), 0) FROM recipient)
        WHERE id IN (
          SELECT l.id FROM install_device s CROSS JOIN install_device l
            ON l.device_id = s.device_id AND l.provider_id = s.provider_id AND l.id > s.id
          CROSS JOIN device_provider p
            ON p.device_id = s.device_id AND p.provider_id = s.provider_id
          WHERE s.id = ${value('slotId')} AND p.claim_install_id IS NULL)`),
    trimLink: db.prepare(sql`
        DELETE FROM slot_end WHERE install_id = ${value('installId')} AND id <= (
          SELECT id FROM slot_end WHERE install_id = ${value('installId')}
          ORDER BY id DESC LIMIT 1 OFFSET ${LINK_COUNT_MAX})`),
    ended: db.prepare<EndedRow>(sql`
        SELECT d.hwid AS hwid, i.install_limit AS "installLimit", i.device_count AS "deviceCount",
          ${SLOT_SEEN} AS "lastSeenAtMs",
          (SELECT hwid FROM device WHERE id = ${value('forDeviceId')}) AS "newHwid"
        FROM install_device s CROSS JOIN device d ON d.id = s.device_id
          CROSS JOIN install i ON i.id = s.install_id
          CROSS JOIN device_provider p
            ON p.device_id = s.device_id AND p.provider_id = s.provider_id
        WHERE s.id = ${value('slotId')}`),
    count: db.prepare<{ slotEndCount: number }>(sql`
        SELECT slot_end_count AS "slotEndCount" FROM provider WHERE id = ${value('providerId')}`),
    dropOldest: db.prepare(sql`
        DELETE FROM slot_end WHERE id = (
          SELECT id FROM slot_end WHERE ${ofProvider} ORDER BY id LIMIT 1)`),
  };
}

/** Statements that take a device out of the stories of links, some rows at a time. */
export function storyStatements({ db }: Context) {
  return ['device_id', 'for_device_id'].map((column) =>
    db.prepare(sql`
        UPDATE slot_end SET ${sql.raw(column)} = NULL WHERE id IN (
          SELECT id FROM slot_end WHERE ${sql.raw(column)} = ${value('id')}
          LIMIT ${value('countMax')})`),
  );
}

/** Returns the function that ends a slot and tells so. To be called within a write. */
export function slotEnder(context: Context) {
  const on = statements(context);
  return (
    slot: { slotId: number; installId: number; providerId: number },
    circumstances: Circumstances,
  ): void => {
    const { slotId, installId, providerId } = slot;
    on.tell.run({ slotId, ...circumstances });
    const [last, another] = on.left.all({ slotId });
    if (last !== undefined) on.claimFromNow.run({ slotId });
    if (last !== undefined && another === undefined) on.setApart.run({ ...last });
    const { nowMs, forDeviceId, why } = circumstances;
    context.figures.note(providerId, 'freed', nowMs);
    // Read before the slot goes: the event is made at the end of the write.
    const row = on.ended.get({ slotId, forDeviceId }) as EndedRow;
    const { installLimit, deviceCount, ...ended } = row;
    const link = { id: installId, installLimit, deviceCount: deviceCount - 1 };
    context.events.note(providerId, nowMs, () => slotEnded({ link, ...ended }, why));
    on.end.run({ slotId });
    on.trimLink.run({ installId });
    const count = on.count.get({ providerId })?.slotEndCount ?? 0;
    if (count > PROVIDER_COUNT_MAX) on.dropOldest.run({ providerId });
  };
}
