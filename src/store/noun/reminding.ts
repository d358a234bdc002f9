/** Passes over the links of providers with reminders: who makes them, and what events they add. */

import * as deeds from '../../core/audit/reminder-round-deeds.ts';
import { remindersStopped } from '../../core/event/subscription-happenings.ts';
import type { PassLease, RemindingStore } from '../../core/port/reminding.ts';
import { courseNews } from '../../core/subscription-course.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { LEASE_SLACK_MS } from '../status.ts';
import { PROVIDER_COLUMNS } from './provider.ts';
import { COURSE_COLUMNS } from './subscription-figures.ts';

type PassNoun = Pick<
  RemindingStore,
  | 'nextReminded'
  | 'claimPass'
  | 'endPass'
  | 'findReminding'
  | 'stopReminders'
  | 'resumeReminders'
  | 'listCourses'
  | 'tellCourses'
>;

const STANDING = columns('reminding', ['stoppedAtMs', 'stoppedMoved', 'stoppedLinks']);
const GOES_ON = { stoppedAtMs: null, stoppedMoved: null, stoppedLinks: null };

function statements(backend: Backend) {
  const { prepare, once, among } = backend;
  const isFree = sql`(r.lease_owner IS NULL OR r.lease_owner = ${once('owner')}
    OR r.lease_until_ms <= ${once('clockMs')}
    OR r.lease_until_ms > CAST(${once('untilMs')} AS bigint) + ${LEASE_SLACK_MS})`;
  const ofProvider = sql`provider_id = :providerId`;
  return {
    /** Passes end what was sent before a reminder or figures went, and tell webhooks, too. */
    next: prepare(sql`
        SELECT ${PROVIDER_COLUMNS} FROM provider p
        WHERE p.id > ${once('afterId')}
          AND (EXISTS (SELECT 1 FROM reminder_sent s
              WHERE s.provider_id = p.id AND s.ended_at_ms IS NULL)
            OR p.subscription_figures = 1
            AND (EXISTS (SELECT 1 FROM reminder m WHERE m.provider_id = p.id AND m.enabled = 1)
              OR EXISTS (SELECT 1 FROM webhook w
                WHERE w.provider_id = p.id AND w.disabled_at_ms IS NULL)))
        ORDER BY p.id LIMIT 1`),
    add: prepare(sql`
        INSERT INTO reminding (provider_id) VALUES (:providerId) ON CONFLICT DO NOTHING`),
    claim: prepare(sql`
        UPDATE reminding AS r SET lease_owner = :owner, lease_until_ms = :untilMs
        WHERE provider_id = :providerId AND ${isFree}`),
    standing: prepare(sql`SELECT ${STANDING} FROM reminding WHERE ${ofProvider}`),
    lockStanding: prepare(sql`
        SELECT ${STANDING} FROM reminding WHERE ${ofProvider} ${backend.locked}`),
    moved: prepare(sql`
        SELECT ${values<{ count: number }>({ count: sql`count(*)` })}
        FROM subscription_figures WHERE ${ofProvider} AND moved_at_ms > :movedSinceMs
          AND moved_at_ms > coalesce(
            (SELECT resumed_at_ms FROM reminding WHERE ${ofProvider}), 0)`),
    links: prepare(sql`
        SELECT ${values<{ count: number }>({ count: sql`count(*)` })}
        FROM subscription_figures WHERE ${ofProvider}`),
    end: prepare(sql`
        UPDATE reminding SET lease_owner = NULL WHERE ${ofProvider} AND lease_owner = :owner`),
    stop: prepare(sql`
        UPDATE reminding SET stopped_at_ms = :nowMs, stopped_moved = :moved, stopped_links = :links
        WHERE ${ofProvider}`),
    resume: prepare(sql`
        UPDATE reminding SET stopped_at_ms = NULL, stopped_moved = NULL, stopped_links = NULL,
          resumed_at_ms = :atMs
        WHERE ${ofProvider}`),
    courses: prepare(sql`
        SELECT ${COURSE_COLUMNS} FROM subscription_figures
        WHERE provider_id = ${once('providerId')} AND install_id > ${once('afterId')}
        ORDER BY install_id LIMIT ${once('countMax')}`),
    some: prepare(sql`
        SELECT ${COURSE_COLUMNS} FROM subscription_figures
        WHERE ${ofProvider} AND install_id ${among('installIds')} ORDER BY install_id`),
    tell: prepare(sql`
        UPDATE subscription_figures SET told_hours = :toldHours, told_percent = :toldPercent
        WHERE install_id = :installId`),
  };
}

