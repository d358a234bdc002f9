/** Distributions: accepting, listing, cancelling and blocking; lane.ts moves them on. */

import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { countSend } from '../../core/message/send-bounds.ts';
import { BLOCKED, CANCELLED, CREATED } from '../../core/message/status.ts';
import type {
  Distribution,
  DistributionDetail,
  NewDistribution,
  SendBounds,
  SendUsage,
} from '../../core/port/distribution.ts';
import type { Store } from '../../core/port/store.ts';
import { literal, unscheduled } from '../status.ts';
import type { Context } from './context.ts';
import { noteDistributionEnd } from './distribution-end.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

type DistributionStore = Pick<
  Store,
  | 'addDistribution'
  | 'listDistributions'
  | 'cancelDistribution'
  | 'listAllDistributions'
  | 'blockDistribution'
>;

const COLUMNS = sql.raw(`
  x.id AS id, notification_type AS "notificationType", x.status AS status,
  target_os AS "targetOs", target_hwid AS "targetHwid", x.created_at_ms AS "createdAtMs",
  coalesce(began_at_ms, due_at_ms) AS "sentAtMs"`);

export const DETAIL_COLUMNS = sql`${COLUMNS}, ${sql.raw(`
  p.code AS "providerCode", payload, due_at_ms AS "dueAtMs", expires_at_ms AS "expiresAtMs",
  began_at_ms AS "beganAtMs", finished_at_ms AS "finishedAtMs",
  recipient_count AS "recipientCount", sent_count AS "sentCount",
  failed_count AS "failedCount", handed_over_at_ms AS "handedOverAtMs",
  pruned_at_ms IS NOT NULL AS "isPruned"`)}`;

const OF_PROVIDER = sql`provider_id = ${value('providerId')}`;
const USAGE = sql.raw(`last_general_at_ms AS "lastGeneralAtMs", sends_from_ms AS "sendsFromMs",
  send_count AS "sendCount", kept_bytes AS "keptBytes", ledger_count AS "ledgerCount"`);

const on = {
  /** Sends of one provider are accepted one after the other. */
  holdUsage: prepare<Omit<SendUsage, 'unboundCount'>>(sql`
      SELECT ${USAGE} FROM provider WHERE id = ${value('providerId')} FOR NO KEY UPDATE`),
  usage: prepare<Omit<SendUsage, 'unboundCount'>>(sql`
      SELECT ${USAGE} FROM provider WHERE id = ${value('providerId')}`),
  setCount: prepare(sql`
      UPDATE provider SET last_general_at_ms = ${value('lastGeneralAtMs')},
        sends_from_ms = ${value('sendsFromMs')}, send_count = ${value('sendCount')}
      WHERE id = ${value('providerId')}`),
  add: prepare<{ id: number }>(sql`
      INSERT INTO distribution (provider_id, notification_type, status, target_os, target_hwid,
        payload, created_at_ms, due_at_ms, expires_at_ms, reaches_unbound, unbound_count)
      VALUES (${value('providerId')}, ${value('notificationType')}, ${literal(CREATED)},
        ${value('targetOs')}, ${value('targetHwid')}, ${value('payload')}, ${value('createdAtMs')},
        ${value('dueAtMs')}, ${value('expiresAtMs')}, ${value('reachesUnbound')},
        ${value('unboundCount')})
      RETURNING id`),
  /** A send by a clock that was ahead does not count for ever: as far ahead as back. */
  unboundSince: prepare<{ count: number }>(sql`
      SELECT coalesce(sum(unbound_count), 0)::bigint AS count FROM distribution
      WHERE ${OF_PROVIDER} AND unbound_count > 0 AND created_at_ms > ${value('sinceMs')}
        AND created_at_ms < ${value('untilMs')}`),
  find: prepare<Distribution>(sql`
      SELECT ${COLUMNS} FROM distribution x WHERE x.id = ${value('id')} AND ${OF_PROVIDER}`),
  list: prepare<Distribution>(sql`
      SELECT ${COLUMNS} FROM distribution x WHERE ${OF_PROVIDER} AND x.id < ${value('beforeId')}
      ORDER BY x.id DESC LIMIT ${value('countMax')}`),
  hold: prepare<{ status: number; providerId: number }>(sql`
      SELECT status, provider_id AS "providerId" FROM distribution WHERE id = ${value('id')}
      FOR NO KEY UPDATE`),
  cancel: prepare(sql`
      UPDATE distribution SET status = ${literal(CANCELLED)}, finished_at_ms = ${value('nowMs')}
      WHERE id = ${value('id')} AND ${OF_PROVIDER} AND NOT ${unscheduled()}
        AND due_at_ms >= ${value('dueFromMs')} AND status = ANY(${value('from')}::integer[])`),
  listAll: prepare<DistributionDetail>(sql`
      SELECT ${DETAIL_COLUMNS} FROM distribution x JOIN provider p ON p.id = x.provider_id
      WHERE ${value('providerCode')}::text IS NULL OR p.code = ${value('providerCode')}
      ORDER BY x.id DESC LIMIT ${value('countMax')}`),
  block: prepare(sql`
      UPDATE distribution
      SET status = ${literal(BLOCKED)}, finished_at_ms = ${value('nowMs')}, lease_owner = NULL,
        cursor_id = 0
      WHERE id = ${value('id')} AND status = ANY(${value('from')}::integer[])`),
};

