/** Limited install links ("install" on the wire): their codes, caps and slots. */

import { actAt } from './audit/entry.ts';
import { sameUtcDay } from './calendar.ts';
import type { Core } from './core.ts';
import { saysNothingNew, tidyFacts } from './device.ts';
import { DOMAIN_HASH, HWID, INSTALL_CODE } from './formats.ts';
import { type Refused, saving } from './outcome.ts';
import type { DeviceFacts } from './port/device.ts';
import {
  type AdmitRefusal,
  type AdmittedLink,
  INSTALL_ACTIVE,
  type Install,
  type InstallChange,
  type InstallSelector,
  type Slot,
} from './port/install.ts';
import { after, type Maybe } from './port/maybe.ts';
import type { Page } from './port/page.ts';
import type { Provider } from './port/provider.ts';
import { randomCode } from './secret.ts';

/** A draft without a code gets a random one. */
export interface InstallDraft {
  installCode: string | null;
  installLimit: number;
  note: string | null;
}

export type AddInstallOutcome =
  | { says: 'ok'; id: number; installCode: string }
  | { says: 'install_code_exists' | 'install_code_limit_reached' };

/**
 * Creates an active link. Codes are unique over the whole appliance, because a device presents the
 * code alone: a taken one is refused with `install_code_exists`. A provider at its cap of links is
 * refused with `install_code_limit_reached`.
 */
export async function addInstall(
  core: Core,
  provider: Provider,
  draft: InstallDraft,
  nowMs: number,
): Promise<AddInstallOutcome> {
  const installCode = draft.installCode ?? randomCode(12);
  const { installLimit, note } = draft;
  const installCountMax = provider.installCountMax ?? core.linksPerProviderMax;
  const added = await core.store.addInstall(
    {
      providerId: provider.id,
      installCode,
      installLimit,
      note,
      createdAtMs: nowMs,
      installCountMax,
    },
    actAt(core, nowMs),
  );
  if (typeof added === 'object') return { says: 'ok', id: added.id, installCode };
  // Of 62^12 random codes one was taken: draw again.
  const drawAgain = added === 'install_code_exists' && draft.installCode === null;
  return drawAgain ? addInstall(core, provider, draft, nowMs) : { says: added };
}

export type UpdateInstallOutcome =
  | { says: 'ok'; installCode: string }
  | { says: 'install_not_found' | 'install_limit_below_count' }
  | Refused<'install_save_error'>;

/**
 * Changes a link's fields together or not at all. Refuses `install_not_found` for an id that is
 * unknown or another provider's, `install_limit_below_count` for a limit below the HWIDs on it.
 */
export async function updateInstall(
  core: Core,
  provider: Provider,
  id: number,
  change: InstallChange,
  nowMs: number,
): Promise<UpdateInstallOutcome> {
  const updated = await saving(
    'install_save_error',
    core.store.updateInstall(provider.id, id, change, actAt(core, nowMs)),
  );
  return typeof updated === 'string' ? { says: updated } : updated;
}

/** The provider's links, newest first. */
export function listInstalls(core: Core, provider: Provider, page: Page): Maybe<Install[]> {
  return core.store.listInstalls(provider.id, page);
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
): Maybe<Slot[] | 'install_code_error'> {
  return core.store.listSlots(provider.id, install, hwid, countMax);
}

/**
 * Frees a HWID's slot and returns how many HWIDs the link holds now. A HWID that is not on the link
 * changes nothing and is no error, so that a retry does not fail. Refuses `install_code_error` as
 * {@link listSlots} does.
 */
export function freeSlot(
  core: Core,
  provider: Provider,
  install: InstallSelector,
  hwid: string,
  nowMs: number,
): Promise<{ deviceCount: number } | 'install_code_error'> {
  return core.store.freeSlot(provider.id, install, hwid, actAt(core, nowMs));
}

/** What an app presents when a link is added to it. */
export interface Admission {
  installCode: string | null;
  domainHash: string | null;
  hwid: string | null;
}

/**
 * Lets a device in on a link (`GET /install`): takes a slot for a new HWID, refreshes the facts of
 * a known one. The cap holds because the store counts and inserts in one atomic step.
 *
 * Refuses `hwid_required`, `link_not_found`, `link_domain_not_bound` (the domain is not actively
 * bound to the link's provider), `link_disabled` (also to a HWID already on it),
 * `link_limit_reached`. The caller is to hear the same of a link that is not there and of a domain
 * that is not bound, since a code must tell nothing about domains; the operator hears which it was.
 */
export function admitDevice(
  core: Core,
  admission: Admission,
  said: DeviceFacts,
  nowMs: number,
): Maybe<AdmittedLink | AdmitRefusal> {
  const { hwid, installCode, domainHash } = admission;
  if (hwid === null || !HWID.test(hwid)) return 'hwid_required';
  if (installCode === null || !INSTALL_CODE.test(installCode)) return 'link_not_found';
  if (domainHash === null || !DOMAIN_HASH.test(domainHash)) return 'link_domain_not_bound';

  const key = { installCode, domainHash, hwid };
  return after(core.store.findSlot(key), (found) => {
    if (typeof found === 'string') return found;
    const { link, device } = found;
    if (link.status !== INSTALL_ACTIVE) return 'link_disabled';
    const facts = tidyFacts(said);
    if (device === null) {
      if (link.deviceCount >= link.installLimit) return 'link_limit_reached';
    } else if (sameUtcDay(device.lastSeenAtMs, nowMs) && saysNothingNew(device, facts)) {
      return link;
    }
    return core.store.takeSlot(key, facts, nowMs);
  });
}
