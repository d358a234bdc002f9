/** TLS of `gatepost serve`: none, files of the operator's, or ACME. */

import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { type Log, reasonOf } from '../log.ts';
import { OperatorError } from '../operator-error.ts';
import { makeOwnFolder } from '../permissions.ts';
import { type Acme, makeAcme } from './acme.ts';
import { type Certificate, type CertificateFiles, readCertificate } from './certificate.ts';
import { makeDnsProver, makeHttpProver, type Prover } from './challenge.ts';
import { CertificateKeeper } from './keeper.ts';

export interface TlsSettings {
  readonly dataDir: string;
  readonly host: string;
  readonly tlsCertificate: string;
  readonly tlsKey: string;
  readonly acmeDomains: readonly string[];
  readonly acmeEmail: string;
  readonly acmeDirectory: string;
  readonly acmeChallenge: 'http-01' | 'dns-01';
  readonly acmeHttpPort: number;
  readonly acmeDnsHook: string;
  readonly acmeEabKid: string;
  readonly acmeEabKey: string;
}

interface Tls {
  /** Certificate to start with. */
  first: Certificate;
  /** Hands every later one to `use`, from now on. */
  begin(use: (certificate: Certificate) => Promise<void>): void;
  /** Looks for another certificate now; once a minute is often enough. Never throws. */
  look(): Promise<void>;
  /** Time at which the served certificate ends, UTC ms. */
  expiresAtMs(): number;
  stop(): Promise<void>;
}

/**
 * Begins TLS; null: plain HTTP. With ACME it may wait for the first certificate, until `signal`,
 * and logs that. Throws {@link OperatorError} for settings that do not go together, for files that
 * cannot be served, and when it waited in vain.
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
  const acme = acmeOf(settings, clock, log);
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
 * Reads the certificate in the operator's files; null: no files are named. Throws
 * {@link OperatorError} when a server could not start with these settings.
 */
export function operatorCertificate(settings: TlsSettings, nowMs: number): Certificate | null {
  checkSettings(settings);
  return settings.tlsCertificate === '' ? null : readCertificate(operatorFiles(settings), nowMs);
}

function operatorFiles({ tlsCertificate: certificate, tlsKey: key }: TlsSettings) {
  return { certificate, key };
}

function checkSettings(settings: TlsSettings): void {
  const { tlsCertificate, tlsKey, acmeDomains, acmeChallenge, acmeDnsHook } = settings;
  if ((tlsCertificate === '') !== (tlsKey === '')) {
    throw new OperatorError('tls.certificate and tls.key belong together: set both or none');
  }
  if (acmeDomains.length === 0) return;
  if (tlsCertificate !== '') {
    throw new OperatorError('set either tls.certificate or acme.domains, not both');
  }
  if (acmeChallenge === 'dns-01' && acmeDnsHook === '') {
    throw new OperatorError('acme.challenge dns-01 needs acme.dns_hook');
  }
  const wildcard = acmeDomains.find((domain) => domain.startsWith('*.'));
  if (acmeChallenge === 'http-01' && wildcard) {
    throw new OperatorError(`acme.challenge must be dns-01 for ${wildcard}`);
  }
}

function acmeOf(settings: TlsSettings, clock: Clock, log: Log): Acme {
  const folder = join(settings.dataDir, 'acme');
  makeOwnFolder(folder);
  return makeAcme({
    folder,
    domains: settings.acmeDomains,
    directory: settings.acmeDirectory,
    email: settings.acmeEmail,
    eabKid: settings.acmeEabKid,
    eabKey: settings.acmeEabKey,
    prover: proverOf(settings, join(folder, 'challenges'), log),
    clock,
    log,
  });
}

function proverOf(settings: TlsSettings, folder: string, log: Log): Prover {
  const { acmeChallenge, acmeDnsHook, acmeHttpPort: port, acmeDomains: domains, host } = settings;
  if (acmeChallenge === 'dns-01') return makeDnsProver(acmeDnsHook);
  return makeHttpProver({ folder, host, port, domains, log });
}

function keep(
  files: CertificateFiles,
  first: Certificate,
  acme: Acme | null,
  clock: Clock,
  log: Log,
): Tls {
  let keeper: CertificateKeeper | null = null;
  const look = async () => {
    try {
      await acme?.renewIfDue();
      await keeper?.look();
    } catch (fault) {
      log.error('certificate_fault', { reason: reasonOf(fault) });
    }
  };
  return {
    first,
    begin: (use) => {
      keeper = new CertificateKeeper({ files, first, clock, log, use });
      void look();
    },
    look,
    expiresAtMs: () => (keeper?.current ?? first).expiresAtMs,
    stop: async () => {
      await Promise.all([keeper?.stop(), acme?.stop()]);
    },
  };
}
