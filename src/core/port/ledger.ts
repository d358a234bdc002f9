/** Rows of ledgers, and their totals. */

/** Recipients of a distribution by state and acknowledgement. */
export interface LedgerTotals {
  queued: number;
  sent: number;
  failed: number;
  expired: number;
  received: number;
  opened: number;
  executed: number;
  refused: number;
  /** Recipients whose subscription's answer carried it. */
  carried: number;
  /** Recipients with a push, by the state of the push. */
  atGateway: Record<PushState, number>;
}

/** State of a push: it waits, or the gateway accepted or failed it. */
export type PushState = 'queued' | 'accepted' | 'failed';

export interface LedgerRow {
  hwid: string;
  state: 'queued' | 'sent' | 'failed' | 'expired';
  queuedAtMs: number;
  sentAtMs: number | null;
  failedAtMs: number | null;
  expiredAtMs: number | null;
  receivedAtMs: number | null;
  openedAtMs: number | null;
  executedAtMs: number | null;
  refusedAtMs: number | null;
  detail: string | null;
  /**
   * When an answer to the device's fetch first carried it, in which app and form; null: none did.
   */
  carriedAtMs: number | null;
  carried: string | null;
  /** The push; null: none. `problem`: of the last attempt. */
  push: { state: PushState; problem: string | null } | null;
}
