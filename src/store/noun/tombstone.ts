/**
 * Tombstones of links that were removed or revoked: their codes and subscription keys open nothing
 * and cannot be used for a new link. Triggers count them per provider.
 */

import type { EndedName } from '../../core/port/link-end.ts';
import type { Statements, Step } from '../backend.ts';
import { columns, insertInto, sql } from '../statement-text.ts';
import { shared } from './shared.ts';

/** Tombstones of one provider; the oldest are deleted. */
const PROVIDER_COUNT_MAX = 100_000;
/** Tombstones that a step deletes. */
const FORGET_STEP = 1_000;

/** The code of a link that ends, and its key if it has one. */
interface Ended {
  providerId: number;
  installCode: string;
  subscriptionKeyHash: string | null;
  why: 'removed' | 'revoked';
  nowMs: number;
}

/** Returns the refusal of a code with a tombstone; other providers do not learn that it existed. */
export function endedCode(ownerId: number, providerId: number) {
  return ownerId === providerId ? 'install_code_ended' : 'install_code_exists';
}

export const tombstoneSteps = shared((backend: Statements) => {
  const { prepare, bytes, join } = backend;
  const ofProvider = sql`provider_id = :providerId`;
  const first = sql`FROM install_tombstone ORDER BY id LIMIT`;
  const on = {
    withCode: prepare(sql`
        SELECT ${columns('install_tombstone', 'providerId')} FROM install_tombstone
        WHERE install_code = :installCode`),
    withKey: prepare(sql`
        SELECT ${columns('install_tombstone', 'id')} FROM install_tombstone
        WHERE subscription_key_hash = ${bytes('subscriptionKeyHash')} AND ${ofProvider} LIMIT 1`),
    add: prepare(sql`
        ${insertInto('install_tombstone', 'providerId, installCode, why, endedAtMs = :nowMs', {
          subscriptionKeyHash: bytes('subscriptionKeyHash'),
        })}
        ON CONFLICT (install_code) DO NOTHING`),
    trim: prepare(sql`
        DELETE FROM install_tombstone WHERE id = (
          SELECT t.id FROM provider o ${join} install_tombstone t ON t.provider_id = o.id
          WHERE o.id = :providerId AND o.tombstone_count > ${PROVIDER_COUNT_MAX}
          ORDER BY t.id LIMIT 1)`),
    oldest: prepare(sql`SELECT ${columns('install_tombstone', 'endedAtMs')} ${first} 1`),
    lockProviders: backend.lockOnly(sql`
        SELECT id FROM provider WHERE id IN (
          SELECT x.provider_id FROM (SELECT provider_id ${first} ${FORGET_STEP}) x)
        ORDER BY id ${backend.locked}`),
    forget: prepare(sql`
        DELETE FROM install_tombstone WHERE ended_at_ms < :endedBeforeMs
          AND id IN (SELECT x.id FROM (SELECT id ${first} ${FORGET_STEP}) x)`),
  };
  return {
    /** Finds the tombstone of a code, or of a key of the provider: see `findEnded` of the port. */
    *find(
      providerId: number,
      name: { installCode: string } | { subscriptionKeyHash: string },
    ): Step<EndedName | null> {
      if ('installCode' in name) {
        const ended = yield* on.withCode.get(name);
        if (ended === null) return null;
        return endedCode(ended.providerId, providerId);
      }
      const ended = yield* on.withKey.get({ providerId, ...name });
      return ended === null ? null : 'subscription_key_ended';
    },

    /** Adds the tombstone of a link. The write has locked the provider. */
    *add(ended: Ended): Step<void> {
      yield* on.add.run({ ...ended });
      yield* on.trim.run({ providerId: ended.providerId });
    },

    /** Returns whether the oldest tombstone is from before a time. */
    *isDue(endedBeforeMs: number): Step<boolean> {
      const oldest = yield* on.oldest.get();
      return oldest !== null && oldest.endedAtMs < endedBeforeMs;
    },

    /** Deletes some tombstones from before a time; returns their number. */
    *forget(endedBeforeMs: number): Step<number> {
      yield* on.lockProviders.run();
      return yield* on.forget.run({ endedBeforeMs });
    },
  };
});
