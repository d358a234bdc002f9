/** Slots: taken, seen, freed for a new device; their ends are deleted later. */

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
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql } from '../statement-text.ts';
import { type DoorHere, doorSteps, factsAt } from './door.ts';
import { homeSteps } from './home.ts';
import { knownDeviceSteps, type Visitor } from './known-device.ts';
import { linkStatements } from './link-rows.ts';
import { namedRows } from './named-hwid-rows.ts';
import { phoneSavingSteps } from './phone-saving.ts';
import { shared } from './shared.ts';
import { slotEndSteps } from './slot-end.ts';

/** Ends that a step deletes. */
const FORGET_STEP = 1_000;

/** Returns the steps of writes in which a device takes a slot. */
export const slotSteps = shared((backend: Backend) => {
  const rows = linkStatements(backend);
  const keep = knownDeviceSteps(backend);
  const { findDoorLocked } = doorSteps(backend);
  const { endSlot, passSlot, unmarkHashes } = slotEndSteps(backend);
  const names = namedRows(backend);
  const moveHome = homeSteps(backend);
  const phones = phoneSavingSteps(backend);
  const replaced = backend.prepare(sql`
      UPDATE install SET replaced_at_ms = :nowMs WHERE id = :installId`);
  const allowOver = backend.prepare(sql`
      UPDATE install SET over_max = device_count + 1 WHERE id = :installId`);

  /**
   * Gives a slot stored under the hash of a HWID to its device: no new device, and no end of a
   * slot.
   */
  function* takeOver(
    { link, byHash }: DoorHere & Required<Pick<DoorHere, 'byHash'>>,
    { deviceId, isNewHere }: Visitor,
    nowMs: number,
  ): Step<AdmittedLink> {
    const { installId, providerId, installLimit, deviceCount } = link;
    yield* passSlot(installId, byHash);
    // A link above its limit keeps room for its present devices.
    if (deviceCount > installLimit) yield* allowOver.run({ installId });
    const times = { registeredAtMs: byHash.registeredAtMs, lastSeenAtMs: nowMs };
    yield* rows.takeSlot.run({ installId, deviceId, providerId, ...times });
    if (!isNewHere) yield* moveHome({ deviceId, providerId, installId }, nowMs);
    return link;
  }

  /** Makes a named HWID, which has come, a device with a slot that begins now. */
  function* takeNamed(
    notes: Notes,
    { link, nameId }: { link: AdmittedLink; nameId: number },
    { deviceId, hwid, isNewHere }: Visitor,
    nowMs: number,
  ): Step<AdmittedLink> {
    const { installId, providerId, installLimit, deviceCount } = link;
    yield* names.drop.run({ nameId });
    // A link above its limit keeps room for its present devices.
    if (deviceCount > installLimit) yield* allowOver.run({ installId });
    yield* unmarkHashes(installId);
    const times = { registeredAtMs: nowMs, lastSeenAtMs: nowMs };
    yield* rows.takeSlot.run({ installId, deviceId, providerId, ...times });
    if (!isNewHere) yield* moveHome({ deviceId, providerId, installId }, nowMs);
    notes.figure(providerId, 'admitted', nowMs);
    const facts = { id: installId, installLimit, deviceCount };
    notes.event(providerId, nowMs, () => happenings.deviceAdmitted(facts, hwid));
    return link;
  }

  /** Takes a slot, or records that it was seen; the write has locked the door. */
  function* takeSlot(
    notes: Notes,
    door: DoorHere,
    admission: Admission,
    visitor: Visitor,
    nowMs: number,
  ): Step<AdmittedLink> {
    const { link, full, byHash, isAway, nameId } = door;
    if (byHash) return yield* takeOver({ ...door, byHash }, visitor, nowMs);
    if (nameId !== undefined) return yield* takeNamed(notes, { link, nameId }, visitor, nowMs);
    const { deviceId, hwid, isNewHere } = visitor;
    const { installId, providerId, installLimit } = link;
    if (admission === 'known') {
      yield* rows.seeSlot.run({ installId, deviceId, nowMs });
      if (isAway) yield* moveHome({ deviceId, providerId, installId }, nowMs);
      return link;
    }
    const isOver = admission === 'over';
    const isFreed = !isOver && admission !== 'room' && full !== null;
    if (isOver) yield* allowOver.run({ installId });
    if (isFreed) {
      const isSamePhone = admission === 'same_phone';
      const { slotId } = (isSamePhone ? full.former : null) ?? full.oldest;
      const why = isSamePhone ? 'replaced' : admission;
      const how = { why, actor: 'device', forDeviceId: deviceId, nowMs, isSamePhone } as const;
      yield* endSlot(notes, { slotId, installId, providerId }, how);
      if (why === 'replaced') yield* replaced.run({ installId, nowMs });
    }
    const slot = { installId, deviceId, providerId, registeredAtMs: nowMs, lastSeenAtMs: nowMs };
    yield* rows.takeSlot.run(slot);
    if (!isNewHere) yield* moveHome({ deviceId, providerId, installId }, nowMs);
    notes.figure(providerId, 'admitted', nowMs);
    if (isOver) notes.figure(providerId, 'admitted_over', nowMs);
    const deviceCount = link.deviceCount + (isFreed ? 0 : 1);
    const facts = { id: installId, installLimit, deviceCount };
    notes.event(providerId, nowMs, () => happenings.deviceAdmitted(facts, hwid));
    if (isOver) notes.event(providerId, nowMs, () => happenings.linkOverLimit(facts, hwid));
    if (!isFreed && deviceCount === installLimit) {
      notes.event(providerId, nowMs, () => happenings.linkFull(facts));
    }
    return { ...link, deviceCount };
  }

  return {
    takeSlot,

    /** Admits or refuses a device by the rule. */
    *enterLink(
      notes: Notes,
      key: SlotKey,
      facts: DeviceFacts,
      nowMs: number,
    ): Step<AdmittedLink | LinkRefusal | NoLink> {
      const door = yield* findDoorLocked(key);
      if (typeof door === 'string') return door;
      const { link } = door;
      const hwid = door.phone?.hwid ?? key.hwid;
      const verdict = judge(door, backend.leastMs(nowMs));
      if (!isAdmitted(verdict)) return { says: verdict, link };
      const reported = factsAt(door, facts);
      const says = { sight: key.sight, reported };
      yield* phones.saveBefore(notes, door, says);
      const who = { hwid, knownId: door.knownId };
      const visitor = yield* keep.visit(notes, who, link.providerId, reported, nowMs);
      const taken = yield* takeSlot(notes, door, verdict, visitor, nowMs);
      yield* phones.saveAfter(notes, door, says, visitor.deviceId);
      return taken;
    },
  };
});

