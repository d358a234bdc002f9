/** Gathers sightings in this process until they are saved. */

import { type SeenSighting, type Sighting, SUBJECTS_MAX } from './port/sighting.ts';

const SUBJECT_LENGTH_MAX = 128;

export class GatheredSightings {
  readonly #rows = new Map<string, SeenSighting>();
  /** Unsaved subjects by host and kind. */
  readonly #subjects = new Map<string, number>();

  add({ host, kind, subject: whole }: Sighting, atMs: number, count = 1): void {
    const subject = whole.slice(0, SUBJECT_LENGTH_MAX).toWellFormed();
    const key = JSON.stringify([host, kind, subject]);
    const known = this.#rows.get(key);
    if (known === undefined) {
      const group = JSON.stringify([host, kind]);
      const subjects = this.#subjects.get(group) ?? 0;
      if (subjects >= SUBJECTS_MAX) return;
      this.#subjects.set(group, subjects + 1);
      const seen = { firstSeenAtMs: atMs, lastSeenAtMs: atMs };
      this.#rows.set(key, { host, kind, subject, count, ...seen });
      return;
    }
    known.count += count;
    known.firstSeenAtMs = Math.min(known.firstSeenAtMs, atMs);
    known.lastSeenAtMs = Math.max(known.lastSeenAtMs, atMs);
  }

  /** Removes and returns all rows, in the order of their keys. */
  take(): SeenSighting[] {
    const rows = [...this.#rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
    this.#rows.clear();
    this.#subjects.clear();
    return rows;
  }

  /** Adds rows again that could not be saved. */
  putBack(rows: readonly SeenSighting[]): void {
    for (const row of rows) {
      this.add(row, row.firstSeenAtMs, row.count);
      this.add(row, row.lastSeenAtMs, 0);
    }
  }
}
