/**
 * A real appliance for tests: a fresh store, a socket on a free port, our own clock. The store is
 * SQLite in a fresh folder; with `TEST_STORE=postgres` a fresh database of PostgreSQL.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Log, makeLog } from '../../src/base/log.ts';
import type { Core, Limits } from '../../src/core/core.ts';
import { followingIn } from '../../src/core/follow-standing.ts';
import { deliverStep } from '../../src/core/message/deliver.ts';
import type { EventSenders } from '../../src/core/outbox/carrier.ts';
import { isRefused } from '../../src/core/outcome.ts';
import type { RideRules } from '../../src/core/port/ride.ts';
import type { Store } from '../../src/core/port/store.ts';
import { addProvider, type Credentials, type ProviderDraft } from '../../src/core/provider.ts';
import { Signals } from '../../src/core/signals.ts';
import { Timekeeper } from '../../src/core/timekeeper.ts';
import { nextTurn } from '../../src/core/turn.ts';
import type { Hasher } from '../../src/http/console/passwords.ts';
import { parseSharedAddresses, parseTrustedProxies } from '../../src/http/request/address.ts';
import {
  type RunningServer,
  type ServerOptions,
  type ServerSettings,
  startServer,
} from '../../src/http/server.ts';
import { makeWorker, type Worker } from '../../src/jobs/deliver.ts';
import { type Metrics, makeMetrics } from '../../src/monitor/metrics.ts';
import { Tallies } from '../../src/monitor/tallies.ts';
import { DATABASE_FILE } from '../../src/store/sqlite/file/open.ts';
import { ACT } from './actor.ts';
import { testAppliance, testUpstreams } from './appliance.ts';
import { WIDE_LIMITS } from './bounds.ts';
import { FakeClock } from './clock.ts';
import { emptyFile } from './database.ts';
import { emptyDatabase } from './empty-database.ts';
import { NO_RIDES } from './no-rides.ts';
import { FEW_CONNECTIONS, openPlace, type Place, STORE } from './place.ts';
import { freshDatabase, type TestDatabase } from './postgres-data.ts';
import { strictStore } from './strict-store.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export interface TestApp {
  core: Core;
  clock: FakeClock;
  /** The guard of the clock. Only a test that moves the two clocks apart calls it. */
  timekeeper: Timekeeper;
  log: Log;
  metrics: Metrics;
  url: string;
  /** The settings in force: a test may change them, as SIGHUP does. */
  settings: Writable<ServerSettings>;
  /** Everything logged so far, one line each. */
  logLines: string[];
  dataDir: string;
  /** Null: the data are a file in that folder. */
  database: TestDatabase | null;
  place: Place;
  /** Opens the same data once more, as another process has them. The caller closes the store. */
  openBeside(): Promise<Store>;
  /** Delivers everything that is due by the clock. */
  deliver(): Promise<void>;
  /** The worker, if it was asked for, as the bell rings it. */
  worker: Worker | null;
  server: RunningServer;
  /** The log will hold a fault with this reason. */
  expectFault(reason: string): void;
  /**
   * Makes the appliance what it was when it started: data, clock and log. For a file with many
   * short tests: to start an appliance takes longer than such a test. Throws as {@link close} does.
   */
  reset(): Promise<void>;
  /** Stops everything; throws if the log holds a fault that was not expected, or lacks one. */
  close(): Promise<void>;
}

/** Settings that a test may have otherwise. */
export interface TestAppOptions
  extends Partial<Omit<ServerOptions, 'settings'>>,
    Partial<ServerSettings> {
  /** A worker that wakes for every accepted call, as in the real appliance. */
  hasWorker?: boolean;
  /** A store that answers nothing at once. */
  isSlow?: boolean;
  /** A provider's limits that differ from {@link WIDE_LIMITS}. */
  bounds?: Partial<Limits>;
  /** What may ride on subscriptions; nothing by default. */
  rides?: RideRules;
  /** The public VAPID key; null: Web Push is not set up. */
  pushKey?: string | null;
  /** Data that are there already: migrated if they are older, removed with the appliance. */
  dataDir?: string;
}

/** A fresh folder under the system's temporary one. */
export function freshFolder(): string {
  return mkdtempSync(join(tmpdir(), 'gatepost-'));
}

/** Returns a fresh folder with an empty database. */
async function freshData(): Promise<string> {
  const dataDir = freshFolder();
  writeFileSync(join(dataDir, DATABASE_FILE), await emptyDatabase(), { mode: 0o600 });
  return dataDir;
}

