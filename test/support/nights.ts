/** The backups of a server by a moved clock, and what each door then says of them. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAfter } from '../../src/backup/after.ts';
import { BackupDesk } from '../../src/backup/desk.ts';
import { addScheduledBackup, newestScheduled } from '../../src/backup/shelf.ts';
import { makeLog } from '../../src/base/log.ts';
import type { OperatorError } from '../../src/base/operator-error.ts';
import { loadConfig } from '../../src/config/load.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { checkCopies } from '../../src/doctor/backup-copy.ts';
import { checkBackups } from '../../src/doctor/backups.ts';
import { checkRelease } from '../../src/doctor/release.ts';
import { type BackupJob, startBackupJob } from '../../src/jobs/backup.ts';
import { type BackupCopies, makeBackupCopies } from '../../src/jobs/backup-copy.ts';
import { noticeUpkeep } from '../../src/jobs/notice.ts';
import { Outbox } from '../../src/jobs/outbox/worker.ts';
import { makeMetrics } from '../../src/monitor/metrics.ts';
import { Tallies } from '../../src/monitor/tallies.ts';
import { postgresKind } from '../../src/store/postgres/kind.ts';
import { SQLITE } from '../../src/store/sqlite/kind.ts';
import { makeEventSenders } from '../../src/webhook/senders.ts';
import { addWebhook } from '../store/contract/webhook.ts';
import { type Engine, openEngine } from './delivery.ts';
import { placeOf } from './place.ts';

/** The place of a fake chat in `chats`; Telegram answers 403 while it is `blocked`. */
export interface FakeChat {
  id: number;
  messages: string[];
  isBlocked: boolean;
}

const BLOCKED = {
  ok: false,
  error_code: 403,
  description: 'Forbidden: bot was blocked by the user',
};

export class Nights {
  readonly lines: string[] = [];
  readonly log = makeLog(
    { logFormat: 'json', logLevel: 'info' },
    () => this.engine.clock.nowMs(),
    (line) => this.lines.push(line),
    (level, event) => this.#tallies.onEvent(level, event),
  );
  readonly #tallies = new Tallies();
  readonly #chats = new Map<string, FakeChat>();
  readonly #outbox: Outbox;
  #job: BackupJob | null = null;
  #copies: BackupCopies | null = null;
  /** The time limit of the command of `backup.after`, ms. */
  copyMaxMs = 60_000;
  /** The bytes of the next backup. */
  contents = 'age-encryption.org/v1\n';
  /** The error of a backup; null: it succeeds. */
  error: OperatorError | null = null;

  private constructor(
    readonly engine: Engine,
    readonly settings: ReturnType<typeof loadConfig>['config'],
  ) {
    const { core, clock } = engine;
    this.#outbox = new Outbox({
      core,
      clock,
      log: this.log,
      gateways: () => ({}),
      random: () => 0.5,
      eventSenders: makeEventSenders(settings, { send: async (call) => this.#send(call) }),
      settings: { gatewayCarryMessages: false, outputOffsetMinutes: 0 },
      onAttempt: () => undefined,
    });
  }

  static async open(env: Record<string, string> = {}): Promise<Nights> {
    const engine = await openEngine();
    const given = { GATEPOST_DATA: engine.dataDir, GATEPOST_CONFIG: 'none', ...env };
    return new Nights(engine, loadConfig({}, given).config);
  }

