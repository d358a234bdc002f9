/**
 * Lanes: the distributions of each provider go one after the other, those of different providers
 * side by side. Workers get hold of the first of each lane by a lease, which every step renews; a
 * step names its owner, so that a worker that has lost its lease changes nothing.
 */

import { type SQL, sql } from 'drizzle-orm';
import type { Clock } from '../../clock.ts';
import { CHECKING, CREATED, LOAD, PENDING, SENDING } from '../../core/message/status.ts';
import type { ClaimedDistribution, Lease } from '../../core/port/distribution.ts';
import type { Store } from '../../core/port/store.ts';
import { FINAL, HAS_TURN, IN_DELIVERY, IN_LANE, literal, unscheduled } from '../status.ts';
import type { Context } from './context.ts';
import { endNoter } from './distribution-end.ts';
import { value } from './statement.ts';

type LaneStore = Pick<Store, 'claimWork' | 'findNextDueMs' | 'moveDistribution' | 'releaseWork'>;

/** Distributions that a worker takes a step further at a time. */
const CLAIM_COUNT_MAX = 32;
/** Bulky ones among them: the others wait while these take their steps of some 5 ms. */
const BULKY_COUNT_MAX = 4;

export const HELD = sql`id = ${value('id')} AND lease_owner = ${value('owner')}`;

/** End of a lease that is taken or renewed now. */
export const RENEWED_UNTIL = sql`${value('clockMs')} + ${value('leaseMs')}`;

/** A lease further ahead than any lease lasts is from before the clock was set back. */
const FREE = sql`(x.lease_owner IS NULL OR x.lease_owner = ${value('owner')}
  OR x.lease_until_ms <= ${value('clockMs')}
  OR x.lease_until_ms > ${RENEWED_UNTIL})`;

/** Time from which a row goes: unscheduled and begun ones go on even after a clock was set back. */
const READY_AT = sql`
  iif(${unscheduled('x')} OR x.status IN ${IN_DELIVERY}, 0, x.due_at_ms)`;

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
 * their ids, which the database gives: the clocks of two machines differ, and one is set back.
 */
const firstOfLane = (providerId: SQL | ReturnType<typeof value>) => sql`coalesce(
  (SELECT id FROM distribution WHERE provider_id = ${providerId} AND ${HAS_TURN} LIMIT 1),
  (SELECT id FROM distribution
   WHERE provider_id = ${providerId} AND ${IN_LANE} AND NOT ${unscheduled()} AND due_at_ms <=
     coalesce(min(${value('nowMs')}, ${oldestSent('due_at_ms', providerId)}), ${value('nowMs')})
   ORDER BY due_at_ms, id LIMIT 1),
  ${oldestSent('id', providerId)})`;

const FIRST_OF_LANES = sql`${LANES}
  SELECT ${firstOfLane(sql`lane.provider_id`)} AS id FROM lane WHERE provider_id IS NOT NULL`;

/** Time at which each lane has something to do; 0: at once. */
const READY_LANES = sql`${LANES}
  SELECT iif(
    EXISTS (SELECT 1 FROM distribution
            WHERE provider_id = lane.provider_id AND ${HAS_TURN})
    OR EXISTS (SELECT 1 FROM distribution
               WHERE provider_id = lane.provider_id AND ${IN_LANE} AND ${unscheduled()}), 0,
    (SELECT min(due_at_ms) FROM distribution
     WHERE provider_id = lane.provider_id AND ${IN_LANE})) AS ready_at_ms
  FROM lane WHERE provider_id IS NOT NULL`;

export interface Candidate {
  id: number;
  providerId: number;
  status: number;
  providerCode: string;
  notificationType: ClaimedDistribution['notificationType'];
  ledgerCount: number;
  readyAtMs: number;
  isNamed: number;
  isBulky: number;
  isFree: number;
  heldBy: string | null;
  heldUntilMs: number | null;
}

/** A lease, or what is asked for one, with the time by the store's clock. */
export type Hold = Omit<Lease, 'id'> & { clockMs: number };

export function held<L extends Omit<Lease, 'id'>>(lease: L, clock: Clock): L & { clockMs: number } {
  return { ...lease, clockMs: clock.nowMs() };
}

