/**
 * Stamps of what answers carried to devices: gathered in memory after the answers, saved in groups
 * with the figures. A killed process loses those since; the next fetch of the device brings them.
 */

import { sql } from 'drizzle-orm';
import type { CarriedStamp } from '../../core/port/ride.ts';
import type { Backend, Notes, Step } from '../backend.ts';

/** Stamps that wait; more are left to the next fetch. Each takes some 200 bytes. */
const WAITING_MAX = 50_000;
/** Saved stamps that are remembered, so that each fetch after the first costs nothing. */
const KNOWN_MAX = 200_000;
/** Stamps of one write: some 5 ms on SQLite. */
const SAVE_COUNT = 250;

const keyOf = ({ distributionId, deviceId }: CarriedStamp) => `${distributionId} ${deviceId}`;

/** The stamps that this process has gathered. */
export class CarriedStamps {
  readonly #waiting = new Map<string, CarriedStamp>();
  readonly #known = new Set<string>();
  #saved: Promise<void> = Promise.resolve();

  add(stamps: readonly CarriedStamp[]): void {
    for (const stamp of stamps) {
      const key = keyOf(stamp);
      if (this.#known.has(key) || this.#waiting.has(key)) continue;
      if (this.#waiting.size < WAITING_MAX) this.#waiting.set(key, stamp);
    }
  }

  /** Saves all that wait, in steps; those of a step that fails wait again. */
  save(saveStamps: (stamps: readonly CarriedStamp[]) => Promise<void>): Promise<void> {
    const saved = this.#saved.catch(() => undefined).then(() => this.#saveAll(saveStamps));
    this.#saved = saved;
    return saved;
  }

  async #saveAll(saveStamps: (stamps: readonly CarriedStamp[]) => Promise<void>): Promise<void> {
    const all = [...this.#waiting];
    for (let from = 0; from < all.length; from += SAVE_COUNT) {
      const step = all.slice(from, from + SAVE_COUNT);
      await saveStamps(step.map(([, stamp]) => stamp));
      if (this.#known.size > KNOWN_MAX) this.#known.clear();
      for (const [key] of step) {
        this.#waiting.delete(key);
        this.#known.add(key);
      }
    }
  }
}

/** Returns the step that saves stamps; each is written once, and counted then. */
export function carriedSteps(backend: Backend) {
  const set = backend.prepare<{ providerId: number; atMs: number }>(sql`
      UPDATE recipient AS r SET carried_at_ms = x."atMs", carried = x.carried
      FROM ${backend.rows('stamps', {
        ...{ distributionId: 'bigint', deviceId: 'bigint', atMs: 'bigint', carried: 'text' },
      })} x
      WHERE r.distribution_id = x."distributionId" AND r.device_id = x."deviceId"
        AND r.carried_at_ms IS NULL
      RETURNING abs(inbox) AS "providerId", carried_at_ms AS "atMs"`);
  return function* (notes: Notes, stamps: readonly CarriedStamp[]): Step<void> {
    // Before their recipients, in the order of locks.
    yield* backend.lockRows({ distribution: stamps.map((stamp) => stamp.distributionId) });
    for (const { providerId, atMs } of yield* set.all({ stamps: JSON.stringify(stamps) })) {
      notes.figure(providerId, 'carried', atMs);
    }
  };
}
