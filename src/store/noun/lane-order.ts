/** The order of lanes, as SQL: selects the first distribution of each provider. */

import type { SQL } from 'drizzle-orm';
import { CHECKING, CREATED } from '../../core/message/status.ts';
import type { ClaimedDistribution } from '../../core/port/distribution.ts';
import type { Backend, Dialect } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import {
  FINAL,
  HAS_TURN,
  IN_DELIVERY,
  IN_LANE,
  LEASE_SLACK_MS,
  literal,
  unscheduled,
} from '../status.ts';

/** Distributions that a worker claims at a time. */
export const CLAIM_COUNT_MAX = 32;

/**
 * A lease that ends later than any lease can was made before the clock was set back, and is void.
 */
const isFree = ({ once }: Dialect) => sql`(x.lease_owner IS NULL
  OR x.lease_owner = ${once('owner')} OR x.lease_until_ms <= ${once('clockMs')}
  OR x.lease_until_ms > CAST(${once('untilMs')} AS bigint) + ${LEASE_SLACK_MS})`;

/**
 * Time from which a row may be delivered; 0: unscheduled, or begun, even if a clock was set back
 * since.
 */
const READY_AT = sql`
  CASE WHEN ${unscheduled('x')} OR x.status IN ${IN_DELIVERY} THEN 0 ELSE x.due_at_ms END`;

/** Finds providers with unfinished distributions by skipping along the index. */
const LANES = sql`
  WITH RECURSIVE lane (provider_id) AS (
    SELECT min(provider_id) FROM distribution WHERE ${IN_LANE}
    UNION ALL
    SELECT (SELECT min(provider_id) FROM distribution
            WHERE ${IN_LANE} AND provider_id > lane.provider_id)
    FROM lane WHERE lane.provider_id IS NOT NULL)`;

/** A column of the unscheduled send in a provider's lane that the database accepted first. */
const oldestSent = (column: string, providerId: SQL) => sql`
  (SELECT ${sql.raw(column)} FROM distribution
   WHERE provider_id = ${providerId} AND ${IN_LANE} AND ${unscheduled()} ORDER BY id LIMIT 1)`;

/**
 * Selects the first deliverable distribution of a provider's lane; null if all wait for their time.
 * The order is: the one in delivery; those scheduled for a time that has come before the oldest
 * unscheduled one was sent; that oldest one. Unscheduled sends are ordered by their ids, which the
 * database gives, because the clocks of two machines differ and may be set back.
 */
const firstOfLane = ({ once }: Dialect, providerId: SQL) => sql`coalesce(
  (SELECT id FROM distribution WHERE provider_id = ${providerId} AND ${HAS_TURN} LIMIT 1),
  (SELECT id FROM distribution
   WHERE provider_id = ${providerId} AND ${IN_LANE} AND NOT ${unscheduled()}
     AND due_at_ms <= ${once('dueByMs')} AND due_at_ms <=
       coalesce(${oldestSent('due_at_ms', providerId)}, CAST(${once('dueByMs')} AS bigint))
   ORDER BY due_at_ms, id LIMIT 1), ${oldestSent('id', providerId)})`;

/** Time at which each lane has something to do; 0: at once. */
const READY_LANES = sql`${LANES}
  SELECT CASE WHEN EXISTS (SELECT 1 FROM distribution
            WHERE provider_id = lane.provider_id AND ${HAS_TURN})
    OR EXISTS (SELECT 1 FROM distribution
               WHERE provider_id = lane.provider_id AND ${IN_LANE} AND ${unscheduled()}) THEN 0
    ELSE (SELECT min(due_at_ms) FROM distribution
          WHERE provider_id = lane.provider_id AND ${IN_LANE}) END AS ready_at_ms
  FROM lane WHERE provider_id IS NOT NULL`;

/** True for an unscheduled send of a lane, `x`, before which no scheduled one is delivered. */
const isBeforeScheduled = ({ once }: Dialect) => sql`NOT EXISTS (
  SELECT 1 FROM distribution s
  WHERE s.provider_id = x.provider_id AND s.status < ${FINAL} AND s.handed_over_at_ms IS NULL
    AND NOT ${unscheduled('s')}
    AND s.due_at_ms <= ${once('dueByMs')} AND s.due_at_ms <= x.due_at_ms)`;

