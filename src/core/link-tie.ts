/**
 * Ties of keys to links. A bot makes a link with a code, and its panel a subscription with a key; a
 * fetch of the key with the code (`installid`) says that both are one customer's. The key becomes
 * that of the link, if the link is active and has no key:
 *
 * | The key is that of | and | The fetch |
 * |---|---|---|
 * | no link | | ties it |
 * | a link that the proxy made | no device would be left out | ties it |
 * | a link that the proxy made | otherwise | waits for the provider |
 * | a link that the provider made or that ended | | changes nothing |
 *
 * No such device: each has a slot on the code's link, or the one that asks is the only one, and
 * fits there. While a provider has not switched ties on, those that a fetch would make wait too.
 * A tie that was undone is made by the provider alone.
 */

import { actAt } from './audit/entry.ts';
import { DAY_MS } from './calendar.ts';
import type { Core } from './core.ts';
import { isRefused, saving } from './outcome.ts';
import { INSTALL_ACTIVE } from './port/link.ts';
import type { MadeTie, TieFacts, TieFetch, TieRefusal } from './port/link-tie.ts';
import type { Provider } from './port/provider.ts';
import { subscriptionKeyHash } from './secret.ts';

/** The most ties of a provider within an hour. */
export const TIES_PER_HOUR_MAX = 1_000;
/** The time for which a tie can be undone, and for which one waits after its last fetch, days. */
export const TIE_DAYS = 30;
/** The most ties that wait for one provider, and of one key. */
export const WAITING_MAX = 20_000;
export const WAITING_OF_KEY_MAX = 3;

/** Decides what a fetch does with its key: the only such rule. */
export function judgeTie(facts: TieFacts, nowMs: number): 'no' | 'tie' | 'wait' {
  const { former, hourCount, isEnded, isOn, link, tie } = facts;
  if (link === null || link.hasKey || link.status !== INSTALL_ACTIVE || isEnded) return 'no';
  if (former !== null && !former.isOfGate) return 'no';
  const isOwn = former === null || holdsNoOther(former, link);
  if (tie?.state !== 'undone' && isOn && isOwn) {
    return hourCount < TIES_PER_HOUR_MAX ? 'tie' : 'no';
  }
  // The provider took the key away since.
  if (tie === null || tie.state === 'tied') return 'wait';
  // A note a day keeps it.
  return nowMs >= tie.atMs + DAY_MS ? 'wait' : 'no';
}

/** Returns whether no device of a link that ends would be another customer's, or lose its slot. */
function holdsNoOther(
  { deviceCount, hasCaller, outsideCount }: NonNullable<TieFacts['former']>,
  link: NonNullable<TieFacts['link']>,
): boolean {
  if (outsideCount === 0) return true;
  return deviceCount === 1 && hasCaller && link.deviceCount < link.installLimit;
}

/** Ties the key of a fetch that the panel proved, by the rule. Returns whether it was tied. */
export async function tieByFetch(core: Core, fetch: TieFetch, nowMs: number): Promise<boolean> {
  const facts = await core.store.findTieFacts(fetch, nowMs);
  if (facts === null || judgeTie(facts, nowMs) === 'no') return false;
  return core.store.tieByFetch(fetch, actAt(core, nowMs));
}

/** The outcome of one item of a call; `why`: nothing was done, for this reason. */
export type SettledTie = MadeTie | { done: 'given' | 'same' | 'undone' } | { why: TieFailure };
type TieFailure = TieRefusal | 'not_saved';

/** Runs the steps of a call in order; each outcome has its item. */
async function settle<T extends object>(
  items: readonly T[],
  step: (item: T) => Promise<Exclude<SettledTie, { why: TieFailure }> | TieRefusal>,
): Promise<(T & SettledTie)[]> {
  const settled: (T & SettledTie)[] = [];
  for (const item of items) {
    const got = await saving('not_saved', step(item));
    const outcome: SettledTie = isRefused(got)
      ? { why: got.says }
      : typeof got === 'string'
        ? { why: got }
        : got;
    settled.push({ ...item, ...outcome });
  }
  return settled;
}

const named = (ids: readonly number[]) => ids.map((id) => ({ id }));

/** Lets fetches tie keys of a provider, or no longer. */
export const switchTies = (
  core: Core,
  { id }: Pick<Provider, 'id'>,
  isOn: boolean,
  nowMs: number,
): Promise<void> => core.store.switchTies(id, isOn, actAt(core, nowMs));

/** Makes ties that wait, or were undone, for their provider. */
export const agreeTies = (
  core: Core,
  { id: providerId }: Pick<Provider, 'id'>,
  ids: readonly number[],
  nowMs: number,
): Promise<({ id: number } & SettledTie)[]> =>
  settle(named(ids), ({ id }) => core.store.agreeTie(providerId, id, actAt(core, nowMs)));

/** Undoes ties, or ends those that wait: see `undoTie` of the port. */
export const undoTies = (
  core: Core,
  { id: providerId }: Pick<Provider, 'id'>,
  ids: readonly number[],
  nowMs: number,
): Promise<({ id: number } & SettledTie)[]> =>
  settle(named(ids), ({ id }) => core.store.undoTie(providerId, id, actAt(core, nowMs)));

/** A link that gets a key; both are well formed. */
export interface KeyedLink {
  installCode: string;
  key: string;
}

/** Gives links their keys: see `giveKey` of the port. */
export const giveKeys = (
  core: Core,
  { id: providerId }: Pick<Provider, 'id'>,
  links: readonly KeyedLink[],
  nowMs: number,
): Promise<(KeyedLink & SettledTie)[]> =>
  settle(links, ({ installCode, key }) => {
    const selector = { installCode, installId: null };
    const keyHash = subscriptionKeyHash(key);
    return core.store.giveKey(providerId, selector, keyHash, actAt(core, nowMs));
  });

/**
 * Joins the link that the proxy made for a key with another link, before that gets the key. Returns
 * the reason if it cannot; null: it is done, or no such link has the key.
 */
export async function joinMadeLink(
  core: Core,
  { id: providerId }: Pick<Provider, 'id'>,
  installId: number,
  key: string,
  nowMs: number,
): Promise<TieFailure | null> {
  const keyHash = subscriptionKeyHash(key);
  const holder = await core.store.findTiedLink(providerId, keyHash);
  if (holder === null || holder.id === installId || holder.ofGate !== 1) return null;
  const selector = { installCode: null, installId };
  const step = () => core.store.giveKey(providerId, selector, keyHash, actAt(core, nowMs));
  const [settled] = await settle([selector], step);
  return settled !== undefined && 'why' in settled ? settled.why : null;
}

/** Why a key was not given, or a tie not made or undone. */
export const TIE_FAILURES: Readonly<Record<TieFailure, string>> = {
  install_not_found: 'there is no such link',
  tie_not_found: 'there is no such tie',
  link_has_key: 'the link has another subscription key',
  subscription_key_exists:
    'the subscription key is that of another link, which Gatepost did not make, or of one that ended',
  tie_changed: 'the link has got another subscription key since',
  ties_limit_reached: `the provider has used up its ${TIES_PER_HOUR_MAX} ties of the hour`,
  not_saved: 'the change could not be saved, or there were too many within a minute',
};