/** Notes for the provider how much it has kept, also when that refused one more. */
async function tellBounds(
  w: Write,
  providerId: number,
  { keptBytesMax, ledgerRowsMax }: SendBounds,
  nowMs: number,
  refused: string | null = null,
): Promise<void> {
  if (!(await w.events.isWanted(providerId, 'quota.reached'))) return;
  const usage = await on.usage.get(w, { providerId });
  if (usage === null) return;
  const { keptBytes, ledgerCount } = usage;
  // What was refused did not fit: that there is a little room left is no news.
  const used = refused === 'kept_bytes_full' ? keptBytesMax : keptBytes;
  w.events.noteQuota(providerId, 'kept_bytes', { used, limit: keptBytesMax }, nowMs);
  const rows = { used: ledgerCount, limit: ledgerRowsMax };
  w.events.noteQuota(providerId, 'ledger_rows', rows, nowMs);
}

/** Unbound recipients of the provider's sends around the time of this one. */
async function unboundAround(
  w: Write,
  { providerId, createdAtMs }: { providerId: number; createdAtMs: number },
  sinceMs: number | null,
): Promise<number> {
  if (sinceMs === null) return 0;
  const untilMs = createdAtMs + (createdAtMs - sinceMs);
  return (await on.unboundSince.get(w, { providerId, sinceMs, untilMs }))?.count ?? 0;
}

export function distributionStore(context: Context): DistributionStore {
  const { db } = context;

  /** The times of a send by the database's clock, the same for every node. */
  function timesOf(draft: NewDistribution) {
    const createdAtMs = context.storeMs(draft.createdAtMs);
    const { dueAtMs } = draft;
    // A row is scheduled if its time has not come when the database takes it in.
    const isScheduled = dueAtMs !== null && dueAtMs > createdAtMs;
    return { createdAtMs, dueAtMs: isScheduled ? dueAtMs : createdAtMs };
  }

  return {
    addDistribution: (draft, guards, act) =>
      context.write(async (w) => {
        const { providerId, createdAtMs, actionType: _, ...row } = draft;
        const usage = await on.holdUsage.get(w, { providerId });
        if (usage === null) throw new Error(`provider ${providerId} was removed meanwhile`);
        const sinceMs = guards.unboundQuota?.sinceMs ?? null;
        const unboundCount = await unboundAround(w, draft, sinceMs);
        const counted = countSend({ ...usage, unboundCount }, draft, guards);
        if (typeof counted === 'string') {
          await tellBounds(w, providerId, guards.bounds, createdAtMs, counted);
          return counted;
        }
        const reachesUnbound = Number(draft.reachesUnbound);
        const added = { ...row, providerId, ...timesOf(draft), reachesUnbound };
        const [, id] = await Promise.all([
          on.setCount.run(w, { providerId, ...counted }),
          on.add.insert(w, added),
        ]);
        w.audit.note(act, deeds.send(id, draft), providerId);
        w.figures.note(providerId, 'sends', createdAtMs);
        await tellBounds(w, providerId, guards.bounds, createdAtMs);
        return { id };
      }),

    listDistributions: async (providerId, { id, beforeId, countMax }) => {
      const bound = beforeId ?? Number.MAX_SAFE_INTEGER;
      if (id === null) return on.list.all(db, { providerId, beforeId: bound, countMax });
      return id < bound ? on.find.all(db, { providerId, id }) : [];
    },

    cancelDistribution: (providerId, id, { from, dueFromMs, nowMs }, act) =>
      context.write(async (w) => {
        const known = await on.hold.get(w, { id });
        if (known?.providerId !== providerId) return 'notification_not_found';
        const { status } = known;
        const wanted = { providerId, id, from, dueFromMs: context.storeMs(dueFromMs), nowMs };
        const count = await on.cancel.run(w, wanted);
        if (count === 0) return status;
        const deed = deeds.cancelDistribution({ id, status }, { id, status: CANCELLED });
        w.audit.note(act, deed, providerId);
        await noteDistributionEnd(w, id, nowMs);
        return 'ok';
      }),

    listAllDistributions: ({ providerCode, countMax }) =>
      on.listAll.all(db, { providerCode, countMax }),

    blockDistribution: (id, from, nowMs, act) =>
      context.write(async (w) => {
        const known = await on.hold.get(w, { id });
        if (known === null) return 'distribution_not_found';
        const { status, providerId } = known;
        if ((await on.block.run(w, { id, from, nowMs })) === 0) return status;
        const deed = deeds.blockDistribution({ id, status }, { id, status: BLOCKED });
        w.audit.note(act, deed, providerId);
        await noteDistributionEnd(w, id, nowMs);
        return 'ok';
      }),
  };
}