const flag = (condition: SQL) => sql`CAST(${condition} AS integer)`;

/** Condition: `x` names its devices. */
const IS_NAMED = sql`(x.target_os IS NULL AND (x.target_hwid <> '' OR x.segment IS NULL))`;

const CANDIDATE = sql`${columns(
  { x: 'distribution', p: 'provider' },
  `x.id, x.providerId, x.status, p.code AS providerCode, x.notificationType, p.ledgerCount,
    x.targetHwid, x.leaseOwner AS heldBy, x.leaseUntilMs AS heldUntilMs`,
)}, ${values<{ readyAtMs: number; isNamed: number; isUnscheduled: number; isBulky: number }>({
  readyAtMs: READY_AT,
  isNamed: flag(IS_NAMED),
  isUnscheduled: flag(unscheduled('x')),
  isBulky: flag(sql`(NOT ${IS_NAMED} AND x.status IN ${IN_DELIVERY})`),
})}`;

export interface Candidate {
  id: number;
  providerId: number;
  status: number;
  providerCode: string;
  notificationType: ClaimedDistribution['notificationType'];
  ledgerCount: number;
  readyAtMs: number;
  targetHwid: string;
  isNamed: number;
  isUnscheduled: number;
  isBulky: number;
  heldBy: string | null;
  heldUntilMs: number | null;
}

/** Statements that read lanes. */
export function laneOrder(backend: Backend) {
  const { prepare, join, once, among } = backend;
  const free = isFree(backend);
  const ofProvider = sql`p ON p.id = x.provider_id`;
  return {
    lanes: prepare(sql`
        SELECT ${CANDIDATE} FROM (${LANES}
          SELECT ${firstOfLane(backend, sql`lane.provider_id`)} AS id FROM lane
          WHERE provider_id IS NOT NULL) f
          ${join} distribution x ON x.id = f.id ${join} provider ${ofProvider}
        WHERE ${free}`),
    first: prepare(sql`
        SELECT ${CANDIDATE} FROM distribution x ${join} provider ${ofProvider}
        WHERE x.id = ${firstOfLane(backend, once('providerId'))} AND ${free}`),
    /** The unscheduled sends after one, in their order; "isNext": none is delivered in between. */
    behind: prepare(sql`
        SELECT ${CANDIDATE}, ${values<{ isNext: (Candidate & { isNext: number })['isNext'] }>({
          isNext: sql`${flag(sql`(${free} AND ${isBeforeScheduled(backend)})`)}`,
        })} FROM (SELECT * FROM distribution
              WHERE provider_id = ${once('providerId')} AND ${IN_LANE} AND ${unscheduled()}
                AND id > ${once('afterId')} ORDER BY id LIMIT ${once('countMax')}) x
          ${join} provider ${ofProvider}
        ORDER BY x.id`),
    /** New sends that wait for their time, and those whose worker died while it checked them. */
    unchecked: prepare(sql`
        SELECT ${CANDIDATE}, ${values<{ isFree: (Candidate & { isFree: number })['isFree'] }>({
          isFree: flag(free),
        })}
        FROM distribution x ${join} provider ${ofProvider}
        WHERE x.status IN (${literal(CREATED)}, ${literal(CHECKING)})
          AND x.due_at_ms > ${once('dueByMs')} AND NOT ${unscheduled('x')}
        ORDER BY x.due_at_ms, x.id LIMIT ${CLAIM_COUNT_MAX}`),
    /** Leaves out those that another worker has claimed, or is about to claim. */
    lock: prepare(sql`
        SELECT ${CANDIDATE}
        FROM (SELECT * FROM distribution x
              WHERE x.id ${among('ids')} AND ${free} AND ${IN_LANE}
              ORDER BY x.id ${backend.lockedUnlessBusy}) x ${join} provider ${ofProvider}`),
    nextReady: prepare(sql`
        SELECT ${values<{ readyAtMs: number | null }>({
          readyAtMs: sql`CASE WHEN EXISTS (SELECT 1 FROM distribution
                  WHERE status IN (${literal(CREATED)}, ${literal(CHECKING)}))
          THEN 0 ELSE (SELECT min(ready_at_ms) FROM (${READY_LANES}) l) END`,
        })}`),
  };
}
