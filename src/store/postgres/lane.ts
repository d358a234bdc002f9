/**
 * Lanes: the distributions of each provider go one after the other, those of different providers
 * side by side. Workers get hold of the first of each lane by a lease, which every step renews; a
 * step names its owner, so that a worker that has lost its lease changes nothing.
 */

import { type SQL, sql } from 'drizzle-orm';
import {
  CHECKING,
  CREATED,
  isTerminal,
  LOAD,
  PENDING,
  SENDING,
} from '../../core/message/status.ts';
import type { ClaimedDistribution, Lease } from '../../core/port/distribution.ts';
import type { Store } from '../../core/port/store.ts';
import { FINAL, HAS_TURN, IN_DELIVERY, IN_LANE, literal, unscheduled } from '../status.ts';
import type { Context } from './context.ts';
import { noteDistributionEnd } from './distribution-end.ts';
import { prepare, type Runner, value } from './statement.ts';
import type { Write } from './write.ts';

type LaneStore = Pick<Store, 'claimWork' | 'findNextDueMs' | 'moveDistribution' | 'releaseWork'>;

/** Distributions that a worker takes a step further at a time. */
const CLAIM_COUNT_MAX = 32;
/** Bulky ones among them: the others wait while these take their steps. */
const BULKY_COUNT_MAX = 4;

/** The row that the worker holds. */
export const HELD = sql`id = ${value('id')} AND lease_owner = ${value('owner')}`;

/** A lease further ahead than any lease lasts is from before the clock was set back. */
const FREE = sql`(x.lease_owner IS NULL OR x.lease_owner = ${value('owner')}
  OR x.lease_until_ms <= ${value('clockMs')} OR x.lease_until_ms > ${value('untilMs')})`;

/** Time from which a row goes: unscheduled and begun ones go on even after a clock was set back. */
const READY_AT = sql`
  CASE WHEN ${unscheduled('x')} OR x.status IN ${IN_DELIVERY} THEN 0 ELSE x.due_at_ms END`;

/** Providers with something that has not ended, found by skipping along the index. */
const LANES = sql`
  WITH RECURSIVE lane (provider_id) AS (
    SELECT min(provider_id) FROM distribution WHERE ${IN_LANE}
    UNION ALL
    SELECT (SELECT min(provider_id) FROM distribution
            WHERE ${IN_LANE} AND provider_id > lane.provider_id)
    FROM lane WHERE lane.provider_id IS NOT NULL)`;

/** A column of the unscheduled send in a provider's lane that the database took in first. */
const oldestSent = (column: string, providerId: SQL | ReturnType<typeof value>) => sql`
  (SELECT ${sql.raw(column)} FROM distribution
   WHERE provider_id = ${providerId} AND ${IN_LANE} AND ${unscheduled()} ORDER BY id LIMIT 1)`;

/**
 * Returns the first of a provider's lane among what can be delivered now; null if all wait for
 * their time. That is, in this order: the one in delivery; what was scheduled for a time by now,
 * before the oldest unscheduled one was sent; that oldest one. Unscheduled sends go in the order of
 * their ids, which the database gives: the clocks of two nodes differ, and one is set back.
 */
const firstOfLane = (providerId: SQL | ReturnType<typeof value>) => sql`coalesce(
  (SELECT id FROM distribution WHERE provider_id = ${providerId} AND ${HAS_TURN} LIMIT 1),
  (SELECT id FROM distribution
   WHERE provider_id = ${providerId} AND ${IN_LANE} AND NOT ${unscheduled()}
     AND due_at_ms <= least(${value('dueByMs')}::bigint, ${oldestSent('due_at_ms', providerId)})
   ORDER BY due_at_ms, id LIMIT 1),
  ${oldestSent('id', providerId)})`;

const FIRST_OF_LANES = sql`${LANES}
  SELECT ${firstOfLane(sql`lane.provider_id`)} AS id FROM lane WHERE provider_id IS NOT NULL`;

