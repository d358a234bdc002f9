/**
 * Lanes: the distributions of one provider are delivered one after the other, those of different
 * providers side by side. Workers claim the first of each lane by a lease; each step names and
 * renews it.
 */

import { isTerminal, LOAD, PENDING, SENDING } from '../../core/message/status.ts';
import type { ClaimedDistribution, Lease } from '../../core/port/distribution.ts';
import type { Store } from '../../core/port/store.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql } from '../statement-text.ts';
import { FINAL, IN_DELIVERY, IN_LANE, literal } from '../status.ts';
import { distributionEnds } from './distribution-end.ts';
import { type Candidate, CLAIM_COUNT_MAX, laneOrder } from './lane-order.ts';
import { rideSteps } from './ride-steps.ts';
import { shared } from './shared.ts';

type LaneNoun = Pick<Store, 'claimWork' | 'findNextDueMs' | 'moveDistribution' | 'releaseWork'>;

/** Most large ones among them: the others wait while these run their steps. */
const BULKY_COUNT_MAX = 4;

/** Condition: the worker holds the row's lease. */
export const HELD = sql`id = :id AND lease_owner = :owner`;

/** A lease by the store's clock: its time and its end; what begins now begins at `begunMs`. */
type Hold<L = Omit<Lease, 'id'>> = L & {
  clockMs: number;
  untilMs: number;
  begunMs: number;
  /** The time up to which schedules are due: earlier than `begunMs` while the clock is ahead. */
  dueByMs: number;
};

export function held<L extends Omit<Lease, 'id'>>(backend: Backend, lease: L): Hold<L> {
  const clockMs = backend.storeNowMs();
  const begunMs = backend.storeMs(lease.nowMs);
  const times = { clockMs, begunMs, dueByMs: backend.leastMs(begunMs) };
  return { ...lease, ...times, untilMs: clockMs + lease.leaseMs };
}

function moveStatements({ prepare, lockOnly, locked, among }: Backend) {
  return {
    hold: prepare(sql`
        UPDATE distribution SET lease_owner = :owner, lease_until_ms = :untilMs
        WHERE id ${among('ids')}`),
    /**
     * One send of a provider begins at a time: the answer whether another is in delivery stays
     * true.
     */
    lockLane: lockOnly(sql`
        SELECT id FROM provider
        WHERE id = (SELECT provider_id FROM distribution WHERE id = :id) ${locked}`),
    /**
     * Another send in delivery is first: the clock may have been set since this one was claimed.
     */
    move: prepare(sql`
        UPDATE distribution SET status = :to, began_at_ms = CASE WHEN :to = ${literal(LOAD)}
            THEN coalesce(began_at_ms, :nowMs) ELSE began_at_ms END,
          finished_at_ms = CASE WHEN :to >= ${FINAL} THEN :nowMs ELSE finished_at_ms END,
          cursor_id = CASE WHEN :to >= ${literal(SENDING)} THEN 0 ELSE cursor_id END,
          lease_owner = CASE WHEN :to = ${literal(PENDING)} OR :to >= ${FINAL}
            THEN NULL ELSE lease_owner END, lease_until_ms = :untilMs
        WHERE id ${among('ids')} AND lease_owner = :owner AND status = :from
          AND (:to <> ${literal(LOAD)} OR NOT EXISTS (
            SELECT 1 FROM distribution other WHERE other.provider_id = distribution.provider_id
              AND other.status IN ${IN_DELIVERY} AND other.handed_over_at_ms IS NULL))
        RETURNING ${columns('distribution', 'id')}`),
    release: prepare(sql`
        UPDATE distribution SET lease_owner = NULL WHERE ${IN_LANE} AND lease_owner = :owner`),
  };
}

