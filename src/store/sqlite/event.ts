/** Events that no other write is about, notices, and the end of events. See event-trail.ts. */

import { type SQL, sql } from 'drizzle-orm';
import type { EventStore, NewEvent, WatchedSubscription } from '../../core/port/event.ts';
import { cursorAt, positionOf } from '../cursor.ts';
import type { Context } from './context.ts';
import { value } from './statement.ts';

/** Events that a step looks at or deletes: some 5 ms. */
const LOOK_COUNT = 200;

/** Position of a look: at those that are too old, then at those of one owner after the other. */
interface Position {
  stage: 'old' | 'many';
  /** Owner whose events are looked at; 0: the operator. */
  owner: number;
  atMs: number;
  id: number;
}

const BEGINNING: Position = { stage: 'old', owner: 0, atMs: 0, id: 0 };

/** Nothing waits for it but what is disabled. */
const IS_OVER = sql`NOT EXISTS (
  SELECT 1 FROM outbox o CROSS JOIN destination d ON d.id = o.destination_id
    CROSS JOIN webhook w ON w.id = d.webhook_id
  WHERE o.event_id = e.id AND w.disabled_at_ms IS NULL)`;

interface Found {
  id: number;
  atMs: number;
  isOver: number;
}

function statements({ db }: Context) {
  const found = (which: SQL) =>
    db.prepare<Found>(sql`
        SELECT e.id AS id, e.at_ms AS "atMs", ${IS_OVER} AS "isOver" FROM event e WHERE ${which}`);
  const owner = sql`nullif(${value('owner')}, 0)`;
  return {
    subscriptions: db.prepare<WatchedSubscription>(sql`
        SELECT p.id AS "providerId", p.active_until_ms AS "activeUntilMs",
          (SELECT mark FROM notice
           WHERE provider_id = p.id AND subject = ${value('subject')}) AS mark
        FROM provider p
        WHERE p.active_until_ms > 0 AND p.active_until_ms < ${value('endsBeforeMs')} AND EXISTS (
          SELECT 1 FROM webhook w WHERE w.provider_id = p.id AND w.disabled_at_ms IS NULL)
        ORDER BY p.id`),
    old: found(sql`
        e.at_ms < ${value('beforeMs')} AND e.at_ms >= ${value('atMs')}
          AND (e.at_ms > ${value('atMs')} OR e.id > ${value('id')})
        ORDER BY e.at_ms, e.id LIMIT ${LOOK_COUNT}`),
    /** The newest event of an owner of those that are too many. */
    lastOfMany: db.prepare<{ lastId: number }>(sql`
        SELECT id AS "lastId" FROM event WHERE provider_id IS ${owner}
        ORDER BY id DESC LIMIT 1 OFFSET ${value('countMax')}`),
    many: found(sql`
        e.provider_id IS ${owner} AND e.id > ${value('id')} AND e.id <= ${value('lastId')}
        ORDER BY e.id LIMIT ${LOOK_COUNT}`),
    nextOwner: db.prepare<{ owner: number | null }>(sql`
        SELECT min(provider_id) AS owner FROM event WHERE provider_id > ${value('owner')}`),
    forget: db.prepare(sql`DELETE FROM event WHERE id = ${value('id')}`),
  };
}

export function eventStore(context: Context): EventStore {
  const { writer, events } = context;
  const { notices } = events;
  const on = statements(context);

  /** The events to look at next, and where to go on behind them; null: there are none left. */
  function look(at: Position, { beforeMs, countMax }: { beforeMs: number; countMax: number }) {
    const { stage, owner, atMs, id } = at;
    if (stage === 'old') {
      const found = on.old.all({ beforeMs, atMs, id });
      const last = found.at(-1);
      const isLast = last === undefined || found.length < LOOK_COUNT;
      const next: Position = isLast ? { ...BEGINNING, stage: 'many' } : { ...at, ...last };
      return { found, next };
    }
    const { lastId } = on.lastOfMany.get({ owner, countMax }) ?? { lastId: 0 };
    const found = lastId > id ? on.many.all({ owner, id, lastId }) : [];
    if (found.length === LOOK_COUNT) return { found, next: { ...at, id: found.at(-1)?.id ?? 0 } };
    const nextOwner = on.nextOwner.get({ owner })?.owner ?? null;
    return { found, next: nextOwner === null ? null : { ...at, owner: nextOwner, id: 0 } };
  }

  const add = ({ providerId, atMs, kind, data }: NewEvent) =>
    events.note(providerId, atMs, () => ({ kind, data }));

  return {
    addEvent: async (event) => {
      if (events.isWantedNow(event.providerId, event.kind)) await writer.run(() => add(event));
    },

    addNotice: async (event, subject, mark) => {
      const { providerId, kind } = event;
      const isTold = () => notices.markOf(providerId, subject) === mark;
      // Looking costs no write.
      if (isTold() || !events.isWantedNow(providerId, kind)) return false;
      return writer.run(() => {
        if (isTold() || !events.isWanted(providerId, kind)) return false;
        notices.set(providerId, subject, mark);
        add(event);
        return true;
      });
    },

    listWatchedSubscriptions: async (endsBeforeMs, subject) =>
      on.subscriptions.all({ endsBeforeMs, subject }),

    forgetEvents: async (bounds, after) => {
      const at = positionOf(after, BEGINNING);
      const { found, next } = look(at, bounds);
      if (found.every(({ isOver }) => isOver === 0)) return next && cursorAt(next);
      return writer.run(() => {
        const here = look(at, bounds);
        for (const { id, isOver } of here.found) if (isOver === 1) on.forget.run({ id });
        return here.next && cursorAt(here.next);
      });
    },
  };
}
