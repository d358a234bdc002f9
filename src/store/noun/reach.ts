/** Counts the recipients that can get a message at all, as part of reads and writes. */

import { knownAppOf } from '../../core/app/find.ts';
import {
  addWays,
  carriersOfParts,
  isForHomes,
  NO_CARRIERS,
  NO_WAYS,
} from '../../core/device-reach.ts';
import { PUSH } from '../../core/port/distribution.ts';
import type { Carriers } from '../../core/port/message-reach.ts';
import type { LedgerReach } from '../../core/port/receipt.ts';
import { PUSH_GATEWAYS } from '../../core/port/registration.ts';
import type { Statements, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { shared } from './shared.ts';
import { FETCH_COLUMNS, OWN_TOKEN, reachFacts, streamOf } from './targets.ts';

/** The registration `p` that reads the inbox of a row `r` of a ledger. */
export const READER = sql`LEFT JOIN device_provider p
  ON p.device_id = r.device_id AND p.provider_id = r.inbox`;

/** Condition: the token `t` reads the unattached inbox of such a row. */
const UNATTACHED = sql`t.device_id = r.device_id AND t.nobody_after_distribution_id IS NOT NULL`;

/** Condition: the device of such a row got the message, or an app can fetch it. */
export const REACHABLE = sql`(r.received_at_ms IS NOT NULL OR p.token_id IS NOT NULL
  OR r.inbox < 0 AND EXISTS (SELECT 1 FROM device_token t WHERE ${UNATTACHED}))`;

/** Rides that are read for their parts: a segment has those parts for each device. */
const PART_ROWS = 1_000;

type Row = Parameters<typeof reachFacts>[0] &
  Record<'isCarried' | 'count' | 'receivedCount', number>;

/**
 * Returns the step that counts the first `rowsMax` recipients of a distribution. It rides to those
 * of `carriers` (null: all) that carry a part that rides still.
 */
export const reachSteps = shared(({ prepare, once }: Statements) => {
  const find = prepare(sql`
      SELECT ${columns('distribution', 'notificationType AS type, targetOs, rideEndedAtMs')}
      FROM distribution WHERE id = :id`);
  const parts = prepare(sql`
      SELECT DISTINCT ${columns('ride', 'part')}
      FROM (SELECT part FROM ride WHERE distribution_id = :id AND until_ms > :nowMs
        LIMIT ${PART_ROWS}) ride`);
  /** A queued push shows that the device had an address, at whichever gateway. */
  const groups = prepare(sql`
      SELECT ${values<Row>({
        userAgent: sql`"userAgent"`,
        hasSlot: sql`"hasSlot"`,
        isAtHome: sql`"isAtHome"`,
        gateway: sql`gateway`,
        isReachable: sql`"isReachable"`,
        isCarried: sql`"isCarried"`,
        hasStream: sql`"hasStream"`,
        count: sql`count(*)`,
        receivedCount: sql`count(received_at_ms)`,
      })}
      FROM (
        SELECT r.received_at_ms, ${FETCH_COLUMNS},
          CASE WHEN r.push_state IS NOT NULL THEN 'fcm' END AS gateway,
          CAST(${REACHABLE} AS integer) AS "isReachable",
          CAST(r.carried_at_ms IS NOT NULL AS integer) AS "isCarried",
          CASE WHEN r.inbox < 0 THEN ${streamOf(UNATTACHED)} ELSE ${streamOf(OWN_TOKEN)} END
            AS "hasStream"
        FROM recipient r ${READER} WHERE r.distribution_id = ${once('id')}
        ORDER BY r.device_id LIMIT ${once('rowsMax')}) counted
      GROUP BY 1, 2, 3, 4, 5, 6, 7`);

  return function* (
    id: number,
    rowsMax: number,
    nowMs: number,
    carriers: Carriers | null = null,
  ): Step<LedgerReach> {
    const about = yield* find.get({ id });
    const isToAll = about?.targetOs != null;
    const isEnded = (about?.rideEndedAtMs ?? nowMs + 1) <= nowMs;
    const riding = isEnded ? [] : (yield* parts.all({ id, nowMs })).map(({ part }) => part);
    const rules = {
      gateways: PUSH_GATEWAYS,
      carriers: riding.length === 0 ? NO_CARRIERS : (carriers ?? carriersOfParts(riding)),
      isForHomes: isForHomes(about?.type ?? PUSH, isToAll),
    };
    const rows = yield* groups.all({ id, rowsMax });
    const reach = { ...NO_WAYS, reachable: 0, received: 0, carried: 0 };
    let counted = 0;
    for (const { isCarried, count, receivedCount, ...row } of rows) {
      const facts = reachFacts(row);
      counted += count;
      reach.received += receivedCount;
      if (facts.isReachable) reach.reachable += count;
      if (isCarried) reach.carried += count;
      const isFetched = isCarried === 1 && !facts.isReachable;
      const isShown = about?.type !== PUSH || knownAppOf(facts.userAgent) !== null;
      if (isFetched) reach[isShown ? 'fetch' : 'unknown'] += count;
      else Object.assign(reach, addWays(reach, [{ ...facts, count }], rules));
    }
    return { ...reach, isAtLeast: counted === rowsMax };
  };
});
