/**
 * Certificates from an ACME authority. One file in the data directory has key and chain; renewal.ts
 * decides when it is renewed. Processes on one data directory share file and lock.
 */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { messageOf, OperatorError } from '../base/operator-error.ts';
import { giveToOwnerOfFolder, makeOwnFolder } from '../base/permissions.ts';
import { takeLock } from '../disk/lock.ts';
import { type Certificate, type CertificateFiles, readCertificate, utc } from './certificate.ts';
import type { Prover } from './challenge.ts';
import {
  makeKey,
  ORDER_TIME_MAX_MS,
  type OrderOptions,
  orderCertificate,
  within,
} from './order.ts';
import { Renewal, renewalId } from './renewal.ts';

export interface AcmeOptions extends Omit<OrderOptions, 'accountKey' | 'replaces'> {
  /** A folder in the data directory. */
  folder: string;
  prover: Prover;
  clock: Clock;
  log: Log;
  order?: typeof orderCertificate;
  /** The time limit of an order, ms; less for tests. */
  orderTimeMaxMs?: number;
  /** The time limit of a question about a renewal, ms; less for tests. */
  questionTimeMaxMs?: number;
}

export interface Acme {
  files: CertificateFiles;
  /** Returns the stored or first certificate. Throws {@link OperatorError} if stopped before. */
  first(): Promise<Certificate>;
  /** Orders a new certificate if it is due. Never throws; logs a failure and retries later. */
  renewIfDue(): Promise<void>;
  /** Ends the work in progress, hooks included, and abandons an order. */
  stop(): Promise<void>;
}

/** The pause after a failure, ms, doubled each time: public authorities allow five an hour. */
const FIRST_PAUSE_MS = 5 * 60_000;
const LONGEST_PAUSE_MS = 6 * 3_600_000;
/**
 * The pause after a renewal, ms: an authority whose windows are always past, or a clock that is
 * ahead, must not cause an order each minute.
 */
const RENEWED_PAUSE_MS = 6 * 3_600_000;
/** The interval at which a start checks for a certificate, ms. */
const FIRST_CHECK_MS = 1_000;

