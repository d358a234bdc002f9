/** Calls that a provider may repeat: a call with an `idempotency_key` is done once within a day. */

import { DAY_MS } from './calendar.ts';
import type { Core } from './core.ts';
import { IDEMPOTENCY_KEY } from './formats.ts';
import { isRecord } from './json-input.ts';
import { type Misfit, malformed } from './outcome.ts';
import type { KeyedCall, KeyRefusal, Made } from './port/idempotency.ts';
import { after, type Maybe } from './port/maybe.ts';
import type { Provider } from './port/provider.ts';
import { paramsHash } from './secret.ts';

/** The time for which an answer is kept, ms. */
export const ANSWER_KEPT_MS = DAY_MS;
/** The most answers that are kept for a provider: the default cap of links. */
const ANSWERS_KEPT_MAX = 100_000;

const DETAILS: Readonly<Record<KeyRefusal, string>> = {
  idempotency_key_reused:
    'idempotency_key came with another call or other parameters in the last 24 hours',
  idempotency_keys_full: `idempotency_key must not be given to more than ${ANSWERS_KEPT_MAX} calls in 24 hours`,
};

/**
 * Reads the key of a call, from the query or the body; null: it has none. `params` are those of the
 * call, in any order.
 */
export function readKeyedCall(
  call: 'add-install' | 'notification' | 'command',
  inQuery: string | null,
  { idempotency_key: inBody = null, ...params }: Readonly<Record<string, unknown>>,
  nowMs: number,
): KeyedCall | Misfit | null {
  const given = inBody === '' ? null : inBody;
  if (inQuery !== null && given !== null && given !== inQuery) {
    return malformed('idempotency_key was given twice with different values');
  }
  if (inQuery === null && given === null) return null;
  const key = IDEMPOTENCY_KEY.read(inQuery ?? given);
  if (typeof key !== 'string') return malformed(`idempotency_key ${key.detail}`);
  // Omits parameters that count as absent, so that a new version may add parameters.
  const present = Object.entries(params).filter(([, value]) => value !== null && value !== '');
  const inOrder = JSON.stringify(Object.fromEntries(present), (_, value) =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).sort(byName)) : value,
  );
  const bounds = { afterMs: nowMs - ANSWER_KEPT_MS, countMax: ANSWERS_KEPT_MAX };
  return { key, call, paramsHash: paramsHash(inOrder), ...bounds };
}

/**
 * Finds the result of an earlier call with the key; null: none. Refuses the key of a different
 * call.
 */
export function findMade(
  core: Core,
  provider: Provider,
  call: KeyedCall,
): Maybe<Made | Misfit | null> {
  return after(core.store.findMade(provider.id, call), (found) =>
    isKeyRefusal(found) ? refusedKey(found) : found,
  );
}

/** Returns true for a refusal of a key. */
export function isKeyRefusal(outcome: unknown): outcome is KeyRefusal {
  return typeof outcome === 'string' && Object.hasOwn(DETAILS, outcome);
}

/** Returns the refusal of a key in the form of a misfit. */
export function refusedKey(refusal: KeyRefusal): Misfit {
  return malformed(DETAILS[refusal]);
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) =>
  a < b ? -1 : 1;
