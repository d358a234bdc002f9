/**
 * Discovery: an app that fetched a subscription registers for messages by its address and its HWID.
 * The address names the link as it does at the proxy and at the gate.
 */

import type { Core } from './core.ts';
import { NO_FACTS } from './device-facts.ts';
import { type DeviceCall, verdictOn } from './door.ts';
import { hostName } from './host-name.ts';
import { type KeyReading, type PassPath, readNamedPath } from './key-path.ts';
import { decideByName, type NamedRequest } from './named-link.ts';
import { isRefused } from './outcome.ts';
import { signedForm } from './panel/kind.ts';
import { oldNameIn } from './panel/token.ts';
import { after } from './port/maybe.ts';
import type { AdmittedLink } from './port/slot.ts';
import { PASSES } from './without-hwid.ts';

const ADDRESS = /^(?:https?:\/\/([^/?#\s]+))?(\/[^#\s]*)(?:#.*)?$/is;

/**
 * Returns path and query of the address of a subscription, which may lack scheme and host; null: it
 * is no address at this host.
 */
export function targetAt(host: string, address: string): string | null {
  const [, authority, target = null] = ADDRESS.exec(address) ?? [];
  const isHere = authority === undefined || hostName(authority) === host;
  return isHere ? target : null;
}

/**
 * Reads the key in the path of a subscription's address; undefined: the address names no link by
 * itself, because no key is there or only the panel can prove it.
 */
export function fetchedKey(
  path: string,
  reading: KeyReading & { readonly passPaths: readonly PassPath[] },
): NamedRequest['key'] | undefined {
  const named = readNamedPath(path, reading);
  if (named === null || named.mayPass || isRefused(named.key)) return undefined;
  if (named.key === null) return null;
  const form = signedForm(reading.key);
  const isOld = form !== null && oldNameIn(form, named.key.key) !== null;
  return named.key.isProven && !isOld ? named.key : undefined;
}

/** The names in a subscription's address, and the device that fetched it. */
interface Fetched extends Pick<NamedRequest, 'key' | 'code' | 'codesAsKeys'> {
  device: { domainHash: string; hwid: string; providerCode: string | null } & Pick<
    DeviceCall,
    'onLink'
  >;
}

/**
 * Finds the link of a fetched subscription on which the device has a slot, and returns its code;
 * null: the device has none there, or the provider has discovery off. Changes and counts nothing.
 */
export async function findFetchedSlot(
  core: Core,
  { code, codesAsKeys, device, key }: Fetched,
  nowMs: number,
): Promise<string | null> {
  const names = { device, key, code, codesAsKeys, facts: NO_FACTS };
  const request = { ...names, mayJoin: false, isApp: true, isQuiet: false };
  const found = await decideByName<AdmittedLink | null>(core, request, nowMs, (call) =>
    after(verdictOn(core, call, nowMs), (judged) => {
      if (isRefused(judged)) return judged;
      return judged.verdict === 'known' ? judged.door.link : null;
    }),
  );
  if (found === null || 'refused' in found) return null;
  const { outcome: link } = found;
  if (link === null || link === PASSES) return null;
  const provider = await core.store.findProvider(link.providerCode);
  if (provider?.discovery !== 1) return null;
  return (await core.store.findLinkById(link.installId))?.installCode ?? null;
}
