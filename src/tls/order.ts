/**
 * Orders a certificate from an ACME server (RFC 8555) by acme-client, step by step: its function
 * `auto` supports no IP addresses (RFC 8738), no profiles, and no `replaces` (RFC 9773).
 */

import { isIP } from 'node:net';
import type { Authorization, Client, Order } from 'acme-client';
import { unlessAborted } from '../base/deadline.ts';
import { messageOf, OperatorError } from '../base/operator-error.ts';
import type { Prover } from './challenge.ts';

export interface OrderOptions {
  /** The URL of the directory. */
  directory: string;
  /** Host names and IP addresses. */
  domains: readonly string[];
  /** The mail address of the account; empty: none. */
  email: string;
  /** The profile of the certificate; empty: see {@link orderCertificate}. */
  profile: string;
  /** External account binding, section 7.3.4; both are empty without one. */
  eabKid: string;
  eabKey: string;
  /** The PEM of the account's key. */
  accountKey: string;
  prover: Prover;
  /** The identifier of the certificate that this one replaces (RFC 9773, section 4.1). */
  replaces: string | null;
}

/** The `meta` of a directory. */
interface Directory {
  renewalInfo?: string;
  meta?: { profiles?: Readonly<Record<string, string>> };
}

/** The profile that Let's Encrypt asks for with IP addresses. */
const SHORT_LIVED = 'shortlived';

/** The time limit of an answer of the authority, ms. */
const ANSWER_TIME_MAX_MS = 30_000;
/** The bound of an answer: a chain of certificates is a few KiB. */
const ANSWER_BYTES_MAX = 256 * 1024;
/** The number of polls for the state of an order, and the pauses between them, ms. */
const ASK = { backoffAttempts: 12, backoffMin: 1_000, backoffMax: 15_000 };

/** The time limit of an order, ms: proofs, the operator's hooks and the authority's work. */
export const ORDER_TIME_MAX_MS = 30 * 60_000;

/**
 * Waits for a step with the authority. Without this limit the library waits as long as a
 * `retry-after` says, perhaps weeks, and no renewal is tried meanwhile. Throws
 * {@link OperatorError} after the time.
 */
export async function within<T extends object | string>(ms: number, step: Promise<T>): Promise<T> {
  const done = await unlessAborted(AbortSignal.timeout(ms), step);
  if (done !== null) return done;
  throw new OperatorError(`the authority did not finish within ${ms / 1_000} s`);
}

/** Loads the library at its first use: most starts order nothing. */
async function library() {
  const acme = await import('acme-client');
  const bounds = { timeout: ANSWER_TIME_MAX_MS, maxContentLength: ANSWER_BYTES_MAX };
  Object.assign(acme.axios.defaults, bounds);
  return acme;
}

/** Makes a private key for accounts and certificates: ECDSA with P-256, PEM. */
export async function makeKey(): Promise<string> {
  const { crypto } = await library();
  return String(await crypto.createPrivateEcdsaKey('P-256'));
}

/**
 * Fetches a JSON object of the authority without a signature. Throws {@link OperatorError} if there
 * is none. `headers` has names in lower case.
 */
export async function askAuthority(
  url: string,
): Promise<{ body: Record<string, unknown>; headers: Record<string, unknown> }> {
  const { axios } = await library();
  try {
    const { data, headers } = await axios.get(url, { responseType: 'json' });
    if (typeof data === 'object' && data !== null) return { body: data, headers };
  } catch (error) {
    throw new OperatorError(oneLine(error));
  }
  throw new OperatorError(`${url} did not answer with an object`);
}

/**
 * Orders a certificate; returns the PEM of a new key and of the chain. Without a profile, the
 * authority chooses; with an IP address it is `shortlived` where that is offered. Throws
 * {@link OperatorError} with the message of the authority or of the proof.
 */