function statements({ db }: Context) {
  const candidate = sql`x.id AS id, x.provider_id AS "providerId", x.status AS status,
    p.code AS "providerCode",
    x.notification_type AS "notificationType", p.ledger_count AS "ledgerCount",
    ${READY_AT} AS "readyAtMs", x.target_os IS NULL AS "isNamed",
    x.target_os IS NOT NULL AND x.status IN ${IN_DELIVERY} AS "isBulky", ${FREE} AS "isFree",
    x.lease_owner AS "heldBy", x.lease_until_ms AS "heldUntilMs"`;
  return {
    lanes: db.prepare<Candidate>(sql`
        SELECT ${candidate} FROM (${FIRST_OF_LANES}) f CROSS JOIN distribution x ON x.id = f.id
          CROSS JOIN provider p ON p.id = x.provider_id`),
    first: db.prepare<Candidate>(sql`
        SELECT ${candidate} FROM distribution x CROSS JOIN provider p ON p.id = x.provider_id
        WHERE x.id = ${firstOfLane(value('providerId'))}`),
    /** Waits for its time, but nobody looked at it yet, or whoever did died. */
    unchecked: db.prepare<Candidate>(sql`
        SELECT ${candidate} FROM distribution x CROSS JOIN provider p ON p.id = x.provider_id
        WHERE x.status IN (${literal(CREATED)}, ${literal(CHECKING)})
          AND x.due_at_ms > ${value('nowMs')} AND NOT ${unscheduled('x')}
        ORDER BY x.due_at_ms LIMIT ${CLAIM_COUNT_MAX}`),
    hold: db.prepare(sql`
        UPDATE distribution
        SET lease_owner = ${value('owner')}, lease_until_ms = ${RENEWED_UNTIL}
        WHERE id = ${value('id')}`),
    nextReady: db.prepare<{ readyAtMs: number | null }>(sql`
        SELECT iif(
          EXISTS (SELECT 1 FROM distribution
                  WHERE status IN (${literal(CREATED)}, ${literal(CHECKING)})),
          0, (SELECT min(ready_at_ms) FROM (${READY_LANES}))) AS "readyAtMs"`),
    /** Another one in delivery goes first: the clock may have been set since this was claimed. */
    move: db.prepare(sql`
        UPDATE distribution
        SET status = ${value('to')},
          began_at_ms = iif(${value('to')} = ${literal(LOAD)},
            coalesce(began_at_ms, ${value('nowMs')}), began_at_ms),
          finished_at_ms = iif(${value('to')} >= ${FINAL}, ${value('nowMs')}, finished_at_ms),
          cursor_id = iif(${value('to')} >= ${literal(SENDING)}, 0, cursor_id),
          lease_owner = iif(${value('to')} = ${literal(PENDING)} OR ${value('to')} >= ${FINAL},
            NULL, lease_owner),
          lease_until_ms = ${RENEWED_UNTIL}
        WHERE ${HELD} AND status = ${value('from')}
          AND (${value('to')} <> ${literal(LOAD)} OR NOT EXISTS (
            SELECT 1 FROM distribution other
            WHERE other.provider_id = distribution.provider_id
              AND other.status IN ${IN_DELIVERY} AND other.handed_over_at_ms IS NULL))`),
    release: db.prepare(sql`
        UPDATE distribution SET lease_owner = NULL
        WHERE ${IN_LANE} AND lease_owner = ${value('owner')}`),
  };
}

/** Steps of lanes, each to be called within a write, but for the first two. */
export function laneSteps(context: Context) {
  const { clock } = context;
  const on = statements(context);
  const noteEnd = endNoter(context);
  return {
    /** Lists the first of each lane that no other worker holds. */
    firstOfEach: (lease: Hold) => on.lanes.all({ ...lease }).filter(({ isFree }) => isFree === 1),

    /** Returns the first of one lane; null: there is none, or another worker holds it. */
    firstOf: (providerId: number, lease: Hold): Candidate | null => {
      const found = on.first.get({ ...lease, providerId });
      return found?.isFree === 1 ? found : null;
    },

    hold: (id: number, lease: Hold): void => {
      on.hold.run({ ...lease, id });
    },

    /** Moves one that the worker holds; false: it was lost, or another one has its turn. */
    move: (lease: Lease, from: number, to: number): boolean => {
      if (on.move.run({ ...held(lease, clock), from, to }) === 0) return false;
      noteEnd(lease.id, lease.nowMs);
      return true;
    },
  };
}

export function laneStore(context: Context): LaneStore {
  const { writer, clock } = context;
  const on = statements(context);
  const steps = laneSteps(context);

  /**
   * The one served longest ago comes first, so that no lane starves another. A lease from before
   * the clock was set back says nothing about when that was.
   */
  function claimable(lease: Hold): Candidate[] {
    const aheadMs = lease.clockMs + lease.leaseMs;
    const servedAt = ({ heldUntilMs }: Candidate) =>
      heldUntilMs === null || heldUntilMs > aheadMs ? 0 : heldUntilMs;
    const due = steps.firstOfEach(lease).sort((a, b) => servedAt(a) - servedAt(b));
    const bulky = due.filter(({ isBulky }) => isBulky === 1).slice(0, BULKY_COUNT_MAX);
    const unchecked = on.unchecked.all({ ...lease }).filter(({ isFree }) => isFree === 1);
    const small = [...due.filter(({ isBulky }) => isBulky === 0), ...unchecked];
    return [...small.slice(0, CLAIM_COUNT_MAX - bulky.length), ...bulky];
  }

  /** Tells a lease of its own that lasts a while yet: the next step renews it, no look has to. */
  function isHeld(work: Candidate, { owner, clockMs, leaseMs }: Hold): boolean {
    const leftMs = (work.heldUntilMs ?? 0) - clockMs;
    return work.heldBy === owner && leftMs > leaseMs / 2 && leftMs <= leaseMs;
  }

  return {
    claimWork: async (lease) => {
      const taken = (work: Candidate): ClaimedDistribution => ({
        id: work.id,
        providerCode: work.providerCode,
        notificationType: work.notificationType,
        status: work.status,
        ledgerCount: work.ledgerCount,
        isDue: work.readyAtMs <= lease.nowMs,
        isBulky: work.isBulky === 1,
        isTakenOver: work.heldBy !== lease.owner,
      });
      // Looking costs no write: an idle worker leaves the disk alone.
      const now = held(lease, clock);
      const found = claimable(now);
      if (found.every((work) => isHeld(work, now))) return found.map(taken);
      return writer.run(() => {
        const hold = held(lease, clock);
        return claimable(hold).map((work) => {
          steps.hold(work.id, hold);
          return taken(work);
        });
      });
    },

    findNextDueMs: async () => on.nextReady.get()?.readyAtMs ?? null,

    moveDistribution: (lease, from, to) => writer.run(() => steps.move(lease, from, to)),

    releaseWork: (owner) =>
      writer.run(() => {
        on.release.run({ owner });
      }),
  };
}
