/**
 * Sends by HWID from callers of the API, of at most five recipients each. Several sends of a lane
 * that share no device pass through all their statuses in one write; each status is one guarded
 * statement.
 */

import { systemClock } from '../../base/clock.ts';
import { CHECKING, endOf, LOAD, mayBegin, SENDING } from '../../core/message/status.ts';
import { TARGET_HWID_COUNT_MAX } from '../../core/message/target.ts';
import type { DeliveryRules, Lease, NamedDeliveries } from '../../core/port/distribution.ts';
import type { Provider } from '../../core/port/provider.ts';
import type { Store } from '../../core/port/store.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { sql } from '../statement-text.ts';
import { held, laneSteps } from './lane.ts';
import type { Candidate } from './lane-order.ts';
import { PROVIDER_COLUMNS } from './provider.ts';
import { recipientLoading } from './recipient.ts';
import { recipientServing } from './recipient-serving.ts';
import { rideSteps } from './ride-steps.ts';

/** Lanes at a time; each has its own write. */
const LANES_MAX = 4;
/** Sends of one write. */
const COUNT_MAX = 16;
/** Recipients of a step: more than one send by HWID can have. */
const RECIPIENTS_MAX = 50;

/** Returns true for a send by HWID that was not begun. As the first of its lane it is due. */
function isOurs(work: Candidate): boolean {
  // A filter may have found more; those are delivered like sends to a system.
  const isSmall = hwidsOf(work).length <= TARGET_HWID_COUNT_MAX;
  return work.isNamed === 1 && isSmall && mayBegin(work.status);
}

const hwidsOf = ({ targetHwid }: Candidate) => targetHwid.split(',');
const idsOf = (works: readonly Candidate[]) => works.map(({ id }) => id);

/**
 * Takes the first sends by HWID of a lane that share no device, because each counts for the next.
 */
function takeBatch(works: readonly Candidate[]): Candidate[] {
  const hwids = new Set<string>();
  const isOther = (work: Candidate) =>
    !isOurs(work) || hwidsOf(work).some((hwid) => hwids.has(hwid));
  const batch: Candidate[] = [];
  for (const work of works) {
    if (isOther(work)) break;
    batch.push(work);
    for (const hwid of hwidsOf(work)) hwids.add(hwid);
  }
  return batch;
}

interface Order {
  owner: Provider;
  lease: Omit<Lease, 'id'>;
  rules: DeliveryRules;
}

/** Groups a batch by the status that follows 20 Checking. */
function nextStatuses(batch: readonly Candidate[], { owner, rules }: Order) {
  let added = 0;
  return Map.groupBy(batch, (work) => {
    const next = rules.afterChecking(owner, { ...work, ledgerCount: work.ledgerCount + added });
    if (next === LOAD) added += hwidsOf(work).length;
    return next;
  });
}

const nothing = (): NamedDeliveries => ({ count: 0, deviceIds: [], failedCount: 0 });

/**
 * Returns the step that delivers sends as far as possible; false: another worker has claimed one.
 */
