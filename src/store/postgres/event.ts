/** Events that no other write is about, notices, and the end of events. See event-trail.ts. */

import { type SQL, sql } from 'drizzle-orm';
import type { EventStore, WatchedSubscription } from '../../core/port/event.ts';
import { cursorAt, positionOf } from '../cursor.ts';
import type { Context } from './context.ts';
import { isWantedNow } from './event-trail.ts';
import { markOf, setMark } from './notice.ts';
import { ofOwner } from './owner.ts';
import { prepare, type Runner, value } from './statement.ts';

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
  SELECT 1 FROM outbox o JOIN destination d ON d.id = o.destination_id
    JOIN webhook w ON w.id = d.webhook_id
  WHERE o.event_id = e.id AND w.disabled_at_ms IS NULL)`;

interface Found {
  id: number;
  atMs: number;
  isOver: boolean;
}

const found = (which: SQL) => sql`
      SELECT e.id AS id, e.at_ms AS "atMs", ${IS_OVER} AS "isOver" FROM event e WHERE ${which}`;

const on = {
  subscriptions: prepare<WatchedSubscription>(sql`
      SELECT p.id AS "providerId", p.active_until_ms AS "activeUntilMs",
        (SELECT mark FROM notice
         WHERE provider_id = p.id AND subject = ${value('subject')}) AS mark
      FROM provider p
      WHERE p.active_until_ms > 0 AND p.active_until_ms < ${value('endsBeforeMs')} AND EXISTS (
        SELECT 1 FROM webhook w WHERE w.provider_id = p.id AND w.disabled_at_ms IS NULL)
      ORDER BY p.id`),
  old: prepare<Found>(
    found(sql`
      e.at_ms < ${value('beforeMs')} AND (e.at_ms, e.id) > (${value('atMs')}, ${value('id')})
      ORDER BY e.at_ms, e.id LIMIT ${LOOK_COUNT}`),
  ),
  /** The newest event of an owner of those that are too many. */
  lastOfMany: ofOwner<{ lastId: number }>(
    (isOwners) => sql`
      SELECT id AS "lastId" FROM event WHERE ${isOwners}
      ORDER BY id DESC LIMIT 1 OFFSET ${value('countMax')}`,
  ),
  many: ofOwner<Found>((isOwners) =>
    found(sql`
      ${isOwners} AND e.id > ${value('id')} AND e.id <= ${value('lastId')}
      ORDER BY e.id LIMIT ${LOOK_COUNT}`),
  ),
  nextOwner: prepare<{ owner: number | null }>(sql`
      SELECT min(provider_id) AS owner FROM event WHERE provider_id > ${value('owner')}`),
  /** Those that are put into a queue at this moment are left out. */
  lock: prepare<{ id: number }>(sql`
      SELECT id FROM event WHERE id = ANY(${value('ids')}::bigint[])
      ORDER BY id FOR UPDATE SKIP LOCKED`),
  forget: prepare(sql`
      DELETE FROM event e WHERE id = ANY(${value('ids')}::bigint[]) AND ${IS_OVER}`),
};

/** The events to look at next, and where to go on behind them; null: there are none left. */
async function look(
  runner: Runner,
  at: Position,
  { beforeMs, countMax }: { beforeMs: number; countMax: number },
) {
  const { stage, owner, atMs, id } = at;
  if (stage === 'old') {
    const found = await on.old.all(runner, { beforeMs, atMs, id });
    const last = found.at(-1);
    const isLast = last === undefined || found.length < LOOK_COUNT;
    const next: Position = isLast ? { ...BEGINNING, stage: 'many' } : { ...at, ...last };
    return { found, next };
  }
  const providerId = owner === 0 ? null : owner;
  const last = await on.lastOfMany(providerId).get(runner, { providerId, countMax });
  const lastId = last?.lastId ?? 0;
  const found =
    lastId > id ? await on.many(providerId).all(runner, { providerId, id, lastId }) : [];
  if (found.length === LOOK_COUNT) return { found, next: { ...at, id: found.at(-1)?.id ?? 0 } };
  const nextOwner = (await on.nextOwner.get(runner, { owner }))?.owner ?? null;
  return { found, next: nextOwner === null ? null : { ...at, owner: nextOwner, id: 0 } };
}

export function eventStore({ db, write }: Context): EventStore {
  return {
    addEvent: async ({ providerId, atMs, kind, data }) => {
      if (!(await isWantedNow(db, providerId, kind))) return;
      await write(async (w) => w.events.note(providerId, atMs, () => ({ kind, data })));
    },

    addNotice: async ({ providerId, atMs, kind, data }, subject, mark) => {
      // Looking costs no write.
      if ((await markOf(db, providerId, subject)) === mark) return false;
      if (!(await isWantedNow(db, providerId, kind))) return false;
      return write(async (w) => {
        if (!(await w.events.isWanted(providerId, kind))) return false;
        if (!(await setMark(w, providerId, subject, mark))) return false;
        w.events.note(providerId, atMs, () => ({ kind, data }));
        return true;
      });
    },

    listWatchedSubscriptions: (endsBeforeMs, subject) =>
      on.subscriptions.all(db, { endsBeforeMs, subject }),

    forgetEvents: async (bounds, after) => {
      const { found, next } = await look(db, positionOf(after, BEGINNING), bounds);
      const over = found.filter(({ isOver }) => isOver).map(({ id }) => id);
      if (over.length > 0) {
        await write(async (w) => {
          const locked = await on.lock.all(w, { ids: over });
          await on.forget.run(w, { ids: locked.map(({ id }) => id) });
        });
      }
      return next && cursorAt(next);
    },
  };
}
