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

/** Kinds of events, each about one link, that get the figures of its subscription. */
const WITH_FIGURES: readonly StoredEvent['kind'][] = [
  'link.updated',
  'link.full',
  'link.refused',
] satisfies EventKind[];

/** Kinds that have them already, as they were when it happened. */
const OF_FIGURES: readonly StoredEvent['kind'][] = [
  'link.ending',
  'link.ended',
  'link.renewed',
  'link.traffic_low',
] satisfies EventKind[];

const FIGURES = ['ends_at', 'ended_at', 'total_bytes', 'used_bytes', 'read_at'];

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

/** Returns an event as a webhook gets it: with figures if it gets them, else without any. */
export async function forWebhook(
  store: Pick<SubscriptionFiguresStore, 'findSubscriptionFigures'>,
  { figures }: Switched,
  event: StoredEvent,
): Promise<StoredEvent> {
  const { data, kind } = event;
  if (figures === 0) return OF_FIGURES.includes(kind) ? withoutFigures(event) : event;
  const installId = data['install_id'];
  if (typeof installId !== 'number' || !WITH_FIGURES.includes(kind)) return event;
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

const withoutFigures = (event: StoredEvent): StoredEvent => ({
  ...event,
  data: Object.fromEntries(Object.entries(event.data).filter(([name]) => !FIGURES.includes(name))),
});