function namedDelivery(backend: Backend) {
  const lanes = laneSteps(backend);
  const rides = rideSteps(backend);
  const load = recipientLoading(backend);
  const send = recipientServing(backend);
  const countBehind = () => RECIPIENTS_MAX;

  /** Writes the recipients of sends and serves them; skips sends that are not in 5 Load. */
  function* serve(
    notes: Notes,
    ids: readonly number[],
    { lease, rules }: Order,
    done: NamedDeliveries,
  ): Step<void> {
    const hold = held(backend, lease);
    const steps = ids.map((id) => ({ ...lease, id }));
    yield* backend.together(
      steps.map((step) => () => load(notes, step, rules.ledgerRowsMax, countBehind)),
    );
    const [, served] = yield* backend.together([
      () => lanes.move(notes, hold, ids, { from: LOAD, to: SENDING }),
      () => backend.together(steps.map((step) => () => send(notes, step, rules, countBehind))),
    ]);
    const ends = new Map<number, number[]>();
    for (const [n, sent] of served.entries()) {
      done.deviceIds.push(...(sent?.deviceIds ?? []));
      done.failedCount += sent?.outcome?.failedCount ?? 0;
      if (!sent?.outcome || sent.outcome.isHandedOver) continue;
      const end = endOf(sent.outcome.sentCount, sent.outcome.failedCount);
      ends.set(end, [...(ends.get(end) ?? []), ids[n] as number]);
    }
    for (const [to, ended] of ends) yield* lanes.move(notes, hold, ended, { from: SENDING, to });
  }

  return function* deliver(
    notes: Notes,
    all: readonly Candidate[],
    order: Order,
    done: NamedDeliveries,
  ): Step<boolean> {
    const hold = held(backend, order.lease);
    const plans = yield* rides.plan(idsOf(all), order.rules.rides, hold.begunMs);
    const claimed = yield* lanes.claim(idsOf(all), hold);
    const lost = all.findIndex(({ id }) => !claimed.has(id));
    const batch = lost === -1 ? all : all.slice(0, lost);
    done.count += batch.length;
    const nexts = nextStatuses(batch, order);
    const begun = Map.groupBy(batch, ({ status }) => status);
    begun.delete(CHECKING);
    const moving = (some: readonly Candidate[], from: number, to: number) =>
      lanes.move(notes, hold, idsOf(some), { from, to });
    const loading: number[] = [];
    yield* backend.together([
      ...[...begun].map(
        ([from, some]) =>
          () =>
            moving(some, from, CHECKING),
      ),
      ...[...nexts].map(
        ([to, some]) =>
          function* () {
            const moved = yield* moving(some, CHECKING, to);
            if (to === LOAD) loading.push(...moved);
          },
      ),
    ]);
    yield* rides.begin(plans, loading);
    if (loading.length > 0) yield* serve(notes, loading, order, done);
    return lost === -1;
  };
}

export function namedNoun(backend: Backend): Pick<Store, 'deliverNamed'> {
  const lanes = laneSteps(backend);
  const deliver = namedDelivery(backend);
  /** Locks the lane: the sends of a provider begin one after the other. */
  const lockLane = backend.prepare(sql`
      SELECT ${PROVIDER_COLUMNS} FROM provider WHERE id = :id ${backend.locked}`);
  /** The lane that was served last: the lanes after it are served first. */
  let lastLane = 0;

  /** Delivers the first sends of a lane one after the other, as long as they are by HWID. */
  function deliverLane(
    id: number,
    lease: Omit<Lease, 'id'>,
    rules: DeliveryRules,
    hasTime: () => boolean,
  ): Promise<NamedDeliveries> {
    return backend.write(function* (notes) {
      const done = nothing();
      if (!hasTime()) return done;
      const owner = yield* lockLane.get({ id });
      while (owner !== null && done.count < COUNT_MAX) {
        const hold = held(backend, lease);
        const batch = takeBatch(yield* lanes.frontOf(id, COUNT_MAX - done.count, hold));
        if (batch.length === 0) break;
        if (!(yield* deliver(notes, batch, { owner, lease, rules }, done))) break;
        if (!hasTime()) break;
      }
      return done;
    });
  }

  return {
    deliverNamed: async (lease, rules) => {
      const hold = held(backend, lease);
      // A read first: an idle worker does not write.
      const first = await backend.read(() => lanes.firstOfEach(hold));
      const ids = first.filter(isOurs).map(({ providerId }) => providerId);
      const inTurn = [...ids.filter((id) => id > lastLane), ...ids.filter((id) => id <= lastLane)];
      const served = inTurn.slice(0, LANES_MAX);
      let beganMs: number | null = null;
      const hasTime = () => {
        const nowMs = systemClock.steadyMs();
        beganMs ??= nowMs;
        return nowMs - beganMs <= backend.stepMs;
      };
      const results = await Promise.allSettled(
        served.map((id) => deliverLane(id, lease, rules, hasTime)),
      );
      const all = nothing();
      for (const [n, result] of results.entries()) {
        if (result.status === 'rejected' || result.value.count === 0) continue;
        lastLane = served[n] as number;
        all.count += result.value.count;
        all.deviceIds.push(...result.value.deviceIds);
        all.failedCount += result.value.failedCount;
      }
      // A lane that fails together with others is retried, and then fails alone.
      const fault = results.find((result) => result.status === 'rejected');
      if (fault !== undefined && all.count === 0) throw fault.reason;
      return all;
    },
  };
}
