/** Providers: their credentials, subscriptions and plans. */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import { readAuthKey, readProviderCode } from './formats.ts';
import { fromStore, isRefused, Refused } from './outcome.ts';
import { after, type Maybe } from './port/maybe.ts';
import type { OwnMyCut } from './port/my.ts';
import type {
  EndedByRotation,
  GivenProviderTerms,
  OwnTerms,
  Provider,
  ProviderChange,
} from './port/provider.ts';
import type { ProviderKey } from './port/provider-key.ts';
import { hashKey, randomAuthKey, randomCode, sameHash } from './secret.ts';
import { nextTurn, pause } from './turn.ts';

export type ProviderDraft = GivenProviderTerms & {
  /** The code of a provider that moves here with its credentials; absent: a random one. */
  code?: string | undefined;
  authKey?: string | undefined;
};

export interface Credentials {
  code: string;
  /** The key, shown once and never stored. */
  authKey: string;
}

const NO_HASH = new Uint8Array(32);
/** Placeholders that no provider can have: malformed credentials take the same steps. */
const NO_CODE = '????????';
const NO_KEY = '????????????????????????????????';

/** A provider with a valid key. */
interface AuthenticProvider {
  provider: Provider;
  /** SHA-256 of the given key, which may be the previous one after a rotation. */
  keyHash: Uint8Array;
  /** The key, if it is one beside the main key. */
  key: ProviderKey | null;
}

/**
 * Finds the provider with these credentials; null: there is none. Missing, malformed, unknown and
 * wrong credentials take the same steps: one hash, one look-up, two constant-time comparisons, and
 * one look-up of a key for a part of the API.
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
    const isGood = isKeyOf(provider ?? NO_KEYS, keyHash, nowMs);
    if (provider !== null && wellFormed && isGood) return { provider, keyHash, key: null };
    return after(core.store.findKey(provider?.id ?? 0, keyHash), (key) => {
      const isOver = key?.untilMs != null && nowMs >= key.untilMs;
      if (provider === null || key === null || isOver || !wellFormed) return null;
      return { provider, keyHash, key };
    });
  });
}

type Keys = Pick<Provider, 'keyHash' | 'previousKeyHash' | 'previousKeyUntilMs'>;
const NO_KEYS: Keys = { keyHash: NO_HASH, previousKeyHash: null, previousKeyUntilMs: null };

/** Returns true for a provider's key, and for the previous one until its time is over. */
export function isKeyOf(keys: Keys, keyHash: Uint8Array, nowMs: number): boolean {
  const isCurrent = sameHash(keyHash, keys.keyHash);
  const isPrevious = sameHash(keyHash, keys.previousKeyHash ?? NO_HASH);
  return isCurrent || (isPrevious && nowMs < (keys.previousKeyUntilMs ?? 0));
}

/** Returns true unless the subscription is suspended or has ended. */
export function isActive(provider: Provider, nowMs: number): boolean {
  if (provider.suspendedAtMs !== null) return false;
  return provider.activeUntilMs === null || nowMs < provider.activeUntilMs;
}

/**
 * Adds a provider and returns its credentials. A given code and key must be well formed. Refuses
 * `provider_code_exists` if a given code is taken.
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
  return draft.code === undefined ? addProvider(core, draft, nowMs) : new Refused(outcome);
}

/**
 * Gives a provider a new key. The old key stays valid for `keepOldMs` milliseconds; a key from an
 * earlier rotation is revoked. Returns what ends at once too. Refuses `provider_not_found`.
 */
export async function rotateKey(
  core: Core,
  code: string,
  keepOldMs: number,
  nowMs: number,
  authKey: string = randomAuthKey(),
): Promise<(Credentials & EndedByRotation) | Refused<'provider_not_found'>> {
  const act = actAt(core, nowMs);
  const outcome = await core.store.rotateKey(code, hashKey(authKey), nowMs + keepOldMs, act);
  return typeof outcome === 'string' ? new Refused(outcome) : { code, authKey, ...outcome };
}

/** Changes a provider. Refuses `provider_not_found`. */
export const changeProvider = async (
  core: Core,
  code: string,
  change: ProviderChange,
  nowMs: number,
): Promise<'ok' | Refused<'provider_not_found'>> =>
  fromStore(await core.store.updateProvider(code, change, actAt(core, nowMs)));

/** Changes the terms of a provider for its links, if they differ. Returns the new terms. */
export async function changePolicy(
  core: Core,
  provider: Provider,
  change: Partial<OwnTerms & OwnMyCut>,
  nowMs: number,
): Promise<OwnTerms> {
  if (Object.keys(change).length === 0) return provider;
  const outcome = await changeProvider(core, provider.code, change, nowMs);
  if (outcome !== 'ok') throw new Error('the provider was removed meanwhile');
  return { ...provider, ...change };
}

/**
 * The pause after a step that notified 50 devices of the end of their slots, ms: no more than 200 a
 * second come back and ask.
 */
const NOTIFIED_PAUSE_MS = 250;

/**
 * Removes a provider with all its records; devices stay. The first of many small steps revokes its
 * keys, and another call completes an interrupted removal. Refuses `provider_not_found`.
 */
export async function removeProvider(
  core: Core,
  code: string,
  nowMs: number,
): Promise<'ok' | Refused<'provider_not_found'>> {
  const closed = await core.store.closeProvider(code, actAt(core, nowMs));
  if (typeof closed === 'string') return new Refused(closed);
  for (;;) {
    const left = await core.store.removeProvider(closed.id);
    if (left !== 'more' && left !== 'notified') return fromStore(left);
    await (left === 'notified' ? pause(NOTIFIED_PAUSE_MS) : nextTurn());
  }
}

/**
 * Returns the refusal of a feature of a plan; null: the provider may use it. Every feature needs an
 * active subscription.
 */
export function refusalByPlan(
  provider: Provider,
  plan: 'pro' | 'enterprise' | undefined,
  nowMs: number,
): 'subscription_required' | 'pro_required' | 'enterprise_required' | null {
  if (!isActive(provider, nowMs)) return 'subscription_required';
  if (plan === 'enterprise') return mayNotify(provider, nowMs) ? null : 'enterprise_required';
  return plan === undefined || mayCommand(provider, nowMs) ? null : 'pro_required';
}

/** Returns true if the plan is Enterprise and the subscription active. */
export function mayNotify(provider: Provider, nowMs: number): boolean {
  return isActive(provider, nowMs) && provider.plan === 'enterprise';
}

/** Returns true if the plan is Pro or Enterprise and the subscription active. */
export function mayCommand(provider: Provider, nowMs: number): boolean {
  return isActive(provider, nowMs) && provider.plan !== 'basic';
}
