/**
 * Changes of other nodes. Messages and tokens are told by NOTIFY (signals.ts); work is looked for
 * once a second, as only the end of another node makes it ours. Where nothing can be listened to,
 * the same look finds out whether messages may have come. Nothing is looked at for nobody.
 */

import { sql } from 'drizzle-orm';
import type { Store } from '../../core/port/store.ts';
import { AT_GATEWAYS, HAS_TURN } from '../status.ts';
import { findBan } from './ban.ts';
import type { Context } from './context.ts';
import { Listener } from './listener.ts';
import { SCHEMA_CHANGED } from './signals.ts';
import { prepare, value } from './statement.ts';

type OnChange = Parameters<Store['watch']>[0];

/** Time between two looks, ms. */
const LOOK_MS = 1_000;
/** Looks after which somebody who heard nothing speaks to himself, and after which he is deaf. */
const QUIET_LOOKS = 30;
const DEAF_LOOKS = 40;
/** Most looks until it is tried again to listen where that failed. */
const PAUSE_LOOKS_MAX = 60;
/** Time after which everybody has heard of a message that was sent, ms. */
const NEWS_MS = 5_000;
/** Newest rows in which one is seen whose commit came later than that of a newer one. */
const NEWEST = 100;

const newest = (table: string) =>
  sql.raw(`
  (SELECT concat(max(id), ':', min(id))
   FROM (SELECT id FROM ${table} ORDER BY id DESC LIMIT ${NEWEST}) newest)`);

const on = {
  /** What moves when somebody leaves work: a send, a dispatch, a destination that may be tried. */
  work: prepare<{ mark: string }>(sql`
      SELECT concat_ws(' ', ${newest('distribution')}, ${newest('outbox')},
        (SELECT concat(count(*), ':', count(d.stopped_at_ms), ':', sum(d.retry_at_ms), ':',
            count(w.disabled_at_ms))
         FROM destination d LEFT JOIN webhook w ON w.id = d.webhook_id
         WHERE d.waiting_count > 0)) AS mark`),
  /** Whether inboxes were filled a moment ago, and the newest token. */
  news: prepare<{ hasMessages: boolean; tokenId: number | null }>(sql`
      SELECT EXISTS (SELECT 1 FROM distribution WHERE ${HAS_TURN})
        OR EXISTS (SELECT 1 FROM distribution
                   WHERE pruned_at_ms IS NULL AND finished_at_ms > ${value('sinceMs')})
        OR EXISTS (SELECT 1 FROM distribution
                   WHERE ${AT_GATEWAYS} AND handed_over_at_ms > ${value('sinceMs')})
        AS "hasMessages", (SELECT max(id) FROM device_token) AS "tokenId"`),
};

/** One look after the other, as long as somebody watches. */
export class Watching {
  readonly #watchers = new Set<{ onChange: OnChange }>();
  readonly #context: Context;
  readonly #listener: Listener;
  /** Null: nobody watches. */
  #round: symbol | null = null;
  /** Null: unknown, so anything may have changed. */
  #mark: string | null = null;
  #tokenId: number | null = null;
  /** A look failed: messages may have come and gone unheard. */
  #hasMissed = false;
  /** Looks since something was heard. */
  #quietLooks = 0;
  /** Looks until it is tried to listen, and how many there will be after that. */
  #pauseLooks = 0;
  #nextPauseLooks = 0;

  constructor(context: Context) {
    this.#context = context;
    this.#listener = new Listener({
      connect: (onLost) => context.db.connectBeside(onLost),
      onListening: () => {
        this.#quietLooks = 0;
        this.#nextPauseLooks = 0;
        // What was told before was for nobody.
        this.#tell('all');
      },
      onPayload: (payload) => {
        context.observers.onSignal?.();
        this.#quietLooks = 0;
        if (payload === SCHEMA_CHANGED) void this.#lookForBan().catch(() => undefined);
        const deviceIds = context.signals.devicesOf(payload);
        if (deviceIds !== null) this.#tell(deviceIds);
      },
    });
  }

  watch = (onChange: OnChange): (() => void) => {
    const watcher = { onChange };
    this.#watchers.add(watcher);
    if (this.#round === null) this.#begin();
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.close();
    };
  };

  /** Nobody hears anything any more. */
  close(): void {
    this.#watchers.clear();
    this.#round = null;
    this.#listener.close();
  }

  #begin(): void {
    const round = Symbol('round');
    this.#round = round;
    this.#mark = null;
    this.#pauseLooks = 0;
    this.#nextPauseLooks = 0;
    this.#listen();
    const { clock } = this.#context;
    const next = async () => {
      await clock.sleep(LOOK_MS);
      if (this.#round !== round) return;
      await this.#look();
      if (this.#round === round) void next();
    };
    void next();
  }

  #tell(deviceIds: readonly number[] | 'all'): void {
    for (const { onChange } of this.#watchers) onChange(deviceIds);
  }

  /** Looks once; never rejects. */
  async #look(): Promise<void> {
    try {
      await this.#lookForBan();
      await this.#lookForWork();
      await this.#lookForNews();
      this.#hasMissed = false;
    } catch {
      this.#mark = null;
      this.#hasMissed = true;
    }
  }

  /** From the moment that this finds something no call is let through. */
  async #lookForBan(): Promise<void> {
    const { db } = this.#context;
    const ban = await findBan(db);
    if (ban !== null) db.ban(ban);
  }

  async #lookForWork(): Promise<void> {
    const mark = (await on.work.get(this.#context.db))?.mark ?? null;
    const isMoved = mark !== this.#mark;
    this.#mark = mark;
    if (isMoved) this.#tell([]);
  }

  async #lookForNews(): Promise<void> {
    this.#quietLooks += 1;
    if (this.#listener.isListening && this.#quietLooks < DEAF_LOOKS) {
      // Between here and there a connection may go without a word.
      if (this.#quietLooks === QUIET_LOOKS) await this.#context.signals.ping(this.#context.db);
      return;
    }
    if (this.#quietLooks >= DEAF_LOOKS) this.#listener.close();
    this.#listen();
    const { db, storeNowMs } = this.#context;
    const news = await on.news.get(db, { sinceMs: storeNowMs() - NEWS_MS });
    const tokenId = news?.tokenId ?? null;
    const isMoved = tokenId !== this.#tokenId || this.#hasMissed;
    this.#tokenId = tokenId;
    if (isMoved || news?.hasMessages) this.#tell('all');
  }

  #listen(): void {
    if (this.#context.db.isPooled || this.#listener.isOpen) return;
    this.#pauseLooks -= 1;
    if (this.#pauseLooks >= 0) return;
    this.#pauseLooks = this.#nextPauseLooks;
    this.#nextPauseLooks = Math.min(2 * this.#nextPauseLooks + 1, PAUSE_LOOKS_MAX);
    this.#quietLooks = 0;
    void this.#listener.open();
  }
}
