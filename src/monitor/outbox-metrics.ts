/** Metrics of the outbox, by kind of destination. */

import type { OutboxTotals } from '../core/port/outbox.ts';
import { type MetricRow, row, type Snapshot, spread } from './metric-row.ts';

type Read = (totals: OutboxTotals, nowMs: number) => number;

/** Makes a sample for each kind that has destinations. */
const ofKinds =
  (read: Read) =>
  ({ outbox, nowMs }: Snapshot) =>
    (outbox ?? []).map((totals) => ({
      labels: { kind: totals.kind },
      value: read(totals, nowMs),
    }));

export const OUTBOX: MetricRow[] = [
  row({
    name: 'gatepost_outbox_waiting',
    type: 'gauge',
    labels: ['kind'],
    help: 'Pushes and events that wait for delivery, retries included.',
    read: ofKinds(({ waitingCount }) => waitingCount),
  }),
  row({
    name: 'gatepost_outbox_oldest_seconds',
    type: 'gauge',
    labels: ['kind'],
    help: 'Age of the oldest waiting push or event; 0: none waits.',
    read: ofKinds(
      ({ oldestQueuedAtMs }, nowMs) => Math.max(0, nowMs - (oldestQueuedAtMs ?? nowMs)) / 1000,
    ),
  }),
  row({
    name: 'gatepost_outbox_failing',
    type: 'gauge',
    labels: ['kind'],
    help: 'Gateways, push services or webhooks whose last attempt failed.',
    read: ofKinds(({ failingCount }) => failingCount),
  }),
  row({
    name: 'gatepost_outbox_stopped',
    type: 'gauge',
    labels: ['kind'],
    help: 'Gateways that are stopped because they rejected the credentials.',
    read: ofKinds(({ stoppedCount }) => stoppedCount),
  }),
  row({
    name: 'gatepost_webhooks_disabled',
    type: 'gauge',
    labels: ['owner'],
    help: 'Webhooks and Telegram chats that are disabled because their events failed.',
    read: ({ disabled }) =>
      disabled === null
        ? []
        : [
            { labels: { owner: 'operator' }, value: disabled.operatorCount },
            { labels: { owner: 'provider' }, value: disabled.providerCount },
          ],
  }),
  row({
    name: 'gatepost_outbox_attempts_total',
    type: 'counter',
    labels: ['kind', 'outcome'],
    help: 'Attempts to deliver a push or an event, by outcome.',
    read: ({ tallies }) =>
      Object.entries(tallies.attempts).flatMap(([kind, { outcomes }]) =>
        [...outcomes.entries()].map(([outcome, value]) => ({ labels: { kind, outcome }, value })),
      ),
  }),
  row({
    name: 'gatepost_outbox_attempt_duration_seconds',
    type: 'histogram',
    labels: ['kind'],
    help: 'Duration of an attempt.',
    read: ({ tallies }, name) =>
      Object.entries(tallies.attempts).flatMap(([kind, { seconds }]) =>
        spread(name, seconds, { kind }),
      ),
  }),
];
