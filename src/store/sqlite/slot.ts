/** Slots: taken, seen, freed for another, and their ends forgotten. */

import { sql } from 'drizzle-orm';
import * as happenings from '../../core/event/happenings.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import type {
  AdmittedLink,
  LinkRefusal,
  NoLink,
  SlotKey,
  SlotStore,
} from '../../core/port/slot.ts';
import { type Admission, isAdmitted, judge } from '../../core/slot.ts';
import type { Context } from './context.ts';
import { type DoorHere, doorOf } from './door.ts';
import { rowStatements } from './install-rows.ts';
import { deviceKeeper } from './known-device.ts';
import { slotEnder } from './slot-end.ts';
import { value } from './statement.ts';

/** Ends that a step deletes. */
const FORGET_STEP = 1_000;

/** Steps by which a device takes a slot. To be called within a write. */
export function slotTaker(context: Context) {
  const rows = rowStatements(context);
  const keep = deviceKeeper(context);
  const findDoor = doorOf(context);
  const end = slotEnder(context);
  const { events } = context;
  const hwidOf = context.db.prepare<{ hwid: string }>(
    sql`SELECT hwid FROM device WHERE id = ${value('deviceId')}`,
  );
  const replaced = context.db.prepare(sql`
      UPDATE install SET replaced_at_ms = ${value('nowMs')} WHERE id = ${value('installId')}`);

  /** Notes for the provider that a device took a slot, and perhaps the last one. */
  function tell(link: AdmittedLink, deviceId: number, isLast: boolean, nowMs: number): void {
    const { installId: id, providerId, installLimit, deviceCount } = link;
    const facts = { id, installLimit, deviceCount };
    events.note(providerId, nowMs, () =>
      happenings.deviceAdmitted(facts, hwidOf.get({ deviceId })?.hwid ?? ''),
    );
    if (isLast) events.note(providerId, nowMs, () => happenings.linkFull(facts));
  }

  /** Takes the slot that a device is welcome to, or notes that it was seen on its own. */
  function take(
    { link, full }: DoorHere,
    welcome: Admission,
    deviceId: number,
    nowMs: number,
  ): AdmittedLink {
    const { installId, providerId, deviceCount } = link;
    if (welcome === 'known') {
      rows.seeSlot.run({ installId, deviceId, nowMs });
      return link;
    }
    const isFreed = welcome !== 'room' && full !== null;
    if (isFreed) {
      const { slotId } = full.oldest;
      const why = { why: welcome, actor: 'device', forDeviceId: deviceId, nowMs } as const;
      end({ slotId, installId, providerId }, why);
      if (welcome === 'replaced') replaced.run({ installId, nowMs });
    }
    const times = { registeredAtMs: nowMs, lastSeenAtMs: nowMs };
    rows.takeSlot.run({ installId, deviceId, providerId, ...times });
    context.figures.note(providerId, 'admitted', nowMs);
    const after = isFreed ? link : { ...link, deviceCount: deviceCount + 1 };
    tell(after, deviceId, !isFreed && after.deviceCount === after.installLimit, nowMs);
    return after;
  }

  /** Lets a device in, or not, by the rule. */
  function enter(
    key: SlotKey,
    facts: DeviceFacts,
    nowMs: number,
  ): AdmittedLink | LinkRefusal | NoLink {
    const door = findDoor(key);
    if (typeof door === 'string') return door;
    const { link } = door;
    const verdict = judge(door, nowMs);
    if (!isAdmitted(verdict)) return { says: verdict, link };
    return take(door, verdict, keep.visit(key.hwid, link.providerId, facts, nowMs), nowMs);
  }

  return { take, enter };
}

export function slotStore(context: Context): SlotStore {
  const { db, writer } = context;
  const findDoor = doorOf(context);
  const { enter } = slotTaker(context);
  // Ids grow with time, or nearly: an end behind one that is kept waits for that.
  const oldest = db.prepare<{ id: number; endedAtMs: number }>(sql`
      SELECT id, ended_at_ms AS "endedAtMs" FROM slot_end ORDER BY id LIMIT 1`);
  const forget = db.prepare(sql`
      DELETE FROM slot_end WHERE ended_at_ms < ${value('endedBeforeMs')} AND id IN (
        SELECT id FROM slot_end ORDER BY id LIMIT ${FORGET_STEP})`);

  return {
    findSlot: findDoor,

    takeSlot: (key, facts, nowMs) => writer.run(() => enter(key, facts, nowMs)),

    forgetSlotEnds: async (endedBeforeMs) => {
      const first = oldest.get();
      if (first === null || first.endedAtMs >= endedBeforeMs) return false;
      return writer.run(() => forget.run({ endedBeforeMs }) > 0);
    },
  };
}
