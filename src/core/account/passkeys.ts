/** Passkeys: key pairs in browsers, phones and security keys (WebAuthn). */

import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { actAt } from '../audit/entry.ts';
import type { Core } from '../core.ts';
import { isRefused, type Misfit, Refused } from '../outcome.ts';
import type { Account, Passkey } from '../port/account.ts';
import { makeChallenge, ShownChallenge } from './challenge.ts';
import { readLabel } from './formats.ts';
import { type FullSignIn, openFully } from './known-browser.ts';
import type { Browser } from './session.ts';

const PASSKEYS_MAX = 20;

/**
 * Loads the library at its first use: it takes 30 ms of a start. It needs reflect-metadata before
 * it, which the executable would otherwise evaluate after it.
 */
async function library() {
  await import('reflect-metadata');
  return import('@simplewebauthn/server');
}

/** The site of a passkey: its host name and its origin. */
export interface Site {
  host: string;
  origin: string;
}

/** Makes the options by which a browser creates a passkey. */
export async function beginPasskey(core: Core, { host }: Site, account: Account, nowMs: number) {
  const known = await core.store.listPasskeys(account.id);
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    challenge: await makeChallenge(core, account.id, nowMs),
    rpName: 'Gatepost',
    rpID: host,
    userName: account.name,
    attestationType: 'none',
    userID: new TextEncoder().encode(`gatepost-${account.id}`),
    excludeCredentials: known.map(({ credentialId: id }) => ({ id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

/** Adds the passkey that the browser created. */
export async function addPasskey(
  core: Core,
  { host, origin }: Site,
  account: Account,
  given: { name: string; response: unknown },
  nowMs: number,
): Promise<'ok' | Misfit | Refused<'passkey_wrong' | 'passkey_exists' | 'passkey_limit_reached'>> {
  const name = readLabel(given.name);
  if (isRefused(name)) return name;
  const { verifyRegistrationResponse } = await library();
  const shown = new ShownChallenge(core, account.id, nowMs);
  const made = await verifyRegistrationResponse({
    response: given.response as RegistrationResponseJSON,
    expectedOrigin: origin,
    expectedRPID: host,
    requireUserVerification: true,
    expectedChallenge: shown.isOpen,
  }).catch(() => ({ verified: false as const }));
  if (!made.verified || !(await shown.use(account.id))) return new Refused('passkey_wrong');
  const { id, publicKey, counter, transports = [] } = made.registrationInfo.credential;
  const draft = {
    accountId: account.id,
    credentialId: id,
    publicKey,
    signCount: counter,
    transports: transports.filter((one) => /^[a-z-]{1,16}$/.test(one)).slice(0, 8),
    name,
    createdAtMs: nowMs,
  };
  const added = await core.store.addPasskey(draft, PASSKEYS_MAX, actAt(core, nowMs));
  return typeof added === 'string' ? new Refused(added) : 'ok';
}

/** Makes the options by which a browser proves that it has a passkey of any account. */
export async function beginPasskeySignIn(core: Core, { host }: Site, nowMs: number) {
  const { generateAuthenticationOptions } = await library();
  const challenge = await makeChallenge(core, null, nowMs);
  return generateAuthenticationOptions({ challenge, rpID: host, userVerification: 'required' });
}

/** Signs in to the account of a passkey. */
export async function signInByPasskey(
  core: Core,
  site: Site,
  browser: Browser,
  given: unknown,
  nowMs: number,
): Promise<FullSignIn | Refused<'sign_in_wrong'>> {
  const response = given as AuthenticationResponseJSON;
  const id = typeof response.id === 'string' ? response.id : '';
  const passkey = await core.store.findPasskey(id);
  const isRight = passkey !== null && (await isProven(core, site, passkey, response, nowMs));
  const account = isRight ? await core.store.readAccount(passkey.accountId) : null;
  if (account === null) return new Refused('sign_in_wrong');
  return openFully(core, browser, account, 'passkey', nowMs);
}

/** Renames a passkey. Returns a misfit, or `passkey_not_found`. */
export async function renamePasskey(
  core: Core,
  account: Account,
  given: { id: number; name: string },
  nowMs: number,
): Promise<'ok' | Misfit | Refused<'passkey_not_found'>> {
  const name = readLabel(given.name);
  if (isRefused(name)) return name;
  const act = actAt(core, nowMs);
  const isRenamed = await core.store.renamePasskey(account.id, given.id, name, act);
  return isRenamed ? 'ok' : new Refused('passkey_not_found');
}

/** Removes a passkey. Returns `passkey_not_found` if the account has no such passkey. */
export async function removePasskey(
  core: Core,
  account: Account,
  id: number,
  nowMs: number,
): Promise<'ok' | Refused<'passkey_not_found'>> {
  const isRemoved = await core.store.removePasskey(account.id, id, actAt(core, nowMs));
  return isRemoved ? 'ok' : new Refused('passkey_not_found');
}

async function isProven(
  core: Core,
  { host, origin }: Site,
  { id, accountId, credentialId, publicKey, signCount }: Passkey,
  response: AuthenticationResponseJSON,
  nowMs: number,
): Promise<boolean> {
  const { verifyAuthenticationResponse } = await library();
  const shown = new ShownChallenge(core, null, nowMs);
  const proof = await verifyAuthenticationResponse({
    response,
    expectedOrigin: origin,
    expectedRPID: host,
    requireUserVerification: true,
    credential: { id: credentialId, publicKey: new Uint8Array(publicKey), counter: signCount },
    expectedChallenge: shown.isOpen,
  }).catch(() => ({ verified: false as const }));
  if (!proof.verified || !(await shown.use(accountId))) return false;
  return core.store.usePasskey(id, proof.authenticationInfo.newCounter, nowMs);
}
