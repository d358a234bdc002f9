/** One certificate from an ACME server: RFC 8555 as acme-client speaks it. */

import { messageOf, OperatorError } from '../operator-error.ts';
import type { Prover } from './challenge.ts';

export interface OrderOptions {
  /** URL of the directory. */
  directory: string;
  domains: readonly string[];
  /** Mail address of the account; empty: none. */
  email: string;
  /** External account binding, section 7.3.4; both are empty without one. */
  eabKid: string;
  eabKey: string;
  /** PEM of the account's key. */
  accountKey: string;
  prover: Prover;
}

/** Time that an answer of the authority may take, ms. */
const ANSWER_TIME_MAX_MS = 30_000;
/** Number of questions whether the authority is satisfied, and the pauses between them. */
const ASK = { backoffAttempts: 12, backoffMin: 1_000, backoffMax: 15_000 };

/** Loads the library when it is needed: most starts ask for nothing. */
const library = () => import('acme-client');

/** Makes a private key for accounts and certificates: ECDSA with P-256, PEM. */
export async function makeKey(): Promise<string> {
  const { crypto } = await library();
  return String(await crypto.createPrivateEcdsaKey('P-256'));
}

/**
 * Returns the PEM of a new key and of the chain. Throws {@link OperatorError} with the words of the
 * authority, or of the proof.
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
      // The authority looks from outside; from here the name may well lead elsewhere.
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

/** Words for a fault, without a stack, and without the contents of a request. */
function oneLine(error: unknown): string {
  return messageOf(error).replaceAll(/\s+/g, ' ').slice(0, 500);
}
