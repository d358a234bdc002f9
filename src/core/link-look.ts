/**
 * The panel of a link in the console: its devices, the refused ones, and the remedy of each
 * refusal.
 */

import { appNameOf } from './app/find.ts';
import type { Core } from './core.ts';
import { verdictOn } from './door.ts';
import { hashInHwid } from './formats.ts';
import { readNamedHwid } from './named-hwid.ts';
import { isRefused, Refused } from './outcome.ts';
import { DOMAIN_ACTIVE, type Domain } from './port/domain.ts';
import type { KeptRefusal } from './port/figure.ts';
import { INSTALL_ACTIVE } from './port/link.ts';
import type { LinkDevice, OwnedLink } from './port/link-view.ts';
import type { SlotPhone } from './port/phone.ts';
import type { Provider } from './port/provider.ts';
import { APART_MS, earlierSelf } from './same-phone.ts';
import { DEVICES_MAX, freeFrom, isAdmitted, policyOf } from './slot.ts';

const ENDS_SHOWN = 20;

/** A phone of a device. */
type DevicePhone = Omit<SlotPhone, 'hwid'>;

/** A device on the link; `wasHwid`: the HWID of a silent slot that is probably the same phone. */
interface ShownDevice extends Omit<LinkDevice, 'userAgent'> {
  app: string;
  /** The phones that send its HWID; empty: one alone. */
  phones: DevicePhone[];
  /** The HWID that this further phone sends; null: its own. */
  sentHwid: string | null;
  /** True: only the hash of its HWID is known until it comes. */
  isByHash: boolean;
  wasHwid: string | null;
}

/**
 * The remedy of a refusal: `now`: none is needed any more; `enable` the link; `domain`: bind the
 * domain; `name`: name the HWID for the link; `room`: a free slot; `hwid`: an app that sends a
 * HWID; `lift` the bar of the HWID.
 */
type Remedy = 'now' | 'enable' | 'domain' | 'name' | 'room' | 'hwid' | 'lift';

interface ShownRefusal extends KeptRefusal {
  remedy: Remedy;
  /** The HWID of a silent slot of the same model and system. */
  wasHwid: string | null;
}

const asSeen = ({ registeredAtMs, ...device }: LinkDevice) => ({
  ...device,
  fromMs: registeredAtMs,
});

/** Returns the HWID that a device probably had before, to ask a person about it; null: none. */
const selfOf = (
  device: Parameters<typeof earlierSelf>[0],
  seen: readonly ReturnType<typeof asSeen>[],
) => earlierSelf(device, seen, APART_MS)?.hwid ?? null;

function shownDevices(devices: readonly LinkDevice[], phones: readonly SlotPhone[]): ShownDevice[] {
  const seen = devices.map(asSeen);
  const byHwid = Map.groupBy(phones, ({ hwid }) => hwid);
  return devices.map(({ userAgent, ...device }) => {
    const was = selfOf({ ...device, fromMs: device.registeredAtMs }, seen);
    const sentHwid = phones.find(({ ownHwid }) => ownHwid === device.hwid)?.hwid ?? null;
    return {
      ...device,
      app: appNameOf(userAgent) ?? '',
      phones: (byHwid.get(device.hwid) ?? []).map(({ hwid, ...phone }) => phone),
      sentHwid,
      isByHash: hashInHwid(device.hwid) !== null,
      // The facts of the HWID that it sends may still be its own.
      wasHwid: sentHwid === null ? was : null,
    };
  });
}

/** Judges each refused device by the rule of the door, with one of the bound domains. */
async function shownRefusals(
  core: Core,
  link: OwnedLink,
  refused: readonly KeptRefusal[],
  devices: readonly LinkDevice[],
  domains: readonly Domain[],
  nowMs: number,
): Promise<ShownRefusal[]> {
  const seen = devices.map(asSeen);
  const { installCode } = link;
  return Promise.all(
    refused.map(async (device) => {
      const was = selfOf({ ...device, fromMs: device.firstAtMs }, seen);
      const remedy = await remedyOf(device);
      return { ...device, remedy, wasHwid: remedy === 'room' ? was : null };
    }),
  );

  async function remedyOf({ hwid, lastAtMs, reason }: KeptRefusal): Promise<Remedy> {
    if (hwid === '') return 'hwid';
    if (link.status !== INSTALL_ACTIVE) return 'enable';
    // The domain of the refusal is not stored, so it may be one that was bound since.
    const isUnbound = reason === 'link_domain_not_bound';
    const bound = domains.find(({ createdAtMs }) => !isUnbound || createdAtMs >= lastAtMs);
    if (bound === undefined) return 'domain';
    const { domainHash } = bound;
    const judged = await verdictOn(core, { installCode, domainHash, hwid, isShared: true }, nowMs);
    if (isRefused(judged)) return 'room';
    if (isAdmitted(judged.verdict)) return 'now';
    if (judged.verdict === 'barred') return 'lift';
    const isNameable = !isRefused(readNamedHwid(hwid)) && link.deviceCount < link.installLimit;
    return judged.verdict === 'not_named' && isNameable ? 'name' : 'room';
  }
}

/** Returns when the policy frees the slot that was unseen for longest; null: never. */
function freedFromMs(link: OwnedLink, provider: Provider, devices: readonly LinkDevice[]) {
  const [oldest] = [...devices].sort((one, other) => one.lastSeenAtMs - other.lastSeenAtMs);
  if (oldest === undefined || link.deviceCount < link.installLimit) return null;
  const policy = policyOf(link, provider);
  const { limitWanted, replacedAtMs } = link;
  const full = { policy, oldest, replacedAtMs, limitWanted };
  const times = Object.values(freeFrom(full)).filter((one) => one !== null);
  return times.length === 0 ? null : Math.min(...times);
}

/** Reads a link of the provider for its panel. Refuses `install_not_found`. */
export async function lookAtLink(core: Core, provider: Provider, id: number, nowMs: number) {
  const { store } = core;
  const link = await store.findLinkById(id);
  if (link?.providerId !== provider.id) return new Refused('install_not_found');
  const page = { id: null, beforeId: null, countMax: core.limits.domainsPerProviderMax };
  const [devices, phones, named, refused, { ends, refusals }, domains] = await Promise.all([
    store.listLinkDevices(provider.id, id, DEVICES_MAX),
    store.listPhones(id),
    store.listNamed(id),
    store.listRefused(id),
    store.readLinkStory(id),
    store.listDomains(provider.id, page),
  ]);
  const bound = domains.filter(({ status }) => status === DOMAIN_ACTIVE);
  return {
    link,
    devices: shownDevices(devices, phones),
    named,
    refused: await shownRefusals(core, link, refused, devices, bound, nowMs),
    refusals,
    ends: ends.slice(0, ENDS_SHOWN),
    freedFromMs: freedFromMs(link, provider, devices),
    policy: policyOf(link, provider),
  };
}