/** Steps that read, claim and move lanes. */
export const laneSteps = shared((backend: Backend) => {
  const on = { ...laneOrder(backend), ...moveStatements(backend) };
  const noteEnds = distributionEnds(backend);

  return {
    on,

    /** Lists the first of each lane that no other worker has claimed. */
    firstOfEach: (hold: Hold): Step<Candidate[]> => on.lanes.all({ ...hold }),

    /**
     * Lists the first of a lane and those after an unscheduled one; none if the first is claimed.
     */
    *frontOf(providerId: number, countMax: number, hold: Hold): Step<Candidate[]> {
      const first = yield* on.first.get({ ...hold, providerId });
      if (first === null) return [];
      if (first.isUnscheduled === 0 || countMax === 1) return [first];
      const more = { providerId, afterId: first.id, countMax: countMax - 1 };
      const behind = yield* on.behind.all({ ...hold, ...more });
      const end = behind.findIndex(({ isNext }) => isNext === 0);
      return [first, ...(end === -1 ? behind : behind.slice(0, end))];
    },

    /** Claims some. Returns by id those that no other worker has claimed since. */
    *claim(ids: readonly number[], hold: Hold): Step<Map<number, Candidate>> {
      const free = yield* on.lock.all({ ...hold, ids });
      const claimed = new Map(free.map((work) => [work.id, work]));
      if (claimed.size > 0) yield* on.hold.run({ ...hold, ids: [...claimed.keys()] });
      return claimed;
    },

    /**
     * Moves those that the worker holds; a write that moves several moves each through all
     * statuses. Returns the moved ones: a lease may be lost, or another send of the lane is in
     * delivery. A write that moves to 5 Load has locked the lane.
     */
    *move(
      notes: Notes,
      hold: Hold,
      ids: readonly number[],
      { from, to }: { from: number; to: number },
    ): Step<number[]> {
      const moved = (yield* on.move.all({ ...hold, ids, from, to })).map(({ id }) => id);
      if (isTerminal(to)) yield* noteEnds(notes, moved, hold.nowMs);
      return moved;
    },
  };
});

/** Sorts by last service. A lease from before the clock was set back does not show the time. */
function inTurn(due: readonly Candidate[], { untilMs }: Hold): Candidate[] {
  const servedAt = ({ heldUntilMs }: Candidate) =>
    heldUntilMs === null || heldUntilMs > untilMs ? 0 : heldUntilMs;
  return [...due].sort((a, b) => servedAt(a) - servedAt(b));
}

/** True for a lease of this worker that lasts a while: the next step renews it. */
function isHeld(work: Candidate, { owner, clockMs, leaseMs }: Hold): boolean {
  const leftMs = (work.heldUntilMs ?? 0) - clockMs;
  return work.heldBy === owner && leftMs > leaseMs / 2 && leftMs <= leaseMs;
}

export function laneNoun(backend: Backend): LaneNoun {
  const { on, ...steps } = laneSteps(backend);
  const rides = rideSteps(backend);

  function* claimable(hold: Hold): Step<Candidate[]> {
    const [lanes, unchecked] = yield* backend.together([
      () => steps.firstOfEach(hold),
      () => on.unchecked.all({ ...hold }),
    ]);
    const due = inTurn(lanes, hold);
    const bulky = due.filter(({ isBulky }) => isBulky === 1).slice(0, BULKY_COUNT_MAX);
    const free = unchecked.filter(({ isFree }) => isFree === 1);
    const small = [...due.filter(({ isBulky }) => isBulky === 0), ...free];
    return [...small.slice(0, CLAIM_COUNT_MAX - bulky.length), ...bulky];
  }

  return {
    claimWork: async (lease) => {
      const hold = held(backend, lease);
      const claimed = (work: Candidate): ClaimedDistribution => ({
        id: work.id,
        providerCode: work.providerCode,
        notificationType: work.notificationType,
        status: work.status,
        ledgerCount: work.ledgerCount,
        isDue: work.readyAtMs <= hold.dueByMs,
        isBulky: work.isBulky === 1,
        isTakenOver: work.heldBy !== lease.owner,
      });
      // A read first: an idle worker does not write.
      const found = await backend.read(() => claimable(hold));
      if (found.every((work) => isHeld(work, hold))) return found.map(claimed);
      const ids = found.map(({ id }) => id);
      const got = await backend.write(() => steps.claim(ids, held(backend, lease)));
      return ids.flatMap((id) => got.get(id) ?? []).map(claimed);
    },

    findNextDueMs: async () => {
      const readyAtMs = (await backend.read(() => on.nextReady.get()))?.readyAtMs ?? null;
      // The worker compares that time with its own clock.
      return readyAtMs && readyAtMs - backend.storeMs(0);
    },

    moveDistribution: (lease, from, to, rules) =>
      backend.write(function* (notes) {
        const { id } = lease;
        if (to === LOAD) yield* on.lockLane.run({ id });
        const hold = held(backend, lease);
        const plans = to === LOAD ? yield* rides.plan([id], rules, hold.begunMs) : [];
        const moved = yield* steps.move(notes, hold, [id], { from, to });
        yield* rides.begin(plans, moved);
        return moved.length > 0;
      }),

    releaseWork: async (owner) => {
      await backend.change(() => on.release.run({ owner }));
    },
  };
}
