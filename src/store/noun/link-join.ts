/** Joins two links of one customer, whose keys were two spellings of one. */

import type { SQL } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import * as happenings from '../../core/event/happenings.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Link, LinkTermsAndKey } from '../../core/port/link.ts';
import type { JoiningLink, LinkJoinStore } from '../../core/port/link-join.ts';
import { DEVICES_MAX } from '../../core/slot.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql } from '../statement-text.ts';
import { INSTALL_COLUMNS } from './link.ts';
import { termsColumns } from './link-rows.ts';
import { slotSeen, withDevice } from './look-ups.ts';
import { slotEndSteps } from './slot-end.ts';
import { tombstoneSteps } from './tombstone.ts';

type LinkRow = Link & LinkTermsAndKey & { panelUser: string | null; hasHashes: number };

function statements(backend: Backend) {
  const { prepare, bytes } = backend;
  const ofProvider = sql`provider_id = :providerId`;
  const find = (isIt: SQL) =>
    prepare(sql`
        SELECT ${INSTALL_COLUMNS}, ${termsColumns(backend)},
          ${columns('install', 'panelUser, hasHashes')}
        FROM install WHERE ${isIt} AND ${ofProvider}`);
  const ofPair = sql`device_id = :deviceId AND ${ofProvider}`;
  return {
    find: find(sql`id = :installId`),
    findByKey: find(sql`subscription_key_hash = ${bytes('keyHash')}`),
    giveKey: prepare(sql`
        UPDATE install SET subscription_key_hash = ${bytes('keyHash')} WHERE id = :id`),
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
          's.id AS slotId, s.installId, s.providerId, s.deviceId',
        )}
        FROM install_device s WHERE s.install_id = :fromId ORDER BY s.id`),
    allowOver: prepare(sql`
        UPDATE install SET over_max = :overMax WHERE id = :id`),
    /** The slot keeps its times, and its tokens read what they read before. */
    copySlot: prepare(sql`
        INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
          last_seen_at_ms, after_recipient_id)
        SELECT :toId, device_id, provider_id, registered_at_ms, last_seen_at_ms, after_recipient_id
        FROM install_device WHERE id = :slotId`),
    moveHome: prepare(sql`
        UPDATE device_provider SET home_install_id = :toId, home_left_at_ms = NULL
        WHERE ${ofPair} AND home_install_id = :fromId`),
    moveClaim: prepare(sql`
        UPDATE device_provider SET claim_install_id = :toId
        WHERE ${ofPair} AND claim_install_id = :fromId`),
    markHashes: prepare(sql`
        UPDATE install SET has_hashes = 1 WHERE id = :id`),
    facts: prepare(sql`
        SELECT ${columns('install', 'panelUser, panelFacts')} FROM install WHERE id = :id`),
    giveFacts: prepare(sql`
        UPDATE install SET panel_user = :panelUser, panel_facts = :panelFacts WHERE id = :id`),
    remove: prepare(sql`
        DELETE FROM install WHERE id = :id`),
  };
}

export function linkJoinNoun(backend: Backend): LinkJoinStore {
  const on = statements(backend);
  const { endSlot, lockSlots, passSlot } = slotEndSteps(backend);
  const tombstones = tombstoneSteps(backend);

  /** Moves the devices of a link to another one, as far as its bound allows; ends the others. */
  function* moveDevices(notes: Notes, from: LinkRow, to: LinkRow, nowMs: number): Step<number> {
    const ids = { fromId: from.id, toId: to.id };
    const moving = yield* on.slotsOnlyHere.all(ids);
    const room = DEVICES_MAX - to.deviceCount;
    const moved = moving.slice(0, room);
    const overMax = to.deviceCount + moved.length;
    if (overMax > to.installLimit) yield* on.allowOver.run({ id: to.id, overMax });
    for (const slot of moved) yield* on.copySlot.run({ ...ids, ...slot });
    for (const slot of moving.slice(room)) {
      const why = { why: 'replaced', actor: 'device', forDeviceId: null } as const;
      yield* endSlot(notes, slot, { ...why, nowMs });
    }
    for (const slot of yield* on.slots.all(ids)) {
      yield* on.moveHome.run({ ...ids, ...slot });
      yield* on.moveClaim.run({ ...ids, ...slot });
      yield* passSlot(from.id, slot);
    }
    if (from.hasHashes === 1) yield* on.markHashes.run({ id: to.id });
    return moved.length;
  }

  /** Makes two links one: the devices of `from` go to `to`, and `from` is removed. */
  function* join(notes: Notes, from: LinkRow, to: LinkRow, joining: JoiningLink, act: Act) {
    const { providerId } = joining;
    yield* moveDevices(notes, from, to, act.atMs);
    const facts = yield* on.facts.get({ id: from.id });
    const ended = { ...from, providerId, subscriptionKeyHash: null, nowMs: act.atMs };
    yield* tombstones.add({ ...ended, why: 'removed' });
    yield* on.remove.run({ id: from.id });
    if (to.panelUser === null && facts !== null) yield* on.giveFacts.run({ ...facts, id: to.id });
    const removed = { id: from.id, freedCount: 0 };
    notes.audit(act, deeds.removeLink(removed), providerId);
    notes.event(providerId, act.atMs, () => happenings.linkRemoved(removed));
  }

  /** Finds both links of a join and locks them with the devices of the second one, in order. */
  function* findBoth({ providerId, installId, keyHash }: JoiningLink) {
    const here = yield* on.find.get({ providerId, installId });
    const other = yield* on.findByKey.get({ providerId, keyHash });
    if (here === null || other === null) return { here, other };
    yield* backend.lockRows({ install: [here.id, other.id] });
    const ids = { fromId: (isFirst(here, other) ? other : here).id };
    yield* lockSlots(yield* on.slots.all(ids));
    return {
      here: yield* on.find.get({ providerId, installId }),
      other: yield* on.findByKey.get({ providerId, keyHash }),
    };
  }

  return {
    joinLinks: (joining, act) =>
      backend.write(function* (notes) {
        const { providerId, keyHash } = joining;
        yield* backend.lockProvider(providerId);
        const ended = yield* tombstones.find(providerId, { subscriptionKeyHash: keyHash });
        const { here, other } = yield* findBoth(joining);
        if (here === null || here.subscriptionKeyHash === keyHash || ended !== null) return;
        const kept = other === null || isFirst(here, other) ? here : other;
        if (other !== null) {
          yield* join(notes, kept === here ? other : here, kept, joining, act);
        }
        if (kept !== here) return;
        yield* on.giveKey.run({ id: kept.id, keyHash });
        const after = { ...kept, subscriptionKeyHash: keyHash };
        const deed = deeds.updateLink(kept, after);
        notes.audit(act, deed, providerId);
        if (deed === null) return;
        notes.event(providerId, act.atMs, () => happenings.linkUpdated(after, deed));
      }),
  };
}

/** Returns true if a link was made before another one. */
function isFirst(one: LinkRow, other: LinkRow): boolean {
  if (one.createdAtMs !== other.createdAtMs) return one.createdAtMs < other.createdAtMs;
  return one.id < other.id;
}
