/** Records of links that ties ended, and their return when a tie is undone. */

import * as deeds from '../../core/audit/deeds.ts';
import * as happenings from '../../core/event/happenings.ts';
import type { Act } from '../../core/port/audit.ts';
import type { TieRefusal } from '../../core/port/link-tie.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, insertInto, sql } from '../statement-text.ts';
import { deviceMoveSteps } from './device-move.ts';
import { linkMergeSteps, type MergingLink } from './link-merge.ts';
import { linkStatements } from './link-rows.ts';
import { shared } from './shared.ts';
import { slotEndSteps } from './slot-end.ts';

/** A slot of the link that a tie ended. */
interface FormerSlot {
  deviceId: number;
  registeredAtMs: number;
  lastSeenAtMs: number;
}

/** The record of a link that a tie ended. */
interface Former {
  link: MergingLink;
  /** True if the other link had no user at the panel: since the tie its user is that of the key. */
  gaveUser: boolean;
  slots: FormerSlot[];
  /** Devices that moved to the other link, and those whose slots ended. */
  movedIds: number[];
  leftIds: number[];
}

interface TiedKey {
  providerId: number;
  keyHash: string;
  installId: number;
}

export const restoreSteps = shared((backend: Backend) => {
  const { prepare } = backend;
  const links = linkMergeSteps(backend);
  const rows = linkStatements(backend);
  const { allowOver, moveShared, passOn, slotsOf } = deviceMoveSteps(backend);
  const { lockSlots, lowerLimit } = slotEndSteps(backend);
  const on = {
    slot: prepare(sql`
        SELECT ${columns('install_device', 'id AS slotId')} FROM install_device
        WHERE install_id = :installId AND device_id = :deviceId`),
    atProvider: prepare(sql`
        SELECT ${columns('device_provider', 'deviceId')} FROM device_provider
        WHERE device_id = :deviceId AND provider_id = :providerId`),
    take: prepare(sql`
        ${insertInto(
          'install_device',
          'installId, deviceId, providerId, registeredAtMs, lastSeenAtMs',
          {
            afterRecipientId: sql`coalesce(
            (SELECT after_recipient_id FROM install_device
             WHERE install_id = :fromId AND device_id = :deviceId),
            (SELECT max(id) FROM recipient), 0)`,
          },
        )}`),
    keep: prepare(sql`
        UPDATE install SET of_gate = 1, has_hashes = :hasHashes, limit_wanted = :limitWanted
        WHERE id = :id`),
    /** The code may be used again. */
    dropTombstone: prepare(sql`
        DELETE FROM install_tombstone
        WHERE install_code = :installCode AND provider_id = :providerId`),
  };

  /** Gives the link back its devices, but for those that left the other link since. */
  function* giveBack(
    former: Former,
    { fromId, toId, providerId }: { fromId: number; toId: number; providerId: number },
  ): Step<void> {
    for (const slot of former.slots) {
      const { deviceId } = slot;
      const held = yield* on.slot.get({ installId: fromId, deviceId });
      const isLeft = former.leftIds.includes(deviceId);
      if (held === null && !isLeft) continue;
      if ((yield* on.atProvider.get({ deviceId, providerId })) === null) continue;
      yield* on.take.run({ ...slot, installId: toId, fromId, providerId });
      if (held === null || !former.movedIds.includes(deviceId)) continue;
      yield* passOn({ fromId, toId }, { ...held, deviceId, providerId });
    }
  }

  return {
    read: (text: string) => JSON.parse(text) as Former,

    /** Returns what a tie ends, before it does. */
    *record(
      link: MergingLink,
      other: MergingLink,
    ): Step<Pick<Former, 'link' | 'gaveUser' | 'slots'>> {
      const slots = yield* slotsOf(link.id);
      const gaveUser = other.panelUser === null;
      const facts = ({ deviceId, lastSeenAtMs, registeredAtMs }: FormerSlot) => ({
        deviceId,
        registeredAtMs,
        lastSeenAtMs,
      });
      return { link, gaveUser, slots: slots.map(facts) };
    },

    /**
     * Undoes a tie; `former` null: no link had the key. Returns why it cannot; null: it is done.
     */
    *undo(
      notes: Notes,
      { installId, keyHash, providerId }: TiedKey,
      former: Former | null,
      act: Act,
    ): Step<TieRefusal | null> {
      yield* backend.lockRows({ install: [installId] });
      yield* lockSlots(yield* slotsOf(installId));
      const link = yield* links.findById(providerId, installId);
      if (link?.subscriptionKeyHash !== keyHash) return 'tie_changed';
      yield* links.giveKey(notes, { providerId, link, keyHash: null }, act);
      const facts = { id: link.id, movedCount: 0, leftCount: 0 };
      let formerId: number | null = null;
      if (former !== null) {
        const { link: was } = former;
        if (former.gaveUser) yield* links.giveFacts(link.id, { panelUser: null, panelFacts: null });
        yield* on.dropTombstone.run({ providerId, installCode: was.installCode });
        const row = { ...was, id: null, providerId, subscriptionKeyHash: keyHash };
        const id = yield* rows.add.insert(row);
        formerId = id;
        yield* on.keep.run({ id, hasHashes: was.hasHashes, limitWanted: was.limitWanted });
        if (former.gaveUser) yield* links.giveFacts(id, link.panelUser === null ? was : link);
        if (former.slots.length > was.installLimit) yield* allowOver(id, former.slots.length);
        yield* giveBack(former, { fromId: link.id, toId: id, providerId });
        for (const { deviceId } of former.slots) yield* moveShared(link.id, id, deviceId);
        yield* lowerLimit(id);
        yield* lowerLimit(link.id);
        notes.event(providerId, act.atMs, () => happenings.linkCreated({ ...was, id }));
      }
      notes.audit(act, deeds.untieLink({ id: link.id, formerId }), providerId);
      notes.event(providerId, act.atMs, () =>
        happenings.linkTied({ ...facts, formerId }, 'undone'),
      );
      return null;
    },
  };
});
