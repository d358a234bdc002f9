/**
 * What `test/run.ts` runs: which files on which stores, which of them share a process, which begin.
 *
 * Short files of a folder share a process: to load the program takes each process 0.3 s of the
 * processor, as much as most of these files need for their tests. A file that is started alone
 * (`bun test ./test/FILE`) runs as it does here.
 */

import { LONG_FILES, LONG_ON_POSTGRES } from './long.ts';

type StoreKind = 'sqlite' | 'postgres';

/** Files of `make test-long` that run on both: those that end a server while it works. */
const LONG_ON_BOTH = new Set([
  'core/message/lane-model.test.ts',
  'core/message/registration-model.test.ts',
  'e2e/console-appliance.test.ts',
  'e2e/console-links.test.ts',
  'e2e/console-newcomer.test.ts',
  'e2e/console-rooms.test.ts',
  'e2e/delivery-kill.test.ts',
  'e2e/job-kill.test.ts',
  'e2e/leap.test.ts',
  'e2e/never-stale.test.ts',
  'e2e/outbox-kill.test.ts',
  'e2e/race.test.ts',
  'e2e/ride-soak.test.ts',
  'e2e/slot-life.test.ts',
  'kits/real-nginx.test.ts',
  'kits/real.test.ts',
]);
/** Folders whose files run on both, wherever they run. */
const FOLDERS_ON_BOTH = ['http/coverage/', 'store/contract/'];

/**
 * Files that wait most of their time for a timer, a deadline or a server that is down. They need
 * little of a processor, so that workers of their own run them beside all others.
 */
const WAITING = new Set([
  'cli/simulate.test.ts',
  'doctor/public.test.ts',
  'doctor/situations-serving.test.ts',
  'e2e/demo.test.ts',
  'e2e/monitor.test.ts',
  'e2e/outgoing-idle.test.ts',
  'e2e/outgoing-secrets.test.ts',
  'e2e/rolling.test.ts',
  'e2e/secrets-observed.test.ts',
  'e2e/secrets.test.ts',
  'e2e/stop.test.ts',
  'http/gate-panel.test.ts',
  'http/held-database.test.ts',
  'http/patience.test.ts',
  'http/slow.test.ts',
  'http/upstream/panel-limits.test.ts',
  'kits/c.test.ts',
  'kits/java.test.ts',
  'kits/typescript.test.ts',
  'outgoing/alone.test.ts',
  'outgoing/answer.test.ts',
  'outgoing/http2.test.ts',
  'outward.test.ts',
  'store/held-lock.test.ts',
  'store/postgres-database.test.ts',
  'store/postgres-faults.test.ts',
  'store/postgres-full-disk.test.ts',
  'store/postgres-held-lock.test.ts',
  'store/postgres-opening.test.ts',
  'store/postgres-outage.test.ts',
  'store/postgres-way.test.ts',
]);
/** Files that need a disk: they measure what is written to it. */
const ON_DISK = new Set(['e2e/outgoing-idle.test.ts']);

/** Folders whose short files share a process; those of the console share a browser too. */
const TOGETHER = new Set([
  ...['backup', 'call', 'cli', 'client', 'config', 'console', 'core', 'doctor', 'e2e', 'gateway'],
  ...['http', 'jobs', 'monitor', 'panel', 'store', 'tls', 'webhook'],
]);
/** Files of these folders with a process of their own: long ones, and what changes a schema. */
const ALONE = [
  /^backup\/(?:damage|forged)\./,
  /^cli\/(?:audit|backup|data|error-codes|provider|ready)\./,
  /^core\/(?:figures-day|model|slot-model)\./,
  /^core\/message\/(?:cancel|deliver-keep|deliver-lanes|deliver-model|lane-model|push-model)\./,
  /^core\/message\/registration-/,
  /^e2e\/(?:cap|crash|full-disk|import-panel-more|nodes|race|upstream|webhook)\./,
  /^e2e\/.*-(?:kill|soak)\./,
  /^http\/upstream\/(?:panel-limits|proxy|tokens)\./,
  /^panel\/panel-api\./,
  /^store\/(?:admission-rules|move|postgres-.*|upgrade)\./,
  /^store\/contract\/race-.*\./,
];
/** On PostgreSQL most files take three times as long. */
const FILES_TOGETHER_MAX: Readonly<Record<StoreKind, number>> = { sqlite: 16, postgres: 6 };

/** What begins first, in this order: the run must not end with one long file alone. */
const START_ORDER = [
  /^fuzz\//,
  /^kits\/(?:java|real)/,
  /^conformance\/planted/,
  /^(?:console|e2e|kits|guides)\//,
  /^(?:backup|core\/message|packaging)\//,
  /^(?:cli|http\/coverage|panel|store)\//,
];

/** The files of the tables above and of test/long.ts. */
export const NAMED_FILES: readonly string[] = [
  ...LONG_ON_BOTH,
  ...WAITING,
  ...ON_DISK,
  ...Object.keys(LONG_FILES),
  ...Object.keys(LONG_ON_POSTGRES),
];

/** Files that one process runs, one after the other. */
export interface Run {
  files: readonly string[];
  store: StoreKind;
  isWaiting: boolean;
  needsDisk: boolean;
}

/** Plans the runs of files, named from `test/`; without `isLong`, those of `make test`. */
export function planRuns(
  files: readonly string[],
  stores: readonly StoreKind[],
  isLong: boolean,
): Run[] {
  const sorted = files.toSorted().filter((file) => isLong || !(file in LONG_FILES));
  return stores
    .flatMap((store) => {
      return runsOn(
        store,
        sorted.filter((file) => store === 'sqlite' || isOnBoth(file, isLong)),
      );
    })
    .sort((a, b) => startRank(a) - startRank(b));
}

function runsOn(store: StoreKind, files: readonly string[]): Run[] {
  const runs: Run[] = [];
  /** By the first folder: the files of the run that more of them may join. */
  const open = new Map<string, string[]>();
  for (const file of files) {
    const isAlone = !isShort(file);
    const folder = folderOf(file);
    const joined = isAlone ? undefined : open.get(folder);
    if (joined !== undefined && joined.length < FILES_TOGETHER_MAX[store]) {
      joined.push(file);
      continue;
    }
    const own = [file];
    if (!isAlone) open.set(folder, own);
    runs.push({ files: own, store, isWaiting: WAITING.has(file), needsDisk: ON_DISK.has(file) });
  }
  return runs;
}

function isOnBoth(file: string, isLong: boolean): boolean {
  if (FOLDERS_ON_BOTH.some((folder) => file.startsWith(folder))) return true;
  return isLong && (file in LONG_ON_POSTGRES || LONG_ON_BOTH.has(file));
}

const folderOf = (file: string) => file.slice(0, file.indexOf('/'));

function isShort(file: string): boolean {
  return (
    TOGETHER.has(folderOf(file)) &&
    !WAITING.has(file) &&
    !ALONE.some((pattern) => pattern.test(file))
  );
}

function startRank({ files: [file = ''] }: Run): number {
  const rank = START_ORDER.findIndex((pattern) => pattern.test(file));
  return rank < 0 ? START_ORDER.length : rank;
}
