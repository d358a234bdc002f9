/** Prepares imported links: groups them for commits, and removes times in the future. */

import { DAY_MS } from '../calendar.ts';
import type { ImportedLink } from '../port/moving.ts';

/** Most rows of one commit, which delays all other writes. */
const ROWS_MAX = 200;

/** Groups links by at most {@link ROWS_MAX} rows; a larger link is its own group. */
export function* byRows(links: readonly ImportedLink[]): Generator<ImportedLink[]> {
  let group: ImportedLink[] = [];
  let rows = 0;
  for (const link of links) {
    const more = 1 + link.slots.length;
    if (group.length > 0 && rows + more > ROWS_MAX) {
      yield group;
      group = [];
      rows = 0;
    }
    group.push(link);
    rows += more;
  }
  if (group.length > 0) yield group;
}

/**
 * Returns a time, or now if it is more than a day ahead: the clock of the other machine may be
 * ahead, and a device last seen in the year 9999 would never become inactive.
 */
export function past(atMs: number, nowMs: number): number {
  return atMs > nowMs + DAY_MS ? nowMs : atMs;
}

/** Returns the link without times in the future; itself if it has none. */
export function pastLink(link: ImportedLink, nowMs: number): ImportedLink {
  const { createdAtMs, replacedAtMs, slots } = link;
  const times = [
    createdAtMs,
    replacedAtMs ?? 0,
    ...slots.flatMap((slot) => [
      ...[slot.registeredAtMs, slot.firstSeenAtMs, slot.lastSeenAtMs],
      slot.slotSeenAtMs ?? 0,
    ]),
  ];
  if (times.every((atMs) => past(atMs, nowMs) === atMs)) return link;
  return {
    ...link,
    createdAtMs: past(createdAtMs, nowMs),
    ...(replacedAtMs !== undefined && { replacedAtMs: past(replacedAtMs, nowMs) }),
    slots: slots.map((slot) => ({
      ...slot,
      registeredAtMs: past(slot.registeredAtMs, nowMs),
      firstSeenAtMs: past(slot.firstSeenAtMs, nowMs),
      lastSeenAtMs: past(slot.lastSeenAtMs, nowMs),
      ...(slot.slotSeenAtMs !== undefined && { slotSeenAtMs: past(slot.slotSeenAtMs, nowMs) }),
    })),
  };
}
