/** The report of a fault, which its reader may paste in public: it holds no name and no secret. */

import { readFileSync } from 'node:fs';
import { arch, release, totalmem } from 'node:os';
import type { Finding } from '../base/finding.ts';
import { COMMIT, VERSION } from '../base/version.ts';
import { notedMonitor } from '../base/whereabouts.ts';
import { mib } from '../disk/room.ts';

/** Warnings or errors that the running server wrote into its log. */
interface LoggedEvent {
  level: string;
  event: string;
  count: number;
}

export interface Report {
  version: string;
  commit: string;
  bun: string;
  /** The kernel and the processor. */
  platform: string;
  /** The distribution; empty: unknown. */
  system: string;
  processors: number;
  memory_mib: number;
  store: 'sqlite' | 'postgres';
  /** The settings that differ from their defaults. */
  settings: { key: string; value: string }[];
  /** Rows by table; empty: the database cannot be read. */
  counts: Readonly<Record<string, number>>;
  findings: readonly Finding[];
  /** By the monitor of the running server; empty: none runs, or it wrote none. */
  log: LoggedEvent[];
}

/** The parts that the caller knows; texts have no names any more. */
type Known = Pick<Report, 'counts' | 'findings' | 'settings' | 'store'> & { dataDir: string };

export async function makeReport({ dataDir, ...known }: Known): Promise<Report> {
  return {
    version: VERSION,
    commit: COMMIT,
    bun: Bun.version,
    platform: `${process.platform} ${release()} ${arch()}`,
    system: /^PRETTY_NAME="?([^"\n]*)/m.exec(read('/etc/os-release'))?.[1] ?? '',
    processors: navigator.hardwareConcurrency,
    memory_mib: mib(totalmem()),
    ...known,
    log: await loggedEvents(dataDir),
  };
}

const ANSWER_MAX_MS = 2_000;
const EVENT = /^gatepost_log_events_total\{level="(\w+)",event="(\w+)"\} (\d+)$/gm;

/** Reads the counts of warnings and errors from the monitor of the server. */
async function loggedEvents(dataDir: string): Promise<LoggedEvent[]> {
  const url = notedMonitor(dataDir);
  if (url === null) return [];
  const signal = AbortSignal.timeout(ANSWER_MAX_MS);
  const answer = await fetch(`${url}/metrics`, { signal }).catch(() => null);
  const text = (await answer?.text().catch(() => '')) ?? '';
  return [...text.matchAll(EVENT)]
    .map(([, level = '', event = '', count]) => ({ level, event, count: Number(count) }))
    .filter(({ count }) => count > 0);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
