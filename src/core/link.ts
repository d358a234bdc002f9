/** Limited links ("install" on the wire): their codes, limits and slots. */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import { isKeyRefusal, refusedKey } from './idempotency.ts';
import { fromStore, isRefused, Refused, saving } from './outcome.ts';
import type { KeptRefusal } from './port/figure.ts';
import type { KeyedCall } from './port/idempotency.ts';
import type { Link, LinkChange, LinkSelector, LinkTerms, NewLink } from './port/link.ts';
import type { FreedSlots } from './port/link-end.ts';
import type { LinkFilter } from './port/link-view.ts';
import { after, type Maybe } from './port/maybe.ts';
import type { Page } from './port/page.ts';
import type { SlotPhone } from './port/phone.ts';
import type { Provider } from './port/provider.ts';
import type { Slot } from './port/slot.ts';
import type { FiguresFilter } from './port/subscription-figures.ts';
import { refusedOn } from './same-phone.ts';
import { randomCode, subscriptionKeyHash } from './secret.ts';

interface LinkDraft extends Partial<LinkTerms> {
  /** The code; null: a random one. */
  installCode: string | null;
  installLimit: number;
  note: string | null;
  /** The panel's key of the subscription, well formed. */
  subscriptionKey?: string | null;
  /** The key of the call; null or absent: the call cannot be repeated. */
  keyed?: KeyedCall | null;
}

/** Makes the record of a new link, with a random code if the draft has none. */
export function newLink(core: Core, provider: Provider, draft: LinkDraft, nowMs: number): NewLink {
  const { installCode, installLimit, note, subscriptionKey = null } = draft;
  const { coolDownHours = null, inactiveDays = null, whenFull = null } = draft;
  const { enforce = null, withoutHwid = null, samePhone = null } = draft;
  const { samePhoneHours = null, copiedHwid = null, whenNew = null } = draft;
  const { greeting = null, supportUrl = null, webPageUrl = null } = draft;
  // Written out: copying an object takes longer than a look-up in the database.
  return {
    installLimit,
    note,
    coolDownHours,
    inactiveDays,
    whenFull,
    enforce,
    withoutHwid,
    samePhone,
    samePhoneHours,
    copiedHwid,
    whenNew,
    supportUrl,
    webPageUrl,
    greeting,
    providerId: provider.id,
    installCode: installCode ?? randomCode(12),
    subscriptionKeyHash: subscriptionKey && subscriptionKeyHash(subscriptionKey),
    createdAtMs: nowMs,
    installCountMax: provider.installCountMax ?? core.limits.linksPerProviderMax,
  };
}

const KEY_IS_TAKEN = 'subscription_key is that of another link';
/** Details of `install_code_exists`. */
export const EXISTS = {
  install_code_exists: 'install_code is taken',
  install_code_ended: 'install_code is that of a link that was removed or revoked',
  subscription_key_exists: KEY_IS_TAKEN,
  subscription_key_ended: 'subscription_key is that of a link that was removed or revoked',
} as const;

/**
 * Adds an active link. Codes are unique in the appliance, because devices present the code alone;
 * subscription keys are unique for a provider. Refuses `install_code_exists` if another link has or
 * had the code or the key (with the id of that link if it is the provider's own), and
 * `install_code_limit_reached` for a provider at its cap of links. With a key it adds one link and
 * returns it to each repeat; refuses `malformed` for a key of another call.
 */
export async function addLink(
  core: Core,
  provider: Provider,
  draft: LinkDraft,
  nowMs: number,
): Promise<
  | { id: number; installCode: string; isRepeat?: true | undefined }
  | Refused<'install_code_exists' | 'install_code_limit_reached' | 'malformed'>
> {
  const added = newLink(core, provider, draft, nowMs);
  const outcome = await core.store.addLink(added, actAt(core, nowMs), draft.keyed);
  if (typeof outcome === 'object') {
    const { id, installCode = added.installCode, isRepeat } = outcome;
    return { id, installCode, isRepeat };
  }
  if (isKeyRefusal(outcome)) return refusedKey(outcome);
  if (outcome === 'install_code_limit_reached') return new Refused(outcome);
  const { installCode, subscriptionKey = null } = draft;
  const isCodeTaken = outcome === 'install_code_exists' || outcome === 'install_code_ended';
  if (isCodeTaken && installCode === null) return addLink(core, provider, draft, nowMs);
  const refused = { detail: EXISTS[outcome], recordId: undefined };
  if (!outcome.endsWith('_exists')) return new Refused('install_code_exists', refused);
  const name = isCodeTaken
    ? { installCode, subscriptionKey: null }
    : { installCode: null, subscriptionKey };
  const known = await findNamed(core, provider, name);
  return new Refused('install_code_exists', { ...refused, recordId: known?.id });
}

