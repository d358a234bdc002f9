/** The messages of a provider by filters, in pages that read a bounded number of rows. */

import { mayBegin, TRANSITIONS } from '../../core/message/status.ts';
import type { Store } from '../../core/port/store.ts';
import type { Backend } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { FINAL, isSent, unscheduled } from '../status.ts';
import { detailsOn } from './distribution.ts';

/** Statuses before delivery, as SQL. */
const BEFORE = sql.raw(`(${Object.keys(TRANSITIONS).map(Number).filter(mayBegin).join(', ')})`);

type MessageMethods = Pick<Store, 'listMessages' | 'listNextMessages' | 'readLastGeneral'>;

export function messageNoun(backend: Backend): MessageMethods {
  const details = detailsOn(backend);
  const isScheduled = sql`CAST(x.status IN ${BEFORE} AND NOT ${unscheduled('x')} AS integer)`;
  const fits = sql`${isSent('x')} AND x.status ${backend.among('statuses')}
    AND coalesce(x.notification_type = CAST(:type AS integer), true)
    AND coalesce(${isScheduled} = CAST(:isScheduled AS integer), true)`;
  /** The end of the rows that a page reads. */
  const range = backend.prepare(sql`
      SELECT ${values<{ fromId: number | null; scanned: number }>({
        fromId: sql`min(id)`,
        scanned: sql`count(*)`,
      })} FROM (
        SELECT id FROM distribution WHERE provider_id = :providerId AND id < :beforeId
        ORDER BY id DESC LIMIT ${backend.once('scanMax')}) AS following`);
  const list = details(sql`
      WHERE x.provider_id = ${backend.once('providerId')} AND x.id >= :fromId
        AND x.id < :beforeId AND ${fits}
      ORDER BY x.id DESC LIMIT ${backend.once('countMax')}`);
  const named = details(sql`
      WHERE x.id ${backend.among('ids')} AND x.provider_id = :providerId AND ${fits}
      ORDER BY x.id DESC`);

  /** Nothing ahead of now is unscheduled, so the index of lanes has these alone, in their order. */
  const next = details(sql`
      WHERE x.provider_id = ${backend.once('providerId')} AND x.due_at_ms > ${backend.once('nowMs')}
        AND ${isSent('x')} AND x.status IN ${BEFORE} AND x.status < ${FINAL}
        AND x.handed_over_at_ms IS NULL
      ORDER BY x.due_at_ms, x.id LIMIT ${backend.once('countMax')}`);

  const lastGeneral = backend.prepare(sql`
      SELECT ${columns('provider', 'lastGeneralAtMs AS atMs')}
      FROM provider WHERE id = :providerId`);

  return {
    readLastGeneral: async (providerId) =>
      (await backend.read(() => lastGeneral.get({ providerId })))?.atMs ?? null,
    listNextMessages: async (providerId, nowMs, countMax) =>
      backend.read(() => next.all({ providerId, nowMs, countMax })),
    listMessages: async (providerId, filter, { countMax, scanMax, ...page }) =>
      backend.read(function* () {
        const wanted = {
          providerId,
          statuses: filter.statuses,
          type: filter.notificationType,
          isScheduled: filter.isScheduled === null ? null : Number(filter.isScheduled),
        };
        if (filter.ids !== null) {
          return { messages: yield* named.all({ ...wanted, ids: filter.ids }), nextId: null };
        }
        const beforeId = page.beforeId ?? Number.MAX_SAFE_INTEGER;
        const looked = yield* range.get({ providerId, beforeId, scanMax });
        const { fromId = null, scanned = 0 } = looked ?? {};
        if (fromId === null) return { messages: [], nextId: null };
        const found = yield* list.all({ ...wanted, fromId, beforeId, countMax: countMax + 1 });
        const messages = found.slice(0, countMax);
        const isMore = found.length > countMax;
        return {
          messages,
          nextId: isMore ? (messages.at(-1)?.id ?? null) : scanned === scanMax ? fromId : null,
        };
      }),
  };
}
