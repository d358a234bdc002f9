/** Serves the certificate in files; checks them when they change, and each minute. */

import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { type Log, reasonOf } from '../base/log.ts';
import { OperatorError } from '../base/operator-error.ts';
import { type Certificate, type CertificateFiles, readCertificate, utc } from './certificate.ts';

/** The time before the end of a certificate at which warnings begin, ms … */
const WARN_MS = 14 * 86_400_000;
/** … or this part of its lifetime, if that is shorter. */
const WARN_PART = 1 / 4;
/** The interval of the warnings, ms. */
const WARN_INTERVAL_MS = 86_400_000;
/** The time for a change to settle, ms: the two files are written one after the other. */
const SETTLE_MS = 300;

/** Returns when warnings about the end of a certificate begin, UTC ms. */
export function warningTimeMs({ startsAtMs, expiresAtMs }: Certificate): number {
  return expiresAtMs - Math.min(WARN_MS, (expiresAtMs - startsAtMs) * WARN_PART);
}

interface KeeperDeps {
  files: CertificateFiles;
  /** The certificate that is served at the start. */
  first: Certificate;
  clock: Clock;
  log: Log;
  /** Serves another certificate. */
  use(certificate: Certificate): Promise<void>;
}

export class CertificateKeeper {
  current: Certificate;
  readonly #watchers: FSWatcher[];
  #checking: Promise<void> | null = null;
  /** The reason of the last refusal, so that it is not logged each minute. */
  #refusal = '';
  #warnedMs = Number.NEGATIVE_INFINITY;
  #isSettling = false;
  #isStopped = false;

  constructor(private readonly deps: KeeperDeps) {
    this.current = deps.first;
    const folders = new Set([deps.files.certificate, deps.files.key].map((path) => dirname(path)));
    this.#watchers = [...folders].flatMap((folder) => this.#watch(folder));
  }

  /** Serves the certificate in the files if it has changed and is valid; logs an invalid one. */
  async check(): Promise<void> {
    // The check in progress may have read the files before the caller's change.
    while (this.#checking) await this.#checking;
    this.#checking = this.#checkOnce().finally(() => {
      this.#checking = null;
    });
    await this.#checking;
  }

  /** Starts no further change from now on; waits for the one in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const watcher of this.#watchers) watcher.close();
    await this.#checking;
  }

  async #checkOnce(): Promise<void> {
    if (this.#isStopped) return;
    const { files, clock, log, use } = this.deps;
    const nowMs = clock.nowMs();
    try {
      const found = readCertificate(files, nowMs);
      if (found.fingerprint !== this.current.fingerprint || found.cert !== this.current.cert) {
        await use(found);
        this.current = found;
        this.#warnedMs = Number.NEGATIVE_INFINITY;
        const { names, expiresAtMs } = found;
        log.info('certificate_changed', { names: names.join(','), expires: utc(expiresAtMs) });
      }
      this.#refusal = '';
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      if (error.message !== this.#refusal) {
        log.error('certificate_refused', { reason: error.message });
      }
      this.#refusal = error.message;
    }
    this.#warnOfEnd(nowMs);
  }

  #warnOfEnd(nowMs: number): void {
    const { expiresAtMs, names } = this.current;
    const isEarly = nowMs < warningTimeMs(this.current);
    if (isEarly || nowMs - this.#warnedMs < WARN_INTERVAL_MS) return;
    this.#warnedMs = nowMs;
    const days = Math.floor((expiresAtMs - nowMs) / 86_400_000);
    this.deps.log.warn('certificate_expires', {
      names: names.join(','),
      expires: utc(expiresAtMs),
      days,
    });
  }

  /** Watches the folder, not the file: a renewal replaces the file or link. */
  #watch(folder: string): FSWatcher[] {
    try {
      const watcher = watch(folder, { persistent: false }, () => void this.#settle());
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch {
      // The system has no more watches; the check each minute remains.
      return [];
    }
  }

  async #settle(): Promise<void> {
    if (this.#isSettling) return;
    this.#isSettling = true;
    await this.deps.clock.sleep(SETTLE_MS);
    this.#isSettling = false;
    await this.check().catch((fault: unknown) => {
      this.deps.log.error('certificate_fault', { reason: reasonOf(fault) });
    });
  }
}
