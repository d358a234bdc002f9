/** Limited install links ("install" on the wire): their codes, caps and slots. */

import { actAt } from './audit/entry.ts';
import { sameUtcDay } from './calendar.ts';
import type { Core } from './core.ts';
import { saysNothingNew, tidyFacts } from './device.ts';
import { readDomainHash, readHwid, readInstallCode } from './formats.ts';
import { fromStore, isRefused, Refused, saving } from './outcome.ts';
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
import type { Provider } from './port/provider.ts';
import { randomCode } from './secret.ts';

interface InstallDraft {
  /** Null: a random one. */
  installCode: string | null;
  installLimit: number;
  note: string | null;
}

/**
 * Creates an active link. Codes are unique over the whole appliance, because a device presents the
 * code alone. Refuses `install_code_exists` for one that is taken, and `install_code_limit_reached`
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
  const installCode = draft.installCode ?? randomCode(12);
  const { installLimit, note } = draft;
  const installCountMax = provider.installCountMax ?? core.limits.linksPerProviderMax;
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
  if (typeof added === 'object') return { id: added.id, installCode };
  // Of 62^12 random codes one was taken: draw again.
  const drawAgain = added === 'install_code_exists' && draft.installCode === null;
  return drawAgain ? addInstall(core, provider, draft, nowMs) : new Refused(added);
}

/**
 * Changes a link's fields together or not at all. Refuses `install_not_found` for an id that is
 * unknown or another provider's, `install_limit_below_count` for a limit below the HWIDs on it,
 * `install_save_error` for what could not be saved.
 */
export async function updateInstall(
  core: Core,
  provider: Provider,
  id: number,
  change: InstallChange,
  nowMs: number,
): Promise<
  | { installCode: string }
  | Refused<'install_not_found' | 'install_limit_below_count' | 'install_save_error'>
> {
  const updated = await saving(
    'install_save_error',
    core.store.updateInstall(provider.id, id, change, actAt(core, nowMs)),
  );
  return fromStore(updated);
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

/** The query of an app to which a link is added. */
interface Admission {
  installCode: string | null;
  domainHash: string | null;
  hwid: string | null;
}

/** Refusals at the door, each made once: guesses are many. */
export const AT_DOOR = {
  hwid_required: new Refused('hwid_required'),
  link_not_found: new Refused('link_not_found'),
  /** A code tells nothing about domains: the caller hears of no link. */
  link_domain_not_bound: new Refused('link_not_found', { reason: 'link_domain_not_bound' }),
  link_disabled: new Refused('link_disabled'),
  link_limit_reached: new Refused('link_limit_reached'),
} satisfies Record<AdmitRefusal, Refused<string>>;

/** The refusal of a link; null: it lets the device in. One that holds a slot needs no room. */
export function closedTo(
  { status, installLimit, deviceCount }: Pick<Install, 'status' | 'installLimit' | 'deviceCount'>,
  holdsSlot: boolean,
): 'link_disabled' | 'link_limit_reached' | null {
  if (status !== INSTALL_ACTIVE) return 'link_disabled';
  return !holdsSlot && deviceCount >= installLimit ? 'link_limit_reached' : null;
}

/**
 * Lets a device in on a link (`GET /install`): takes a slot for a new HWID, refreshes the facts of
 * a known one. The cap holds because the store counts and inserts in one atomic step.
 *
 * Refuses `hwid_required`, `link_not_found` (also if the domain is not actively bound to the link's
 * provider), `link_disabled` (also to a HWID already on it), `link_limit_reached`.
 */
export function admitDevice(
  core: Core,
  admission: Admission,
  reported: DeviceFacts,
  nowMs: number,
): Maybe<AdmittedLink | (typeof AT_DOOR)[AdmitRefusal]> {
  const hwid = readHwid(admission.hwid);
  if (isRefused(hwid)) return AT_DOOR.hwid_required;
  const installCode = readInstallCode(admission.installCode);
  if (isRefused(installCode)) return AT_DOOR.link_not_found;
  const domainHash = readDomainHash(admission.domainHash);
  if (isRefused(domainHash)) return AT_DOOR.link_domain_not_bound;

  const key = { installCode, domainHash, hwid };
  return after(core.store.findSlot(key), (found) => {
    if (typeof found === 'string') return AT_DOOR[found];
    const { link, device } = found;
    const closed = closedTo(link, device !== null);
    if (closed !== null) return AT_DOOR[closed];
    const facts = tidyFacts(reported);
    const isToday = device !== null && sameUtcDay(device.lastSeenAtMs, nowMs);
    if (isToday && saysNothingNew(device, facts)) return link;
    return after(core.store.takeSlot(key, facts, nowMs), (taken) =>
      typeof taken === 'string' ? AT_DOOR[taken] : taken,
    );
  });
}
