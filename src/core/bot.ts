/**
 * Bots that fetch subscriptions for their customers. A secret in one header proves a bot; its
 * address proves nothing, because customers of the same machine have it too.
 *
 * | A trusted bot fetches | |
 * |---|---|
 * | with a HWID | as any device |
 * | without a HWID | takes no slot and makes no link; {@link FETCHES_MAX} answers a day and key |
 */

import { readLabel } from './account/formats.ts';
import { actAt } from './audit/entry.ts';
import { utcDay } from './calendar.ts';
import type { Core } from './core.ts';
import { hostHash, hostName } from './host-name.ts';
import { isRefused, type Misfit, malformed, Refused } from './outcome.ts';
import type { TrustedBot } from './port/bot.ts';
import { DOMAIN_ACTIVE } from './port/domain.ts';
import { after, type Maybe } from './port/maybe.ts';
import type { Provider } from './port/provider.ts';
import { hashKey, randomAuthKey, sameHash, subscriptionKeyHash } from './secret.ts';

/** The most bots of a provider. */
export const BOTS_MAX = 20;
/** The most answers of a day and key to a bot that forwards no HWID. */
export const FETCHES_MAX = 24;

/** The beginning of each secret, so that no other credential is taken for one. */
const PREFIX = 'bot_';
const SECRET = new RegExp(`${PREFIX}[-_A-Za-z0-9]{32}`);
const BEARER = new RegExp(`^[Bb]earer +(${SECRET.source}) *$`);

/** Returns whether a value has a secret of a bot, which no panel may read. */
export const hasBotSecret = (value: string): boolean => SECRET.test(value);

/** Returns the secret of a bot in the header `Authorization`; null: it has none. */
export const botSecretIn = (authorization: string | null): string | null =>
  BEARER.exec(authorization ?? '')?.[1] ?? null;

/**
 * Trusts a bot at a host and returns its secret, to be shown once. Returns a misfit for a name or
 * host that is none, or is not bound to the provider, and `bot_limit_reached`.
 */
export async function addBot(
  core: Core,
  { id: providerId }: Pick<Provider, 'id'>,
  given: { host: string; name: string },
  nowMs: number,
): Promise<{ id: number; secret: string } | Misfit | Refused<'bot_limit_reached'>> {
  const name = readLabel(given.name);
  if (isRefused(name)) return name;
  const host = hostName(given.host);
  const binding = host && (await core.store.findDomain(providerId, hostHash(host)));
  if (!host || !binding || binding.status !== DOMAIN_ACTIVE) {
    return malformed('host must be a host name that is bound to the provider');
  }
  const secret = `${PREFIX}${randomAuthKey()}`;
  const terms = { host, name, createdAtMs: nowMs, countMax: BOTS_MAX };
  const draft = { providerId, secretHash: hashKey(secret), ...terms };
  const added = await core.store.addBot(draft, actAt(core, nowMs));
  return typeof added === 'string' ? new Refused(added) : { ...added, secret };
}

/** Removes a bot. Refuses `bot_not_found` if the provider has none with the id. */
export async function removeBot(
  core: Core,
  { id: providerId }: Pick<Provider, 'id'>,
  id: number,
  nowMs: number,
): Promise<'ok' | Refused<'bot_not_found'>> {
  const isRemoved = await core.store.removeBot(providerId, id, actAt(core, nowMs));
  return isRemoved ? 'ok' : new Refused('bot_not_found');
}

/**
 * Finds the bot of a secret at a host; null: there is none. `providerCode` excludes the bots of
 * other providers. All secrets of the host are compared, each in constant time.
 */
export function findBot(
  { store }: Pick<Core, 'store'>,
  secret: string,
  { host, providerCode }: { host: string; providerCode: string | null },
): Maybe<TrustedBot | null> {
  const hash = hashKey(secret);
  return after(store.findBots(host), (bots) => {
    let found: TrustedBot | null = null;
    for (const bot of bots) {
      const isOf = providerCode === null || bot.providerCode === providerCode;
      if (sameHash(bot.secretHash, hash) && isOf) found = bot;
    }
    return found;
  });
}

/**
 * Counts an answer to a bot without a HWID, by the key or the code that it fetched. Returns false
 * if it had as many today as it may.
 */
export const countBotFetch = (
  { store }: Pick<Core, 'store'>,
  botId: number,
  { code, key }: { code: string | null; key: { readonly key: string } | null },
  nowMs: number,
): Promise<boolean> => {
  const keyHash = subscriptionKeyHash(key?.key ?? `${code}`);
  return store.countBotFetch({ botId, keyHash, day: utcDay(nowMs), countMax: FETCHES_MAX });
};