/**
 * Returns why a new link of the provider cannot have this code or key, in the words of
 * {@link addLink}; null: it can. Null as a code means a random one, null as a key none.
 */
export async function takenBy(
  { store }: Core,
  { id }: Pick<Provider, 'id'>,
  {
    installCode,
    subscriptionKeyHash: keyHash,
  }: Pick<NewLink, 'subscriptionKeyHash'> & {
    installCode: string | null;
  },
): Promise<string | null> {
  if (installCode !== null) {
    if ((await store.findLink(installCode)) !== null) return EXISTS.install_code_exists;
    const ended = await store.findEnded(id, { installCode });
    if (ended !== null) return EXISTS[ended];
  }
  if (keyHash === null) return null;
  if ((await store.findLinkByKey(id, keyHash)) !== null) return EXISTS.subscription_key_exists;
  const ended = await store.findEnded(id, { subscriptionKeyHash: keyHash });
  return ended && EXISTS[ended];
}

/** A change of a link; absent fields stay unchanged. */
export interface LinkEdit extends Omit<LinkChange, 'subscriptionKeyHash'> {
  /** Well formed; null: removes the key. */
  subscriptionKey?: string | null;
}

/**
 * Changes the fields of a link together. Refuses `install_not_found` if the provider has no link
 * with the id, `install_limit_below_count` for a limit below its taken slots, and
 * `install_save_error` for the subscription key of another link or if it could not be saved.
 */
export async function updateLink(
  core: Core,
  provider: Pick<Provider, 'id'>,
  id: number,
  { subscriptionKey, ...change }: LinkEdit,
  nowMs: number,
): Promise<
  | { installCode: string }
  | Refused<'install_not_found' | 'install_limit_below_count' | 'install_save_error'>
> {
  const wanted: LinkChange =
    subscriptionKey === undefined
      ? change
      : { ...change, subscriptionKeyHash: subscriptionKey && subscriptionKeyHash(subscriptionKey) };
  const updated = await saving(
    'install_save_error',
    core.store.updateLink(provider.id, id, wanted, actAt(core, nowMs)),
  );
  if (updated === 'subscription_key_exists') {
    return new Refused('install_save_error', { detail: KEY_IS_TAKEN });
  }
  return fromStore(updated);
}

/**
 * Enables a link that an import disabled. Returns false if its state is not the import's any more.
 */
export const enableImported = (
  core: Core,
  { id, providerId }: { id: number; providerId: number },
  nowMs: number,
): Promise<boolean> => core.store.enableImported(providerId, id, actAt(core, nowMs));

/**
 * Lists the provider's links that match a search: see `LinkFilter`. `isOver`: only links with more
 * devices than their limit; `isCopied`: only those with a HWID of several phones. Waits for a
 * `turn` between steps.
 */
export async function searchLinks(
  core: Core,
  provider: Pick<Provider, 'code'>,
  {
    figures,
    ...named
  }: Pick<LinkFilter, 'search' | 'isOver' | 'isCopied'> & {
    /** Null: whatever their figures are. */
    figures: FiguresFilter | null;
  },
  { id, beforeId, countMax }: Page,
  turn: () => Promise<void>,
): Promise<Link[]> {
  const which = { isFull: false, status: null, ...named, ...figures };
  const filter = { providerCode: provider.code, ...which };
  if (id === null) return core.store.listLinks({ ...filter, beforeId, countMax }, turn);
  const ending = Math.min(id + 1, beforeId ?? id + 1);
  return core.store.listLinks({ ...filter, fromId: id, beforeId: ending, countMax: 1 }, turn);
}

/** Finds the provider's link with all given names; null: it has none. */
export function findNamed(
  core: Core,
  provider: Provider,
  { installCode, subscriptionKey }: { installCode: string | null; subscriptionKey: string | null },
): Maybe<Link | null> {
  const byKey =
    subscriptionKey === null
      ? null
      : core.store.findLinkByKey(provider.id, subscriptionKeyHash(subscriptionKey));
  if (installCode === null) return byKey;
  return after(byKey, (keyed) =>
    after(core.store.findLink(installCode), (link) => {
      const isOwn = link !== null && link.providerId === provider.id;
      return isOwn && (subscriptionKey === null || keyed?.id === link.id) ? link : null;
    }),
  );
}

/**
 * Lists the taken slots of a link, latest registration first, or the slot of one HWID. Refuses
 * `install_code_error` if the provider has no such link.
 */
export function listSlots(
  core: Core,
  provider: Pick<Provider, 'id'>,
  selector: LinkSelector,
  hwid: string | null,
  countMax: number,
): Maybe<Slot[] | Refused<'install_code_error'>> {
  return after(core.store.listSlots(provider.id, selector, hwid, countMax), fromStore);
}

/**
 * Frees the slot of a HWID and returns the number of taken slots. A HWID without a slot changes
 * nothing and is no refusal, so that a retry succeeds. Refuses `install_code_error` as
 * {@link listSlots} does.
 */
