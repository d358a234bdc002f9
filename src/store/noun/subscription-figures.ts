/** The figures of subscriptions, one row for a link. */

import type {
  FiguresFilter,
  SubscriptionFiguresStore,
} from '../../core/port/subscription-figures.ts';
import { courseAfter } from '../../core/subscription-course.ts';
import { afterRead } from '../../core/subscription-figures.ts';
import type { Backend } from '../backend.ts';
import { columnOf, columns, insertInto, sql } from '../statement-text.ts';

/** Rows that a step deletes. */
const FORGET_COUNT = 1_000;

export const FIGURE_FIELDS = [
  ...(['endsAtMs', 'totalBytes', 'usedBytes', 'readAtMs', 'source', 'sinceMs'] as const),
  ...(['periodEndsAtMs', 'periodTotalBytes'] as const),
] as const;
/** The course of the subscription: core/subscription-course.ts. */
const COURSE_FIELDS = [
  ...(['periodAtMs', 'trafficAtMs', 'movedAtMs', 'renewalToldAtMs'] as const),
  ...(['toldHours', 'toldPercent'] as const),
] as const;
export const COURSE_COLUMNS = columns('subscription_figures', [
  'installId',
  ...FIGURE_FIELDS,
  ...COURSE_FIELDS,
]);
const SAVED = [...FIGURE_FIELDS, ...COURSE_FIELDS] as const;

/** A value of the figures of link `i`: a subquery, as in link-view.ts. */
const figureOf = (what: string) => sql`(
  SELECT ${sql.raw(what)} FROM subscription_figures f WHERE f.install_id = i.id)`;

/** Whether at least so many per cent were used, without fractions and overflow. */
const IS_USED = figureOf(
  'CASE WHEN f.total_bytes > 0 AND f.used_bytes * 100 >= f.total_bytes * :usedPercent THEN 1 END',
);

/** The time since when figures of the link `i` are kept: before it no link was unread. */
const FIGURES_SINCE = sql.raw(`(SELECT w.figures_since_ms FROM provider w
  WHERE w.id = i.provider_id AND w.subscription_figures = 1)`);

/** Condition: the link `i` matches a {@link FiguresFilter}; see {@link figuresValues}. */
export const FIGURES_MATCH = sql`
  (CAST(:endsFromMs AS bigint) IS NULL OR ${figureOf('f.ends_at_ms')} >= :endsFromMs)
  AND (CAST(:endsBeforeMs AS bigint) IS NULL OR ${figureOf('f.ends_at_ms')} < :endsBeforeMs)
  AND (CAST(:usedPercent AS bigint) IS NULL OR ${IS_USED} = 1)
  AND (CAST(:unreadSinceMs AS bigint) IS NULL OR (i.created_at_ms < :unreadSinceMs
    AND coalesce(${figureOf('f.read_at_ms')}, 0) < :unreadSinceMs
    AND ${FIGURES_SINCE} < :unreadSinceMs))`;

/** Returns the values of a filter for {@link FIGURES_MATCH}. */
export const figuresValues = ({
  endsFromMs = null,
  endsBeforeMs = null,
  usedPercent = null,
  unreadSinceMs = null,
}: FiguresFilter) => ({ endsFromMs, endsBeforeMs, usedPercent, unreadSinceMs });

export function subscriptionFiguresNoun(backend: Backend): SubscriptionFiguresStore {
  const { prepare, join } = backend;
  const isOver = sql`(f.read_at_ms < :readBeforeMs
    OR EXISTS (SELECT 1 FROM provider o
      WHERE o.id = f.provider_id AND o.subscription_figures = 0))`;
  const on = {
    find: prepare(sql`
        SELECT ${columns('subscription_figures', FIGURE_FIELDS)}
        FROM subscription_figures
        WHERE install_id = :installId`),
    list: prepare(sql`
        SELECT ${columns(
          { f: 'subscription_figures' },
          'f.installId, f.endsAtMs, f.totalBytes, f.usedBytes, f.readAtMs',
        )}
        FROM subscription_figures f WHERE f.install_id ${backend.among('installIds')}`),
    course: prepare(sql`
        SELECT ${COURSE_COLUMNS} FROM subscription_figures WHERE install_id = :installId`),
    owner: prepare(sql`
        SELECT ${columns({ i: 'install' }, 'i.providerId')} FROM install i
        ${join} provider o ON o.id = i.provider_id AND o.subscription_figures = 1
        WHERE i.id = :installId`),
    save: prepare(sql`
        ${insertInto('subscription_figures', ['installId', 'providerId', ...SAVED])}
        ON CONFLICT (install_id) DO UPDATE SET ${sql.raw(
          SAVED.map(columnOf)
            .map((name) => `${name} = excluded.${name}`)
            .join(', '),
        )}`),
    oldest: prepare(sql`
        SELECT ${columns({ f: 'subscription_figures' }, 'f.installId')}
        FROM subscription_figures f WHERE ${isOver} LIMIT 1`),
    /** Leaves rows to another node that is deleting them. */
    forget: prepare(sql`
        DELETE FROM subscription_figures WHERE install_id IN (
          SELECT f.install_id FROM subscription_figures f WHERE ${isOver}
          ORDER BY f.install_id LIMIT ${FORGET_COUNT} ${backend.deletableUnlessBusy})`),
  };
  return {
    findSubscriptionFigures: (installId) => backend.read(() => on.find.get({ installId })),
    listSubscriptionFigures: (installIds) => backend.read(() => on.list.all({ installIds })),
    keepSubscriptionFigures: (installId, read, source, nowMs) =>
      backend.write(function* (notes) {
        yield* backend.lockRows({ install: [installId] });
        const owner = yield* on.owner.get({ installId });
        if (owner === null) return;
        const before = yield* on.course.get({ installId });
        const after = afterRead(before, read, source, nowMs);
        if (after === null) return;
        const { figures, isRenewed } = after;
        const { course, news } = courseAfter(before, figures, isRenewed, nowMs);
        yield* on.save.run({ installId, ...owner, ...figures, ...course });
        if (news !== null) notes.event(owner.providerId, nowMs, () => news);
      }),
    forgetSubscriptionFigures: async (readBeforeMs) => {
      if ((await backend.read(() => on.oldest.get({ readBeforeMs }))) === null) return false;
      return (await backend.change(() => on.forget.run({ readBeforeMs }))) > 0;
    },
  };
}
