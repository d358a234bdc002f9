/**
 * Lanes: the distributions of each provider go one after the other, those of different providers
 * side by side. Workers get hold of the first of each lane by a lease.
 */

import { sql } from 'drizzle-orm';
import { CHECKING, CREATED, LOAD, PENDING, SENDING } from '../../core/distribution.ts';
import type { ClaimedDistribution, Lease } from '../../core/message-store.ts';
import type { Store } from '../../core/store.ts';
import { type Context, value } from './context.ts';
import { raw } from './raw.ts';
import { prepare } from './statement.ts';
import { FINAL, IN_DELIVERY, literal } from './status.ts';

type LaneStore = Pick<Store, 'claimWork' | 'nextDueMs' | 'moveDistribution' | 'releaseWork'>;

/** How many distributions a worker takes a step further at a time. */
const CLAIM_COUNT_MAX = 32;
/** How many of them may be bulky: the others wait while these take their steps of some 5 ms. */
const BULKY_COUNT_MAX = 4;

export const HELD = sql`id = ${value('id')} AND lease_owner = ${value('owner')}`;

/** A lease further ahead than any lease lasts is from before the clock was set back. */
const FREE = sql`(x.lease_owner IS NULL OR x.lease_owner = ${value('owner')}
  OR x.lease_until_ms <= ${value('nowMs')}
  OR x.lease_until_ms > ${value('nowMs')} + ${value('leaseMs')})`;

/** Not scheduled is "now", and what has begun goes on, even if the clock was set back since. */
const READY_AT = sql`iif(x.is_scheduled = 0 OR x.status IN ${IN_DELIVERY}, 0, x.due_at_ms)`;

/** The first of each lane: the one in delivery, else the one that is due before the others. */
const FIRST_OF_LANES = sql`
  WITH RECURSIVE lane (provider_id) AS (
    SELECT min(provider_id) FROM distribution WHERE status < ${FINAL}
    UNION ALL
    SELECT (SELECT min(provider_id) FROM distribution
            WHERE status < ${FINAL} AND provider_id > lane.provider_id)
    FROM lane WHERE lane.provider_id IS NOT NULL)
  SELECT coalesce(
    (SELECT id FROM distribution WHERE provider_id = lane.provider_id AND status IN ${IN_DELIVERY}),
    (SELECT id FROM distribution WHERE provider_id = lane.provider_id AND status < ${FINAL}
     ORDER BY due_at_ms, id LIMIT 1)) AS id
  FROM lane WHERE provider_id IS NOT NULL`;

interface Candidate {
  id: number;
  status: number;
  providerCode: string;
  notificationType: ClaimedDistribution['notificationType'];
  readyAtMs: number;
  isBulky: number;
  isFree: number;
  heldBy: string | null;
  heldUntilMs: number | null;
}

