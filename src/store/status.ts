/** The core's status values as SQL literals, which partial indexes and SQLite's planner need. */

import type { SQL } from 'drizzle-orm';
import { LOAD, LOAD_FROM, SENDING, SENT } from '../core/message/status.ts';
import { DOMAIN_ACTIVE } from '../core/port/domain.ts';
import { sql } from './statement-text.ts';

export function literal(status: number): SQL {
  return sql.raw(String(status));
}

/** For `status IN …`: recipients are being written or served. */
export const IN_DELIVERY = sql.raw(`(${LOAD}, ${LOAD_FROM}, ${SENDING})`);

/** For `status < …` and `status >= …`: every status from this one is final. */
export const FINAL = literal(SENT);

/** Condition: in its provider's lane. It has not ended, and waits for more than gateways. */
export const IN_LANE = sql`status < ${FINAL} AND handed_over_at_ms IS NULL`;

/** Condition: the distribution of a lane that is in delivery. */
export const HAS_TURN = sql`status IN ${IN_DELIVERY} AND handed_over_at_ms IS NULL`;

/** Condition: handed to gateways, and out of its lane until they have answered. */
export const AT_GATEWAYS = sql`status = ${literal(SENDING)} AND handed_over_at_ms IS NOT NULL`;

/** Condition: a distribution that is not scheduled; it is due at the time of its creation. */
export function unscheduled(row = 'distribution'): SQL {
  return sql.raw(`${row}.due_at_ms = ${row}.created_at_ms`);
}

/**
 * Condition: no reminder sent it. A round of a reminder has no systems, HWIDs or segment. (Its
 * column `reminder_id` is behind the payload, which may be long to read over.)
 */
export const isSent = (row = 'distribution'): SQL =>
  sql.raw(
    `(${row}.target_os IS NOT NULL OR ${row}.target_hwid <> '' OR ${row}.segment IS NOT NULL)`,
  );

export const ACTIVE_BINDING = literal(DOMAIN_ACTIVE);

/**
 * The time by which another lease may outlast a new one, ms: clocks of nodes differ, and a claim
 * that waited for a row was timed before the claim of that row. A lease beyond it was made before
 * the clock was set back, and is void.
 */
export const LEASE_SLACK_MS = sql.raw('10000');
