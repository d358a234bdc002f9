/** Events that no other write makes, notices, and the deletion of events. See event-notes.ts. */

import { HOUR_MS } from '../../core/calendar.ts';
import type {
  EventBounds,
  EventStore,
  NewEvent,
  WatchedSubscription,
} from '../../core/port/event.ts';
import type { Backend, Step } from '../backend.ts';
import { cursorAt, positionOf } from '../cursor.ts';
import { columns, sql, values } from '../statement-text.ts';
import { type EventStatements, isWantedNow } from './event-notes.ts';
import { IS_OWNERS, ofOwner } from './owner.ts';

/** Receivers whose folds a step ends. */
const FOLD_COUNT = 50;
/** Events that a step reads or deletes: some 5 ms. */
const LOOK_COUNT = 200;

/** Position of the search: first events that are too old, then one owner's after another. */
interface Position {
  stage: 'old' | 'many';
  /** Owner whose events are searched; 0: the operator. */
  owner: number;
  atMs: number;
  id: number;
}

const BEGINNING: Position = { stage: 'old', owner: 0, atMs: 0, id: 0 };

function statements(backend: Backend) {
  const { prepare, join } = backend;
  const own = ofOwner(backend);
  const isOver = sql`NOT EXISTS (
    SELECT 1 FROM outbox o ${join} destination d ON d.id = o.destination_id
      ${join} webhook w ON w.id = d.webhook_id
    WHERE o.event_id = e.id AND w.disabled_at_ms IS NULL)`;
  const found = sql`
    SELECT ${columns({ e: 'event' }, 'e.id, e.atMs')}, ${values<{ isOver: number }>({
      isOver: sql`CAST(${isOver} AS integer)`,
    })} FROM event e`;
  return {
    subscriptions: prepare(sql`
        SELECT ${columns({ p: 'provider' }, 'p.id AS providerId, p.activeUntilMs!')}, ${values<{
          mark: WatchedSubscription['mark'];
        }>({
          mark: sql`(SELECT mark FROM notice
           WHERE provider_id = p.id AND subject = :subject)`,
        })} FROM provider p
        WHERE p.active_until_ms > 0 AND p.active_until_ms < :endsBeforeMs AND EXISTS (
          SELECT 1 FROM webhook w WHERE w.provider_id = p.id AND w.disabled_at_ms IS NULL)
        ORDER BY p.id`),
    old: prepare(sql`
        ${found} WHERE e.at_ms < :beforeMs AND (e.at_ms, e.id) > (:atMs, :id)
        ORDER BY e.at_ms, e.id LIMIT ${LOOK_COUNT}`),
    /** The newest event to delete of an owner with too many. */
    lastOfMany: own`
        SELECT ${columns('event', 'id AS lastId')} FROM event WHERE ${IS_OWNERS}
        ORDER BY id DESC LIMIT 1 OFFSET :countMax`,
    many: own`
        ${found} WHERE ${IS_OWNERS} AND e.id > :id AND e.id <= :lastId
        ORDER BY e.id LIMIT ${LOOK_COUNT}`,
    nextOwner: prepare(sql`
        SELECT ${values<{ owner: number | null }>({ owner: sql`min(provider_id)` })}
        FROM event WHERE provider_id > :owner`),
    /** Leaves out events that another write is adding to a queue at this moment. */
    lock: prepare(sql`
        SELECT ${columns('event', 'id')} FROM event WHERE id ${backend.among('ids')}
        ORDER BY id ${backend.deletableUnlessBusy}`),
    folding: prepare(sql`
        SELECT ${columns({ d: 'destination', w: 'webhook' }, 'd.id, w.providerId')}
        FROM destination d ${join} webhook w ON w.id = d.webhook_id
        WHERE d.fold_until_ms IS NOT NULL
          AND (d.fold_until_ms <= :nowMs OR d.fold_until_ms > :latestMs)
        ORDER BY d.fold_until_ms, d.id LIMIT ${FOLD_COUNT}`),
    forget: prepare(sql`
        DELETE FROM event AS e WHERE id ${backend.among('ids')} AND ${isOver}`),
  };
}

