/** Webhooks that get an event: those that want its kind, as long as their queues have room. */

import type { EventKind } from '../port/event.ts';

/** Events that wait for one webhook at most: one more disables it. */
export const WAITING_COUNT_MAX = 100_000;

/** The reason with which a webhook is disabled whose queue is full. */
export const WHY_FULL = `${WAITING_COUNT_MAX} events wait for it: it does not take them`;

/** Returns true if a webhook with these kinds gets events of `kind`; an empty list wants all. */
export function wantsKind(kinds: readonly string[], kind: EventKind): boolean {
  return kinds.length === 0 || kinds.includes(kind);
}

/** Splits the webhooks that want `kind`: the queues of takers have room. */
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
