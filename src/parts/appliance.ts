/** Collects the facts of this process for the operator's pages, and runs checks beside it. */

import type { Histogram } from '../base/counts.ts';
import type { Finding } from '../base/finding.ts';
import { type Log, reasonOf } from '../base/log.ts';
import { VERSION } from '../base/version.ts';
import type { Appliance, AuditCheck, Checkup } from '../call/appliance.ts';
import type { LoadedConfig } from '../config/load.ts';
import { shownSettings } from '../config/render.ts';
import { isRecord } from '../core/json-input.ts';
import { processFacts } from '../monitor/process.ts';
import type { Readiness } from '../monitor/readiness.ts';
import type { Ended, RunOwn } from './own-program.ts';

/** Time for a check: the doctor waits 3 s for a panel, the audit log may have millions of rows. */
const CHECK_TIME_MAX_MS = 120_000;
/** A delay of the event loop above it is late, s. */
const LATE_SECONDS = 0.1;

export interface ApplianceParts {
  /** The current settings. */
  loaded(): LoadedConfig;
  node: string;
  startedAtMs: number;
  readiness: Pick<Readiness, 'problem'>;
  loopLagSeconds: Histogram;
  certificateExpiresAtMs(): number | null;
  run: RunOwn;
  pushSender: Appliance['pushSender'];
  upstreams: Appliance['upstreams'];
  backups: Appliance['backups'];
  log: Log;
  /** Aborts when the server stops. */
  stopping: AbortSignal;
}

export function makeAppliance(parts: ApplianceParts): Appliance {
  const { loaded, loopLagSeconds, node, readiness, startedAtMs } = parts;
  return {
    settings: () => ({ file: loaded().file, rows: shownSettings(loaded()) }),
    state: async () => {
      const { openFiles, openFilesMax, residentBytes } = await processFacts();
      return {
        version: VERSION,
        node,
        startedAtMs,
        residentBytes,
        openFiles,
        openFilesMax,
        notReady: (await readiness.problem())?.detail ?? null,
        ...lagOf(loopLagSeconds),
        certificateEndsAtMs: parts.certificateExpiresAtMs(),
        isDatabaseFile: loaded().config.databaseUrl === null,
      };
    },
    pushSender: parts.pushSender,
    backups: parts.backups,
    upstreams: parts.upstreams,
    doctor: checkup(parts, ['doctor', '--names'], findingsIn),
    auditCheck: checkup(parts, ['audit', 'verify'], auditCheckIn),
  };
}

/**
 * Returns the 99th percentile of the delays, the number of late ones, and of all; null: the
 * percentile is above the last bound.
 */
export function lagOf({ bounds, counts }: Histogram) {
  const loopCount = counts.reduce((sum, count) => sum + count, 0);
  let left = loopCount * 0.99;
  const at = counts.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
  const late = counts.filter((_, n) => (bounds[n - 1] ?? 0) >= LATE_SECONDS);
  return {
    loopLagSeconds: bounds[at] ?? null,
    loopCount,
    loopLateCount: late.reduce((sum, count) => sum + count, 0),
  };
}

/** Returns the flags by which a command gets the settings of the server. */
export const serverFlags = ({ config, file }: LoadedConfig) => [
  ...['--data', config.dataDir, '--config', file ?? 'none'],
];

/**
 * Makes a check from a command; `read` parses its result, and returns null if the command failed.
 */
export function checkup<T>(
  parts: Pick<ApplianceParts, 'loaded' | 'run' | 'log' | 'stopping'>,
  words: readonly string[],
  read: (ended: Ended) => T | null,
): Checkup<T> {
  let last: { atMs: number; result: T } | null = null;
  let running: Promise<T | null> | null = null;

  async function work(nowMs: number): Promise<T | null> {
    const flags = ['--json', ...serverFlags(parts.loaded())];
    const signal = AbortSignal.any([parts.stopping, AbortSignal.timeout(CHECK_TIME_MAX_MS)]);
    try {
      const ended = await parts.run([...words, ...flags], signal);
      const result = ended.exitCode === null ? null : read(ended);
      if (result !== null) last = { atMs: nowMs, result };
      return result;
    } catch (fault) {
      parts.log.warn('check_failed', { check: words.join(' '), reason: reasonOf(fault) });
      return null;
    }
  }

  return {
    last: () => last,
    run: (nowMs) => {
      running ??= work(nowMs).finally(() => {
        running = null;
      });
      return running;
    },
  };
}

/** Parses the output of `gatepost doctor --json`, which exits with 1 if there is a problem. */
export function findingsIn({ printed }: Ended): readonly Finding[] | null {
  const read: unknown = printed === '' ? null : JSON.parse(printed);
  const findings = isRecord(read) ? read['findings'] : null;
  return Array.isArray(findings) ? (findings as Finding[]) : null;
}

/** Parses the output of `gatepost audit verify --json`; a broken chain is an error. */
export function auditCheckIn({ complaint, exitCode, printed }: Ended): AuditCheck | null {
  const read: unknown = JSON.parse(exitCode === 0 ? printed : complaint);
  if (!isRecord(read)) return null;
  const { entries, error, head } = read;
  if (exitCode === 0) return { count: Number(entries), head: headIn(head), problem: null };
  if (!isRecord(error) || error['code'] !== 'audit_not_verified') return null;
  return { count: 0, head: null, problem: String(error['message']) };
}

const headIn = (head: unknown) => (typeof head === 'string' ? head : null);
