/**
 * Sends by HWID: at most five recipients each, so that several of a lane go through all their
 * statuses in one transaction, with one commit for them all. Each status is still a guarded
 * statement of its own.
 */

import { sql } from 'drizzle-orm';
import { systemClock } from '../../clock.ts';
import { CHECKING, endOf, LOAD, mayBegin, SENDING } from '../../core/message/status.ts';
import type { DeliveryRules, Lease, NamedDeliveries } from '../../core/port/distribution.ts';
import type { Provider } from '../../core/port/provider.ts';
import type { Store } from '../../core/port/store.ts';
import type { Context } from './context.ts';
import { type Candidate, firstOf, firstOfEach, held, hold, move, type Wanted } from './lane.ts';
import { PROVIDER_COLUMNS } from './provider.ts';
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
function isOurs(work: Candidate | null, { dueByMs }: Wanted): work is Candidate {
  return work?.isNamed === true && work.readyAtMs <= dueByMs && mayBegin(work.status);
}

const nothing = (): NamedDeliveries => ({ count: 0, deviceIds: [], failedCount: 0 });

export function namedStore(context: Context): Pick<Store, 'deliverNamed'> {
  const { db } = context;
  const recipients = recipientSteps(context, new StepSize());
  /** The lane that was served last: those behind it come first. */
  let lastLane = 0;

  /** Takes a send as far as it goes; false: another worker got hold of it since. */
  async function deliver(
    w: Write,
    work: Candidate,
    order: { owner: Provider; lease: Lease; rules: DeliveryRules },
    done: NamedDeliveries,
  ): Promise<boolean> {
    const { owner, lease, rules } = order;
    const wanted = held(context, lease);
    const next = rules.afterChecking(owner, work);
    // One right behind the other, without waiting for answers: each names the status before it.
    const [isHeld, , isNext] = await Promise.all([
      hold(w, work.id, wanted),
      work.status === CHECKING || move(w, wanted, work.status, CHECKING),
      move(w, wanted, CHECKING, next),
    ]);
    if (!isHeld) return false;
    done.count += 1;
    if (!isNext || next !== LOAD) return true;
    if (!(await recipients.load(w, lease, rules.ledgerRowsMax))?.isDone) return true;
    const [, sent] = await Promise.all([
      move(w, wanted, LOAD, SENDING),
      recipients.send(w, lease, rules),
    ]);
    if (sent === null) return true;
    done.deviceIds.push(...sent.deviceIds);
    done.failedCount += sent.outcome?.failedCount ?? 0;
    if (sent.outcome === null || sent.outcome.isHandedOver) return true;
    const { sentCount, failedCount } = sent.outcome;
    return move(w, wanted, SENDING, endOf(sentCount, failedCount));
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
        const work = await firstOf(w, providerId, wanted);
        if (!isOurs(work, wanted)) break;
        const order = { owner, lease: { ...lease, id: work.id }, rules };
        if (!(await deliver(w, work, order, done))) break;
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