export function makeAcme(options: AcmeOptions): Acme {
  const { folder, domains, directory, prover, clock, log, order = orderCertificate } = options;
  makeOwnFolder(folder);
  const path = certificatePath(options);
  const renewal = new Renewal(directory, options.questionTimeMaxMs);
  const accountPath = join(folder, `account-${idOf(directory)}.pem`);
  const files = { certificate: path, key: path };
  let failures = 0;
  // The pause without attempts. If the clock was set back to before its start, the pause does not
  // apply.
  let pause = { fromMs: 0, untilMs: 0 };
  let renewing: Promise<void> | null = null;
  const stopping = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    const stop = () => reject(new OperatorError('the server stops'));
    stopping.signal.addEventListener('abort', stop);
  });
  // The stop may come while no promise waits for it.
  stopped.catch(() => {});

  function held(): Certificate | null {
    try {
      return existsSync(path) ? readCertificate(files, clock.nowMs()) : null;
    } catch (error) {
      // Expired while the program was off, or damaged: a new one replaces it.
      if (error instanceof OperatorError) return null;
      throw error;
    }
  }

  async function isDue(): Promise<boolean> {
    const certificate = held();
    if (certificate === null) return true;
    const dueAtMs = await Promise.race([renewal.dueAtMs(certificate, clock.nowMs()), stopped]);
    return clock.nowMs() >= dueAtMs;
  }

  async function orderNow(): Promise<void> {
    // Another process may have renewed it.
    if (!(await isDue())) return;
    log.info('certificate_ordered', { names: domains.join(','), challenge: prover.type });
    // By a draft: a reader must never see a partial file.
    if (!existsSync(accountPath)) renameSync(writeDraft(accountPath, await makeKey()), accountPath);
    const accountKey = readFileSync(accountPath, 'utf8');
    const last = held();
    const replaces = last && renewalId(last);
    const timeMaxMs = options.orderTimeMaxMs ?? ORDER_TIME_MAX_MS;
    const ordered = within(timeMaxMs, order({ ...options, accountKey, replaces }));
    const { expiresAtMs } = save(await Promise.race([ordered, stopped]));
    log.info('certificate_issued', { names: domains.join(','), expires: utc(expiresAtMs) });
    if (last !== null) pauseFor(RENEWED_PAUSE_MS);
  }

  function pauseFor(ms: number): void {
    const fromMs = clock.nowMs();
    pause = { fromMs, untilMs: fromMs + ms };
  }

  /** Replaces the file after reading the new one back. Throws if it is no valid pair. */
  function save(pem: string): Certificate {
    const draft = writeDraft(path, pem);
    try {
      const certificate = readCertificate({ certificate: draft, key: draft }, clock.nowMs());
      renameSync(draft, path);
      return certificate;
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
  }

  async function attempt(): Promise<void> {
    try {
      if (!(await isDue())) return;
      const release = takeLock(join(folder, 'lock'), 'exclusive', 0);
      // Null: another process orders.
      if (release === null) return;
      await orderNow().finally(release);
      failures = 0;
      rmSync(failurePath(path), { force: true });
    } catch (error) {
      if (stopping.signal.aborted) return;
      failures += 1;
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
      pauseFor(pauseMs);
      const { fromMs: atMs, untilMs: nextTryMs } = pause;
      const reason = messageOf(error);
      log.error('certificate_not_issued', { reason, next_try: utc(nextTryMs) });
      keepFailure({ reason, atMs, nextTryMs });
    }
  }

  function keepFailure(failure: Failure): void {
    try {
      renameSync(writeDraft(failurePath(path), JSON.stringify(failure)), failurePath(path));
    } catch (fault) {
      // A full disk may be why it failed.
      log.error('certificate_fault', { reason: messageOf(fault) });
    }
  }

  async function renewIfDue(): Promise<void> {
    if (renewing || stopping.signal.aborted) return renewing ?? undefined;
    const nowMs = clock.nowMs();
    if (nowMs >= pause.fromMs && nowMs < pause.untilMs) return;
    renewing = attempt().finally(() => {
      renewing = null;
    });
    await renewing;
  }

  return {
    files,
    renewIfDue,
    first: async () => {
      for (;;) {
        const certificate = held();
        if (certificate) return certificate;
        await renewIfDue();
        if (held() === null) await Promise.race([clock.sleep(FIRST_CHECK_MS), stopped]);
      }
    },
    stop: async () => {
      stopping.abort();
      await prover.stop();
      await renewing;
    },
  };
}

/** Writes a draft beside `path` and returns its path. */
function writeDraft(path: string, text: string): string {
  const draft = `${path}.new`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  giveToOwnerOfFolder(draft);
  return draft;
}

/** Returns the file of a certificate: each set of names and each authority has its own. */
export function certificatePath(of: Pick<AcmeOptions, 'folder' | 'domains' | 'directory'>): string {
  return join(of.folder, `certificate-${idOf(of.directory, ...of.domains.toSorted())}.pem`);
}

/** The last attempt, if it failed; for the doctor. */
export interface Failure {
  reason: string;
  atMs: number;
  nextTryMs: number;
}

/** Returns the file of the failed attempt beside a certificate. */
const failurePath = (path: string) => `${path}.failed`;

/** Reads the failed attempt beside a certificate; null: the last one did not fail. */
export function failureOf(path: string): Failure | null {
  try {
    return JSON.parse(readFileSync(failurePath(path), 'utf8')) as Failure;
  } catch {
    return null;
  }
}

function idOf(...words: string[]): string {
  return createHash('sha256').update(words.join('\n')).digest('hex').slice(0, 12);
}
