/** Figures by day and provider, as they are asked for; figure-trail.ts counts and saves them. */

import { sql } from 'drizzle-orm';
import {
  FIGURES,
  type FigureStore,
  type Figures,
  type LinkRefusals,
} from '../../core/port/figure.ts';
import { PromptSave } from '../../core/prompt-save.ts';
import type { Context } from './context.ts';
import { isWantedNow } from './event-trail.ts';
import { FIGURE_COLUMNS } from './figure-trail.ts';
import { prepare, value } from './statement.ts';

/** Rows that a step deletes. */
const FORGET_COUNT = 1_000;

const SUMS = sql.raw(FIGURES.map((figure) => `sum(${figure})::bigint AS ${figure}`).join(', '));
const IN_DAYS = sql`day BETWEEN ${value('fromDay')} AND ${value('toDay')}`;
const IS_OVER = sql`day < ${value('beforeDay')}`;

const on = {
  list: prepare<Figures & { day: number }>(sql`
      SELECT day, ${FIGURE_COLUMNS} FROM provider_day
      WHERE provider_id = ${value('providerId')} AND ${IN_DAYS} ORDER BY day`),
  listAll: prepare<Figures & { day: number }>(sql`
      SELECT day, ${SUMS} FROM provider_day WHERE ${IN_DAYS} GROUP BY day ORDER BY day`),
  sum: prepare<Figures & { providerCode: string }>(sql`
      SELECT p.code AS "providerCode", ${SUMS}
      FROM provider_day d JOIN provider p ON p.id = d.provider_id
      WHERE ${IN_DAYS} GROUP BY p.id ORDER BY p.id`),
  refusals: prepare<LinkRefusals>(sql`
      SELECT i.install_code AS "installCode", r.refused_count AS "refusedCount",
        r.refused_at_ms AS "refusedAtMs", r.reason AS reason
      FROM install_refusal r JOIN install i ON i.id = r.install_id
      WHERE i.provider_id = ${value('providerId')} AND r.refused_at_ms >= ${value('sinceMs')}
      ORDER BY r.refused_count DESC, i.id LIMIT ${value('countMax')}`),
  oldest: prepare<{ day: number }>(sql`SELECT day FROM provider_day WHERE ${IS_OVER} LIMIT 1`),
  /** Those that another node forgets at the same time are left to it. */
  forget: prepare(sql`
      WITH gone AS (
        SELECT provider_id, day FROM provider_day WHERE ${IS_OVER}
        ORDER BY day, provider_id LIMIT ${FORGET_COUNT} FOR UPDATE SKIP LOCKED)
      DELETE FROM provider_day d USING gone
      WHERE d.provider_id = gone.provider_id AND d.day = gone.day`),
};

/** Saves all that this process has counted. Throws `WriteFailed` if it cannot. */
export function saveFigures({ figures, write }: Context): Promise<void> {
  return figures.save((work) => write(work));
}

export function figureStore(context: Context): FigureStore {
  const { db, figures } = context;
  const prompt = new PromptSave({
    isWanted: (providerId) => isWantedNow(db, providerId, 'link.refused'),
    save: () => saveFigures(context),
  });
  return {
    countRefusal: (link, reason, atMs) => {
      if (figures.refuse(link, reason, atMs)) prompt.ask(link.providerId);
    },
    saveFigures: () => saveFigures(context),
    listFigures: (providerId, fromDay, toDay) =>
      providerId === null
        ? on.listAll.all(db, { fromDay, toDay })
        : on.list.all(db, { providerId, fromDay, toDay }),
    sumFigures: (fromDay, toDay) => on.sum.all(db, { fromDay, toDay }),
    listRefusals: (providerId, sinceMs, countMax) =>
      on.refusals.all(db, { providerId, sinceMs, countMax }),
    forgetFigures: async (beforeDay) => {
      if ((await on.oldest.get(db, { beforeDay })) === null) return false;
      return (await on.forget.run(db.writing, { beforeDay })) > 0;
    },
  };
}
