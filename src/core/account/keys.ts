/** Further keys of a provider besides its main key, each for a part of the API. */

import { actAt } from '../audit/entry.ts';
import type { Core } from '../core.ts';
import { isRefused, type Misfit, malformed, Refused } from '../outcome.ts';
import type { Provider } from '../port/provider.ts';
import {
  FURTHER_SCOPES,
  type FurtherScope,
  type ProviderKey,
  SCOPES,
  type Scope,
} from '../port/provider-key.ts';
import { hashKey, randomAuthKey } from '../secret.ts';
import { readLabel } from './formats.ts';

export const KEYS_MAX = 50;

/**
 * The scope that a call of the API needs; only the main key fits `main`, and it opens no ties, no
 * cut-offs and no figures of subscriptions.
 */
export type Need = Scope | 'main';

/** Further needs that a scope fits, beside itself and reading. */
const ALSO: Partial<Record<Need, Need>> = { cuts: 'links', figures: 'send' };

/**
 * Returns whether a key may make a call. Every key may make calls that only read, one for cut-offs
 * those about links, and one for figures those that send.
 */
export function opens(has: Need, need: Need): boolean {
  if (has === need || need === 'read') return true;
  return has === 'main' ? !isFurther(need) : ALSO[has] === need;
}

const isFurther = (need: Need): need is FurtherScope =>
  FURTHER_SCOPES.some((scope) => scope === need);

/**
 * Saves the first use by a key of a right that the main key has not, and has it told. A call does
 * not wait for that; later uses save nothing.
 */
export async function noteUse(
  { store }: Pick<Core, 'store'>,
  provider: Provider,
  key: ProviderKey | null,
  need: Need,
  nowMs: number,
): Promise<void> {
  if (key === null || key.firstUsedAtMs !== null || !isFurther(need)) return;
  await store.noteFirstUse(provider, { ...key, scope: need }, nowMs);
}

/** Adds a key and returns it, to be shown once. Returns a misfit, or `key_limit_reached`. */
export async function addKey(
  core: Core,
  providerId: number,
  given: { name: unknown; scope: unknown; untilMs: number | null },
  nowMs: number,
): Promise<{ id: number; authKey: string } | Misfit | Refused<'key_limit_reached'>> {
  const name = readLabel(given.name);
  if (isRefused(name)) return name;
  const scope = SCOPES.find((one) => one === given.scope);
  if (scope === undefined) return malformed(`scope must be ${SCOPES.join(', ')}`);
  const { untilMs } = given;
  if (untilMs !== null && untilMs <= nowMs) return malformed('until must be in the future');
  const authKey = randomAuthKey();
  const terms = { name, scope, untilMs, createdAtMs: nowMs, countMax: KEYS_MAX };
  const draft = { providerId, keyHash: hashKey(authKey), ...terms };
  const added = await core.store.addKey(draft, actAt(core, nowMs));
  return typeof added === 'string' ? new Refused(added) : { ...added, authKey };
}

/** Removes a key. Returns `key_not_found` if the provider has no such key. */
export async function removeKey(
  core: Core,
  providerId: number,
  id: number,
  nowMs: number,
): Promise<'ok' | Refused<'key_not_found'>> {
  const isRemoved = await core.store.removeKey(providerId, id, actAt(core, nowMs));
  return isRemoved ? 'ok' : new Refused('key_not_found');
}
