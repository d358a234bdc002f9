/**
 * Stamps of messages that answers carried to devices. They are gathered in memory after the answers
 * and saved in groups with the figures. A killed process loses the unsaved ones; the device's next
 * fetch records them again.
 */

import { LOAD, LOAD_FROM } from '../../core/message/status.ts';
import type { CarriedStamp } from '../../core/port/ride.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';

/** Most unsaved stamps in memory; the next fetch records the others. Each takes some 200 bytes. */
const WAITING_MAX = 50_000;
/** Most saved stamps in memory, so that a repeated fetch costs nothing. */
const KNOWN_MAX = 200_000;
/** Stamps of one write, which takes some 5 ms on SQLite. */
const SAVE_COUNT = 250;

const keyOf = ({ distributionId, deviceId, hwid }: CarriedStamp) =>
  `${distributionId} ${deviceId ?? `- ${hwid}`}`;

/** Saves stamps; returns the distributions whose recipients are not all written yet. */
type SaveStamps = (stamps: readonly CarriedStamp[]) => Promise<ReadonlySet<number>>;

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

  /**
   * Saves all unsaved stamps in steps. Stamps of a step that failed or came too early stay unsaved.
   */
  save(saveStamps: SaveStamps): Promise<void> {
    const saved = this.#saved.catch(() => undefined).then(() => this.#saveAll(saveStamps));
    this.#saved = saved;
    return saved;
  }

  async #saveAll(saveStamps: SaveStamps): Promise<void> {
    const all = [...this.#waiting];
    for (let from = 0; from < all.length; from += SAVE_COUNT) {
      const step = all.slice(from, from + SAVE_COUNT);
      const unwritten = await saveStamps(step.map(([, stamp]) => stamp));
      if (this.#known.size > KNOWN_MAX) this.#known.clear();
      for (const [key, { distributionId }] of step) {
        if (unwritten.has(distributionId)) continue;
        this.#waiting.delete(key);
        this.#known.add(key);
      }
    }
  }
}

/** Returns the step that saves stamps; each is written and counted once. */
export function carriedSteps(backend: Backend) {
  const set = backend.prepare(sql`
        UPDATE recipient AS r SET carried_at_ms = x."atMs", carried = x.carried
      FROM ${backend.rows('stamps', {
        distributionId: 'bigint',
        deviceId: 'bigint',
        atMs: 'bigint',
        carried: 'text',
      })} x
      WHERE r.distribution_id = x."distributionId" AND r.device_id = x."deviceId"
        AND r.carried_at_ms IS NULL
      RETURNING ${values<{ providerId: number; atMs: number }>({
        providerId: sql`abs(inbox)`,
        atMs: sql`carried_at_ms`,
      })}`);
  const devices = backend.prepare(sql`
      SELECT ${columns('device', 'id, hwid')}
      FROM device WHERE hwid ${backend.among('hwids', 'text')}`);
  const unwritten = backend.prepare(sql`
      SELECT ${columns('distribution', 'id')} FROM distribution
      WHERE id ${backend.among('ids')} AND status IN (${sql.raw(`${LOAD}, ${LOAD_FROM}`)})`);

  /** Finds the devices that had no slot on their link before. */
  function* identified(stamps: readonly CarriedStamp[]): Step<readonly CarriedStamp[]> {
    const hwids = stamps.flatMap(({ deviceId, hwid }) => (deviceId === null ? [hwid] : []));
    if (hwids.length === 0) return stamps;
    const ids = new Map((yield* devices.all({ hwids })).map(({ id, hwid }) => [hwid, id]));
    return stamps.map((stamp) => ({
      ...stamp,
      deviceId: stamp.deviceId ?? ids.get(stamp.hwid) ?? null,
    }));
  }

  return function* (notes: Notes, given: readonly CarriedStamp[]): Step<ReadonlySet<number>> {
    const stamps = yield* identified(given);
    const ids = stamps.map(({ distributionId }) => distributionId);
    // Locked before their recipients, in the order of locks.
    yield* backend.lockRows({ distribution: ids });
    for (const { providerId, atMs } of yield* set.all({ stamps: JSON.stringify(stamps) })) {
      notes.figure(providerId, 'carried', atMs);
    }
    return new Set((yield* unwritten.all({ ids })).map(({ id }) => id));
  };
}
