/** Certificates for tests: made here, signed by themselves or by an authority of the test's own. */

import 'reflect-metadata';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
export const DAY_MS = 86_400_000;

interface TestCertificate {
  cert: string;
  key: string;
}

export interface CertificateDraft {
  names?: readonly string[];
  fromMs?: number;
  days?: number;
}

/** Names of this machine, so that a client can check it. */
const HERE = ['localhost', '127.0.0.1'];

/** A certificate signed by its own key; `name` is its common name, by which tests tell it. */
export async function selfSigned(
  name: string,
  { names = HERE, fromMs = Date.now() - DAY_MS, days = 90 }: CertificateDraft = {},
): Promise<TestCertificate> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    signingAlgorithm: ALGORITHM,
    notBefore: new Date(fromMs),
    notAfter: new Date(fromMs + days * DAY_MS),
    extensions: [alternativeNames(names)],
  });
  return { cert: `${certificate.toString('pem')}\n`, key: await pem(keys.privateKey) };
}

/** An authority that signs what it is shown. */
export class TestAuthority {
  #serial = 1;

  private constructor(
    private readonly keys: CryptoKeyPair,
    private readonly certificate: x509.X509Certificate,
  ) {}

  static async create(): Promise<TestAuthority> {
    const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: 'CN=Test Authority',
      keys,
      signingAlgorithm: ALGORITHM,
      extensions: [new x509.BasicConstraintsExtension(true)],
    });
    return new TestAuthority(keys, certificate);
  }

  /** PEM of its own certificate, for those who are to trust it. */
  get certificatePem(): string {
    return `${this.certificate.toString('pem')}\n`;
  }

  /** A certificate for these names, with a new key. */
  async issue(names: readonly string[] = HERE, days = 90): Promise<TestCertificate> {
    const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
    const certificate = await this.#certify(keys.publicKey, names, days);
    return { cert: certificate, key: await pem(keys.privateKey) };
  }

  /** PEM chain for a signing request in DER, and the names that it asks for. */
  async sign(request: ArrayBuffer, days: number): Promise<{ chain: string; names: string[] }> {
    const csr = new x509.Pkcs10CertificateRequest(request);
    if (!(await csr.verify())) throw new Error('the request is not signed by its key');
    const extension = csr.extensions.find(
      (one) => one instanceof x509.SubjectAlternativeNameExtension,
    );
    const names = extension?.names.toJSON().map(({ value }) => value) ?? [];
    const chain = await this.#certify(await csr.publicKey.export(), names, days);
    return { chain, names };
  }

  async #certify(publicKey: CryptoKey, names: readonly string[], days: number): Promise<string> {
    this.#serial += 1;
    const fromMs = Date.now() - 60_000;
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: this.#serial.toString(16).padStart(4, '0'),
      subject: `CN=${names[0] ?? ''}`,
      issuer: this.certificate.subject,
      publicKey,
      signingKey: this.keys.privateKey,
      signingAlgorithm: ALGORITHM,
      notBefore: new Date(fromMs),
      notAfter: new Date(fromMs + days * DAY_MS),
      extensions: [
        alternativeNames(names),
        await x509.AuthorityKeyIdentifierExtension.create(this.keys.publicKey),
      ],
    });
    return `${certificate.toString('pem')}\n${this.certificatePem}`;
  }
}

/** Writes a file that its owner alone may read. */
export function writeSecret(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, text, { mode: 0o600 });
}

function alternativeNames(names: readonly string[]): x509.SubjectAlternativeNameExtension {
  return new x509.SubjectAlternativeNameExtension(
    names.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value })),
  );
}

async function pem(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', key)).toString('base64');
  const lines = der.match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
}

/** The paths in tests of the operator's files. */
export function filesIn(folder: string) {
  return { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') };
}

export function writePair(folder: string, { cert, key }: TestCertificate): void {
  writeSecret(filesIn(folder).certificate, cert);
  writeSecret(filesIn(folder).key, key);
}
