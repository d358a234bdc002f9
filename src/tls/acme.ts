/**
 * Certificates from an ACME authority: one file of key and chain in the data directory, renewed
 * when two thirds of its life are over. Processes on one data directory share file and lock.
 */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { takeLock } from '../disk/lock.ts';
import type { Log } from '../log.ts';
import { messageOf, OperatorError } from '../operator-error.ts';
import { giveToOwnerOfFolder, makeOwnFolder } from '../permissions.ts';
import { type Certificate, type CertificateFiles, readCertificate, utc } from './certificate.ts';
import type { Prover } from './challenge.ts';
import { makeKey, type OrderOptions, orderCertificate } from './order.ts';

export interface AcmeOptions extends Omit<OrderOptions, 'accountKey'> {
  /** Folder of its own in the data directory. */
  folder: string;
  prover: Prover;
  clock: Clock;
  log: Log;
  order?: typeof orderCertificate;
}

export interface Acme {
  files: CertificateFiles;
  /**
   * Waits for the first certificate, if there is none to start with. Throws {@link OperatorError}
   * when it is stopped before.
   */
  first(): Promise<Certificate>;
  /** Asks for another if it is time. Never throws; a failure is logged, and retried later. */
  renewIfDue(): Promise<void>;
  /** Ends the work under way, hooks included; an order at an authority is given up. */
  stop(): Promise<void>;
}

/**
 * Pause after a failed attempt, ms, doubled each time: public authorities forgive five failures an
 * hour.
 */
const FIRST_PAUSE_MS = 5 * 60_000;
const LONGEST_PAUSE_MS = 6 * 3_600_000;
/** Interval at which a start looks for a certificate, ms. */
const FIRST_LOOK_MS = 1_000;
/** Renewals begin when this part of the life is left … */
const LEFT = 1 / 3;
/** … or up to this part of it earlier, so that many servers do not come at once. */
const JITTER = 1 / 20;

/** Time of a certificate's renewal, UTC ms; always the same for the same one. */
export function renewalTimeMs({ startsAtMs, expiresAtMs, fingerprint }: Certificate): number {
  const lifeMs = expiresAtMs - startsAtMs;
  const part = Number.parseInt(fingerprint.slice(0, 8), 16) / 0x1_0000_0000;
  return Math.round(expiresAtMs - lifeMs * (LEFT + JITTER * part));
}

export function makeAcme(options: AcmeOptions): Acme {
  const { folder, domains, directory, prover, clock, log, order = orderCertificate } = options;
  makeOwnFolder(folder);
  // Other names, or another authority, are another certificate.
  const path = join(folder, `certificate-${idOf(directory, ...domains.toSorted())}.pem`);
  const accountPath = join(folder, `account-${idOf(directory)}.pem`);
  const files = { certificate: path, key: path };
  let failures = 0;
  let nextTryMs = Number.NEGATIVE_INFINITY;
  let renewing: Promise<void> | null = null;
  const stopping = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    const stop = () => reject(new OperatorError('the server stops'));
    stopping.signal.addEventListener('abort', stop);
  });
  // The stop may come when nobody waits for it.
  stopped.catch(() => {});

  function held(): Certificate | null {
    try {
      return existsSync(path) ? readCertificate(files, clock.nowMs()) : null;
    } catch (error) {
      // Expired while the program was off, or damaged: another takes its place.
      if (error instanceof OperatorError) return null;
      throw error;
    }
  }

  function isDue(): boolean {
    const certificate = held();
    return certificate === null || clock.nowMs() >= renewalTimeMs(certificate);
  }

  async function orderNow(): Promise<void> {
    // Another process may have been quicker.
    if (!isDue()) return;
    log.info('certificate_ordered', { names: domains.join(','), challenge: prover.type });
    if (!existsSync(accountPath)) writeWhole(accountPath, await makeKey());
    const accountKey = readFileSync(accountPath, 'utf8');
    const { expiresAtMs } = takeUp(
      await Promise.race([order({ ...options, accountKey }), stopped]),
    );
    log.info('certificate_issued', { names: domains.join(','), expires: utc(expiresAtMs) });
  }

  /** The present file stays until the new one has been read back and found good. */
  function takeUp(pem: string): Certificate {
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
      const release = takeLock(join(folder, 'lock'), 'exclusive', 0);
      // Null: another process is asking.
      if (release !== null) await orderNow().finally(release);
      failures = 0;
    } catch (error) {
      if (stopping.signal.aborted) return;
      failures += 1;
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
      nextTryMs = clock.nowMs() + pauseMs;
      const reason = messageOf(error);
      log.error('certificate_not_issued', { reason, next_try: utc(nextTryMs) });
    }
  }

  async function renewIfDue(): Promise<void> {
    if (renewing || stopping.signal.aborted) return renewing ?? undefined;
    if (clock.nowMs() < nextTryMs || !isDue()) return;
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
        if (held() === null) await Promise.race([clock.sleep(FIRST_LOOK_MS), stopped]);
      }
    },
    stop: async () => {
      stopping.abort();
      await prover.stop();
      await renewing;
    },
  };
}

/** Writes all of a file or nothing, also in the eyes of a reader meanwhile. */
function writeWhole(path: string, text: string): void {
  renameSync(writeDraft(path, text), path);
}

/** Writes a draft of `path` beside it, and returns its name. */
function writeDraft(path: string, text: string): string {
  const draft = `${path}.new`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  giveToOwnerOfFolder(draft);
  return draft;
}

function idOf(...words: string[]): string {
  return createHash('sha256').update(words.join('\n')).digest('hex').slice(0, 12);
}
