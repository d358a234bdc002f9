/** Counts of commits, deliveries, log events and more; `http/traffic.ts` counts requests. */

import { Counts, Histogram } from '../base/counts.ts';
import type { LogLevel } from '../base/log.ts';
import { STATUS_NAMES } from '../core/message/status.ts';
import { FIGURES, type Figure } from '../core/port/figure.ts';
import { STATEMENT_KINDS, type StatementKind } from '../core/port/health.ts';
import { DESTINATION_KINDS, type DestinationKind } from '../core/port/outbox.ts';
import { type Store, withMethods } from '../core/port/store.ts';
import { wordOf } from '../core/status-word.ts';
import { LOG_EVENTS } from './log-events.ts';

/** The log event of a scheduled backup that failed. */
export const BACKUP_FAILED = 'backup_failed';

/**
 * All events of a level, so that each is counted from 0: an alert does not see the rise of a
 * counter that appears with its first event.
 */
const eventsOf = (level: LogLevel) =>
  Object.keys(LOG_EVENTS).filter((event) => LOG_EVENTS[event]?.level === level);

export class Tallies {
  /** Writes that shared one commit. */
  readonly commitWrites = new Histogram([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
  readonly commitSeconds = new Histogram([
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5,
  ]);
  readonly commits = new Counts(['saved', 'failed']);
  readonly deliveries = new Counts(['sent', 'failed', 'expired']);
  readonly distributions = new Counts([
    'accepted',
    'sent',
    'sent_with_errors',
    'failed',
    'cancelled',
    'blocked',
  ]);
  readonly acknowledgements = new Counts(['received', 'opened', 'executed', 'failed']);
  /** Figures by day, without the day. */
  readonly figures = new Counts(FIGURES);
  /** Attempts of the outbox: their outcomes, and how long they took, s. */
  readonly attempts = byKind(DESTINATION_KINDS, () => ({
    outcomes: new Counts(['accepted', 'retry', 'wait', 'dead', 'credentials', 'failed']),
    seconds: new Histogram([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]),
  }));
  /** Statements to PostgreSQL and the calls that shared each; transactions as a whole. */
  readonly statements = byKind(STATEMENT_KINDS, () => ({
    seconds: new Histogram([0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]),
    rows: new Histogram([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]),
  }));
  /** Retried statements and transactions by reason. */
  readonly retries = new Counts(['40001', '40P01', '55P03', 'connection']);
  /** Signals of other processes. */
  signalCount = 0;
  /** Warnings and errors. */
  readonly logEvents: Readonly<Record<'warn' | 'error', Counts>> = {
    warn: new Counts(eventsOf('warn')),
    error: new Counts(eventsOf('error')),
  };
  /** The lag of the event loop, s. */
  readonly loopLagSeconds = new Histogram([0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]);

  onCommit = (writeCount: number, tookMs: number, isSaved: boolean): void => {
    this.commits.add(isSaved ? 'saved' : 'failed');
    this.commitWrites.observe(writeCount);
    this.commitSeconds.observe(tookMs / 1000);
  };

  onAttempt = (kind: DestinationKind, outcome: string, seconds: number): void => {
    this.attempts[kind].outcomes.add(outcome);
    this.attempts[kind].seconds.observe(seconds);
  };

  onStatement = (kind: StatementKind, tookMs: number, callCount: number): void => {
    const { seconds, rows } = this.statements[kind];
    seconds.observe(tookMs / 1000);
    rows.observe(callCount);
  };

  onRetry = (why: string): void => this.retries.add(why);

  onSignal = (): void => {
    this.signalCount += 1;
  };

  onFigure = (figure: Figure, by: number): void => this.figures.add(figure, by);

  /** Counts every distribution that ends. */
  onDistributionEnd = (status: number): void =>
    this.distributions.add(wordOf(STATUS_NAMES[status] ?? ''));

  onEvent = (level: LogLevel, event: string): void => {
    if (level === 'warn' || level === 'error') this.logEvents[level].add(event);
  };

  /** Wraps a store: counts deliveries once their steps are on disk. */
  counting(store: Store): Store {
    const { deliveries, distributions, acknowledgements } = this;
    return withMethods(store, {
      addDistribution: async (draft, guards, act) => {
        const added = await store.addDistribution(draft, guards, act);
        if (typeof added !== 'string' && !added.isRepeat) distributions.add('accepted');
        return added;
      },
      sendRecipients: async (lease, waitingMax, gateways) => {
        const served = await store.sendRecipients(lease, waitingMax, gateways);
        deliveries.add('sent', served?.deviceIds.length ?? 0);
        // Known for all of them once the last is served.
        deliveries.add('failed', served?.outcome?.failedCount ?? 0);
        return served;
      },
      deliverNamed: async (lease, rules) => {
        const named = await store.deliverNamed(lease, rules);
        deliveries.add('sent', named.deviceIds.length);
        deliveries.add('failed', named.failedCount);
        return named;
      },
      expireRecipients: async (nowMs) => {
        const expiredCount = await store.expireRecipients(nowMs);
        deliveries.add('expired', expiredCount ?? 0);
        return expiredCount;
      },
      acknowledge: async (holder, items, nowMs) => {
        const changed = await store.acknowledge(holder, items, nowMs);
        for (const { state } of changed) acknowledgements.add(state);
        return changed;
      },
    });
  }
}

/** Makes a tally for each kind. */
function byKind<K extends string, T>(kinds: readonly K[], make: () => T): Readonly<Record<K, T>> {
  return Object.fromEntries(kinds.map((kind) => [kind, make()])) as Record<K, T>;
}
