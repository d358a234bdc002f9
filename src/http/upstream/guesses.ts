/** Codes of links in requests for a panel, and guesses at them. */

import type { Core } from '../../core/core.ts';
import { isShortCode } from '../../core/formats.ts';
import { readNamedPath } from '../../core/key-path.ts';
import { isRefused } from '../../core/outcome.ts';
import { panelOf } from '../../core/panel/kind.ts';
import { after, type Maybe } from '../../core/port/maybe.ts';
import { parseQuery, pathOf, valueIn } from '../request/query.ts';
import type { SubscriptionRequest } from './decision.ts';
import type { Upstream } from './settings.ts';

type Code = ReturnType<typeof valueIn>;

/** Returns the code in a target; undefined: it has none. */
export const codeIn = (target: string): Code => valueIn(parseQuery(target, true), 'installid');

/** Returns the code at which a request guesses, which may be its key; null: it has none. */
export function guessedCode(upstream: Upstream, target: string): Code | null {
  const code = codeIn(target);
  if (code || !upstream.codesAsKeys) return code;
  const reading = { ...upstream, secret: null, panel: panelOf(upstream) };
  const named = readNamedPath(pathOf(target), reading);
  const key = named === null || named.mayPass ? null : named.key;
  return key === null || isRefused(key) ? null : key.key;
}

/**
 * Returns whether a request has a short code that is none of the provider's, beside a key: a right
 * one could tie the key to its link, so that each is a guess.
 */
export function guessesCode(
  { store }: Core,
  subscription: SubscriptionRequest | null,
): Maybe<boolean> {
  const { code = null, device, key = null } = subscription ?? {};
  if (code === null || key === null || !isShortCode(code)) return false;
  return after(store.findLink(code), (link) => link?.providerCode !== device?.providerCode);
}