export async function orderCertificate(options: OrderOptions): Promise<string> {
  const { directory, domains, email, eabKid, eabKey, accountKey } = options;
  const acme = await library();
  const client = new acme.Client({
    directoryUrl: directory,
    accountKey,
    ...ASK,
    ...(eabKid !== '' && { externalAccountBinding: { kid: eabKid, hmacKey: eabKey } }),
  });
  const [key, csr] = await acme.crypto.createCsr({ altNames: [...domains] }, await makeKey());
  try {
    const offered = (await askAuthority(directory)).body as Directory;
    await client.createAccount({
      termsOfServiceAgreed: true,
      ...(email !== '' && { contact: [`mailto:${email}`] }),
    });
    const order = await placeOrder(client, options, offered);
    const proofs = (await client.getAuthorizations(order)).map((one) =>
      prove(client, options, one),
    );
    await Promise.allSettled(proofs);
    await Promise.all(proofs);
    const chain = await client.getCertificate(await client.finalizeOrder(order, csr));
    return `${String(key).trim()}\n${chain.trim()}\n`;
  } catch (error) {
    throw new OperatorError(oneLine(error));
  }
}

/** Places the order; a second time without `replaces` if the authority rejects it. */
async function placeOrder(
  client: Client,
  { domains, profile, replaces }: OrderOptions,
  { meta, renewalInfo }: Directory,
): Promise<Order> {
  const order = {
    identifiers: domains.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
    ...profileOf(domains, profile, meta?.profiles ?? {}),
  };
  if (replaces === null || renewalInfo === undefined) return client.createOrder(order);
  try {
    return await client.createOrder({ ...order, replaces } as typeof order);
  } catch {
    // The old one may be replaced already, or belong to another account; the new one is needed
    // anyway.
    return client.createOrder(order);
  }
}

function profileOf(
  domains: readonly string[],
  profile: string,
  offered: Readonly<Record<string, string>>,
): { profile?: string } {
  const names = Object.keys(offered).slice(0, 20);
  if (profile !== '' && !names.includes(profile)) {
    const others = names.length === 0 ? 'it offers none' : `it offers ${names.join(', ')}`;
    throw new OperatorError(`the authority has no profile ${profile} (acme.profile): ${others}`);
  }
  if (profile !== '') return { profile };
  const hasAddress = domains.some((name) => isIP(name) !== 0);
  return hasAddress && names.includes(SHORT_LIVED) ? { profile: SHORT_LIVED } : {};
}

/** Proves one name to the authority, unless its authorization is still valid. */
async function prove(
  client: Client,
  { domains, prover }: OrderOptions,
  one: Authorization,
): Promise<void> {
  const { challenges, identifier, status } = one;
  if (status === 'valid') return;
  // The hook may change records of all names of the operator.
  const ordered = domains.map((name) => name.replace(/^\*\./, '').toLowerCase());
  const isName = identifier.type === 'dns';
  if (isName && !ordered.includes(identifier.value.toLowerCase())) {
    throw new OperatorError(`the authority asks for ${identifier.value}, which was not ordered`);
  }
  const challenge = challenges.find(({ type }) => type === prover.type);
  if (challenge === undefined) {
    throw new OperatorError(`the authority offers no ${prover.type} for ${identifier.value}`);
  }
  const proof = await client.getChallengeKeyAuthorization(challenge);
  try {
    await prover.present(identifier.value, challenge.token, proof).catch(async (fault) => {
      // Authorities limit the number of open authorizations.
      await client.deactivateAuthorization(one).catch(() => {});
      throw fault;
    });
    // Only the authority's view counts; on this machine the name may resolve differently.
    await client.completeChallenge(challenge);
    await client.waitForValidStatus(challenge);
  } finally {
    // A leftover proof gives no access.
    await prover.cleanUp(identifier.value, challenge.token, proof).catch(() => {});
  }
}

/** Returns the message of an error in one line, without its stack and its request. */
function oneLine(error: unknown): string {
  return messageOf(error).replaceAll(/\s+/g, ' ').slice(0, 500);
}
