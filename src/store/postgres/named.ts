/**
 * Sends by HWID: at most five recipients each, so that several of a lane go through all their
 * statuses in one transaction, with one commit for them all. Those that follow each other and have
 * no device in common take each status side by side, without waiting for each other's answers.
 * Each status is still a guarded statement of its own.
 */

import { sql } from 'drizzle-orm';
import { systemClock } from '../../clock.ts';
import { CHECKING, endOf, LOAD, mayBegin, SENDING } from '../../core/message/status.ts';
import type { DeliveryRules, Lease, NamedDeliveries } from '../../core/port/distribution.ts';
import type { Provider } from '../../core/port/provider.ts';
import type { Store } from '../../core/port/store.ts';
import { PROVIDER_COLUMNS } from '../noun/provider.ts';
import type { Context } from './context.ts';
import { type Candidate, firstOfEach, frontOf, held, hold, move, type Wanted } from './lane.ts';
import { recipientSteps } from './recipient.ts';
import { StepSize } from './recipient-steps.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

/** Lanes at a time, each with a transaction of its own. */
const LANES_MAX = 4;
/** Sends of one transaction, and the time after which it takes no further one, ms. */
const COUNT_MAX = 16;
const TIME_MS = 40;

/** Holds the lane: of a provider one send after the other begins. */
const holdLane = prepare<Provider>(sql`
    SELECT ${PROVIDER_COLUMNS} FROM provider WHERE id = ${value('id')} FOR NO KEY UPDATE`);

/** A send by HWID that is due and was not begun. */
function isOurs(work: Candidate, { dueByMs }: Wanted): boolean {
  return work.isNamed && work.readyAtMs <= dueByMs && mayBegin(work.status);
}

const hwidsOf = ({ targetHwid }: Candidate) => targetHwid.split(',');
const idsOf = (works: readonly Candidate[]) => works.map(({ id }) => id);

/**
 * The first of a lane that are ours and have no device in common: what is there for a device
 * already counts for the next message to it.
 */
function together(works: readonly Candidate[], wanted: Wanted): Candidate[] {
  const hwids = new Set<string>();
  const isOther = (work: Candidate) =>
    !isOurs(work, wanted) || hwidsOf(work).some((hwid) => hwids.has(hwid));
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

/** The statuses that follow 20 Checking, each with those that have it next. */
function nextStatuses(batch: readonly Candidate[], { owner, rules }: Order) {
  const nexts = new Map<number, Candidate[]>();
  let added = 0;
  for (const work of batch) {
    const ledgerCount = work.ledgerCount + added;
    const next = rules.afterChecking(owner, { ...work, ledgerCount });
    if (next === LOAD) added += hwidsOf(work).length;
    nexts.set(next, [...(nexts.get(next) ?? []), work]);
  }
  return nexts;
}

type Done = NamedDeliveries;
const nothing = (): Done => ({ count: 0, deviceIds: [], failedCount: 0 });

export function namedStore(context: Context): Pick<Store, 'deliverNamed'> {
  const { db } = context;
  const recipients = recipientSteps(context, new StepSize());
  /** The lane that was served last: those behind it come first. */
  let lastLane = 0;

  /** Writes the recipients of sends in 5 Load, and serves them. */
  async function serve(w: Write, ids: readonly number[], { lease, rules }: Order, done: Done) {
    const wanted = held(context, lease);
    const steps = ids.map((id) => ({ ...lease, id }));
    await Promise.all(steps.map((step) => recipients.load(w, step, rules.ledgerRowsMax)));
    const [, ...served] = await Promise.all([
      move(w, wanted, ids, { from: LOAD, to: SENDING }),
      ...steps.map((step) => recipients.send(w, step, rules)),
    ]);
    const ends = new Map<number, number[]>();
    for (const [n, sent] of served.entries()) {
      done.deviceIds.push(...(sent?.deviceIds ?? []));
      done.failedCount += sent?.outcome?.failedCount ?? 0;
      if (!sent?.outcome || sent.outcome.isHandedOver) continue;
      const end = endOf(sent.outcome.sentCount, sent.outcome.failedCount);
      ends.set(end, [...(ends.get(end) ?? []), ids[n] as number]);
    }
    for (const [to, ended] of ends) await move(w, wanted, ended, { from: SENDING, to });
  }

  /** Takes sends as far as they go; false: another worker got hold of one since. */
  async function deliver(w: Write, all: readonly Candidate[], order: Order, done: Done) {
    const wanted = held(context, order.lease);
    const ids = all.map(({ id }) => id);
    const taken = await hold(w, ids, wanted);
    const lost = ids.findIndex((id) => !taken.has(id));
    const batch = lost === -1 ? all : all.slice(0, lost);
    done.count += batch.length;
    const nexts = nextStatuses(batch, order);
    const begun = Map.groupBy(batch, ({ status }) => status);
    begun.delete(CHECKING);
    // One right behind the other, without waiting for answers: each names the status before it.
    const moving = [
      ...[...begun].map(([from, some]) => move(w, wanted, idsOf(some), { from, to: CHECKING })),
      ...[...nexts].map(async ([to, some]) => {
        const moved = await move(w, wanted, idsOf(some), { from: CHECKING, to });
        return to === LOAD ? moved : [];
      }),
    ];
    const loading = new Set((await Promise.all(moving.slice(begun.size))).flat());
    await Promise.all(moving);
    const served = ids.filter((id) => loading.has(id));
    if (served.length > 0) await serve(w, served, order, done);
    return lost === -1;
  }

  /** Delivers what is first in a lane, one after the other, as long as it is by HWID. */
  function deliverLane(
    providerId: number,
    lease: Omit<Lease, 'id'>,
    rules: DeliveryRules,
  ): Promise<NamedDeliveries> {
    return context.write(async (w) => {
      const done = nothing();
      const beganMs = systemClock.steadyMs();
      const owner = await holdLane.get(w, { id: providerId });
      while (owner !== null && done.count < COUNT_MAX) {
        const wanted = held(context, lease);
        const countMax = COUNT_MAX - done.count;
        const batch = together(await frontOf(w, { providerId, countMax }, wanted), wanted);
        if (batch.length === 0) break;
        if (!(await deliver(w, batch, { owner, lease, rules }, done))) break;
        if (systemClock.steadyMs() - beganMs > TIME_MS) break;
      }
      return done;
    });
  }

  return {
    deliverNamed: async (lease, rules) => {
      const wanted = held(context, lease);
      const first = (await firstOfEach(db, wanted)).filter((work) => isOurs(work, wanted));
      const ids = first.map(({ providerId }) => providerId);
      const inTurn = [...ids.filter((id) => id > lastLane), ...ids.filter((id) => id <= lastLane)];
      const lanes = inTurn.slice(0, LANES_MAX);
      lastLane = lanes.at(-1) ?? 0;
      const results = await Promise.allSettled(lanes.map((id) => deliverLane(id, lease, rules)));
      const all = nothing();
      for (const result of results) {
        if (result.status === 'rejected') continue;
        all.count += result.value.count;
        all.deviceIds.push(...result.value.deviceIds);
        all.failedCount += result.value.failedCount;
      }
      // A lane that fails beside others is tried again, and then fails alone.
      const fault = results.find((result) => result.status === 'rejected');
      if (fault !== undefined && all.count === 0) throw fault.reason;
      return all;
    },
  };
}
