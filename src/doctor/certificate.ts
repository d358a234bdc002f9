/**
 * Checks whether `serve` would start with the operator's certificate, and when the certificate
 * ends.
 */

import { type Stats, statSync } from 'node:fs';
import { about, type Finding } from '../base/finding.ts';
import { OperatorError } from '../base/operator-error.ts';
import { statOf } from '../base/permissions.ts';
import { utc } from '../tls/certificate.ts';
import { warningTimeMs } from '../tls/keeper.ts';
import { type AcmeState, acmeState, operatorCertificate, type TlsSettings } from '../tls/tls.ts';

const say = about('certificate');

/** Checks the certificate in the operator's files, or that from ACME and its renewal. */
export function checkCertificate(settings: TlsSettings, nowMs: number, uid: number): Finding[] {
  try {
    const certificate = operatorCertificate(settings, nowMs);
    const acme = acmeState(settings, nowMs);
    if (acme !== null) return checkAcme(acme, nowMs);
    if (certificate === null) return [];
    const hidden = hiddenFromService(settings, uid);
    if (hidden !== null) return [hidden];
    const { names, expiresAtMs } = certificate;
    const what = `${settings.tlsCertificate} is valid for ${names.join(', ')} until ${utc(expiresAtMs)}`;
    return nowMs < warningTimeMs(certificate)
      ? [say.ok(what)]
      : [
          say.warning(
            'certificate_ends_soon',
            what,
            'renew it: a running server loads the new one by itself',
          ),
        ];
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return [
      say.problem(
        'certificate_invalid',
        error.message,
        "fix it: 'gatepost serve' does not start until then",
      ),
    ];
  }
}

function checkAcme({ certificate, failure, problem }: AcmeState, nowMs: number): Finding[] {
  const held =
    certificate === null
      ? (problem ?? 'ACME has issued no certificate yet')
      : `the ACME certificate is valid for ${certificate.names.join(', ')} until ${utc(certificate.expiresAtMs)}`;
  // Without a certificate nothing is served.
  const level = certificate === null ? say.problem : say.warning;
  if (failure !== null) {
    const { atMs, nextTryMs, reason } = failure;
    return [
      level(
        'certificate_order_failed',
        `${held}; the last order failed on ${utc(atMs)}: ${reason}`,
        `${remedyOf(reason)}: the running server retries on ${utc(nextTryMs)}, a restart retries at once`,
      ),
    ];
  }
  if (certificate === null && problem === null) {
    const todo =
      "start 'gatepost serve', which orders it; if it runs, wait a minute and read its log";
    return [level('certificate_awaited', `${held}: no app can connect until then`, todo)];
  }
  const isLate = certificate !== null && nowMs >= warningTimeMs(certificate);
  return isLate || problem !== null
    ? [
        level(
          'certificate_renewal_overdue',
          held,
          "its renewal is overdue: run 'gatepost serve', which renews it, and read the log",
        ),
      ]
    : [say.ok(held)];
}

/** Patterns of the reasons of authorities, with the remedies. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /NXDOMAIN|DNS problem|SERVFAIL|no valid A records|no address/i,
    'let the A and AAAA records of the name lead to this machine',
  ],
  [
    /firewall|timeout|timed out|connection refused|no route|unreachable/i,
    "let the Internet reach port 80 of this machine ('ufw allow 80/tcp', and the firewall of your hoster)",
  ],
  [/rate ?limit|too many/i, 'wait: the authority limits orders'],
];

const remedyOf = (reason: string) =>
  REMEDIES.find(([pattern]) => pattern.test(reason))?.[1] ?? 'fix the reason';

/** Returns the names of the served certificate; null: there is none, or it cannot be read. */
export function certifiedNames(settings: TlsSettings, nowMs: number): readonly string[] | null {
  if (settings.acmeDomains.length > 0) return settings.acmeDomains;
  try {
    return operatorCertificate(settings, nowMs)?.names ?? null;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return null;
  }
}

/** Finds a key that root can read, but not the user of the service, who owns the data. */
function hiddenFromService({ dataDir, tlsKey }: TlsSettings, uid: number): Finding | null {
  const service = statOf(dataDir);
  if (uid !== 0 || service === null || service.uid === 0) return null;
  const key = statSync(tlsKey);
  if (mayRead(service.uid, key)) return null;
  return say.problem(
    'certificate_key_unreadable',
    `${tlsKey} cannot be read by user ${service.uid}, the owner of ${dataDir}`,
    `run 'chgrp ${service.gid} ${tlsKey} && chmod 640 ${tlsKey}'`,
  );
}

/** Returns whether a user may read a file. Groups are unknown: the right of any group counts. */
function mayRead(uid: number, { uid: owner, mode }: Stats): boolean {
  return uid === owner ? (mode & 0o400) !== 0 : (mode & 0o044) !== 0;
}
