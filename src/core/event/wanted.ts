/** The webhooks that get an event: those that want its kind and have room in their queues. */

import type { EventKind } from '../port/event.ts';

/** The most events that wait for one webhook; one more disables it. */
export const WAITING_COUNT_MAX = 100_000;

/** The reason that a disabled webhook with a full queue has. */
export const WHY_FULL = `${WAITING_COUNT_MAX} events wait for it: it does not take them`;

/** Returns true if a webhook with these kinds gets events of `kind`; an empty list wants all. */
export function wantsKind(kinds: readonly string[], kind: EventKind): boolean {
  return kinds.length === 0 || kinds.includes(kind);
}

/** Splits the webhooks that want `kind` by whether their queues have room. */
export function splitByRoom<W extends { kinds: readonly string[]; waitingCount: number }>(
  webhooks: readonly W[],
  kind: EventKind,
): { takers: W[]; full: W[] } {
  const takers: W[] = [];
  const full: W[] = [];
  for (const webhook of webhooks) {
    if (!wantsKind(webhook.kinds, kind)) continue;
    (webhook.waitingCount < WAITING_COUNT_MAX ? takers : full).push(webhook);
  }
  return { takers, full };
}
