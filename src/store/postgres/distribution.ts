/** Distributions: listing, cancelling and blocking; lane.ts moves them on. */

import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { BLOCKED, CANCELLED } from '../../core/message/status.ts';
import type { Distribution, DistributionDetail } from '../../core/port/distribution.ts';
import type { Store } from '../../core/port/store.ts';
import { literal, unscheduled } from '../status.ts';
import { acceptance } from './acceptance.ts';
import type { Context } from './context.ts';
import { noteDistributionEnd } from './distribution-end.ts';
import { prepare, value } from './statement.ts';

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

const on = {
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

export function distributionStore(context: Context): DistributionStore {
  const { db } = context;

  return {
    addDistribution: acceptance(context),

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
        await noteDistributionEnd(w, [id], nowMs);
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
        await noteDistributionEnd(w, [id], nowMs);
        return 'ok';
      }),
  };
}
