/** Reads the files of outgoing calls: certificate authorities to trust, and logins of proxies. */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { OperatorError } from '../base/operator-error.ts';
import { secretIn } from '../base/permissions.ts';
import { PROXY_LOGINS_RULE, type ProxyLogins, readProxyLogins } from './proxy.ts';

export interface OutgoingFiles {
  /** Authorities to trust beside the usual ones, PEM; null: none. */
  ca: string | null;
  logins: ProxyLogins;
}

/** Reads the files that settings name. Throws `OperatorError` if one is missing or malformed. */
export function readOutgoingFiles(settings: {
  readonly outgoingCaFile: string;
  readonly outgoingProxyLoginFile: string;
}): OutgoingFiles {
  const { outgoingCaFile, outgoingProxyLoginFile: file } = settings;
  return { ca: readAuthorities(outgoingCaFile), logins: file === '' ? new Map() : loginsIn(file) };
}

function loginsIn(file: string): ProxyLogins {
  const key = 'outgoing.proxy.login_file';
  let text: string;
  try {
    text = secretIn(file);
  } catch (error) {
    throw new OperatorError(`${key}: ${(error as Error).message}`);
  }
  const logins = readProxyLogins(text);
  // The message does not repeat what may be a password.
  if (logins === null)
    throw new OperatorError(`${key}: ${file} does not have ${PROXY_LOGINS_RULE}`);
  return logins;
}

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
