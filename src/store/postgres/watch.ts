/**
 * Watches changes by other nodes. NOTIFY signals messages and tokens. A check once a second finds
 * remaining work, and messages where LISTEN is impossible. Without a watcher nothing runs.
 */

import type { SQL } from 'bun';
import type { Store } from '../../core/port/store.ts';
import { sql } from '../statement-text.ts';
import { AT_GATEWAYS, HAS_TURN } from '../status.ts';
import { findBan } from './migrate.ts';
import { CHANNEL, SCHEMA_CHANGED } from './signals.ts';
import { prepare } from './statement.ts';
import type { Context } from './write.ts';

type OnChange = Parameters<Store['watch']>[0];

/** Time between two checks, ms. */
const CHECK_MS = 1_000;
/** Checks without a signal after which the node sends itself one … */
const QUIET_CHECKS = 30;
/** … and after which the connection counts as dead. */
const DEAF_CHECKS = 40;
/** Most checks between two attempts to listen. */
const PAUSE_CHECKS_MAX = 60;
/** Time within which all nodes notice a message, ms. */
const RECENT_MS = 5_000;
/** Newest rows that are compared, because a row may be committed after one with a higher id. */
const NEWEST = 100;

const newest = (table: string) =>
  sql.raw(`
  (SELECT concat(max(id), ':', min(id))
   FROM (SELECT id FROM ${table} ORDER BY id DESC LIMIT ${NEWEST}) newest)`);

const on = {
  /** The numbers of the transactions in flight: a commit removes one. */
  mark: prepare<{ mark: string }>(sql`SELECT pg_current_snapshot()::text AS mark`),
  /** Changes when there is work: a send, a dispatch, a destination that may be retried. */
  work: prepare<{ mark: string }>(sql`
      SELECT concat_ws(' ', ${newest('distribution')}, ${newest('outbox')},
        (SELECT concat(count(*), ':', count(d.stopped_at_ms), ':', sum(d.retry_at_ms), ':',
            count(w.disabled_at_ms))
         FROM destination d LEFT JOIN webhook w ON w.id = d.webhook_id
         WHERE d.waiting_count > 0)) AS mark`),
  /** Whether inboxes were filled recently, and what changes with tokens and their ends. */
  recent: prepare<{ hasMessages: boolean; tokens: string }>(sql`
      SELECT EXISTS (SELECT 1 FROM distribution WHERE ${HAS_TURN})
        OR EXISTS (SELECT 1 FROM distribution
                   WHERE pruned_at_ms IS NULL AND finished_at_ms > :sinceMs)
        OR EXISTS (SELECT 1 FROM distribution
                   WHERE ${AT_GATEWAYS} AND handed_over_at_ms > :sinceMs)
        AS "hasMessages", concat_ws(' ', (SELECT max(id) FROM device_token),
          (SELECT max(ended_at_ms) FROM ended_token),
          (SELECT concat(count(*), ':', max(id)) FROM device_token WHERE ended IS NOT NULL))
          AS tokens`),
};

/** Checks and listens while there is a watcher. */
export class Watching {
  readonly #watchers = new Set<{ onChange: OnChange }>();
  /** Set while it listens or begins to. */
  #connection: SQL | null = null;
  #isListening = false;
  /** Null: there is no watcher. */
  #round: symbol | null = null;
  /** Null: unknown. */
  #mark: string | null = null;
  #tokens: string | null = null;
  /** True after a failed check: messages may have been missed. */
  #hasMissed = false;
  /** Checks since the last signal. */
  #quietChecks = 0;
  /** Checks until the next attempt to listen, and until the one after it. */
  #pauseChecks = 0;
  #nextPauseChecks = 0;

  constructor(private readonly context: Context) {}

  watch = (onChange: OnChange): (() => void) => {
    const watcher = { onChange };
    this.#watchers.add(watcher);
    if (this.#round === null) this.#begin();
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.close();
    };
  };

  readCommitMark = async (): Promise<string> => (await on.mark.get(this.context.db))?.mark ?? '';

  /** Ends all watching. */
  close(): void {
    this.#watchers.clear();
    this.#round = null;
    this.#drop(this.#connection);
  }

