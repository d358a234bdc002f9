/** Orders a certificate from an ACME server (RFC 8555) by acme-client. */

import { messageOf, OperatorError } from '../operator-error.ts';
import type { Prover } from './challenge.ts';

export interface OrderOptions {
  /** The URL of the directory. */
  directory: string;
  domains: readonly string[];
  /** The mail address of the account; empty: none. */
  email: string;
  /** External account binding, section 7.3.4; both are empty without one. */
  eabKid: string;
  eabKey: string;
  /** The PEM of the account's key. */
  accountKey: string;
  prover: Prover;
}

/** The time limit of an answer of the authority, ms. */
const ANSWER_TIME_MAX_MS = 30_000;
/** How often the state of an order is polled, and the pauses between, ms. */
const ASK = { backoffAttempts: 12, backoffMin: 1_000, backoffMax: 15_000 };

/** Loads the library when it is needed: most starts order nothing. */
const library = () => import('acme-client');

/** Makes a private key for accounts and certificates: ECDSA with P-256, PEM. */
export async function makeKey(): Promise<string> {
  const { crypto } = await library();
  return String(await crypto.createPrivateEcdsaKey('P-256'));
}

/**
 * Orders a certificate; returns the PEM of a new key and of the chain. Throws {@link OperatorError}
 * with the message of the authority or of the proof.
 */
export async function orderCertificate(options: OrderOptions): Promise<string> {
  const { directory, domains, email, eabKid, eabKey, accountKey, prover } = options;
  const acme = await library();
  acme.axios.defaults.timeout = ANSWER_TIME_MAX_MS;
  const client = new acme.Client({
    directoryUrl: directory,
    accountKey,
    ...ASK,
    ...(eabKid !== '' && { externalAccountBinding: { kid: eabKid, hmacKey: eabKey } }),
  });
  const [key, csr] = await acme.crypto.createCsr({ altNames: [...domains] }, await makeKey());
  try {
    const chain = await client.auto({
      csr,
      ...(email !== '' && { email }),
      termsOfServiceAgreed: true,
      challengePriority: [prover.type],
      // Only the authority's view counts; on this machine the name may resolve differently.
      skipChallengeVerification: true,
      challengeCreateFn: async ({ identifier }, { type, token }, proof) => {
        if (type !== prover.type) {
          throw new OperatorError(`the authority offers no ${prover.type} for ${identifier.value}`);
        }
        await prover.present(identifier.value, token, proof);
      },
      challengeRemoveFn: async ({ identifier }, { token }, proof) =>
        prover.cleanUp(identifier.value, token, proof),
    });
    return `${String(key).trim()}\n${chain.trim()}\n`;
  } catch (error) {
    throw new OperatorError(oneLine(error));
  }
}

/** Returns the message of an error in one line, without its stack and its request. */
function oneLine(error: unknown): string {
  return messageOf(error).replaceAll(/\s+/g, ' ').slice(0, 500);
}