/** Time at which each lane has something to do; 0: at once. */
const READY_LANES = sql`${LANES}
  SELECT CASE WHEN
    EXISTS (SELECT 1 FROM distribution
            WHERE provider_id = lane.provider_id AND ${HAS_TURN})
    OR EXISTS (SELECT 1 FROM distribution
               WHERE provider_id = lane.provider_id AND ${IN_LANE} AND ${unscheduled()}) THEN 0
    ELSE (SELECT min(due_at_ms) FROM distribution
          WHERE provider_id = lane.provider_id AND ${IN_LANE}) END AS ready_at_ms
  FROM lane WHERE provider_id IS NOT NULL`;

export interface Candidate {
  id: number;
  providerId: number;
  status: number;
  providerCode: string;
  notificationType: ClaimedDistribution['notificationType'];
  ledgerCount: number;
  readyAtMs: number;
  isNamed: boolean;
  targetHwid: string;
  isUnscheduled: boolean;
  isBulky: boolean;
  heldBy: string | null;
  heldUntilMs: number | null;
}

/**
 * A lease, or what is asked for one, by the database's clock: its time, when a lease ends, and the
 * time by which what is scheduled is due.
 */
type Hold<L> = L & { clockMs: number; untilMs: number; dueByMs: number };

export function held<L extends Omit<Lease, 'id'>>(context: Context, lease: L): Hold<L> {
  const clockMs = context.storeNowMs();
  const dueByMs = context.storeMs(lease.nowMs);
  return { ...lease, clockMs, untilMs: clockMs + lease.leaseMs, dueByMs };
}

/** An unscheduled send of a lane, `x`, that nothing scheduled goes before. */
const IS_BEFORE_SCHEDULED = sql`NOT EXISTS (
  SELECT 1 FROM distribution s
  WHERE s.provider_id = x.provider_id AND s.status < ${FINAL} AND s.handed_over_at_ms IS NULL
    AND NOT ${unscheduled('s')} AND s.due_at_ms <= least(${value('dueByMs')}::bigint, x.due_at_ms))`;

const CANDIDATE = sql`x.id AS id, x.provider_id AS "providerId", x.status AS status,
  p.code AS "providerCode",
  x.notification_type AS "notificationType", p.ledger_count AS "ledgerCount",
  ${READY_AT} AS "readyAtMs", x.target_os IS NULL AS "isNamed", x.target_hwid AS "targetHwid",
  ${unscheduled('x')} AS "isUnscheduled",
  (x.target_os IS NOT NULL AND x.status IN ${IN_DELIVERY}) AS "isBulky"`;
const HELD_BY = sql.raw('x.lease_owner AS "heldBy", x.lease_until_ms AS "heldUntilMs"');