export function eventNoun(backend: Backend, events: EventStatements): EventStore {
  const on = statements(backend);
  const { marks } = events;

  /** Finds the next events to delete and the position after them; null: there are none left. */
  function* look(at: Position, { beforeMs, countMax }: EventBounds) {
    const { stage, owner, atMs, id } = at;
    if (stage === 'old') {
      const found = yield* on.old.all({ beforeMs, atMs, id });
      const last = found.at(-1);
      const isLast = last === undefined || found.length < LOOK_COUNT;
      const next: Position = isLast ? { ...BEGINNING, stage: 'many' } : { ...at, ...last };
      return { found, next };
    }
    const providerId = owner === 0 ? null : owner;
    const last = yield* on.lastOfMany(providerId).get({ providerId, countMax });
    const lastId = last?.lastId ?? 0;
    const found = lastId > id ? yield* on.many(providerId).all({ providerId, id, lastId }) : [];
    if (found.length === LOOK_COUNT) return { found, next: { ...at, id: found.at(-1)?.id ?? 0 } };
    const nextOwner = (yield* on.nextOwner.get({ owner }))?.owner ?? null;
    return { found, next: nextOwner === null ? null : { ...at, owner: nextOwner, id: 0 } };
  }

  function* isNews(
    { providerId, kind }: NewEvent,
    subject: string,
    mark: string,
    follows: string,
  ): Step<boolean> {
    const last = yield* marks.get(providerId, subject);
    if (last === mark || !(last ?? '').startsWith(follows)) return false;
    return yield* isWantedNow(events, providerId, kind);
  }

  return {
    addEvent: async ({ providerId, atMs, kind, data }) => {
      if (!(await backend.read(() => isWantedNow(events, providerId, kind)))) return;
      await backend.write(function* (notes) {
        notes.event(providerId, atMs, () => ({ kind, data }));
      });
    },

    addNotice: async (event, subject, mark, follows = '') => {
      const { providerId, atMs, kind, data } = event;
      // A read first: it costs no write.
      if (!(await backend.read(() => isNews(event, subject, mark, follows)))) return false;
      return backend.write(function* (notes) {
        if (!(yield* notes.isWanted(providerId, kind))) return false;
        if (!(yield* marks.set(providerId, subject, mark))) return false;
        notes.event(providerId, atMs, () => ({ kind, data }));
        return true;
      });
    },

    findNotice: async (subject) => backend.read(() => marks.get(null, subject)),

    addNotices: (added, subject, before, mark) =>
      backend.write(function* (notes) {
        if (!(yield* marks.replace(subject, before, mark))) return false;
        for (const { atMs, kind, data } of added) notes.event(null, atMs, () => ({ kind, data }));
        return true;
      }),

    endEventFolds: async (nowMs) => {
      const by = { nowMs, latestMs: nowMs + 2 * HOUR_MS };
      if ((await backend.read(() => on.folding.all(by))).length === 0) return false;
      return backend.write(function* (notes) {
        const found = yield* on.folding.all(by);
        for (const { id, providerId } of found) notes.endFold(providerId, id, nowMs);
        return found.length > 0;
      });
    },

    listWatchedSubscriptions: async (endsBeforeMs, subject) =>
      backend.read(() => on.subscriptions.all({ endsBeforeMs, subject })),

    forgetEvents: async (bounds, after) => {
      const at = positionOf(after, BEGINNING);
      const { found, next } = await backend.read(() => look(at, bounds));
      const over = found.filter(({ isOver }) => isOver === 1).map(({ id }) => id);
      if (over.length > 0) {
        await backend.write(function* () {
          const locked = yield* on.lock.all({ ids: over });
          yield* on.forget.run({ ids: locked.map(({ id }) => id) });
        });
      }
      return next && cursorAt(next);
    },
  };
}
