/** Ends of links: a link is removed or revoked, or all its slots are freed. */

import * as deeds from '../../core/audit/deeds.ts';
import * as happenings from '../../core/event/happenings.ts';
import type { Act } from '../../core/port/audit.ts';
import type { EndWord } from '../../core/port/ended.ts';
import type { Link, LinkTermsAndKey } from '../../core/port/link.ts';
import type { LinkEndStore, RevokedLink } from '../../core/port/link-end.ts';
import { nextTurn } from '../../core/turn.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { endedSteps } from './ended.ts';
import { namedSteps } from './named-hwid-steps.ts';
import { shared } from './shared.ts';
import { slotEndSteps } from './slot-end.ts';
import { tombstoneSteps } from './tombstone.ts';

/** Tokens that one statement of a search for claims reads. */
const TOKEN_COUNT = 2_000;

type LinkRow = Pick<Link, 'id' | 'installCode' | 'installLimit' | 'deviceCount'> &
  Pick<LinkTermsAndKey, 'subscriptionKeyHash'>;

function statements(backend: Backend) {
  const { prepare, among, hex, locked } = backend;
  const ofLink = sql`provider_id = :providerId`;
  const isClaim = sql`claim_install_id = :installId`;
  return {
    lock: prepare(sql`
        SELECT ${columns('install', 'id, installCode, installLimit, deviceCount')},
          ${values<{ subscriptionKeyHash: LinkRow['subscriptionKeyHash'] }>({
            subscriptionKeyHash: sql`${hex('subscription_key_hash')}`,
          })}
        FROM install WHERE id = :installId AND ${ofLink} ${locked}`),
    find: prepare(
      sql`SELECT ${columns('install', 'id')} FROM install WHERE id = :installId AND ${ofLink}`,
    ),
    byCode: prepare(
      sql`SELECT ${columns('install', 'id')} FROM install WHERE install_code = :installCode`,
    ),
    slots: prepare(sql`
        SELECT ${columns('install_device', 'id AS slotId, installId, providerId, deviceId')}
        FROM install_device WHERE install_id = :installId AND registered_at_ms >= :sinceMs
        ORDER BY id`),
    /** Finds the devices that had a slot on the link, as far as its history reaches. */
    former: prepare(sql`
        SELECT DISTINCT ${columns('slot_end', 'deviceId!')} FROM slot_end
        WHERE install_id = :installId AND device_id IS NOT NULL`),
    tokenRange: prepare(sql`
        SELECT ${values<{ toId: number | null }>({ toId: sql`max(x.token_id)` })} FROM (
          SELECT token_id FROM device_provider WHERE token_id > :afterId
          ORDER BY token_id LIMIT ${TOKEN_COUNT}) x`),
    claims: prepare(sql`
        SELECT ${columns('device_provider', 'deviceId')} FROM device_provider
        WHERE token_id > :afterId AND token_id <= :toId AND ${isClaim}`),
    lockDevices: backend.lockOnly(sql`
        SELECT id FROM device WHERE id ${among('deviceIds')} ORDER BY hwid ${locked}`),
    /** A token without another place is deleted too. */
    dropClaims: prepare(sql`
        UPDATE device_provider SET token_id = NULL, is_by_link = 0, claim_install_id = NULL
        WHERE device_id ${among('deviceIds')} AND ${ofLink} AND ${isClaim}
          AND token_id IS NOT NULL`),
    rename: prepare(sql`
        UPDATE install SET install_code = :installCode, subscription_key_hash = NULL
        WHERE id = :installId`),
    remove: prepare(sql`
        DELETE FROM install WHERE id = :installId`),
  };
}

interface LinkName {
  providerId: number;
  installId: number;
}

interface Revocation {
  installCode: string;
  /** Devices whose registrations the link claimed. */
  claimed: readonly number[];
}

const NOT_FOUND = 'install_not_found';

