/** The webhooks that get an event: those that want its kind and have room in their queues. */

import { CALLERS_EVENTS, type Happening, type StoredEvent } from '../port/event.ts';

/** The most events that wait for one webhook; one more disables it. */
export const WAITING_COUNT_MAX = 100_000;

/**
 * The most events that wait for one webhook when another one comes that a call without credentials
 * caused: such an event is folded beyond that, and disables no webhook.
 */
export const CALLERS_WAITING_MAX = 50_000;

/** The reason that a disabled webhook with a full queue has. */
export const WHY_FULL = `${WAITING_COUNT_MAX} events wait for it: it does not take them`;

/** Returns true if a webhook with these kinds gets events of `kind`; an empty list wants all. */
export function wantsKind(kinds: readonly string[], kind: StoredEvent['kind']): boolean {
  return kinds.length === 0 || kinds.includes(kind);
}

/**
 * Splits the webhooks that want `kind` by whether their queues have room; `folded`: events of
 * callers have none.
 */
export function splitByRoom<W extends { kinds: readonly string[]; waitingCount: number }>(
  webhooks: readonly W[],
  kind: Happening['kind'],
): { takers: W[]; full: W[]; folded: W[] } {
  const takers: W[] = [];
  const full: W[] = [];
  const folded: W[] = [];
  const isFolding = CALLERS_EVENTS.includes(kind);
  for (const webhook of webhooks) {
    if (!wantsKind(webhook.kinds, kind)) continue;
    const { waitingCount } = webhook;
    if (isFolding && waitingCount >= CALLERS_WAITING_MAX) folded.push(webhook);
    else (waitingCount < WAITING_COUNT_MAX ? takers : full).push(webhook);
  }
  return { takers, full, folded };
}
