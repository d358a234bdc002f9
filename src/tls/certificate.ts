/** A certificate with its key as PEM: read, parsed, and refused if clients would reject it. */

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { OperatorError } from '../base/operator-error.ts';
import { checkSecretFile } from '../base/permissions.ts';

export interface Certificate {
  /** PEM of the certificate, then of its chain. */
  cert: string;
  /** PEM of the private key. */
  key: string;
  /** DNS names and addresses for which it is valid. */
  names: string[];
  /** Its lifetime, UTC ms. */
  startsAtMs: number;
  expiresAtMs: number;
  /** SHA-256 of the certificate, hexadecimal. */
  fingerprint: string;
}

/** The paths of both parts; one file may hold both. */
export interface CertificateFiles {
  certificate: string;
  key: string;
}

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+?-----END [A-Z ]*PRIVATE KEY-----/;

/**
 * Reads a pair. Throws {@link OperatorError} with one sentence if the pair is invalid or has
 * expired.
 */
export function readCertificate(files: CertificateFiles, nowMs: number): Certificate {
  const [finding] = checkSecretFile(files.key);
  if (finding) throw new OperatorError(finding.problem);
  return parseCertificate(files, readPem(files.certificate), readPem(files.key), nowMs);
}

/** Reads the text of a PEM file. Throws {@link OperatorError}. */
function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new OperatorError(`cannot read ${path}: ${(error as { code?: unknown }).code}`);
  }
}

function parseCertificate(
  files: CertificateFiles,
  certText: string,
  keyText: string,
  nowMs: number,
): Certificate {
  const chain = certText.match(CERTIFICATES) ?? [];
  const leaf = parse(files.certificate, 'certificate', () => new X509Certificate(chain[0] ?? ''));
  const keyPem = PRIVATE_KEY.exec(keyText)?.[0] ?? '';
  const key: KeyObject = parse(files.key, 'private key', () => createPrivateKey(keyPem));
  if (!leaf.checkPrivateKey(key)) {
    const isFurtherDown = chain.some((pem) => isPairOf(pem, key));
    throw new OperatorError(
      isFurtherDown
        ? `${files.certificate} must begin with the certificate of the key, followed by its chain`
        : `the key in ${files.key} does not belong to ${files.certificate}`,
    );
  }
  const startsAtMs = Date.parse(leaf.validFrom);
  const expiresAtMs = Date.parse(leaf.validTo);
  if (nowMs < startsAtMs) {
    throw new OperatorError(`${files.certificate} is not valid before ${utc(startsAtMs)}`);
  }
  if (nowMs >= expiresAtMs) {
    throw new OperatorError(`${files.certificate} expired on ${utc(expiresAtMs)}`);
  }
  const pair = { cert: `${chain.join('\n')}\n`, key: `${keyPem}\n` };
  // The library rejects some pairs, such as a chain with a foreign part.
  parse(files.certificate, 'valid chain of certificates', () => createSecureContext(pair));
  return {
    ...pair,
    names: namesOf(leaf),
    startsAtMs,
    expiresAtMs,
    fingerprint: leaf.fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}

function isPairOf(pem: string, key: KeyObject): boolean {
  try {
    return new X509Certificate(pem).checkPrivateKey(key);
  } catch {
    return false;
  }
}

/** Replaces an error of the library, which could hold a part of the key. */
function parse<T>(path: string, what: string, make: () => T): T {
  try {
    return make();
  } catch {
    throw new OperatorError(`${path} has no ${what} in PEM (without a passphrase)`);
  }
}

function namesOf(leaf: X509Certificate): string[] {
  return (leaf.subjectAltName ?? '')
    .split(', ')
    .map((name) => name.replace(/^(?:DNS|IP Address):/, '').toLowerCase())
    .filter((name) => name !== '');
}

export function utc(ms: number): string {
  return new Date(ms).toISOString();
}
