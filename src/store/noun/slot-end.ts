/** Ends of slots, as steps of writes. The history of a link keeps them, and the slots taken. */

import { DAY_MS } from '../../core/calendar.ts';
import { KIND_OF_END, slotEnded } from '../../core/event/happenings.ts';
import { hwidOfHash } from '../../core/formats.ts';
import type { EndWord } from '../../core/port/ended.ts';
import type { EndReason } from '../../core/port/slot.ts';
import type { Notes, Statements, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { endedSteps } from './ended.ts';
import { slotSeen, withDevice } from './look-ups.ts';
import { shared } from './shared.ts';

/** Ends that the history of a link keeps, and that all links of a provider keep together. */
const LINK_COUNT_MAX = 100;
const PROVIDER_COUNT_MAX = 100_000;

interface SlotRow {
  slotId: number;
  installId: number;
  providerId: number;
}

/** The circumstances of an end. */
interface Circumstances {
  why: EndReason;
  /** Name of the actor as in the audit log; `device`: the new device. */
  actor: string;
  /** True: the user of the link freed it. */
  isByUser?: boolean;
  /** True: the new device is probably the same phone. */
  isSamePhone?: boolean;
  /** The reason for the device; absent: `slot_freed`. */
  reason?: EndWord;
  /** The new device that takes the slot; null: none. */
  forDeviceId: number | null;
  nowMs: number;
}

interface EndedRow {
  hwid: string;
  installLimit: number;
  /** Including the slot that ends. */
  deviceCount: number;
  limitWanted: number | null;
  lastSeenAtMs: number;
  newHwid: string | null;
}

/** Statements about one slot, before its row is deleted. */
function slotStatements(backend: Statements) {
  const { prepare, join } = backend;
  const held = backend.least(sql.raw('install_limit'), sql.raw('device_count'));
  const seen = slotSeen(backend);
  const atProvider = withDevice(backend);
  const ofSameDevice = sql`install_device s ${join} install_device l
    ON l.device_id = s.device_id AND l.provider_id = s.provider_id`;
  const isSlot = sql`s.id = :slotId`;
  return {
    record: prepare(sql`
        INSERT INTO slot_end (install_id, provider_id, device_id, registered_at_ms, last_seen_at_ms,
          ended_at_ms, why, actor, for_device_id)
        SELECT s.install_id, s.provider_id, s.device_id, s.registered_at_ms, ${seen}, :nowMs, :why,
          :actor, :forDeviceId
        FROM install_device s ${atProvider} WHERE ${isSlot}`),
    /** Up to two other slots of the device at the provider. */
    left: prepare(sql`
        SELECT ${values<{ leftId: number }>({ leftId: sql`l.id` })}
        FROM ${ofSameDevice} AND l.id <> s.id WHERE ${isSlot} LIMIT 2`),
    /** The remaining slot may have been seen before the device was: see look-ups.ts. */
    setApart: prepare(sql`
        UPDATE device_provider AS p SET seen_apart =
          (SELECT CAST(p.last_seen_at_ms / ${DAY_MS} > ${seen} / ${DAY_MS} AS integer)
           FROM install_device s WHERE s.id = :leftId)
        WHERE (p.device_id, p.provider_id) = (
          SELECT device_id, provider_id FROM install_device WHERE id = :leftId)`),
    /**
     * Messages from the time of this slot stay unreadable for later slots; claims keep their marks.
     */
    claimFromNow: prepare(sql`
        UPDATE install_device SET after_recipient_id = (SELECT coalesce(max(id), 0) FROM recipient)
        WHERE id IN (
          SELECT l.id FROM ${ofSameDevice} AND l.id > s.id ${atProvider}
          WHERE ${isSlot} AND p.claim_install_id IS NULL)`),
    ended: prepare(sql`
        SELECT ${columns({ d: 'device', i: 'install' }, 'd.hwid, i.installLimit, i.deviceCount, i.limitWanted')},
          ${values<{ lastSeenAtMs: EndedRow['lastSeenAtMs']; newHwid: EndedRow['newHwid'] }>({
            lastSeenAtMs: seen,
            newHwid: sql`(SELECT hwid FROM device WHERE id = :forDeviceId)`,
          })}
        FROM install_device s ${join} device d ON d.id = s.device_id
          ${join} install i ON i.id = s.install_id ${atProvider}
        WHERE ${isSlot}`),
    end: prepare(sql`
        DELETE FROM install_device WHERE id = :slotId`),
    /** Lowers the limit of a link that gets a lower one as its devices leave. */
    lower: prepare(sql`
        UPDATE install SET
          install_limit = ${backend.greatest(sql.raw('limit_wanted'), held)},
          limit_wanted = CASE WHEN limit_wanted < ${held} THEN limit_wanted END
        WHERE id = :installId AND limit_wanted IS NOT NULL`),
    /** A device known only by its hash is soon deleted, unless another slot is stored under it. */
    leaveDevice: prepare(sql`
        UPDATE device SET last_seen_at_ms = 0 WHERE id = :deviceId AND holder_count = 0`),
    /** Stops doors from looking for hashes and names when none is left. */
    unmarkHashes: prepare(sql`
        UPDATE install SET has_hashes = 0 WHERE id = :installId AND NOT EXISTS (
          SELECT 1 FROM install_device s ${join} device d ON d.id = s.device_id
          WHERE s.install_id = install.id AND d.hwid LIKE ${sql.raw(`'${hwidOfHash('%')}'`)})
          AND NOT EXISTS (SELECT 1 FROM named_hwid n WHERE n.install_id = install.id)`),
  };
}

function statements(backend: Statements) {
  const { prepare, among, join } = backend;
  const ofLink = sql`install_id = :installId`;
  return {
    ...slotStatements(backend),
    lockDevices: backend.lockOnly(sql`
        SELECT d.id FROM device d WHERE d.id IN (
          SELECT device_id FROM install_device WHERE id ${among('slotIds')})
        ORDER BY d.hwid ${backend.locked}`),
    trimLink: prepare(sql`
        DELETE FROM slot_end WHERE ${ofLink} AND id <= (
          SELECT id FROM slot_end WHERE ${ofLink}
          ORDER BY id DESC LIMIT 1 OFFSET ${LINK_COUNT_MAX})`),
    trimProvider: prepare(sql`
        DELETE FROM slot_end WHERE id = (
          SELECT e.id FROM provider o ${join} slot_end e ON e.provider_id = o.id
          WHERE o.id = :providerId AND o.slot_end_count > ${PROVIDER_COUNT_MAX}
          ORDER BY e.id LIMIT 1)`),
  };
}

export const slotEndSteps = shared((backend: Statements) => {
  const on = statements(backend);
  const ends = endedSteps(backend);
  /** Saves when the only remaining slot was last seen. */
  function* setApart([last, another]: readonly { leftId: number }[]): Step<void> {
    if (last !== undefined && another === undefined) yield* on.setApart.run({ ...last });
  }

  return {
    /** Lowers the limit of a link that gets a lower one, after devices left by another way. */
    lowerLimit: (installId: number) => on.lower.run({ installId }),

    unmarkHashes: (installId: number) => on.unmarkHashes.run({ installId }),

    /** Deletes a slot stored under a hash, after the device with that HWID took its own. */
    *passSlot(
      installId: number,
      { slotId, deviceId }: { slotId: number; deviceId: number },
    ): Step<void> {
      yield* setApart(yield* on.left.all({ slotId }));
      yield* on.end.run({ slotId });
      yield* on.leaveDevice.run({ deviceId });
      yield* on.unmarkHashes.run({ installId });
    },

    /** Locks all rows that the ends of these slots change, in order; read the slots afterwards. */
    *lockSlots(slots: readonly SlotRow[]): Step<void> {
      yield* backend.together([
        () => backend.lockRows({ provider: slots.map(({ providerId }) => providerId) }),
        () => backend.lockRows({ install: slots.map(({ installId }) => installId) }),
        () => on.lockDevices.run({ slotIds: slots.map(({ slotId }) => slotId) }),
      ]);
    },

    /** Ends a slot unless it has ended. The write must have locked the rows that this changes. */
    *endSlot(notes: Notes, slot: SlotRow, circumstances: Circumstances): Step<void> {
      const { slotId, installId, providerId } = slot;
      const { isByUser, isSamePhone, reason = 'slot_freed', ...end } = circumstances;
      const { nowMs, forDeviceId, why } = end;
      const [recorded, left, holder] = yield* backend.together([
        () => on.record.run({ slotId, ...end }),
        () => on.left.all({ slotId }),
        () => ends.ofSlot(slotId),
      ]);
      if (recorded === 0) return;
      if (left.length > 0) yield* on.claimFromNow.run({ slotId });
      yield* setApart(left);
      notes.figure(providerId, 'freed', nowMs);
      if (yield* notes.isWanted(providerId, KIND_OF_END[why])) {
        const row = yield* on.ended.get({ slotId, forDeviceId });
        if (row === null) throw new Error(`slot ${slotId} is gone`);
        const { deviceCount: heldCount, installLimit: limit, limitWanted, ...ended } = row;
        const deviceCount = heldCount - 1;
        const isLowered = limitWanted !== null && forDeviceId === null;
        const installLimit = isLowered
          ? Math.max(limitWanted, Math.min(limit, deviceCount))
          : limit;
        const link = { id: installId, installLimit, deviceCount };
        notes.event(providerId, nowMs, () =>
          slotEnded({ link, ...ended, isSamePhone }, why, isByUser),
        );
      }
      yield* backend.together([
        () => on.end.run({ slotId }),
        () => on.trimLink.run({ installId }),
        () => on.trimProvider.run({ providerId }),
      ]);
      // A newcomer takes the slot.
      if (forDeviceId === null) yield* on.lower.run({ installId });
      if (holder !== null) yield* ends.notify(notes, holder, { why: reason, nowMs });
    },
  };
});

/** Statements that remove a device from the histories of links, some rows at a time. */
export const historyStatements = ({ prepare }: Statements) =>
  ['device_id', 'for_device_id'].map((column) =>
    prepare(sql`
        UPDATE slot_end SET ${sql.raw(column)} = NULL WHERE id IN (
          SELECT id FROM slot_end WHERE ${sql.raw(column)} = :id LIMIT :countMax)`),
  );