  #begin(): void {
    const round = Symbol('round');
    this.#round = round;
    this.#mark = null;
    this.#pauseChecks = 0;
    this.#nextPauseChecks = 0;
    this.#listen();
    const { clock } = this.context;
    const next = async () => {
      await clock.sleep(CHECK_MS);
      if (this.#round !== round) return;
      await this.#check();
      if (this.#round === round) void next();
    };
    void next();
  }

  #report(deviceIds: readonly number[] | 'all'): void {
    for (const { onChange } of this.#watchers) onChange(deviceIds);
  }

  /**
   * Checks once. Never rejects. A check that fails or is slow, as on the first connections of a
   * process, holds up no other: else a message that came before LISTEN would wait for all three.
   */
  async #check(): Promise<void> {
    await Promise.all([
      this.#checkBan().catch(() => undefined),
      this.#checkWork().catch(() => {
        this.#mark = null;
      }),
      this.#checkMessages().then(
        () => {
          this.#hasMissed = false;
        },
        () => {
          this.#hasMissed = true;
        },
      ),
    ]);
  }

  /** Refuses all later calls if it finds a ban. */
  async #checkBan(): Promise<void> {
    const { db } = this.context;
    const ban = await findBan(db);
    if (ban !== null) db.ban(ban);
  }

  async #checkWork(): Promise<void> {
    const mark = (await on.work.get(this.context.db))?.mark ?? null;
    const isMoved = mark !== this.#mark;
    this.#mark = mark;
    if (isMoved) this.#report([]);
  }

  async #checkMessages(): Promise<void> {
    this.#quietChecks += 1;
    if (this.#isListening && this.#quietChecks < DEAF_CHECKS) {
      // A connection may be lost without any error.
      if (this.#quietChecks === QUIET_CHECKS) await this.context.signals.ping(this.context.db);
      return;
    }
    if (this.#quietChecks >= DEAF_CHECKS) this.#drop(this.#connection);
    this.#listen();
    const { db, storeNowMs } = this.context;
    const recent = await on.recent.get(db, { sinceMs: storeNowMs() - RECENT_MS });
    const tokens = recent?.tokens ?? null;
    const isMoved = tokens !== this.#tokens || this.#hasMissed;
    this.#tokens = tokens;
    if (isMoved || recent?.hasMessages) this.#report('all');
  }

  #listen(): void {
    if (this.context.db.isPooled || this.#connection !== null) return;
    this.#pauseChecks -= 1;
    if (this.#pauseChecks >= 0) return;
    this.#pauseChecks = this.#nextPauseChecks;
    this.#nextPauseChecks = Math.min(2 * this.#nextPauseChecks + 1, PAUSE_CHECKS_MAX);
    this.#quietChecks = 0;
    void this.#connect();
  }

  /**
   * Listens on a separate connection; never rejects. Bun.SQL would reconnect at its own pace and
   * write its own log lines, so a lost connection is dropped.
   */
  async #connect(): Promise<void> {
    const connection = this.context.db.connectBeside(() => this.#drop(connection));
    this.#connection = connection;
    try {
      await connection.listen(
        CHANNEL,
        (payload) => this.#take(payload),
        () => {
          if (this.#connection !== connection) return;
          this.#isListening = true;
          this.#quietChecks = 0;
          this.#nextPauseChecks = 0;
          // Earlier signals were missed.
          this.#report('all');
        },
      );
    } catch {
      this.#drop(connection);
    }
  }

  #take(payload: string): void {
    const { observers, signals } = this.context;
    observers.onSignal?.();
    this.#quietChecks = 0;
    if (payload === SCHEMA_CHANGED) void this.#checkBan().catch(() => undefined);
    const deviceIds = signals.devicesOf(payload);
    if (deviceIds !== null) this.#report(deviceIds);
  }

  #drop(connection: SQL | null): void {
    if (connection === null || this.#connection !== connection) return;
    this.#connection = null;
    this.#isListening = false;
    connection.close({ timeout: 0 }).catch(() => undefined);
  }
}
