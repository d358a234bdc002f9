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
import { admitTogether } from './admission.ts';
import type { Context } from './context.ts';
import { waitFor } from './dialect.ts';
import { type DoorHere, findDoorLocked, findDoors } from './door.ts';
import { TurnGroup } from './group.ts';
import { linkRows } from './install-rows.ts';
import { keep } from './known-device.ts';
import { endSlot } from './slot-end.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

/** Ends that a step deletes. */
const FORGET_STEP = 1_000;

const on = {
  hwidOf: prepare<{ hwid: string }>(sql`SELECT hwid FROM device WHERE id = ${value('deviceId')}`),
  replaced: prepare(sql`
      UPDATE install SET replaced_at_ms = ${value('nowMs')} WHERE id = ${value('installId')}`),
  // Ids grow with time, or nearly: an end behind one that is kept waits for that.
  oldest: prepare<{ id: number; endedAtMs: number }>(sql`
      SELECT id, ended_at_ms AS "endedAtMs" FROM slot_end ORDER BY id LIMIT 1`),
  /** The ends are counted at their providers. */
  lockProviders: prepare(sql`
      SELECT id FROM provider WHERE id = ANY(ARRAY(
        SELECT provider_id FROM slot_end ORDER BY id LIMIT ${FORGET_STEP}))
      ORDER BY id FOR NO KEY UPDATE`),
  forget: prepare(sql`
      DELETE FROM slot_end WHERE ended_at_ms < ${value('endedBeforeMs')} AND id = ANY(ARRAY(
        SELECT id FROM slot_end ORDER BY id LIMIT ${FORGET_STEP}))`),
};

/** Notes for the provider that a device took a slot, and perhaps the last one. */
function tell(w: Write, link: AdmittedLink, deviceId: number, isLast: boolean, nowMs: number) {
  const { installId: id, providerId, installLimit, deviceCount } = link;
  const facts = { id, installLimit, deviceCount };
  w.events.note(providerId, nowMs, () =>
    waitFor(async () => {
      const device = await on.hwidOf.get(w, { deviceId });
      return happenings.deviceAdmitted(facts, device?.hwid ?? '');
    }),
  );
  if (isLast) w.events.note(providerId, nowMs, () => happenings.linkFull(facts));
}

/**
 * Takes the slot that a device is welcome to, or notes that it was seen on its own. The door was
 * found locked, and the device seen.
 */
export async function takeSlot(
  w: Write,
  { link, full }: DoorHere,
  welcome: Admission,
  deviceId: number,
  nowMs: number,
): Promise<AdmittedLink> {
  const { installId, providerId, deviceCount } = link;
  if (welcome === 'known') {
    await linkRows.seeSlot.run(w, { installId, deviceId, nowMs });
    return link;
  }
  const isFreed = welcome !== 'room' && full !== null;
  if (isFreed) {
    const { slotId } = full.oldest;
    const why = { why: welcome, actor: 'device', forDeviceId: deviceId, nowMs } as const;
    await endSlot(w, { slotId, installId, providerId }, why);
    if (welcome === 'replaced') await on.replaced.run(w, { installId, nowMs });
  }
  const times = { registeredAtMs: nowMs, lastSeenAtMs: nowMs };
  await linkRows.takeSlot.run(w, { installId, deviceId, providerId, ...times });
  w.figures.note(providerId, 'admitted', nowMs);
  const after = isFreed ? link : { ...link, deviceCount: deviceCount + 1 };
  tell(w, after, deviceId, !isFreed && after.deviceCount === after.installLimit, nowMs);
  return after;
}

/** Lets a device in, or not, by the rule. */
export async function enterLink(
  w: Write,
  key: SlotKey,
  facts: DeviceFacts,
  nowMs: number,
): Promise<AdmittedLink | LinkRefusal | NoLink> {
  const door = await findDoorLocked(w, key);
  if (typeof door === 'string') return door;
  const { link } = door;
  const verdict = judge(door, nowMs);
  if (!isAdmitted(verdict)) return { says: verdict, link };
  const deviceId = await keep.visit(w, key.hwid, link.providerId, facts, nowMs);
  return takeSlot(w, door, verdict, deviceId, nowMs);
}

export function slotStore(context: Context): SlotStore {
  const { db, write } = context;
  const admit = admitTogether(context);
  const together = () =>
    new TurnGroup(db, {
      run: (keys: readonly SlotKey[]) => findDoors(db, keys),
      itemsMax: 64,
    });
  const byCode = together();
  const byKey = together();
  const findSlot = (key: SlotKey) => ('installCode' in key ? byCode : byKey).ask(key);

  return {
    findSlot,

    takeSlot: async (key, facts, nowMs) => {
      const admitted = await admit(key, facts, nowMs);
      return admitted ?? write((w) => enterLink(w, key, facts, nowMs));
    },

    forgetSlotEnds: async (endedBeforeMs) => {
      const first = await on.oldest.get(db);
      if (first === null || first.endedAtMs >= endedBeforeMs) return false;
      return write(async (w) => {
        await on.lockProviders.run(w);
        return (await on.forget.run(w, { endedBeforeMs })) > 0;
      });
    },
  };
}