  /** Starts the job, as a server does; a second call is a restart. */
  async start(): Promise<BackupJob> {
    await this.#job?.stop();
    const { settings } = this;
    const { core, clock } = this.engine;
    await this.#copies?.stop();
    const common = {
      settings,
      clock,
      log: this.log,
      store: core.store,
      onNoted: () => noticeUpkeep(core, clock.nowMs()),
    };
    const copies = makeBackupCopies({
      ...common,
      copy: (file, signal) => runAfter(settings, file, signal, this.copyMaxMs),
    });
    this.#copies = copies;
    this.#job = await startBackupJob({
      ...common,
      newest: () => newestScheduled(settings),
      make: (nowMs, signal) => addScheduledBackup(settings, nowMs, this.#make, signal),
      onMade: () => void copies.catchUp(),
    });
    return this.#job;
  }

  readonly #make = async (file: string) => {
    this.engine.clock.advance(1_500);
    if (this.error !== null) throw this.error;
    writeFileSync(file, this.contents);
    return { bytes: this.contents.length };
  };

  get folder(): string {
    return join(this.engine.dataDir, 'backups');
  }

  makeFolder(): void {
    mkdirSync(this.folder, { mode: 0o700, recursive: true });
  }

  /** Adds a chat of the operator. */
  async addChat(name: string, events: string[] = []): Promise<FakeChat> {
    const target = { kind: 'telegram', chat: name, locale: 'en' } as const;
    const id = await addWebhook(this.engine.core.store, null, {
      target,
      events: events as never,
      secret: '1:token',
    });
    const chat = { id, messages: [], isBlocked: false };
    this.#chats.set(name, chat);
    return chat;
  }

  /** A Telegram: takes messages, as lines without marks. */
  #send({ body }: { body: string | Uint8Array | null }) {
    const { chat_id, text } = JSON.parse(String(body));
    const chat = this.#chats.get(chat_id);
    const isTaken = chat !== undefined && !chat.isBlocked;
    if (isTaken) chat.messages.push(text.replaceAll(/<\/?b>/g, ''));
    const status = isTaken ? 200 : 403;
    const answer = JSON.stringify(isTaken ? { ok: true } : BLOCKED);
    return { status, headers: new Headers(), text: answer, isWhole: true } as never;
  }

  /** Waits for the copies in progress. */
  copied = () => this.#copies?.catchUp();

  /** Sends what waits for the chats. */
  async deliver(): Promise<void> {
    const waiting = 'SELECT count(*) AS n FROM outbox';
    this.#outbox.wake();
    for (let turns = 0; ; turns++) {
      if ((this.engine.db.query<{ n: number }, []>(waiting).get()?.n ?? 0) === 0) break;
      if (turns > 20_000) throw new Error('events wait in vain');
      // Messages to a chat are a second apart; a lease must outlive a slow commit.
      if (turns % 20 === 19) this.engine.clock.advance(100);
      // Nothing else wakes it for an event that another one causes.
      if (turns % 20 === 19) this.#outbox.wake();
      await nextTurn();
    }
  }

  async upkeep() {
    const { database, dataDir, place } = this.engine;
    const kind =
      database === null ? SQLITE : postgresKind(() => placeOf(place.databaseUrl as string));
    const { upkeep } = await kind.survey(dataDir, () => []);
    return upkeep;
  }

  async doctor() {
    const upkeep = await this.upkeep();
    const nowMs = this.engine.clock.nowMs();
    return [
      ...checkBackups(this.settings, upkeep, nowMs).findings,
      ...checkCopies(this.settings, upkeep, nowMs),
      ...checkRelease(this.settings, upkeep),
    ];
  }

  metrics(): Promise<string> {
    const { core, clock } = this.engine;
    const metrics = makeMetrics({
      nowMs: clock.nowMs,
      startedAtMs: clock.nowMs(),
      store: core.store,
      tallies: this.#tallies,
      log: this.log,
      http: () => null,
      certificateExpiresAtMs: () => null,
    });
    return metrics.text();
  }

  console() {
    const { settings } = this;
    const { store } = this.engine.core;
    const unused = () => Promise.reject(new Error('not here'));
    const job = { nextMs: () => null, run: unused };
    const stopping = new AbortController().signal;
    return new BackupDesk({ settings, store, job, copy: unused, command: unused, stopping }).list();
  }

  async close(): Promise<void> {
    await this.#job?.stop();
    await this.#copies?.stop();
    const stopping = this.#outbox.stop();
    this.engine.clock.advance(10_000);
    await stopping;
    await this.engine.close();
  }
}
