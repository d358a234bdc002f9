/** Distributions: accepting, listing, cancelling and blocking; lane.ts moves them on. */

import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { countSend } from '../../core/message/send-bounds.ts';
import { BLOCKED, CANCELLED, CREATED } from '../../core/message/status.ts';
import type {
  Distribution,
  DistributionDetail,
  SendBounds,
  SendUsage,
} from '../../core/port/distribution.ts';
import type { Store } from '../../core/port/store.ts';
import { literal, unscheduled } from '../status.ts';
import type { Context } from './context.ts';
import { endNoter } from './distribution-end.ts';
import { value } from './statement.ts';

type DistributionStore = Pick<
  Store,
  | 'addDistribution'
  | 'listDistributions'
  | 'cancelDistribution'
  | 'listAllDistributions'
  | 'blockDistribution'
>;

const COLUMNS = sql.raw(`
  x.id AS id, notification_type AS "notificationType", status, target_os AS "targetOs",
  target_hwid AS "targetHwid", x.created_at_ms AS "createdAtMs",
  coalesce(began_at_ms, due_at_ms) AS "sentAtMs"`);

export const DETAIL_COLUMNS = sql`${COLUMNS}, ${sql.raw(`
  p.code AS "providerCode", payload, due_at_ms AS "dueAtMs", expires_at_ms AS "expiresAtMs",
  began_at_ms AS "beganAtMs", finished_at_ms AS "finishedAtMs",
  recipient_count AS "recipientCount", sent_count AS "sentCount",
  failed_count AS "failedCount", handed_over_at_ms AS "handedOverAtMs",
  pruned_at_ms IS NOT NULL AS "isPruned"`)}`;

function statements({ db }: Context) {
  const ofProvider = sql`provider_id = ${value('providerId')}`;
  return {
    add: db.prepare<{ id: number }>(sql`
        INSERT INTO distribution (provider_id, notification_type, status, target_os, target_hwid,
          payload, created_at_ms, due_at_ms, expires_at_ms, reaches_unbound, unbound_count)
        VALUES (${value('providerId')}, ${value('notificationType')}, ${literal(CREATED)}, ${value('targetOs')},
          ${value('targetHwid')}, ${value('payload')}, ${value('createdAtMs')},
          ${value('dueAtMs')}, ${value('expiresAtMs')}, ${value('reachesUnbound')},
          ${value('unboundCount')})
        RETURNING id`),
    usage: db.prepare<Omit<SendUsage, 'unboundCount'>>(sql`
        SELECT last_general_at_ms AS "lastGeneralAtMs", sends_from_ms AS "sendsFromMs",
          send_count AS "sendCount", kept_bytes AS "keptBytes", ledger_count AS "ledgerCount"
        FROM provider WHERE id = ${value('providerId')}`),
    setCount: db.prepare(sql`
        UPDATE provider SET last_general_at_ms = ${value('lastGeneralAtMs')},
          sends_from_ms = ${value('sendsFromMs')}, send_count = ${value('sendCount')}
        WHERE id = ${value('providerId')}`),
    /** A send by a clock that was ahead does not count for ever: as far ahead as back. */
    unboundSince: db.prepare<{ count: number }>(sql`
        SELECT coalesce(sum(unbound_count), 0) AS count FROM distribution
        WHERE ${ofProvider} AND unbound_count > 0 AND created_at_ms > ${value('sinceMs')}
          AND created_at_ms - ${value('createdAtMs')} < ${value('createdAtMs')} - ${value('sinceMs')}`),
    find: db.prepare<Distribution>(sql`
        SELECT ${COLUMNS} FROM distribution x WHERE x.id = ${value('id')} AND ${ofProvider}`),
    list: db.prepare<Distribution>(sql`
        SELECT ${COLUMNS} FROM distribution x WHERE ${ofProvider} AND x.id < ${value('beforeId')}
        ORDER BY x.id DESC LIMIT ${value('countMax')}`),
    cancel: db.prepare(sql`
        UPDATE distribution SET status = ${literal(CANCELLED)}, finished_at_ms = ${value('nowMs')}
        WHERE id = ${value('id')} AND ${ofProvider} AND NOT ${unscheduled()}
          AND due_at_ms >= ${value('dueFromMs')}
          AND status IN (SELECT value FROM json_each(${value('from')}))`),
    listAll: db.prepare<DistributionDetail>(sql`
        SELECT ${DETAIL_COLUMNS} FROM distribution x CROSS JOIN provider p ON p.id = x.provider_id
        WHERE ${value('providerCode')} IS NULL OR p.code = ${value('providerCode')}
        ORDER BY x.id DESC LIMIT ${value('countMax')}`),
    block: db.prepare(sql`
        UPDATE distribution
        SET status = ${literal(BLOCKED)}, finished_at_ms = ${value('nowMs')}, lease_owner = NULL,
          cursor_id = 0
        WHERE id = ${value('id')} AND status IN (SELECT value FROM json_each(${value('from')}))`),
    statusOf: db.prepare<{ status: number; providerId: number }>(sql`
        SELECT status, provider_id AS "providerId" FROM distribution WHERE id = ${value('id')}`),
  };
}