const on = {
  lanes: prepare<Candidate>(sql`
      SELECT ${CANDIDATE}, ${HELD_BY}
      FROM (${FIRST_OF_LANES}) f JOIN distribution x ON x.id = f.id
        JOIN provider p ON p.id = x.provider_id
      WHERE ${FREE}`),
  first: prepare<Candidate>(sql`
      SELECT ${CANDIDATE}, ${HELD_BY} FROM distribution x JOIN provider p ON p.id = x.provider_id
      WHERE x.id = ${firstOfLane(value('providerId'))} AND ${FREE}`),
  /** What goes behind an unscheduled one, in order; "isNext": none goes between. */
  behind: prepare<Candidate & { isNext: boolean }>(sql`
      SELECT ${CANDIDATE}, ${HELD_BY}, ${FREE} AND ${IS_BEFORE_SCHEDULED} AS "isNext"
      FROM (SELECT * FROM distribution
            WHERE provider_id = ${value('providerId')} AND ${IN_LANE} AND ${unscheduled()}
              AND id > ${value('afterId')} ORDER BY id LIMIT ${value('countMax')}) x
        JOIN provider p ON p.id = x.provider_id
      ORDER BY x.id`),
  /** Waits for its time, but nobody looked at it yet, or whoever did died. */
  unchecked: prepare<Candidate>(sql`
      SELECT * FROM (
        SELECT ${CANDIDATE}, ${HELD_BY}, ${FREE} AS "isFree"
        FROM distribution x JOIN provider p ON p.id = x.provider_id
        WHERE x.status IN (${literal(CREATED)}, ${literal(CHECKING)})
          AND x.due_at_ms > ${value('dueByMs')} AND NOT ${unscheduled('x')}
        ORDER BY x.due_at_ms, x.id LIMIT ${CLAIM_COUNT_MAX}) first
      WHERE "isFree"`),
  /** What another worker has in its hands this moment, or got hold of since, is left to it. */
  hold: prepare<Candidate>(sql`
      WITH taken AS MATERIALIZED (
        SELECT x.id AS id, ${HELD_BY} FROM distribution x
        WHERE x.id = ANY(${value('ids')}::bigint[]) AND ${FREE} AND ${IN_LANE}
        ORDER BY x.id FOR NO KEY UPDATE SKIP LOCKED)
      UPDATE distribution x
      SET lease_owner = ${value('owner')}, lease_until_ms = ${value('untilMs')}
      FROM taken t, provider p
      WHERE x.id = t.id AND p.id = x.provider_id
      RETURNING ${CANDIDATE}, t."heldBy" AS "heldBy", t."heldUntilMs" AS "heldUntilMs"`),
  nextReady: prepare<{ readyAtMs: number | null }>(sql`
      SELECT CASE WHEN
        EXISTS (SELECT 1 FROM distribution
                WHERE status IN (${literal(CREATED)}, ${literal(CHECKING)}))
        THEN 0 ELSE (SELECT min(ready_at_ms) FROM (${READY_LANES}) l) END AS "readyAtMs"`),
  /** Of a provider one after the other begins: who asks whether another has its turn holds it. */
  holdLane: prepare(sql`
      SELECT p.id FROM provider p
      WHERE p.id = (SELECT provider_id FROM distribution WHERE id = ${value('id')})
      FOR NO KEY UPDATE`),
  /** Another one in delivery goes first: the clock may have been set since this was claimed. */
  move: prepare<{ id: number }>(sql`
      UPDATE distribution
      SET status = ${value('to')},
        began_at_ms = CASE WHEN ${value('to')} = ${literal(LOAD)}
          THEN coalesce(began_at_ms, ${value('nowMs')}) ELSE began_at_ms END,
        finished_at_ms = CASE WHEN ${value('to')} >= ${FINAL}
          THEN ${value('nowMs')} ELSE finished_at_ms END,
        cursor_id = CASE WHEN ${value('to')} >= ${literal(SENDING)} THEN 0 ELSE cursor_id END,
        lease_owner = CASE WHEN ${value('to')} = ${literal(PENDING)} OR ${value('to')} >= ${FINAL}
          THEN NULL ELSE lease_owner END,
        lease_until_ms = ${value('untilMs')}
      WHERE id = ANY(${value('ids')}::bigint[]) AND lease_owner = ${value('owner')}
        AND status = ${value('from')}
        AND (${value('to')} <> ${literal(LOAD)} OR NOT EXISTS (
          SELECT 1 FROM distribution other
          WHERE other.provider_id = distribution.provider_id
            AND other.status IN ${IN_DELIVERY} AND other.handed_over_at_ms IS NULL))
      RETURNING id`),
  release: prepare(sql`
      UPDATE distribution SET lease_owner = NULL
      WHERE ${IN_LANE} AND lease_owner = ${value('owner')}`),
};

export type Wanted = Hold<Omit<Lease, 'id'>>;

/** Lists the first of each lane that no other worker holds. */
export const firstOfEach = (runner: Runner, wanted: Wanted): Promise<Candidate[]> =>
  on.lanes.all(runner, { ...wanted });

/**
 * Lists the first of one lane, and behind an unscheduled one those that follow it, in order. Empty:
 * there is none, or another worker holds the first.
 */
export async function frontOf(
  runner: Runner,
  { providerId, countMax }: { providerId: number; countMax: number },
  wanted: Wanted,
): Promise<Candidate[]> {
  const first = await on.first.get(runner, { ...wanted, providerId });
  if (first === null) return [];
  if (!first.isUnscheduled || countMax === 1) return [first];
  const more = { providerId, afterId: first.id, countMax: countMax - 1 };
  const behind = await on.behind.all(runner, { ...wanted, ...more });
  const end = behind.findIndex(({ isNext }) => !isNext);
  return [first, ...(end === -1 ? behind : behind.slice(0, end))];
}