function statements({ db }: Context) {
  const candidate = sql`x.id AS id, x.status AS status, p.code AS "providerCode",
    x.notification_type AS "notificationType", ${READY_AT} AS "readyAtMs",
    x.target_os IS NOT NULL AND x.status IN ${IN_DELIVERY} AS "isBulky", ${FREE} AS "isFree",
    x.lease_owner AS "heldBy", x.lease_until_ms AS "heldUntilMs"`;
  return {
    lanes: prepare(
      db,
      raw<Candidate>(sql`
        SELECT ${candidate} FROM (${FIRST_OF_LANES}) f CROSS JOIN distribution x ON x.id = f.id
          CROSS JOIN provider p ON p.id = x.provider_id`),
    ),
    /** Waits for its time, but nobody looked at it yet, or whoever did died. */
    unchecked: prepare(
      db,
      raw<Candidate>(sql`
        SELECT ${candidate} FROM distribution x CROSS JOIN provider p ON p.id = x.provider_id
        WHERE x.status IN (${literal(CREATED)}, ${literal(CHECKING)})
          AND x.due_at_ms > ${value('nowMs')} AND x.is_scheduled = 1
        ORDER BY x.due_at_ms LIMIT ${CLAIM_COUNT_MAX}`),
    ),
    hold: prepare(
      db,
      raw(sql`
        UPDATE distribution
        SET lease_owner = ${value('owner')}, lease_until_ms = ${value('nowMs')} + ${value('leaseMs')}
        WHERE id = ${value('id')}`),
    ),
    nextReady: prepare(
      db,
      raw<{ readyAtMs: number | null }>(sql`
        SELECT min(${READY_AT}) AS "readyAtMs"
        FROM (${FIRST_OF_LANES}) f CROSS JOIN distribution x ON x.id = f.id`),
    ),
    move: prepare(
      db,
      raw(sql`
        UPDATE distribution
        SET status = ${value('to')},
          began_at_ms = iif(${value('to')} = ${literal(LOAD)},
            coalesce(began_at_ms, ${value('nowMs')}), began_at_ms),
          finished_at_ms = iif(${value('to')} >= ${FINAL}, ${value('nowMs')}, finished_at_ms),
          cursor_id = iif(${value('to')} >= ${literal(SENDING)}, 0, cursor_id),
          lease_owner = iif(${value('to')} = ${literal(PENDING)} OR ${value('to')} >= ${FINAL},
            NULL, lease_owner),
          lease_until_ms = ${value('nowMs')} + ${value('leaseMs')}
        WHERE ${HELD} AND status = ${value('from')}`),
    ),
    release: prepare(
      db,
      raw(sql`
        UPDATE distribution SET lease_owner = NULL
        WHERE status < ${FINAL} AND lease_owner = ${value('owner')}`),
    ),
  };
}

export function laneStore(context: Context): LaneStore {
  const { writer } = context;
  const on = statements(context);

  /** Whoever was served longest ago comes first, so that no lane starves another. */
  function claimable(lease: Omit<Lease, 'id'>): Candidate[] {
    const due = on.lanes
      .all({ ...lease })
      .filter(({ isFree, readyAtMs }) => isFree === 1 && readyAtMs <= lease.nowMs)
      .sort((a, b) => (a.heldUntilMs ?? 0) - (b.heldUntilMs ?? 0));
    const bulky = due.filter(({ isBulky }) => isBulky === 1).slice(0, BULKY_COUNT_MAX);
    const unchecked = on.unchecked.all({ ...lease }).filter(({ isFree }) => isFree === 1);
    const small = [...due.filter(({ isBulky }) => isBulky === 0), ...unchecked];
    return [...small.slice(0, CLAIM_COUNT_MAX - bulky.length), ...bulky];
  }

  /** Its own, and for a while yet: every step renews the lease, so there is nothing to write. */
  function isHeld(work: Candidate, { owner, nowMs, leaseMs }: Omit<Lease, 'id'>): boolean {
    const leftMs = (work.heldUntilMs ?? 0) - nowMs;
    return work.heldBy === owner && leftMs > leaseMs / 2 && leftMs <= leaseMs;
  }

  return {
    claimWork: async (lease) => {
      const taken = (work: Candidate): ClaimedDistribution => ({
        id: work.id,
        providerCode: work.providerCode,
        notificationType: work.notificationType,
        status: work.status,
        isDue: work.readyAtMs <= lease.nowMs,
        isBulky: work.isBulky === 1,
        isTakenOver: work.heldBy !== lease.owner,
      });
      // Looking costs no write: an idle worker leaves the disk alone.
      const found = claimable(lease);
      if (found.every((work) => isHeld(work, lease))) return found.map(taken);
      return writer.run(() =>
        claimable(lease).map((work) => {
          on.hold.run({ id: work.id, ...lease });
          return taken(work);
        }),
      );
    },

    nextDueMs: async () => on.nextReady.get()?.readyAtMs ?? null,

    moveDistribution: (lease, from, to) =>
      writer.run(() => on.move.run({ ...lease, from, to }) > 0),

    releaseWork: (owner) =>
      writer.run(() => {
        on.release.run({ owner });
      }),
  };
}
