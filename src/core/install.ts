/** Limited links ("install" on the wire): their codes, limits and slots. */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import { fromStore, Refused, saving } from './outcome.ts';
import type { Install, InstallChange, InstallSelector, NewInstall } from './port/install.ts';
import { after, type Maybe } from './port/maybe.ts';
import type { Provider } from './port/provider.ts';
import type { OwnPolicy, Slot } from './port/slot.ts';
import { randomCode, subscriptionKeyHash } from './secret.ts';

interface InstallDraft extends Partial<OwnPolicy> {
  /** Null: a random code. */
  installCode: string | null;
  installLimit: number;
  note: string | null;
  /** The panel's key of the subscription, well formed. */
  subscriptionKey?: string | null;
}

/** Makes the record of a new link, with a random code if the draft has none. */
export function newInstall(
  core: Core,
  provider: Provider,
  draft: InstallDraft,
  nowMs: number,
): NewInstall {
  const { installCode, installLimit, note, subscriptionKey = null } = draft;
  const { coolDownHours = null, inactiveDays = null, whenFull = null } = draft;
  const { enforce = null, withoutHwid = null } = draft;
  // Written out: copying an object takes longer than a look-up in the database.
  return {
    installLimit,
    note,
    coolDownHours,
    inactiveDays,
    whenFull,
    enforce,
    withoutHwid,
    providerId: provider.id,
    installCode: installCode ?? randomCode(12),
    subscriptionKeyHash: subscriptionKey && subscriptionKeyHash(subscriptionKey),
    createdAtMs: nowMs,
    installCountMax: provider.installCountMax ?? core.limits.linksPerProviderMax,
  };
}

const KEY_IS_TAKEN = 'subscription_key is that of another link';

/**
 * Adds an active link. Codes are unique in the appliance, because devices present the code alone;
 * subscription keys are unique for a provider. Refuses `install_code_exists` if the code or the key
 * is taken, with the id of the provider's own link that has it, and `install_code_limit_reached`
 * for a provider at its cap of links.
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
    const { subscriptionKey = null } = draft;
    const known = await findNamed(core, provider, { installCode: null, subscriptionKey });
    return new Refused('install_code_exists', { detail: KEY_IS_TAKEN, recordId: known?.id });
  }
  if (outcome !== 'install_code_exists') return new Refused(outcome);
  const { installCode } = draft;
  if (installCode === null) return addInstall(core, provider, draft, nowMs);
  const known = await findNamed(core, provider, { installCode, subscriptionKey: null });
  return new Refused(outcome, { recordId: known?.id });
}

/** A change of a link; absent fields stay unchanged. */
export interface LinkChange extends Omit<InstallChange, 'subscriptionKeyHash'> {
  /** Well formed; null: removes the key. */
  subscriptionKey?: string | null;
}

/**
 * Changes the fields of a link together. Refuses `install_not_found` if the provider has no link
 * with the id, `install_limit_below_count` for a limit below its taken slots, and
 * `install_save_error` for the subscription key of another link or if it could not be saved.
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

/** Finds the provider's link with every name that is given; null: it has none. */
export function findNamed(
  core: Core,
  provider: Provider,
  { installCode, subscriptionKey }: { installCode: string | null; subscriptionKey: string | null },
): Maybe<Install | null> {
  const byKey =
    subscriptionKey === null
      ? null
      : core.store.findInstallByKey(provider.id, subscriptionKeyHash(subscriptionKey));
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
  provider: Provider,
  install: InstallSelector,
  hwid: string | null,
  countMax: number,
): Maybe<Slot[] | Refused<'install_code_error'>> {
  return after(core.store.listSlots(provider.id, install, hwid, countMax), fromStore);
}

/**
 * Frees the slot of a HWID and returns the number of taken slots. A HWID without a slot changes
 * nothing and is no refusal, so that a retry succeeds. Refuses `install_code_error` as {@link
 * listSlots} does.
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
