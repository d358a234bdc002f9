/** The recipients that can get a message at all: counted, as a part of reads and writes. */

import { sql } from 'drizzle-orm';
import type { LedgerReach } from '../../core/port/receipt.ts';
import type { Statements, Step } from '../backend.ts';

/** The registration `p` that reads the inbox of a row `r` of a ledger. */
export const READER = sql`LEFT JOIN device_provider p
  ON p.device_id = r.device_id AND p.provider_id = r.inbox`;

/** Condition: the device of such a row got the message, or an app can ask for it. */
export const REACHABLE = sql`(r.received_at_ms IS NOT NULL OR p.token_id IS NOT NULL
  OR r.inbox < 0 AND EXISTS (SELECT 1 FROM device_token t
    WHERE t.device_id = r.device_id AND t.nobody_after_distribution_id IS NOT NULL))`;

/** Returns the step that counts the first `rowsMax` recipients of a distribution. */
export function reachSteps({ prepare, once }: Statements) {
  const count = prepare<Record<'counted' | 'reachable' | 'received', number>>(sql`
      SELECT count(*) AS counted, count(*) FILTER (WHERE is_reachable) AS reachable,
        count(received_at_ms) AS received
      FROM (
        SELECT r.received_at_ms, ${REACHABLE} AS is_reachable
        FROM recipient r ${READER}
        WHERE r.distribution_id = ${once('id')}
        ORDER BY r.device_id LIMIT ${once('rowsMax')}) counted`);
  return function* (id: number, rowsMax: number): Step<LedgerReach> {
    const { counted = 0, reachable = 0, received = 0 } = (yield* count.get({ id, rowsMax })) ?? {};
    return { reachable, received, isAtLeast: counted === rowsMax };
  };
}