/** Holds some; returns those that no other worker got hold of since. */
export async function hold(
  runner: Runner,
  ids: readonly number[],
  wanted: Wanted,
): Promise<Set<number>> {
  const got = await on.hold.all(runner, { ...wanted, ids });
  return new Set(got.map(({ id }) => id));
}

/**
 * Moves those that the worker holds, of several only such as go through all statuses in this write.
 * Returns who was moved: another was lost, or one of its lane has its turn. Whoever moves to 5 Load
 * holds the lane.
 */
export async function move(
  w: Write,
  lease: Wanted,
  ids: readonly number[],
  { from, to }: { from: number; to: number },
): Promise<number[]> {
  const moved = (await on.move.all(w, { ...lease, ids, from, to })).map(({ id }) => id);
  if (isTerminal(to)) await noteDistributionEnd(w, moved, lease.nowMs);
  return moved;
}

/**
 * The one served longest ago comes first, so that no lane starves another. A lease from before the
 * clock was set back says nothing about when that was.
 */
function inTurn(due: readonly Candidate[], { untilMs }: Wanted): Candidate[] {
  const servedAt = ({ heldUntilMs }: Candidate) =>
    heldUntilMs === null || heldUntilMs > untilMs ? 0 : heldUntilMs;
  return [...due].sort((a, b) => servedAt(a) - servedAt(b));
}

async function claimable(context: Context, wanted: Wanted): Promise<Candidate[]> {
  const { db } = context;
  const [lanes, unchecked] = await Promise.all([
    firstOfEach(db, wanted),
    on.unchecked.all(db, { ...wanted }),
  ]);
  const due = inTurn(lanes, wanted);
  const bulky = due.filter(({ isBulky }) => isBulky).slice(0, BULKY_COUNT_MAX);
  const small = [...due.filter(({ isBulky }) => !isBulky), ...unchecked];
  return [...small.slice(0, CLAIM_COUNT_MAX - bulky.length), ...bulky];
}

/** Tells a lease of its own that lasts a while yet: the next step renews it, no look has to. */
function isHeld(work: Candidate, { owner, clockMs, leaseMs }: Wanted): boolean {
  const leftMs = (work.heldUntilMs ?? 0) - clockMs;
  return work.heldBy === owner && leftMs > leaseMs / 2 && leftMs <= leaseMs;
}

export function laneStore(context: Context): LaneStore {
  const { db } = context;
  return {
    claimWork: async (lease) => {
      const wanted = held(context, lease);
      const taken = (work: Candidate): ClaimedDistribution => ({
        id: work.id,
        providerCode: work.providerCode,
        notificationType: work.notificationType,
        status: work.status,
        ledgerCount: work.ledgerCount,
        isDue: work.readyAtMs <= wanted.dueByMs,
        isBulky: work.isBulky,
        isTakenOver: work.heldBy !== lease.owner,
      });
      // Looking costs no write: an idle worker leaves the disk alone.
      const found = await claimable(context, wanted);
      if (found.every((work) => isHeld(work, wanted))) return found.map(taken);
      const ids = found.map(({ id }) => id);
      const got = await on.hold.all(db.writing, { ...held(context, lease), ids });
      return got.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)).map(taken);
    },

    findNextDueMs: async () => {
      const readyAtMs = (await on.nextReady.get(db))?.readyAtMs ?? null;
      // The worker asks its own clock whether it has come.
      return readyAtMs && readyAtMs - context.storeMs(0);
    },

    moveDistribution: (lease, from, to) =>
      context.write(async (w) => {
        const [, moved] = await Promise.all([
          to === LOAD && on.holdLane.run(w, { id: lease.id }),
          move(w, held(context, lease), [lease.id], { from, to }),
        ]);
        return moved.length > 0;
      }),

    releaseWork: async (owner) => {
      await on.release.run(db.writing, { owner });
    },
  };
}
