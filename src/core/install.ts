/** Limited install links ("install" on the wire): their codes, caps and slots. */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import { fromStore, Refused, saving } from './outcome.ts';
import type { Install, InstallChange, InstallSelector, NewInstall } from './port/install.ts';
import { after, type Maybe } from './port/maybe.ts';
import type { Provider } from './port/provider.ts';
import type { OwnPolicy, Slot } from './port/slot.ts';
import { randomCode, subscriptionKeyHash } from './secret.ts';

interface InstallDraft extends Partial<OwnPolicy> {
  /** Null: a random one. */
  installCode: string | null;
  installLimit: number;
  note: string | null;
  /** The key by which a panel knows the subscription, well formed. */
  subscriptionKey?: string | null;
}

/** A draft as a store takes it, with a random code if it has none. */
export function newInstall(
  core: Core,
  provider: Provider,
  draft: InstallDraft,
  nowMs: number,
): NewInstall {
  const { installCode, installLimit, note, subscriptionKey = null } = draft;
  const { coolDownHours = null, inactiveDays = null, whenFull = null } = draft;
  // Written out: a copy of another object takes longer than a look-up in the database.
  return {
    installLimit,
    note,
    coolDownHours,
    inactiveDays,
    whenFull,
    providerId: provider.id,
    installCode: installCode ?? randomCode(12),
    subscriptionKeyHash: subscriptionKey && subscriptionKeyHash(subscriptionKey),
    createdAtMs: nowMs,
    installCountMax: provider.installCountMax ?? core.limits.linksPerProviderMax,
  };
}

const KEY_IS_TAKEN = 'subscription_key is that of another link';

/**
 * Creates an active link. Codes are unique over the whole appliance, because a device presents the
 * code alone; subscription keys are a provider's own. Refuses `install_code_exists` for either that
 * is taken, and `install_code_limit_reached` for a provider at its cap of links.
 */
export async function addInstall(
  core: Core,
  provider: Provider,
  draft: InstallDraft,
  nowMs: number,
): Promise<
  | { id: number; installCode: string }
  | Refused<'install_code_exists' | 'install_code_limit_reached'>
> {
  const added = newInstall(core, provider, draft, nowMs);
  const outcome = await core.store.addInstall(added, actAt(core, nowMs));
  if (typeof outcome === 'object') return { id: outcome.id, installCode: added.installCode };
  if (outcome === 'subscription_key_exists') {
    return new Refused('install_code_exists', { detail: KEY_IS_TAKEN });
  }
  // Of 62^12 random codes one was taken: draw again.
  const drawAgain = outcome === 'install_code_exists' && draft.installCode === null;
  return drawAgain ? addInstall(core, provider, draft, nowMs) : new Refused(outcome);
}

/** A change by update-install; an absent field stays as it is. */
export interface LinkChange extends Omit<InstallChange, 'subscriptionKeyHash'> {
  /** Well formed; null: it gets none. */
  subscriptionKey?: string | null;
}

/**
 * Changes a link's fields together or not at all. Refuses `install_not_found` for an id that is
 * unknown or another provider's, `install_limit_below_count` for a limit below the HWIDs on it,
 * `install_save_error` for a subscription key of another link and for what could not be saved.
 */
export async function updateInstall(
  core: Core,
  provider: Provider,
  id: number,
  { subscriptionKey, ...change }: LinkChange,
  nowMs: number,
): Promise<
  | { installCode: string }
  | Refused<'install_not_found' | 'install_limit_below_count' | 'install_save_error'>
> {
  const wanted: InstallChange =
    subscriptionKey === undefined
      ? change
      : { ...change, subscriptionKeyHash: subscriptionKey && subscriptionKeyHash(subscriptionKey) };
  const updated = await saving(
    'install_save_error',
    core.store.updateInstall(provider.id, id, wanted, actAt(core, nowMs)),
  );
  if (updated === 'subscription_key_exists') {
    return new Refused('install_save_error', { detail: KEY_IS_TAKEN });
  }
  return fromStore(updated);
}

/** The provider's link with a subscription key, which is well formed; null: it has none. */
export function findByKey(
  core: Core,
  provider: Provider,
  subscriptionKey: string,
): Maybe<Install | null> {
  return core.store.findInstallByKey(provider.id, subscriptionKeyHash(subscriptionKey));
}

/**
 * The HWIDs on a link, latest registration first, or the one HWID asked for. Refuses
 * `install_code_error` for a link that is unknown or another provider's.
 */
export function listSlots(
  core: Core,
  provider: Provider,
  install: InstallSelector,
  hwid: string | null,
  countMax: number,
): Maybe<Slot[] | Refused<'install_code_error'>> {
  return after(core.store.listSlots(provider.id, install, hwid, countMax), fromStore);
}

/**
 * Frees a HWID's slot and returns how many HWIDs the link holds now. A HWID that is not on the link
 * changes nothing and is no error, so that a retry does not fail. Refuses `install_code_error` as
 * {@link listSlots} does.
 */
export async function freeSlot(
  core: Core,
  provider: Provider,
  install: InstallSelector,
  hwid: string,
  nowMs: number,
): Promise<{ deviceCount: number } | Refused<'install_code_error'>> {
  return fromStore(await core.store.freeSlot(provider.id, install, hwid, actAt(core, nowMs)));
}
