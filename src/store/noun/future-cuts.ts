/**
 * Times in records that decide when something ends, begins or is deleted. After a clock was ahead
 * they may be later than any right clock allows, and are cut to that: docs/time.md.
 */

import { DAY_MS, HOUR_MS } from '../../core/calendar.ts';

export interface FutureCut {
  table: string;
  /** The column of the time. */
  column: string;
  /** Columns that move with it, so that the record lives as long as it was to live. */
  shifted?: readonly string[];
  /** The longest time by which it may be ahead of a right clock, ms; 0 by default. */
  aheadMs?: number;
  /** A condition of the records; absent: all. */
  only?: string;
  /** The column of numbers in whose order the table is read; null: the table is small. */
  key?: string | null;
}

const MINUTE_MS = 60_000;
/** Longer than any wait between two attempts, and than the longest ride: 720 hours, twice. */
const WAIT_MAX_MS = 3 * DAY_MS;
const RIDE_MAX_MS = 1_440 * HOUR_MS;
/** Longer than a secret or key before a rotation is kept. */
const KEPT_MAX_MS = 168 * HOUR_MS;

export const FUTURE_CUTS: readonly FutureCut[] = [
  // Rights.
  { table: 'session', column: 'created_at_ms', shifted: ['seen_at_ms', 'until_ms'] },
  { table: 'session', column: 'seen_at_ms' },
  { table: 'session', column: 'until_ms', aheadMs: 12 * HOUR_MS },
  { table: 'one_time', column: 'until_ms', aheadMs: 10 * MINUTE_MS },
  { table: 'provider', column: 'previous_key_until_ms', aheadMs: KEPT_MAX_MS },
  { table: 'provider_key', column: 'created_at_ms', shifted: ['until_ms'] },
  { table: 'webhook', column: 'previous_until_ms', aheadMs: KEPT_MAX_MS },
  // Changes by keys, which a person confirmed or which wait for a day.
  { table: 'provider', column: 'confirmed_at_ms' },
  { table: 'provider', column: 'buttons_at_ms' },
  { table: 'install', column: 'buttons_at_ms' },
  { table: 'reminder', column: 'texts_at_ms' },
  // Cool-downs and bounds of calls.
  { table: 'install', column: 'freed_at_ms' },
  { table: 'install', column: 'replaced_at_ms' },
  { table: 'provider', column: 'last_general_at_ms' },
  { table: 'provider', column: 'sends_from_ms' },
  { table: 'provider', column: 'changes_from_ms' },
  { table: 'idempotent_call', column: 'answered_at_ms', key: 'provider_id' },
  // Work that waits.
  { table: 'job', column: 'created_at_ms', shifted: ['due_at_ms'] },
  { table: 'job', column: 'ended_at_ms' },
  {
    table: 'distribution',
    column: 'created_at_ms',
    shifted: ['due_at_ms', 'expires_at_ms'],
    // A send for a time that its provider named keeps it.
    only: 'due_at_ms = created_at_ms',
  },
  { table: 'outbox', column: 'queued_at_ms', shifted: ['next_at_ms'] },
  { table: 'outbox', column: 'next_at_ms', aheadMs: WAIT_MAX_MS },
  { table: 'destination', column: 'retry_at_ms', aheadMs: WAIT_MAX_MS },
  { table: 'destination', column: 'failing_since_ms' },
  { table: 'ride', column: 'from_ms', shifted: ['until_ms'], aheadMs: 10 * MINUTE_MS },
  { table: 'ride', column: 'until_ms', aheadMs: RIDE_MAX_MS },
  // Ages by which records are deleted, slots are freed and home links move.
  { table: 'distribution', column: 'finished_at_ms' },
  { table: 'device', column: 'last_seen_at_ms' },
  { table: 'device_token', column: 'last_seen_at_ms' },
  { table: 'device_provider', column: 'last_seen_at_ms', key: 'device_id' },
  { table: 'device_provider', column: 'checked_in_at_ms', key: 'device_id' },
  { table: 'device_provider', column: 'home_left_at_ms', key: 'device_id' },
  { table: 'device_provider', column: 'claim_ended_at_ms', key: 'device_id' },
  { table: 'install_device', column: 'last_seen_at_ms' },
  { table: 'install_device', column: 'registered_at_ms' },
  { table: 'slot_end', column: 'ended_at_ms' },
  { table: 'ended_token', column: 'ended_at_ms', key: 'ended_at_ms' },
  { table: 'install_tombstone', column: 'ended_at_ms' },
  { table: 'refused_device', column: 'last_refused_at_ms', key: 'install_id' },
  { table: 'slot_phone', column: 'last_seen_at_ms', key: 'install_id' },
  { table: 'slot_phone', column: 'first_seen_at_ms', key: 'install_id' },
  { table: 'reminder_sent', column: 'sent_at_ms', key: 'reminder_id' },
  { table: 'subscription_figures', column: 'read_at_ms', key: 'install_id' },
  { table: 'subscription_figures', column: 'since_ms', key: 'install_id' },
  { table: 'subscription_figures', column: 'period_at_ms', key: 'install_id' },
  { table: 'subscription_figures', column: 'traffic_at_ms', key: 'install_id' },
  { table: 'subscription_figures', column: 'moved_at_ms', key: 'install_id' },
  { table: 'subscription_figures', column: 'renewal_told_at_ms', key: 'install_id' },
  { table: 'provider', column: 'figures_since_ms' },
  { table: 'reminding', column: 'resumed_at_ms', key: null },
  { table: 'event', column: 'at_ms' },
  { table: 'sighting', column: 'last_seen_at_ms', key: null },
  // Whether a run is overdue, and whether a panel is followed still.
  { table: 'follow', column: 'claimed_at_ms', key: null },
  { table: 'follow', column: 'next_at_ms', aheadMs: DAY_MS, key: null },
  { table: 'follow', column: 'passed_at_ms', key: null },
  { table: 'follow', column: 'failed_at_ms', key: null },
  { table: 'follow', column: 'failing_since_ms', key: null },
  { table: 'upkeep', column: 'scheduled_at_ms', key: null },
  { table: 'upkeep', column: 'succeeded_at_ms', key: null },
  { table: 'upkeep', column: 'failed_at_ms', key: null },
  { table: 'upkeep', column: 'failing_since_ms', key: null },
];