export function distributionStore(context: Context): DistributionStore {
  const { writer, audit, figures, events } = context;
  const on = statements(context);
  const noteEnd = endNoter(context);

  /** Notes for the provider how much it has kept, also when that refused one more. */
  function tellBounds(
    providerId: number,
    { keptBytesMax, ledgerRowsMax }: SendBounds,
    nowMs: number,
    refused: string | null = null,
  ): void {
    if (!events.isWanted(providerId, 'quota.reached')) return;
    const usage = on.usage.get({ providerId });
    if (usage === null) return;
    const { keptBytes, ledgerCount } = usage;
    // What was refused did not fit: that there is a little room left is no news.
    const used = refused === 'kept_bytes_full' ? keptBytesMax : keptBytes;
    events.noteQuota(providerId, 'kept_bytes', { used, limit: keptBytesMax }, nowMs);
    const rows = { used: ledgerCount, limit: ledgerRowsMax };
    events.noteQuota(providerId, 'ledger_rows', rows, nowMs);
  }

  return {
    addDistribution: (draft, guards, act) =>
      writer.run(() => {
        const { providerId, createdAtMs } = draft;
        const usage = on.usage.get({ providerId });
        if (usage === null) throw new Error(`provider ${providerId} was removed meanwhile`);
        const sinceMs = guards.unboundQuota?.sinceMs ?? null;
        const unboundCount =
          sinceMs === null ? 0 : on.unboundSince.get({ providerId, sinceMs, createdAtMs })?.count;
        const counted = countSend({ ...usage, unboundCount: unboundCount ?? 0 }, draft, guards);
        if (typeof counted === 'string') {
          tellBounds(providerId, guards.bounds, createdAtMs, counted);
          return counted;
        }
        on.setCount.run({ providerId, ...counted });
        const dueAtMs = draft.dueAtMs ?? createdAtMs;
        const { id } = on.add.get({ ...draft, dueAtMs }) as { id: number };
        audit.note(act, deeds.send(id, draft), providerId);
        figures.note(providerId, 'sends', createdAtMs);
        tellBounds(providerId, guards.bounds, createdAtMs);
        return { id };
      }),

    listDistributions: async (providerId, { id, beforeId, countMax }) => {
      const bound = beforeId ?? Number.MAX_SAFE_INTEGER;
      if (id === null) return on.list.all({ providerId, beforeId: bound, countMax });
      return id < bound ? on.find.all({ providerId, id }) : [];
    },

    cancelDistribution: (providerId, id, { from, dueFromMs, nowMs }, act) =>
      writer.run(() => {
        const status = on.find.get({ providerId, id })?.status;
        if (status === undefined) return 'notification_not_found';
        const wanted = { providerId, id, from: JSON.stringify(from), dueFromMs, nowMs };
        if (on.cancel.run(wanted) === 0) return status;
        const deed = deeds.cancelDistribution({ id, status }, { id, status: CANCELLED });
        audit.note(act, deed, providerId);
        noteEnd(id, nowMs);
        return 'ok';
      }),

    listAllDistributions: async ({ providerCode, countMax }) =>
      on.listAll
        .all({ providerCode, countMax })
        .map((found) => ({ ...found, isPruned: Boolean(found.isPruned) })),

    blockDistribution: (id, from, nowMs, act) =>
      writer.run(() => {
        const known = on.statusOf.get({ id });
        if (known === null) return 'distribution_not_found';
        const { status, providerId } = known;
        if (on.block.run({ id, from: JSON.stringify(from), nowMs }) === 0) return status;
        const deed = deeds.blockDistribution({ id, status }, { id, status: BLOCKED });
        audit.note(act, deed, providerId);
        noteEnd(id, nowMs);
        return 'ok';
      }),
  };
}
