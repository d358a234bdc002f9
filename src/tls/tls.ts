/** TLS of `gatepost serve`: none, files of the operator, or ACME. */

import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { type Log, reasonOf } from '../base/log.ts';
import { OperatorError } from '../base/operator-error.ts';
import { makeOwnFolder } from '../base/permissions.ts';
import { type Acme, certificatePath, type Failure, failureOf, makeAcme } from './acme.ts';
import { type Certificate, type CertificateFiles, readCertificate } from './certificate.ts';
import { makeDnsProver, makeHttpProver } from './challenge.ts';
import { CertificateKeeper } from './keeper.ts';

/** The folder of ACME in the data directory. */
const ACME_FOLDER = 'acme';

export interface TlsSettings {
  readonly dataDir: string;
  readonly host: string;
  readonly tlsCertificate: string;
  readonly tlsKey: string;
  readonly acmeDomains: readonly string[];
  readonly acmeEmail: string;
  readonly acmeDirectory: string;
  readonly acmeProfile: string;
  readonly acmeChallenge: 'http-01' | 'dns-01';
  readonly acmeHttpPort: number;
  readonly acmeDnsHook: string;
  readonly acmeEabKid: string;
  readonly acmeEabKey: string;
}

interface Tls {
  /** The certificate to start with. */
  first: Certificate;
  /** Passes every later certificate to `use`, from now on. */
  begin(use: (certificate: Certificate) => Promise<void>): void;
  /** Checks for another certificate now; once a minute is often enough. Never throws. */
  check(): Promise<void>;
  /** Returns when the served certificate ends, UTC ms. */
  expiresAtMs(): number;
  stop(): Promise<void>;
}

/**
 * Starts TLS; null: plain HTTP. With ACME it may wait for the first certificate, until `signal`.
 * Throws {@link OperatorError} for conflicting settings, for files that cannot be served, and when
 * the wait was aborted.
 */
export async function startTls(
  settings: TlsSettings,
  clock: Clock,
  log: Log,
  signal?: AbortSignal,
): Promise<Tls | null> {
  const first = operatorCertificate(settings, clock.nowMs());
  if (first !== null) return keep(operatorFiles(settings), first, null, clock, log);
  if (settings.acmeDomains.length === 0) return null;
  const acme = openAcme(settings, clock, log);
  const stop = () => void acme.stop();
  signal?.addEventListener('abort', stop);
  try {
    return keep(acme.files, await acme.first(), acme, clock, log);
  } catch (error) {
    await acme.stop();
    throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/**
 * Reads the certificate in the operator's files; null: no files are set. Throws
 * {@link OperatorError} if a server could not start with these settings.
 */
export function operatorCertificate(settings: TlsSettings, nowMs: number): Certificate | null {
  checkSettings(settings);
  return settings.tlsCertificate === '' ? null : readCertificate(operatorFiles(settings), nowMs);
}

/** The files of ACME in the data directory: the certificate, and the last attempt if it failed. */
export interface AcmeState {
  /** The certificate; null: there is none yet, or none that is valid. */
  certificate: Certificate | null;
  /** Why the existing certificate cannot be served, such as its expiry. */
  problem: string | null;
  failure: Failure | null;
}

/** Reads the state of ACME; null: not configured. */
export function acmeState(settings: TlsSettings, nowMs: number): AcmeState | null {
  const { acmeDirectory: directory, acmeDomains: domains, dataDir } = settings;
  if (domains.length === 0) return null;
  const path = certificatePath({ folder: join(dataDir, ACME_FOLDER), domains, directory });
  const failure = failureOf(path);
  if (!existsSync(path)) return { certificate: null, problem: null, failure };
  try {
    const certificate = readCertificate({ certificate: path, key: path }, nowMs);
    return { certificate, problem: null, failure };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return { certificate: null, problem: error.message, failure };
  }
}

function operatorFiles({ tlsCertificate: certificate, tlsKey: key }: TlsSettings) {
  return { certificate, key };
}

function checkSettings(settings: TlsSettings): void {
  const { tlsCertificate, tlsKey, acmeDomains, acmeChallenge, acmeDnsHook } = settings;
  if ((tlsCertificate === '') !== (tlsKey === '')) {
    throw new OperatorError('set both tls.certificate and tls.key, or neither');
  }
  if (acmeDomains.length === 0) return;
  if (tlsCertificate !== '') {
    throw new OperatorError('set either tls.certificate or acme.domains, not both');
  }
  if (acmeChallenge === 'dns-01' && acmeDnsHook === '') {
    throw new OperatorError('acme.challenge dns-01 needs acme.dns_hook');
  }
  const address = acmeDomains.find((name) => isIP(name) !== 0);
  if (acmeChallenge === 'dns-01' && address) {
    throw new OperatorError(`acme.challenge must be http-01 for ${address}`);
  }
  const wildcard = acmeDomains.find((domain) => domain.startsWith('*.'));
  if (acmeChallenge === 'http-01' && wildcard) {
    throw new OperatorError(`acme.challenge must be dns-01 for ${wildcard}`);
  }
}

function openAcme(settings: TlsSettings, clock: Clock, log: Log): Acme {
  const { acmeChallenge, acmeDnsHook, acmeHttpPort: port, acmeDomains: domains, host } = settings;
  const folder = join(settings.dataDir, ACME_FOLDER);
  makeOwnFolder(folder);
  const challenges = join(folder, 'challenges');
  return makeAcme({
    folder,
    domains,
    directory: settings.acmeDirectory,
    profile: settings.acmeProfile,
    email: settings.acmeEmail,
    eabKid: settings.acmeEabKid,
    eabKey: settings.acmeEabKey,
    prover:
      acmeChallenge === 'dns-01'
        ? makeDnsProver(acmeDnsHook)
        : makeHttpProver({ folder: challenges, host, port, domains, log }),
    clock,
    log,
  });
}

function keep(
  files: CertificateFiles,
  first: Certificate,
  acme: Acme | null,
  clock: Clock,
  log: Log,
): Tls {
  let keeper: CertificateKeeper | null = null;
  const check = async () => {
    try {
      await acme?.renewIfDue();
      await keeper?.check();
    } catch (fault) {
      log.error('certificate_fault', { reason: reasonOf(fault) });
    }
  };
  return {
    first,
    begin: (use) => {
      keeper = new CertificateKeeper({ files, first, clock, log, use });
      void check();
    },
    check,
    expiresAtMs: () => (keeper?.current ?? first).expiresAtMs,
    stop: async () => {
      await Promise.all([keeper?.stop(), acme?.stop()]);
    },
  };
}
