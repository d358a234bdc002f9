/** Reads the certificate authorities that outgoing calls trust. */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { OperatorError } from '../base/operator-error.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Returns the certificates of the PEM file of a setting; null if `path` is empty. Throws
 * `OperatorError` if the file cannot be read or holds no certificate.
 */
export function readAuthorities(path: string, setting = 'outgoing.ca_file'): string | null {
  if (path === '') return null;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new OperatorError(`cannot read ${setting}: ${(error as Error).message}`);
  }
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0 || !certificates.every(isCertificate)) {
    throw new OperatorError(`${setting}: ${path} holds no certificate in PEM form`);
  }
  return certificates.join('\n');
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}
