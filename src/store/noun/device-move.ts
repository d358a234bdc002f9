/** Moves the devices of a link to another link of its provider, as steps of writes. */

import { sharedHwid } from '../../core/formats.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql } from '../statement-text.ts';
import { lookUpStatements, slotSeen, withDevice } from './look-ups.ts';
import { phoneSavingSteps } from './phone-saving.ts';
import { shared } from './shared.ts';
import { slotEndSteps } from './slot-end.ts';

interface MovingLink {
  id: number;
  installLimit: number;
  deviceCount: number;
}

function statements(backend: Backend) {
  const { prepare } = backend;
  const ofPair = sql`device_id = :deviceId AND provider_id = :providerId`;
  return {
    /** The slots of a link whose devices have none on another, those seen last first. */
    slotsOnlyHere: prepare(sql`
        SELECT ${columns(
          { s: 'install_device' },
          's.id AS slotId, s.installId, s.providerId, s.deviceId',
        )}
        FROM install_device s ${withDevice(backend)}
        WHERE s.install_id = :fromId AND NOT EXISTS (
          SELECT 1 FROM install_device o WHERE o.install_id = :toId AND o.device_id = s.device_id)
        ORDER BY ${slotSeen(backend)} DESC, s.id DESC`),
    slots: prepare(sql`
        SELECT ${columns(
          { s: 'install_device' },
          's.id AS slotId, s.installId, s.providerId, s.deviceId, s.registeredAtMs, s.lastSeenAtMs',
        )}
        FROM install_device s WHERE s.install_id = :fromId ORDER BY s.id`),
    allowOver: prepare(sql`
        UPDATE install SET over_max = :overMax WHERE id = :id`),
    /** The slot keeps its times, and its tokens read what they read before. */
    copySlot: prepare(sql`
        INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
          last_seen_at_ms, after_recipient_id, doubt_until_ms)
        SELECT :toId, device_id, provider_id, registered_at_ms, last_seen_at_ms, after_recipient_id,
          doubt_until_ms
        FROM install_device WHERE id = :slotId`),
    /** Names a device that no other one is named as. */
    rename: prepare(sql`
        UPDATE device SET hwid = :toHwid WHERE id = :deviceId AND hwid = :fromHwid
          AND NOT EXISTS (SELECT 1 FROM device o WHERE o.hwid = :toHwid)`),
    moveHome: prepare(sql`
        UPDATE device_provider SET home_install_id = :toId, home_left_at_ms = NULL
        WHERE ${ofPair} AND home_install_id = :fromId`),
    moveClaim: prepare(sql`
        UPDATE device_provider SET claim_install_id = :toId
        WHERE ${ofPair} AND claim_install_id = :fromId`),
  };
}

export const deviceMoveSteps = shared((backend: Backend) => {
  const on = statements(backend);
  const find = lookUpStatements(backend);
  const { endSlot, passSlot } = slotEndSteps(backend);
  const phones = phoneSavingSteps(backend);

  /**
   * Makes a device that apps without a HWID share on one link that of another link: its HWID has
   * the id of its link. Returns false if it is none, or the other link has one.
   */
  function* moveShared(fromId: number, toId: number, deviceId: number): Step<boolean> {
    const names = { fromHwid: sharedHwid(fromId), toHwid: sharedHwid(toId) };
    return (yield* on.rename.run({ ...names, deviceId })) > 0;
  }

  /** Gives home, claim and slot of a device, which has one on both links, to the second. */
  function* passOn(
    ids: { fromId: number; toId: number },
    slot: { slotId: number; deviceId: number; providerId: number },
  ): Step<void> {
    yield* on.moveHome.run({ ...ids, ...slot });
    yield* on.moveClaim.run({ ...ids, ...slot });
    yield* phones.move({ ...ids, deviceId: slot.deviceId });
    yield* passSlot(ids.fromId, slot);
  }

  return {
    passOn,
    moveShared,

    /** Lists the slots of a link. */
    slotsOf: (fromId: number) => on.slots.all({ fromId }),

    /** Lets a link hold more devices than its limit. */
    allowOver: (id: number, overMax: number) => on.allowOver.run({ id, overMax }),

    /**
     * Moves the devices of a link, whose rows the write has locked. Of those without a slot on the
     * other link `room` move, those seen last first; the slots of the others end. Returns their
     * ids.
     */
    *moveDevices(
      notes: Notes,
      from: MovingLink,
      to: MovingLink,
      { room, nowMs }: { room: number; nowMs: number },
    ): Step<{ movedIds: number[]; leftIds: number[] }> {
      const ids = { fromId: from.id, toId: to.id };
      const shared = yield* find.deviceId.get({ hwid: sharedHwid(from.id) });
      const isMoved = shared === null || (yield* moveShared(from.id, to.id, shared.id));
      // The other link has a slot for the same apps.
      const isSpare = ({ deviceId }: { deviceId: number }) => !isMoved && deviceId === shared.id;
      const moving = (yield* on.slotsOnlyHere.all(ids)).filter((slot) => !isSpare(slot));
      const [moved, left] = [moving.slice(0, room), moving.slice(room)];
      const overMax = to.deviceCount + moved.length;
      if (overMax > to.installLimit) yield* on.allowOver.run({ id: to.id, overMax });
      for (const slot of moved) yield* on.copySlot.run({ ...ids, ...slot });
      for (const slot of left) {
        const why = { why: 'replaced', actor: 'device', forDeviceId: null } as const;
        yield* endSlot(notes, slot, { ...why, nowMs });
      }
      for (const slot of yield* on.slots.all(ids)) {
        if (isSpare(slot)) yield* passSlot(from.id, slot);
        else yield* passOn(ids, slot);
      }
      const idsOf = (slots: typeof moving) => slots.map(({ deviceId }) => deviceId);
      return { movedIds: idsOf(moved), leftIds: idsOf(left) };
    },
  };
});