export async function freeSlot(
  core: Core,
  provider: Pick<Provider, 'id'>,
  selector: LinkSelector,
  hwid: string,
  nowMs: number,
): Promise<{ deviceCount: number } | Refused<'install_code_error'>> {
  return fromStore(await core.store.freeSlot(provider.id, selector, hwid, actAt(core, nowMs)));
}

/** Finds the id of the provider's link by the given code and id. */
async function idOf(
  { store }: Core,
  provider: Pick<Provider, 'id'>,
  { installCode, installId }: LinkSelector,
): Promise<number | null> {
  const link =
    installCode === null
      ? await store.findLinkById(installId ?? 0)
      : await store.findLink(installCode);
  if (link?.providerId !== provider.id) return null;
  return installId === null || link.id === installId ? link.id : null;
}

/**
 * Lists the latest devices that a link refused, up to ten seconds late. Refuses as
 * {@link freeSlots} does.
 */
export async function listRefused(
  core: Core,
  provider: Pick<Provider, 'id'>,
  selector: LinkSelector,
): Promise<KeptRefusal[] | Refused<'install_code_error'>> {
  const id = await idOf(core, provider, selector);
  return id === null ? new Refused('install_code_error') : refusedOn(core, provider.id, id);
}

/**
 * Lists the phones of those slots of a link that saw more than one. Refuses as {@link freeSlots}
 * does.
 */
export async function listPhones(
  core: Core,
  provider: Pick<Provider, 'id'>,
  selector: LinkSelector,
): Promise<SlotPhone[] | Refused<'install_code_error'>> {
  const id = await idOf(core, provider, selector);
  return id === null ? new Refused('install_code_error') : core.store.listPhones(id);
}

/**
 * Marks the phones that send a HWID of a link as those of one person: none of them is counted or
 * refused any more, or causes an event. Returns false if there is but one. Refuses as
 * {@link freeSlots} does.
 */
export async function ignorePhones(
  core: Core,
  provider: Pick<Provider, 'id'>,
  selector: LinkSelector,
  hwid: string,
  nowMs: number,
): Promise<boolean | Refused<'install_code_error'>> {
  const installId = await idOf(core, provider, selector);
  if (installId === null) return new Refused('install_code_error');
  const link = { providerId: provider.id, installId };
  return core.store.ignorePhones(link, hwid, actAt(core, nowMs));
}

/**
 * Frees the slots of a link that were taken since a time, or all. Refuses `install_code_error` if
 * the provider has no such link, or `installCode` and `installId` name different ones.
 */
export async function freeSlots(
  core: Core,
  provider: Pick<Provider, 'id'>,
  selector: LinkSelector,
  nowMs: number,
  sinceMs?: number,
): Promise<FreedSlots | Refused<'install_code_error'>> {
  const id = await idOf(core, provider, selector);
  if (id === null) return new Refused('install_code_error');
  const freed = await core.store.freeSlots(provider.id, id, actAt(core, nowMs), sinceMs);
  return typeof freed === 'string' ? new Refused('install_code_error') : freed;
}

/**
 * Gives a link a new random code, frees its slots, removes its subscription key, and ends the
 * registrations that it claimed. From then on the old code and key belong to no link. Waits for a
 * `turn` between steps. Refuses `install_not_found` if the provider has no link with the id.
 */
export async function revokeLink(
  core: Core,
  provider: Pick<Provider, 'id'>,
  id: number,
  nowMs: number,
  turn?: () => Promise<void>,
): Promise<
  | { installCode: string; freedCount: number; hadKey: boolean }
  | Refused<'install_not_found' | 'install_save_error'>
> {
  const installCode = randomCode(12);
  const revoked = await saving(
    'install_save_error',
    core.store.revokeLink(provider.id, id, installCode, actAt(core, nowMs), turn),
  );
  if (revoked === 'install_code_exists') return revokeLink(core, provider, id, nowMs, turn);
  if (typeof revoked === 'string') return new Refused(revoked);
  if (isRefused(revoked)) return revoked;
  const { freedCount, hadKey, deviceIds } = revoked;
  // Closes the streams of the devices.
  for (const deviceId of deviceIds) core.signals.messagesFor(deviceId);
  return { installCode, freedCount, hadKey };
}

/**
 * Removes a link with its slots; its code and its subscription key can never make a link again.
 * Refuses `install_not_found` if the provider has no link with the id.
 */
export async function removeLink(
  core: Core,
  provider: Pick<Provider, 'id'>,
  id: number,
  nowMs: number,
): Promise<FreedSlots | Refused<'install_not_found' | 'install_save_error'>> {
  const act = actAt(core, nowMs);
  return fromStore(await saving('install_save_error', core.store.removeLink(provider.id, id, act)));
}