/** Steps that end a link or its slots; the caller has locked its provider. */
export const linkEndSteps = shared((backend: Backend) => {
  const on = statements(backend);
  const { lockSlots, endSlot } = slotEndSteps(backend);
  const { recordClaimed } = endedSteps(backend);
  const names = namedSteps(backend);
  const tombstones = tombstoneSteps(backend);

  /**
   * Frees the slots that a link gave since a time, and the places of HWIDs that were named since;
   * it is locked after its provider. Returns their number.
   */
  function* freeAll(
    notes: Notes,
    installId: number,
    act: Act,
    { sinceMs = 0, reason }: { sinceMs?: number; reason: EndWord },
  ): Step<number> {
    const namedCount = yield* names.freeAll(installId, sinceMs);
    const slots = yield* on.slots.all({ installId, sinceMs });
    if (slots.length === 0) return namedCount;
    yield* lockSlots(slots);
    const why = { why: 'deleted', actor: act.actor.name, forDeviceId: null } as const;
    for (const slot of slots) yield* endSlot(notes, slot, { ...why, reason, nowMs: act.atMs });
    return namedCount + slots.length;
  }

  /** Finds devices whose registrations the link claimed, some tokens a turn. */
  async function claimsOf(installId: number, turn: () => Promise<void>): Promise<number[]> {
    const deviceIds: number[] = [];
    for (let afterId = 0; ; ) {
      const toId = (await backend.read(() => on.tokenRange.get({ afterId })))?.toId ?? null;
      if (toId === null) return deviceIds;
      const range = { afterId, toId, installId };
      const found = await backend.read(() => on.claims.all(range));
      for (const { deviceId } of found) deviceIds.push(deviceId);
      afterId = toId;
      await turn();
    }
  }

  return {
    claimsOf,

    find: (providerId: number, installId: number) => on.find.get({ providerId, installId }),

    *free(notes: Notes, { providerId, installId }: LinkName, act: Act, sinceMs = 0) {
      if ((yield* on.lock.get({ providerId, installId })) === null) return NOT_FOUND;
      const freed = yield* freeAll(notes, installId, act, { sinceMs, reason: 'slot_freed' });
      const deed = freed > 0 ? deeds.freeSlots(installId, freed) : null;
      notes.audit(act, deed, providerId);
      return { freedCount: freed };
    },

    /**
     * `claimed`: the result of {@link claimsOf}; later claims are by devices that this step finds.
     */
    *revoke(
      notes: Notes,
      { providerId, installId, installCode, claimed }: LinkName & Revocation,
      act: Act,
    ): Step<RevokedLink | 'install_not_found' | 'install_code_exists'> {
      const link = yield* on.lock.get({ providerId, installId });
      if (link === null) return NOT_FOUND;
      const isTaken = (yield* on.byCode.get({ installCode })) !== null;
      if (isTaken || (yield* tombstones.find(providerId, { installCode })) !== null) {
        return 'install_code_exists';
      }
      const former = yield* on.former.all({ installId });
      const held = yield* on.slots.all({ installId, sinceMs: 0 });
      const owners = [...former, ...held].map(({ deviceId }) => deviceId);
      const deviceIds = [...new Set([...claimed, ...owners])];
      yield* on.lockDevices.run({ deviceIds });
      const freed = yield* freeAll(notes, installId, act, { reason: 'link_replaced' });
      const claims = { deviceIds, providerId, installId };
      yield* recordClaimed(claims, { why: 'link_replaced', nowMs: act.atMs });
      yield* on.dropClaims.run(claims);
      const ended = { ...link, providerId, nowMs: act.atMs };
      yield* tombstones.add({ ...ended, why: 'revoked' });
      yield* on.rename.run({ installId, installCode });
      const hadKey = link.subscriptionKeyHash !== null;
      const facts = { id: installId, freedCount: freed, hadKey };
      notes.audit(act, deeds.revokeLink(facts), providerId);
      notes.event(providerId, act.atMs, () => happenings.linkRevoked(facts));
      notes.changed(deviceIds);
      return { freedCount: freed, hadKey, deviceIds };
    },

    /** `keepsKey`: another link may have the key. */
    *remove(notes: Notes, { providerId, installId }: LinkName, act: Act, keepsKey = false) {
      const link = yield* on.lock.get({ providerId, installId });
      if (link === null) return NOT_FOUND;
      const freed = yield* freeAll(notes, installId, act, { reason: 'link_ended' });
      const ended = { ...link, providerId, nowMs: act.atMs };
      const subscriptionKeyHash = keepsKey ? null : link.subscriptionKeyHash;
      yield* tombstones.add({ ...ended, subscriptionKeyHash, why: 'removed' });
      yield* on.remove.run({ installId });
      const facts = { id: installId, freedCount: freed };
      notes.audit(act, deeds.removeLink(facts), providerId);
      notes.event(providerId, act.atMs, () => happenings.linkRemoved(facts));
      return { freedCount: freed };
    },
  };
});

export function linkEndNoun(backend: Backend): LinkEndStore {
  const steps = linkEndSteps(backend);
  const tombstones = tombstoneSteps(backend);

  return {
    freeSlots: (providerId, installId, act, sinceMs) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        return yield* steps.free(notes, { providerId, installId }, act, sinceMs);
      }),

    revokeLink: async (providerId, installId, installCode, act, turn = nextTurn) => {
      const found = await backend.read(() => steps.find(providerId, installId));
      if (found === null) return NOT_FOUND;
      const claimed = await steps.claimsOf(installId, turn);
      return backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const link = { providerId, installId };
        return yield* steps.revoke(notes, { ...link, installCode, claimed }, act);
      });
    },

    removeLink: (providerId, installId, act, keepsKey = false) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        return yield* steps.remove(notes, { providerId, installId }, act, keepsKey);
      }),

    findEnded: (providerId, name) => backend.read(() => tombstones.find(providerId, name)),

    forgetTombstones: async (endedBeforeMs) => {
      if (!(await backend.read(() => tombstones.isDue(endedBeforeMs)))) return false;
      return (await backend.write(() => tombstones.forget(endedBeforeMs))) > 0;
    },
  };
}
