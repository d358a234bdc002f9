/** Makes one link of two, as steps of writes that have locked their provider. */

import type { SQL } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import * as happenings from '../../core/event/happenings.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Link, LinkTermsAndKey } from '../../core/port/link.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql } from '../statement-text.ts';
import { barSteps } from './cut-off-steps.ts';
import { deviceMoveSteps } from './device-move.ts';
import { INSTALL_COLUMNS } from './link.ts';
import { termsColumns } from './link-rows.ts';
import { namedSteps } from './named-hwid-steps.ts';
import { shared } from './shared.ts';
import { slotEndSteps } from './slot-end.ts';
import { tombstoneSteps } from './tombstone.ts';

export interface MergingLink extends Link, LinkTermsAndKey {
  panelUser: string | null;
  panelFacts: string | null;
  hasHashes: number;
  /** 1: the proxy made it. */
  ofGate: number;
  limitWanted: number | null;
}

function statements(backend: Backend) {
  const { prepare, bytes } = backend;
  const ofProvider = sql`provider_id = :providerId`;
  const find = (isIt: SQL) =>
    prepare(sql`
        SELECT ${INSTALL_COLUMNS}, ${termsColumns(backend)},
          ${columns('install', 'panelUser, panelFacts, hasHashes, ofGate, limitWanted')}
        FROM install WHERE ${isIt} AND ${ofProvider}`);
  return {
    findById: find(sql`id = :installId`),
    findByCode: find(sql`install_code = :installCode`),
    findByKey: find(sql`subscription_key_hash = ${bytes('keyHash')}`),
    giveKey: prepare(sql`
        UPDATE install SET subscription_key_hash = ${bytes('keyHash')} WHERE id = :id`),
    markHashes: prepare(sql`
        UPDATE install SET has_hashes = 1 WHERE id = :id`),
    giveFacts: prepare(sql`
        UPDATE install SET panel_user = :panelUser, panel_facts = :panelFacts WHERE id = :id`),
    /** The bounds of reminders hold for the devices that move. */
    moveReminded: prepare(sql`
        UPDATE reminder_sent SET install_id = :toId WHERE install_id = :fromId`),
    remove: prepare(sql`
        DELETE FROM install WHERE id = :id`),
  };
}

export const linkMergeSteps = shared((backend: Backend) => {
  const on = statements(backend);
  const { lockSlots } = slotEndSteps(backend);
  const { allowOver, moveDevices, slotsOf } = deviceMoveSteps(backend);
  const tombstones = tombstoneSteps(backend);
  const names = namedSteps(backend);
  const { moveBars } = barSteps(backend);

  return {
    findById: (providerId: number, installId: number): Step<MergingLink | null> =>
      on.findById.get({ providerId, installId }),
    findByCode: (providerId: number, installCode: string): Step<MergingLink | null> =>
      on.findByCode.get({ providerId, installCode }),
    findByKey: (providerId: number, keyHash: string): Step<MergingLink | null> =>
      on.findByKey.get({ providerId, keyHash }),
    giveFacts: (id: number, facts: Pick<MergingLink, 'panelUser' | 'panelFacts'>): Step<number> =>
      on.giveFacts.run({ ...facts, id }),

    /** Locks two links, and the devices of the one that ends, in the order of locks. */
    *lockBoth(endingId: number, keptId: number): Step<void> {
      yield* backend.lockRows({ install: [endingId, keptId] });
      yield* lockSlots(yield* slotsOf(endingId));
    },

    /**
     * Ends a link for another one, which gets its user at the panel and `room` of its devices: see
     * `moveDevices`.
     */
    *merge(
      notes: Notes,
      { from, to, room, providerId }: Merging,
      act: Act,
    ): Step<{ movedIds: number[]; leftIds: number[] }> {
      // Such a device has its place on the other link.
      const heldCount = yield* names.dropHeld(from.id, to.id);
      const allRoom = room + heldCount;
      const held = { ...to, deviceCount: to.deviceCount - heldCount };
      const moved = yield* moveDevices(notes, from, held, { room: allRoom, nowMs: act.atMs });
      const movedCount = moved.movedIds.length;
      const named = yield* names.moving(from.id, to.id, allRoom - movedCount);
      const overMax = held.deviceCount + movedCount + named.length;
      if (named.length > 0 && overMax > to.installLimit) yield* allowOver(to.id, overMax);
      yield* names.move(named, to.id, providerId);
      if (from.hasHashes === 1) yield* on.markHashes.run({ id: to.id });
      const ended = { ...from, providerId, subscriptionKeyHash: null, nowMs: act.atMs };
      yield* tombstones.add({ ...ended, why: 'removed' });
      yield* moveBars(from.id, to.id);
      yield* on.moveReminded.run({ fromId: from.id, toId: to.id });
      yield* on.remove.run({ id: from.id });
      if (to.panelUser === null) yield* on.giveFacts.run({ ...only(from), id: to.id });
      const removed = { id: from.id, freedCount: moved.leftIds.length };
      notes.audit(act, deeds.removeLink(removed), providerId);
      notes.event(providerId, act.atMs, () => happenings.linkRemoved(removed));
      return moved;
    },

    /** Gives a link the key, which no other link has; null: takes its key away. */
    *giveKey(
      notes: Notes,
      {
        providerId,
        link,
        keyHash,
      }: { providerId: number; link: MergingLink; keyHash: string | null },
      act: Act,
    ): Step<void> {
      yield* on.giveKey.run({ id: link.id, keyHash });
      const after = { ...link, subscriptionKeyHash: keyHash };
      const deed = deeds.updateLink(link, after);
      notes.audit(act, deed, providerId);
      if (deed === null) return;
      notes.event(providerId, act.atMs, () => happenings.linkUpdated(after, deed));
    },
  };
});

interface Merging {
  providerId: number;
  from: MergingLink;
  to: MergingLink;
  /** The most devices that move. */
  room: number;
}

const only = ({ panelUser, panelFacts }: MergingLink) => ({ panelUser, panelFacts });