export function slotNoun(backend: Backend): Omit<SlotStore, 'seePhone'> {
  const { findDoor, findPhone, policyOn } = doorSteps(backend);
  const { enterLink } = slotSteps(backend);
  const first = sql`FROM slot_end ORDER BY id LIMIT`;
  // Ids grow with time, or nearly: an end with a higher id than a kept one waits for that one.
  const oldest = backend.prepare(sql`SELECT ${columns('slot_end', 'endedAtMs')} ${first} 1`);
  /** Providers count the ends of their slots. */
  const lockProviders = backend.lockOnly(sql`
      SELECT id FROM provider WHERE id IN (
        SELECT x.provider_id FROM (SELECT provider_id ${first} ${FORGET_STEP}) x)
      ORDER BY id ${backend.locked}`);
  const forget = backend.prepare(sql`
      DELETE FROM slot_end WHERE ended_at_ms < :endedBeforeMs
        AND id IN (SELECT x.id FROM (SELECT id ${first} ${FORGET_STEP}) x)`);

  return {
    findSlot: (key) => backend.read(() => findDoor(key)),

    // Each door of the store is one of this noun.
    findPhone: (door, key) => backend.read(() => findPhone(door as DoorHere, key)),

    findPolicy: (installId) =>
      backend.read(function* () {
        return (yield* policyOn(installId))?.policy ?? null;
      }),

    takeSlot: (key, facts, nowMs) => backend.write((notes) => enterLink(notes, key, facts, nowMs)),

    forgetSlotEnds: async (endedBeforeMs) => {
      const end = await backend.read(() => oldest.get());
      if (end === null || end.endedAtMs >= endedBeforeMs) return false;
      return backend.write(function* () {
        yield* lockProviders.run();
        return (yield* forget.run({ endedBeforeMs })) > 0;
      });
    },
  };
}
