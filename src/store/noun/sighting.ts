/** Things seen at panels, by host, kind and subject. Several nodes add to the same rows. */

import { type SightingStore, SUBJECTS_MAX } from '../../core/port/sighting.ts';
import type { GatheredSightings } from '../../core/sightings.ts';
import type { Backend, Statements } from '../backend.ts';
import { OutcomeUnknown } from '../refusal.ts';
import { columns, sql } from '../statement-text.ts';

/** Rows that a step deletes. */
const FORGET_COUNT = 1_000;

const COLUMNS = columns(
  'sighting',
  'host, kind, subject, seenCount AS count, firstSeenAtMs, lastSeenAtMs',
);

/** Prepares the statement that lists them. */
export const seenSightings = (on: Pick<Statements, 'prepare'>) =>
  on.prepare(sql`SELECT ${COLUMNS} FROM sighting ORDER BY host, kind, subject`);

export function sightingNoun(
  backend: Backend,
  gathered: GatheredSightings,
): SightingStore & { saveSightings(): Promise<void> } {
  const { greatest, least } = backend;
  const isOver = sql`last_seen_at_ms < :beforeMs`;
  const on = {
    list: seenSightings(backend),
    /** Takes a new subject only below the bound; a node beside this one may pass it by some. */
    add: backend.prepare(sql`
        INSERT INTO sighting AS s (host, kind, subject, seen_count, first_seen_at_ms,
          last_seen_at_ms)
        SELECT :host, :kind, :subject, :count, :firstSeenAtMs, :lastSeenAtMs
        WHERE (SELECT COUNT(*) FROM sighting k
          WHERE k.host = :host AND k.kind = :kind AND k.subject <> :subject) < ${SUBJECTS_MAX}
        ON CONFLICT (host, kind, subject) DO UPDATE SET
          seen_count = s.seen_count + excluded.seen_count, first_seen_at_ms =
            ${least(sql`s.first_seen_at_ms`, sql`excluded.first_seen_at_ms`)},
          last_seen_at_ms =
            ${greatest(sql`s.last_seen_at_ms`, sql`excluded.last_seen_at_ms`)}`),
    oldest: backend.prepare(sql`
        SELECT ${columns('sighting', 'host')} FROM sighting WHERE ${isOver} LIMIT 1`),
    /** Leaves rows to another node that is deleting them. */
    forget: backend.prepare(sql`
        WITH gone AS (
          SELECT host, kind, subject FROM sighting WHERE ${isOver}
          ORDER BY last_seen_at_ms, host, kind, subject
          LIMIT ${FORGET_COUNT} ${backend.deletableUnlessBusy})
        DELETE FROM sighting
        WHERE (host, kind, subject) IN (SELECT host, kind, subject FROM gone)`),
  };
  return {
    noteSighting: (sighting, atMs, count) => gathered.add(sighting, atMs, count),
    listSightings: () => backend.read(() => on.list.all()),
    saveSightings: async () => {
      const rows = gathered.take();
      if (rows.length === 0) return;
      try {
        await backend.change(function* () {
          let changed = 0;
          for (const row of rows) changed += yield* on.add.run({ ...row });
          return changed;
        });
      } catch (fault) {
        // Sightings may be lost, but must not be counted twice.
        if (!(fault instanceof OutcomeUnknown)) gathered.putBack(rows);
        throw fault;
      }
    },
    forgetSightings: async (beforeMs) => {
      if ((await backend.read(() => on.oldest.get({ beforeMs }))) === null) return false;
      return (await backend.change(() => on.forget.run({ beforeMs }))) > 0;
    },
  };
}
