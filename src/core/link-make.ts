/** Makes many links at a time from drafts: numbered ones, or rows of a file. */

import type { Core } from './core.ts';
import { counted } from './counted.ts';
import { addLink, EXISTS, takenBy } from './link.ts';
import type { LinkForm } from './link-form.ts';
import { giveKeys, type KeyedLink, TIE_FAILURES } from './link-tie.ts';
import { innermostReason, isRefused, saving } from './outcome.ts';
import type { KeyedCall } from './port/idempotency.ts';
import type { Provider } from './port/provider.ts';
import { subscriptionKeyHash } from './secret.ts';

/** The terms of a new link; an absent one is that of its provider. */
export interface LinkDraft extends LinkForm {
  /** The key of the call: with it a repeat makes no second link. */
  keyed?: KeyedCall | null;
  /**
   * True: a link that has the code gets the key, and one that the proxy made for the key is joined
   * with it.
   */
  joins?: boolean;
}

/** Links that are made together, so that they share commits. */
const TOGETHER = 50;

/** A new link, or the reason of its refusal. */
export type MadeLink =
  | { done: 'added'; id: number; code: string }
  /** The link with the code got the key; how many devices moved to it, and lost their slots. */
  | { done: 'keyed'; code: string; movedCount: number; leftCount: number }
  | { done: 'skipped'; why: string }
  /** No further link will be made either. */
  | { done: 'stopped'; why: string; error: 'not_saved' | 'links_max_reached' };

/** The reason to skip a row whose link has its key. */
const HAS_KEY = 'the link has the subscription key';

/**
 * Gives the link of a code its key. Makes the link first if Gatepost made another one for the key.
 * Null: there is neither, so that the draft makes one.
 */
async function keyOf(
  core: Core,
  provider: Provider,
  named: KeyedLink,
  nowMs: number,
  add: () => ReturnType<typeof addLink>,
): Promise<MadeLink | null> {
  const { installCode, key } = named;
  const link = await core.store.findLink(installCode);
  if (link !== null && link.providerId !== provider.id) return null;
  if (link === null) {
    const holder = await core.store.findTiedLink(provider.id, subscriptionKeyHash(key));
    if (holder?.ofGate !== 1 || isRefused(await saving('not_saved', add()))) return null;
  }
  const [given] = await giveKeys(core, provider, [named], nowMs);
  if (given === undefined || 'why' in given) {
    return { done: 'skipped', why: TIE_FAILURES[given?.why ?? 'not_saved'] };
  }
  if (given.done === 'same') return { done: 'skipped', why: HAS_KEY };
  const { movedCount, leftCount } = given.done === 'tied' ? given : NOTHING;
  return { done: 'keyed', code: installCode, movedCount, leftCount };
}

const NOTHING = { movedCount: 0, leftCount: 0 };

async function make(
  core: Core,
  provider: Provider,
  draft: LinkDraft,
  nowMs: number,
): Promise<MadeLink> {
  const { key: subscriptionKey, code: installCode, limit: installLimit, joins, ...terms } = draft;
  const wanted = { ...terms, installCode, installLimit, subscriptionKey };
  if (joins && installCode !== null && subscriptionKey !== null) {
    const named = { installCode, key: subscriptionKey };
    const keyed = await keyOf(core, provider, named, nowMs, () =>
      addLink(core, provider, { ...wanted, subscriptionKey: null }, nowMs),
    );
    if (keyed !== null) return keyed;
  }
  const added = await saving('not_saved', addLink(core, provider, wanted, nowMs));
  if (!isRefused(added)) return { done: 'added', id: added.id, code: added.installCode };
  const { says, detail = EXISTS.install_code_exists, fault } = added;
  if (says === 'install_code_exists' || says === 'malformed')
    return { done: 'skipped', why: detail };
  if (says === 'not_saved') {
    const why = `the change could not be saved: ${innermostReason(fault)}`;
    return { done: 'stopped', why, error: 'not_saved' };
  }
  const max = provider.installCountMax ?? core.limits.linksPerProviderMax;
  const why = `${provider.code} has reached its ${counted(max, 'link')}`;
  return { done: 'stopped', why, error: 'links_max_reached' };
}

/** Makes links in order, up to the first `stopped` one. */
export async function makeLinks(
  core: Core,
  provider: Provider,
  drafts: readonly LinkDraft[],
  nowMs: number,
): Promise<MadeLink[]> {
  const made: MadeLink[] = [];
  for (let at = 0; at < drafts.length; at += TOGETHER) {
    const some = drafts.slice(at, at + TOGETHER);
    made.push(...(await Promise.all(some.map((draft) => make(core, provider, draft, nowMs)))));
    if (made.some(({ done }) => done === 'stopped')) break;
  }
  return made;
}

/** Returns the result that a draft would have now; it may differ by the time the link is made. */
export async function foreseeLink(
  core: Core,
  provider: Provider,
  { code, joins, key }: Pick<LinkDraft, 'code' | 'joins' | 'key'>,
): Promise<MadeLink> {
  const keyed =
    joins && code !== null && key !== null && (await foreseeKey(core, provider, code, key));
  if (keyed) return keyed;
  const taken = await takenBy(core, provider, {
    installCode: code,
    subscriptionKeyHash: key === null ? null : subscriptionKeyHash(key),
  });
  return taken === null
    ? { done: 'added', id: 0, code: code ?? '' }
    : { done: 'skipped', why: taken };
}

/** Returns the result of a row for a link that exists; null: there is none. */
async function foreseeKey(
  { store }: Core,
  provider: Provider,
  installCode: string,
  key: string,
): Promise<MadeLink | null> {
  const keyHash = subscriptionKeyHash(key);
  const link = await store.findLink(installCode);
  if (link === null || link.providerId !== provider.id) return null;
  if ((await store.findLinkByKey(provider.id, keyHash))?.id === link.id) {
    return { done: 'skipped', why: HAS_KEY };
  }
  const fetch = { providerId: provider.id, keyHash, installCode, hwid: '' };
  const facts = await store.findTieFacts(fetch, 0);
  if (facts === null) return { done: 'skipped', why: TIE_FAILURES.link_has_key };
  const { former, isEnded } = facts;
  if (isEnded || (former !== null && !former.isOfGate)) {
    return { done: 'skipped', why: TIE_FAILURES.subscription_key_exists };
  }
  const outside = former?.outsideCount ?? 0;
  const leftCount = Math.max(0, outside - Math.max(0, link.installLimit - link.deviceCount));
  return { done: 'keyed', code: installCode, movedCount: outside - leftCount, leftCount };
}