/** Somewhere for a store of this run's kind; in `dataDir`, if it is given, is one of SQLite. */
export async function freshPlace(given?: string) {
  const isFile = STORE === 'sqlite' || given !== undefined;
  const database = isFile ? null : await freshDatabase();
  const dataDir = given ?? (isFile ? await freshData() : freshFolder());
  const place: Place = { dataDir, databaseUrl: database?.url ?? null };
  return {
    place,
    database,
    drop: async () => {
      await database?.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const OPENING = {
  create: true,
  migrates: true,
  commitBatchMax: 1024,
  connections: FEW_CONNECTIONS,
};

/** Settings of an appliance, unless a test has others. */
const USUAL: Writable<ServerSettings> = {
  outputOffsetMinutes: 180,
  trustedProxies: parseTrustedProxies([]),
  sharedAddresses: parseSharedAddresses([]),
  gateProxies: null,
  consoleBanner: undefined,
  authFailuresPerMinuteMax: 1_000_000,
  registrationsPerMinuteMax: 1_000_000,
  streamCountMax: 20_000,
  strangers: 'answer',
  ownHosts: [],
  pollSecondsMax: 60,
  legacyRc2Body: false,
  pingSecondsMax: 600,
  logRequests: false,
  gateKeyPaths: [],
  gateKey: 'plain',
  gateKeySecretFile: '',
  gatePanel: '',
  gatePanelUrl: '',
  gatePanelTokenFile: '',
  gatePanelAccountFile: '',
  gatePanelHeadersFile: '',
  gateRead: 'off',
  gateUpstreams: [],
  gateTexts: {},
  gateLanguage: 'en',
  gateRide: 'off',
  gateProviderIdFile: '',
  gateUpdateIntervalHours: 0,
  rideHosts: [],
  myPath: '/my',
  myUrl: '',
};

const hashOf = (password: string, salt: string) =>
  `${salt} ${Bun.SHA256.hash(`${salt} ${password}`, 'hex')}`;
/** Quick, because nobody attacks it. */
const HASHER: Hasher = {
  hash: async (password) => hashOf(password, crypto.randomUUID()),
  verify: async (password, hash) => hashOf(password, hash.split(' ')[0] ?? '') === hash,
};

/** Receivers of webhooks that take everything. */
const TAKING_ALL: EventSenders = {
  webhook: { concurrency: 1, spacingMs: 0, deliver: async () => ({ verdict: 'accepted' }) },
  telegram: { concurrency: 1, spacingMs: 0, deliver: async () => ({ verdict: 'accepted' }) },
};

function coreOn(
  { store, signals, leastMs, limits }: Pick<Core, 'leastMs' | 'limits' | 'signals' | 'store'>,
  pushKey: string | null,
  rides: RideRules,
): Core {
  return {
    store,
    limits,
    signals,
    actor: () => ACT.actor,
    gateways: () => [],
    rides: () => rides,
    leastMs,
    pushKey: () => pushKey,
  };
}

const LOGGING = { logFormat: 'json', logLevel: 'info' } as const;

/** Most panels of tests serve any key: they are not asked whether they serve made-up ones. */
const IS_NEVER_ASKED = false;

/** Makes the guard of a clock, and the clock by it, as a server has them. */
function guarded(clock: FakeClock) {
  const timekeeper = new Timekeeper(clock, '', () => {});
  const { leastMs, nowMs } = timekeeper;
  return { timekeeper, leastMs, ownClock: { ...clock, nowMs } };
}

/** Starts an appliance. `wrap` may put something around the store, such as a fault. */
export async function startTestApp(
  {
    hasWorker = false,
    dataDir: given,
    bounds = {},
    isSlow = false,
    pushKey = null,
    rides = NO_RIDES,
    ...options
  }: TestAppOptions = {},
  wrap: (core: Core) => Core = (core) => core,
): Promise<TestApp> {
  const { place, database, drop } = await freshPlace(given);
  const { dataDir } = place;
  const clock = new FakeClock();
  const logLines: string[] = [];
  const expectedFaults: string[] = [];
  const tallies = new Tallies();
  const { onCommit, onFigure, onDistributionEnd } = tallies;
  const signals = new Signals();
  const onOutbox = () => signals.outboxFilled();
  const onEnded = (deviceIds: readonly number[]) => signals.endedFor(deviceIds);
  const observers = { onCommit, onFigure, onOutbox, onEnded, onDistributionEnd };
  const { timekeeper, ownClock, leastMs } = guarded(clock);
  const opened = await openPlace(place, { ...OPENING, ...observers, clock, leastMs });
  const store = strictStore(tallies.counting(strictStore(opened)), { isSlow });
  const limits = { ...WIDE_LIMITS, ...bounds };
  const core = coreOn({ store, signals, leastMs, limits }, pushKey, rides);
  const onLine = (line: string) => logLines.push(line);
  const log = makeLog(LOGGING, clock.nowMs, onLine, tallies.onEvent);
  const served = wrap(core);
  const worker = hasWorker ? makeWorker(served, ownClock, log) : null;
  if (worker) core.signals.onWork(worker.wake);
  const settings = { ...USUAL, ...options };
  const server: RunningServer = await startServer({
    core: served,
    clock: ownClock,
    log,
    host: '127.0.0.1',
    port: 0,
    eventSenders: TAKING_ALL,
    hasher: HASHER,
    servesStrangers: async () => IS_NEVER_ASKED,
    appliance: testAppliance(testUpstreams(served, ownClock, log, settings)),
    ...options,
    settings,
  });
  const { nowMs } = clock;
  const startedAtMs = nowMs();
  const sources = { nowMs, startedAtMs, store: served.store, tallies, log };
  const absent = { certificateExpiresAtMs: () => null };
  const leap = () => timekeeper.leap();
  const following = () => followingIn(settings.gateUpstreams);
  const metrics = makeMetrics({ ...sources, ...absent, http: () => server, leap, following });
  return {
    core,
    clock,
    timekeeper,
    log,
    metrics,
    url: server.url,
    settings,
    logLines,
    dataDir,
    database,
    place,
    openBeside: () => openPlace(place, { clock }),
    deliver: async () => {
      while (await deliverStep(core, 'test', ownClock.nowMs())) await nextTurn();
    },
    worker,
    server,
    expectFault: (reason) => expectedFaults.push(reason),
    reset: async () => {
      // Counts in memory are of rows that go.
      await store.saveFigures();
      if (database === null) emptyFile(dataDir, await emptyDatabase());
      else await database.empty();
      clock.set(startedAtMs);
      const [lines, expected] = [logLines.splice(0), expectedFaults.splice(0)];
      checkFaults(lines, expected);
    },
    close: async () => {
      await server.stop();
      await worker?.stop();
      await store.close();
      await drop();
      checkFaults(logLines, expectedFaults);
    },
  };
}

/** A fault that nobody notices is a test that cannot fail. */
function checkFaults(logLines: readonly string[], expected: readonly string[]): void {
  const faults = logLines.filter((line) => line.includes('"level":"error"'));
  const strange = faults.filter((line) => !expected.some((reason) => line.includes(reason)));
  if (strange.length > 0) throw new Error(`faults that no test expects:\n${strange.join('\n')}`);
  const missing = expected.filter((reason) => !faults.some((line) => line.includes(reason)));
  if (missing.length > 0) throw new Error(`expected faults that did not come: ${missing}`);
}

/** Makes a provider; an active one on the highest plan unless `draft` says otherwise. */
export async function seedProvider(
  app: TestApp,
  draft: Partial<ProviderDraft> = {},
): Promise<Credentials> {
  const credentials = await addProvider(
    app.core,
    { name: 'test', plan: 'enterprise', activeUntilMs: null, installCountMax: null, ...draft },
    app.clock.nowMs(),
  );
  if (isRefused(credentials)) throw new Error(credentials.says);
  return credentials;
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server said; the tests look inside.
  json: any;
}

/** GETs a path with query parameters; credentials first, as clients do. */
export async function call(
  app: { url: string },
  path: string,
  credentials: Credentials | null,
  query: Record<string, string | number> = {},
  init: RequestInit = {},
): Promise<Reply> {
  const search = new URLSearchParams();
  if (credentials) {
    search.set('provider_code', credentials.code);
    search.set('auth_key', credentials.authKey);
  }
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  return read(await fetch(`${app.url}${path}?${search}`, init));
}

export async function read(response: Response): Promise<Reply> {
  const text = await response.text();
  let json: unknown = null;
  try {
    json = JSON.parse(text);
  } catch {
    // Not JSON: the test that expects JSON will say so.
  }
  return { status: response.status, headers: response.headers, text, json };
}
