/** Providers: credentials, subscriptions, plans, and who may do what. */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import { readAuthKey, readProviderCode } from './formats.ts';
import { fromStore, isRefused, Refused } from './outcome.ts';
import { after, type Maybe } from './port/maybe.ts';
import type { Plan, Provider } from './port/provider.ts';
import type { OwnPolicy } from './port/slot.ts';
import { hashKey, randomAuthKey, randomCode, sameHash } from './secret.ts';
import { nextTurn } from './turn.ts';

export interface ProviderDraft extends Partial<OwnPolicy> {
  name: string;
  plan: Plan;
  activeUntilMs: number | null;
  installCountMax: number | null;
  /** Chosen by the operator when a provider moves in with the credentials its bots already use. */
  code?: string | undefined;
  authKey?: string | undefined;
}

export interface Credentials {
  code: string;
  /** Shown once, never stored. */
  authKey: string;
}

const NO_HASH = new Uint8Array(32);
/** Stand-ins that no provider can have, so that malformed credentials take the same steps. */
const NO_CODE = '????????';
const NO_KEY = '????????????????????????????????';

/** A provider who has shown a good key. */
interface AuthenticProvider {
  provider: Provider;
  /** SHA-256 of the key that was shown: after a rotation perhaps the previous one. */
  keyHash: Uint8Array;
}

/**
 * The provider whose credentials these are, or null. Missing, malformed, unknown and wrong
 * credentials take the same steps: one hash, one look-up, two constant-time comparisons.
 */
export function authenticate(
  core: Core,
  givenCode: string | null,
  givenKey: string | null,
  nowMs: number,
): Maybe<AuthenticProvider | null> {
  const code = readProviderCode(givenCode);
  const authKey = readAuthKey(givenKey);
  const wellFormed = !isRefused(code) && !isRefused(authKey);
  const keyHash = hashKey(wellFormed ? authKey : NO_KEY);
  return after(core.store.findProvider(wellFormed ? code : NO_CODE), (provider) => {
    const isGood = isKeyOf(provider ?? NOBODY, keyHash, nowMs);
    return provider !== null && wellFormed && isGood ? { provider, keyHash } : null;
  });
}

type Keys = Pick<Provider, 'keyHash' | 'previousKeyHash' | 'previousKeyUntilMs'>;
const NOBODY: Keys = { keyHash: NO_HASH, previousKeyHash: null, previousKeyUntilMs: null };

/** True for a provider's key and, until its time is over, for the one before. */
export function isKeyOf(keys: Keys, keyHash: Uint8Array, nowMs: number): boolean {
  const isCurrent = sameHash(keyHash, keys.keyHash);
  const isPrevious = sameHash(keyHash, keys.previousKeyHash ?? NO_HASH);
  return isCurrent || (isPrevious && nowMs < (keys.previousKeyUntilMs ?? 0));
}

/** Active: not suspended, and its end date, if it has one, has not passed. */
export function isActive(provider: Provider, nowMs: number): boolean {
  if (provider.suspendedAtMs !== null) return false;
  return provider.activeUntilMs === null || nowMs < provider.activeUntilMs;
}

/**
 * Creates a provider and returns its credentials, the key for the only time.
 *
 * Refuses `provider_code_exists` when the operator chose a code that is taken. The caller has
 * read a chosen code and key by {@link readProviderCode} and {@link readAuthKey}.
 */
export async function addProvider(
  core: Core,
  draft: ProviderDraft,
  nowMs: number,
): Promise<Credentials | Refused<'provider_code_exists'>> {
  const authKey = draft.authKey ?? randomAuthKey();
  const code = draft.code ?? randomCode(8);
  const { authKey: _, ...terms } = draft;
  const outcome = await core.store.addProvider(
    { ...terms, code, keyHash: hashKey(authKey), createdAtMs: nowMs },
    actAt(core, nowMs),
  );
  if (outcome === 'ok') return { code, authKey };
  // Of 62^8 random codes one was taken: draw again.
  return draft.code === undefined ? addProvider(core, draft, nowMs) : new Refused(outcome);
}

/**
 * Gives a provider a new key, its own or a random one. The old key stays good for `keepOldMs`
 * milliseconds (0: it dies now); a key from an earlier rotation dies in any case.
 */
export async function rotateKey(
  core: Core,
  code: string,
  keepOldMs: number,
  nowMs: number,
  authKey: string = randomAuthKey(),
): Promise<Credentials | Refused<'provider_not_found'>> {
  const act = actAt(core, nowMs);
  const outcome = await core.store.rotateKey(code, hashKey(authKey), nowMs + keepOldMs, act);
  return outcome === 'ok' ? { code, authKey } : new Refused(outcome);
}

/**
 * Removes a provider with everything that is its own; devices stay known. Its keys die with the
 * first of many small steps, and doing it again finishes a removal that was interrupted.
 */
export async function removeProvider(
  core: Core,
  code: string,
  nowMs: number,
): Promise<'ok' | Refused<'provider_not_found'>> {
  const closed = await core.store.closeProvider(code, actAt(core, nowMs));
  if (typeof closed === 'string') return new Refused(closed);
  for (; ; await nextTurn()) {
    const left = await core.store.removeProvider(closed.id);
    if (left !== 'more') return fromStore(left);
  }
}

/** Push notifications need an active subscription and the Enterprise plan. */
export function mayNotify(provider: Provider, nowMs: number): boolean {
  return isActive(provider, nowMs) && provider.plan === 'enterprise';
}

/** Remote commands need an active subscription and the Pro or Enterprise plan. */
export function mayCommand(provider: Provider, nowMs: number): boolean {
  return isActive(provider, nowMs) && provider.plan !== 'basic';
}
