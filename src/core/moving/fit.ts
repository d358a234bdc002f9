/** Links that move in, made fit: in groups that a store takes quickly, without times to come. */

import { DAY_MS } from '../calendar.ts';
import type { ImportedInstall } from '../port/moving.ts';

/** Rows that share a commit, beside which nobody else can write. */
const ROWS_MAX = 200;

/** Links in groups of no more rows than {@link ROWS_MAX}, or of one link. */
export function* byRows(installs: readonly ImportedInstall[]): Generator<ImportedInstall[]> {
  let group: ImportedInstall[] = [];
  let rows = 0;
  for (const install of installs) {
    const more = 1 + install.slots.length;
    if (group.length > 0 && rows + more > ROWS_MAX) {
      yield group;
      group = [];
      rows = 0;
    }
    group.push(install);
    rows += more;
  }
  if (group.length > 0) yield group;
}

/**
 * The time, or now if it is to come: a device last seen in the year 9999 would be kept till
 * then. A day is let pass, as another machine's clock may be ahead.
 */
export function past(atMs: number, nowMs: number): number {
  return atMs > nowMs + DAY_MS ? nowMs : atMs;
}

/** The link without times to come; itself if it has none. */
export function pastInstall(install: ImportedInstall, nowMs: number): ImportedInstall {
  const { createdAtMs, replacedAtMs, slots } = install;
  const times = [
    createdAtMs,
    replacedAtMs ?? 0,
    ...slots.flatMap((slot) => [
      ...[slot.registeredAtMs, slot.firstSeenAtMs, slot.lastSeenAtMs],
      slot.slotSeenAtMs ?? 0,
    ]),
  ];
  if (times.every((atMs) => past(atMs, nowMs) === atMs)) return install;
  return {
    ...install,
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
