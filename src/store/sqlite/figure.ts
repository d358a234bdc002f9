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
import { FIGURE_COLUMNS } from './figure-trail.ts';
import { value } from './statement.ts';

/** Rows that a step deletes. */
const FORGET_COUNT = 1_000;

function statements({ db }: Context) {
  const sums = sql.raw(FIGURES.map((figure) => `sum(${figure}) AS ${figure}`).join(', '));
  const inDays = sql`day BETWEEN ${value('fromDay')} AND ${value('toDay')}`;
  const isOver = sql`day < ${value('beforeDay')}`;
  return {
    list: db.prepare<Figures & { day: number }>(sql`
        SELECT day, ${FIGURE_COLUMNS} FROM provider_day
        WHERE provider_id = ${value('providerId')} AND ${inDays}`),
    listAll: db.prepare<Figures & { day: number }>(sql`
        SELECT day, ${sums} FROM provider_day WHERE ${inDays} GROUP BY day`),
    sum: db.prepare<Figures & { providerCode: string }>(sql`
        SELECT p.code AS "providerCode", ${sums}
        FROM provider_day d CROSS JOIN provider p ON p.id = d.provider_id
        WHERE ${inDays} GROUP BY p.id`),
    refusals: db.prepare<LinkRefusals>(sql`
        SELECT i.install_code AS "installCode", r.refused_count AS "refusedCount",
          r.refused_at_ms AS "refusedAtMs", r.reason AS reason
        FROM install_refusal r CROSS JOIN install i ON i.id = r.install_id
        WHERE i.provider_id = ${value('providerId')} AND r.refused_at_ms >= ${value('sinceMs')}
        ORDER BY r.refused_count DESC, i.id LIMIT ${value('countMax')}`),
    oldest: db.prepare<{ day: number }>(sql`
        SELECT day FROM provider_day WHERE ${isOver} LIMIT 1`),
    forget: db.prepare(sql`
        DELETE FROM provider_day WHERE (provider_id, day) IN (
          SELECT provider_id, day FROM provider_day WHERE ${isOver} LIMIT ${FORGET_COUNT})`),
  };
}

export function figureStore(context: Context): FigureStore {
  const { events, figures, writer } = context;
  const on = statements(context);
  const prompt = new PromptSave({
    isWanted: (providerId) => events.isWantedNow(providerId, 'link.refused'),
    save: () => figures.save(writer),
  });
  return {
    countRefusal: (link, reason, atMs) => {
      if (figures.refuse(link, reason, atMs)) prompt.ask(link.providerId);
    },
    saveFigures: () => figures.save(writer),
    listFigures: async (providerId, fromDay, toDay) =>
      providerId === null
        ? on.listAll.all({ fromDay, toDay })
        : on.list.all({ providerId, fromDay, toDay }),
    sumFigures: async (fromDay, toDay) => on.sum.all({ fromDay, toDay }),
    listRefusals: async (providerId, sinceMs, countMax) =>
      on.refusals.all({ providerId, sinceMs, countMax }),
    forgetFigures: async (beforeDay) => {
      if (on.oldest.get({ beforeDay }) === null) return false;
      return writer.run(() => on.forget.run({ beforeDay }) > 0);
    },
  };
}
