/**
 * Sends by HWID: at most five recipients each, so that several go through all their statuses in one
 * write, with one commit for them all. Each status is still a guarded statement of its own.
 */

import { sql } from 'drizzle-orm';
import { CHECKING, endOf, LOAD, mayBegin, SENDING } from '../../core/message/status.ts';
import type { DeliveryRules, Lease, NamedDeliveries } from '../../core/port/distribution.ts';
import type { Provider } from '../../core/port/provider.ts';
import type { Store } from '../../core/port/store.ts';
import { PROVIDER_COLUMNS } from '../noun/provider.ts';
import type { Context } from './context.ts';
import { type Candidate, held, laneSteps } from './lane.ts';
import { recipientSteps } from './recipient.ts';
import { value } from './statement.ts';

/** Sends of one write, and the time after which it takes no further one, ms. */
const COUNT_MAX = 16;
const TIME_MS = 3;

/** A send by HWID that is due and was not begun. */
function isOurs(work: Candidate | null, nowMs: number): work is Candidate {
  return work?.isNamed === 1 && work.readyAtMs <= nowMs && mayBegin(work.status);
}

export function namedStore(context: Context): Pick<Store, 'deliverNamed'> {
  const { db, writer, clock } = context;
  const lanes = laneSteps(context);
  const recipients = recipientSteps(context);
  const provider = db.prepare<Provider>(sql`
      SELECT ${PROVIDER_COLUMNS} FROM provider WHERE id = ${value('id')}`);
  /** The lane that was served last: those behind it come first. */
  let lastLane = 0;

  /** Takes a send as far as it goes. */
  function deliver(work: Candidate, lease: Lease, rules: DeliveryRules, done: NamedDeliveries) {
    lanes.hold(work.id, held(lease, clock));
    done.count += 1;
    if (work.status !== CHECKING && !lanes.move(lease, work.status, CHECKING)) return;
    const owner = provider.get({ id: work.providerId });
    if (owner === null) return;
    const next = rules.afterChecking(owner, work);
    if (!lanes.move(lease, CHECKING, next) || next !== LOAD) return;
    if (!recipients.load(lease, rules.ledgerRowsMax)?.isDone) return;
    if (!lanes.move(lease, LOAD, SENDING)) return;
    const sent = recipients.send(lease, rules);
    if (sent === null) return;
    done.deviceIds.push(...sent.deviceIds);
    done.failedCount += sent.outcome?.failedCount ?? 0;
    if (sent.outcome === null || sent.outcome.isHandedOver) return;
    lanes.move(lease, SENDING, endOf(sent.outcome.sentCount, sent.outcome.failedCount));
  }

  return {
    deliverNamed: async (lease, rules) => {
      const { nowMs } = lease;
      // Looking costs no write: an idle worker leaves the disk alone.
      const first = lanes.firstOfEach(held(lease, clock)).filter((work) => isOurs(work, nowMs));
      if (first.length === 0) return { count: 0, deviceIds: [], failedCount: 0 };
      const ids = first.map(({ providerId }) => providerId);
      const inTurn = [...ids.filter((id) => id > lastLane), ...ids.filter((id) => id <= lastLane)];
      const [done, last] = await writer.run(() => {
        const done: NamedDeliveries = { count: 0, deviceIds: [], failedCount: 0 };
        const beganMs = clock.steadyMs();
        const queue = [...inTurn];
        let last = lastLane;
        for (let lane = queue.shift(); lane !== undefined; lane = queue.shift()) {
          if (done.count === COUNT_MAX || clock.steadyMs() - beganMs > TIME_MS) break;
          const work = lanes.firstOf(lane, held(lease, clock));
          if (!isOurs(work, nowMs)) continue;
          deliver(work, { ...lease, id: work.id }, rules, done);
          last = lane;
          queue.push(lane);
        }
        return [done, last] as const;
      });
      lastLane = last;
      return done;
    },
  };
}
