/** Serves the certificate in the operator's files: looks when they change, and each minute. */

import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../clock.ts';
import { type Log, reasonOf } from '../log.ts';
import { OperatorError } from '../operator-error.ts';
import { type Certificate, type CertificateFiles, readCertificate, utc } from './certificate.ts';

/** Time before its end from which a certificate is warned of, ms … */
export const WARN_MS = 14 * 86_400_000;
/** … but for those that never live long, this part of their life. */
const WARN_PART = 1 / 4;
/** Interval of the warnings, ms. */
const WARN_INTERVAL_MS = 86_400_000;
/** Time that a change has to settle, ms: two files are written one after the other. */
const SETTLE_MS = 300;

interface KeeperDeps {
  files: CertificateFiles;
  /** Certificate that is served. */
  first: Certificate;
  clock: Clock;
  log: Log;
  /** Function that serves another. */
  use(certificate: Certificate): Promise<void>;
}

export class CertificateKeeper {
  readonly #deps: KeeperDeps;
  readonly #watchers: FSWatcher[];
  #current: Certificate;
  #looking: Promise<void> | null = null;
  /** Reason of the last refusal; the same is not logged each minute. */
  #refusal = '';
  #warnedMs = Number.NEGATIVE_INFINITY;
  #isSettling = false;
  #isStopped = false;

  constructor(deps: KeeperDeps) {
    this.#deps = deps;
    this.#current = deps.first;
    const folders = new Set([deps.files.certificate, deps.files.key].map((path) => dirname(path)));
    this.#watchers = [...folders].flatMap((folder) => this.#watch(folder));
  }

  get current(): Certificate {
    return this.#current;
  }

  /** Serves the certificate in the files, if it is another and a good one. A bad one is logged. */
  async look(): Promise<void> {
    // A caller during a look wants one that begins now.
    while (this.#looking) await this.#looking;
    this.#looking = this.#lookOnce().finally(() => {
      this.#looking = null;
    });
    await this.#looking;
  }

  /** Serves nothing any more from the moment of the call; waits for a change under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const watcher of this.#watchers) watcher.close();
    await this.#looking;
  }

  async #lookOnce(): Promise<void> {
    if (this.#isStopped) return;
    const { files, clock, log, use } = this.#deps;
    const nowMs = clock.nowMs();
    try {
      const found = readCertificate(files, nowMs);
      if (found.fingerprint !== this.#current.fingerprint || found.cert !== this.#current.cert) {
        await use(found);
        this.#current = found;
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
    const { startsAtMs, expiresAtMs, names } = this.#current;
    const leftMs = expiresAtMs - nowMs;
    const warnMs = Math.min(WARN_MS, (expiresAtMs - startsAtMs) * WARN_PART);
    if (leftMs > warnMs || nowMs - this.#warnedMs < WARN_INTERVAL_MS) return;
    this.#warnedMs = nowMs;
    const days = Math.floor(leftMs / 86_400_000);
    this.#deps.log.warn('certificate_expires', {
      names: names.join(','),
      expires: utc(expiresAtMs),
      days,
    });
  }

  /** Watches the folder, not the file: a renewal puts another file, or link, in its place. */
  #watch(folder: string): FSWatcher[] {
    try {
      const watcher = watch(folder, { persistent: false }, () => void this.#settle());
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch {
      // The system has no more watches: the look each minute remains.
      return [];
    }
  }

  async #settle(): Promise<void> {
    if (this.#isSettling) return;
    this.#isSettling = true;
    await this.#deps.clock.sleep(SETTLE_MS);
    this.#isSettling = false;
    await this.look().catch((fault: unknown) => {
      this.#deps.log.error('certificate_fault', { reason: reasonOf(fault) });
    });
  }
}
