/**
 * Figures of subscriptions in events. A key that leaks from a bot must not tell when each customer
 * pays: only an account or the operator switches them on for a webhook, and a key that changes
 * where its events go, or their secret, switches them off.
 */

import { isoTime } from './calendar.ts';
import { type Misfit, malformed } from './outcome.ts';
import type { Actor } from './port/audit.ts';
import type { EventKind, StoredEvent } from './port/event.ts';
import type { SubscriptionFiguresStore } from './port/subscription-figures.ts';
import type { Webhook } from './port/webhook.ts';

/** Kinds of events, each about one link, that have the figures of its subscription. */
const KINDS: readonly StoredEvent['kind'][] = [
  'link.updated',
  'link.full',
  'link.refused',
] satisfies EventKind[];

type Switched = Pick<Webhook, 'figures' | 'providerId'>;

/** Returns why the actor may not switch figures on; null: it does not, or it may. */
export function refusedSwitch(
  before: Pick<Webhook, 'figures'> | null,
  { figures, providerId }: Switched,
  { kind }: Actor,
): Misfit | null {
  if (figures === 0 || before?.figures === 1) return null;
  if (providerId === null) return malformed('figures is of webhooks of providers');
  return kind === 'provider'
    ? malformed('figures: an account switches it on in the console, not a key')
    : null;
}

/** Returns the switch after a change; `isMoved`: another receiver or secret. */
export function figuresAfter(
  before: Switched,
  after: Switched,
  isMoved: boolean,
  { kind }: Actor,
): 0 | 1 {
  if (kind !== 'provider') return after.figures;
  return isMoved || before.figures === 0 ? 0 : after.figures;
}

/** Adds the figures of the link to an event as a webhook gets it, as they are now. */
export async function withFigures(
  store: Pick<SubscriptionFiguresStore, 'findSubscriptionFigures'>,
  { figures }: Switched,
  event: StoredEvent,
): Promise<StoredEvent> {
  const { data, kind } = event;
  const installId = data['install_id'];
  if (figures === 0 || typeof installId !== 'number' || !KINDS.includes(kind)) return event;
  const kept = await store.findSubscriptionFigures(installId);
  if (kept === null) return event;
  const { endsAtMs, readAtMs, totalBytes, usedBytes } = kept;
  return {
    ...event,
    data: {
      ...data,
      ends_at: isoTime(endsAtMs),
      total_bytes: totalBytes,
      used_bytes: usedBytes,
      read_at: isoTime(readAtMs),
    },
  };
}
