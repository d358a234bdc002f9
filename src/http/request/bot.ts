/** Finds the bot that a request for a subscription comes from, by its secret alone. */

import { botSecretIn, findBot } from '../../core/bot.ts';
import type { Core } from '../../core/core.ts';
import type { TrustedBot } from '../../core/port/bot.ts';
import type { Maybe } from '../../core/port/maybe.ts';
import { isLoopback } from './address.ts';

/** How a request came. */
interface Way {
  /** The scheme that a trusted proxy reports; null: none does. */
  reported: string | null;
  /** True if the connection of this server is encrypted. */
  isEncrypted: boolean;
  /** The client's address; null: it is not known. */
  client: string | null;
}

/** Returns whether no network between could read the request: HTTPS, or of this machine. */
function isUnread({ client, isEncrypted, reported }: Way): boolean {
  if (reported !== null) return reported === 'https';
  return isEncrypted || (client !== null && isLoopback(client));
}

/** Finds the bot of a request at a host; null: it shows no secret of one, or not safely. */
export function botOf(
  core: Pick<Core, 'store'>,
  { headers }: Request,
  at: { host: string; providerCode: string | null },
  way: () => Way,
): Maybe<TrustedBot | null> {
  const secret = botSecretIn(headers.get('authorization'));
  return secret === null || !isUnread(way()) ? null : findBot(core, secret, at);
}