export function remindingNoun(backend: Backend): PassNoun {
  const on = statements(backend);

  const heldUntil = ({ owner, leaseMs }: PassLease) => {
    const clockMs = backend.storeNowMs();
    return { owner, clockMs, untilMs: clockMs + leaseMs };
  };

  function* countMoved(providerId: number, movedSinceMs: number): Step<[number, number]> {
    const moved = (yield* on.moved.get({ providerId, movedSinceMs }))?.count ?? 0;
    if (moved === 0) return [0, 0];
    return [moved, (yield* on.links.get({ providerId }))?.count ?? 0];
  }

  function* setStanding(
    notes: Notes,
    providerId: number,
    isStopped: boolean,
    change: () => Step<void>,
  ): Step<boolean> {
    yield* backend.lockProvider(providerId);
    yield* on.add.run({ providerId });
    const before = yield* on.lockStanding.get({ providerId });
    if (before === null) return notes.refuse(false);
    if ((before.stoppedAtMs !== null) === isStopped) return false;
    yield* change();
    return true;
  }

  return {
    nextReminded: async (afterId, movedSinceMs) =>
      backend.read(function* () {
        const provider = yield* on.next.get({ afterId });
        if (provider === null) return null;
        const providerId = provider.id;
        const standing = (yield* on.standing.get({ providerId })) ?? GOES_ON;
        const [movedCount, linkCount] = yield* countMoved(providerId, movedSinceMs);
        return { provider, ...standing, movedCount, linkCount };
      }),

    claimPass: (providerId, lease) =>
      backend.write(function* () {
        yield* backend.lockProvider(providerId);
        yield* on.add.run({ providerId });
        return (yield* on.claim.run({ providerId, ...heldUntil(lease) })) > 0;
      }),

    endPass: async (providerId, owner) => {
      await backend.change(() => on.end.run({ providerId, owner }));
    },

    findReminding: async (providerId) =>
      (await backend.read(() => on.standing.get({ providerId }))) ?? GOES_ON,

    stopReminders: (providerId, { moved, links }, nowMs) =>
      backend.write((notes) =>
        setStanding(notes, providerId, true, function* () {
          yield* on.stop.run({ providerId, moved, links, nowMs });
          notes.event(providerId, nowMs, () => remindersStopped(moved, links));
        }),
      ),

    resumeReminders: (providerId, act) =>
      backend.write((notes) =>
        setStanding(notes, providerId, false, function* () {
          yield* on.resume.run({ providerId, atMs: act.atMs });
          notes.audit(act, deeds.resumeReminders(), providerId);
        }),
      ),

    listCourses: async (providerId, afterId, countMax) =>
      backend.read(() => on.courses.all({ providerId, afterId, countMax })),

    tellCourses: (providerId, installIds, rules, nowMs) =>
      backend.write(function* (notes) {
        yield* backend.lockRows({ install: installIds });
        for (const figures of yield* on.some.all({ providerId, installIds })) {
          const due = courseNews(figures, rules, nowMs);
          if (due === null) continue;
          yield* on.tell.run({ installId: figures.installId, ...due.told });
          for (const news of due.news) notes.event(providerId, nowMs, () => news);
        }
      }),
  };
}
