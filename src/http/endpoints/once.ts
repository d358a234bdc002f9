/** Calls that a provider may repeat with a key: their parameter, and their answer to a repeat. */

import type { Core } from '../../core/core.ts';
import { findMade, readKeyedCall } from '../../core/idempotency.ts';
import { isRefused, type Refused } from '../../core/outcome.ts';
import type { KeyedCall } from '../../core/port/idempotency.ts';
import type { Provider } from '../../core/port/provider.ts';
import { optional, type Reply } from '../endpoint.ts';
import { forms } from './params.ts';

/** The key of a call, for the documents an extension. */
export const keyParam = (place = '') => ({
  idempotency_key: optional(forms.idempotencyKey, {
    misfit: 'unknown_error',
    about: `A name that the caller gives this call, so that it may repeat it: for 24 hours the same key with the same parameters gets the same answer, and nothing is done twice. With other parameters it is refused. Refusals are not kept.${place} An extension of the public contract.`,
  }),
});

/** The detail of an answer that was given before. */
export const REPEATED = 'an earlier call with this idempotency_key had this answer';

interface SendCall {
  core: Core;
  provider: Provider;
  params: { idempotency_key: string | null };
  body: Readonly<Record<string, unknown>>;
  nowMs: number;
}

/**
 * Answers a send with a key that was accepted before, and sends any other. Looks for the repeat
 * before it reads the body: the time may have passed, and devices may be gone.
 */
export async function sendOnce<K extends string>(
  { core, provider, params, body, nowMs }: SendCall,
  call: 'notification' | 'command',
  send: (keyed: KeyedCall | null) => Promise<Reply<'ok'> | Refused<K>>,
): Promise<Reply<'ok'> | Refused<K | 'malformed'>> {
  const keyed = readKeyedCall(call, params.idempotency_key, body, core.leastMs(nowMs));
  if (keyed === null) return send(null);
  if (isRefused(keyed)) return keyed;
  const made = await findMade(core, provider, keyed);
  if (made === null) return send(keyed);
  return isRefused(made) ? made : { says: 'ok', body: { id: made.id }, detail: REPEATED };
}
