/** Decides whether a request is forwarded to a panel: before it is asked, and after it responds. */

import type { Core } from '../../core/core.ts';
import {
  ANY_HWID,
  AT_DOOR,
  type DeviceCall,
  isKeyEnded,
  judgeDevice,
  verdictOn,
} from '../../core/door.ts';
import { holdsSlot } from '../../core/former-key.ts';
import { type KeyInPath, keyIn, type Path } from '../../core/key-path.ts';
import {
  decideByName,
  isOfFormerUser,
  type NamedRequest,
  NOT_FOUND,
  unknownTo,
} from '../../core/named-link.ts';
import { isRefused } from '../../core/outcome.ts';
import { panelOf } from '../../core/panel/kind.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import { PASSES, wayOfNewKeys } from '../../core/without-hwid.ts';
import type { DeviceHeaders } from '../gate/device-headers.ts';
import { type Query, REPEATED, valueIn } from '../request/query.ts';
import {
  BY_OTHER_PATH,
  type Denied,
  FOR_PAGE,
  type Forwarding,
  WITHOUT_SLOT,
} from './forwarding.ts';
import { changesLink, type PanelFollowers } from './panel-followers.ts';
import type { Panel } from './panels.ts';

/** A request for a subscription, read. */
export interface SubscriptionRequest extends NamedRequest {
  device: NamedRequest['device'] & { domainHash: string; providerCode: string };
  facts: DeviceFacts;
}

interface Given extends DeviceHeaders {
  path: Path;
  /** The parameters, with their names in lower case. */
  query: Query;
  /** The secret that signs tokens of the panel; null: the panel proves them. */
  secret: string | null;
  isQuiet: boolean;
  /** Returns the network of the client; null: only that of a proxy is known. */
  address(): string | null;
}

/**
 * Reads the names in a request for a subscription. Returns its refusal for a token that is none, or
 * the permission for a path without a name.
 */
export function readSubscription(
  { method, headers }: Request,
  { hash: domainHash, upstream }: Panel,
  { address, facts, hwid, isQuiet, junkHwid, path, query, secret }: Given,
): SubscriptionRequest | Forwarding | Denied {
  const { enforce: enforces, key: kind, keyPaths, otherPaths, provider: providerCode } = upstream;
  const key = keyIn({ keyPaths, key: kind, secret, panel: panelOf(upstream) }, path);
  const code = valueIn(query, 'installid');
  if (isRefused(key) && kind !== 'plain') return unknownTo(hwid);
  if (isRefused(key) || code === REPEATED) return NOT_FOUND;
  if (key === null && !code) return otherPaths === 'pass' ? BY_OTHER_PATH : NOT_FOUND;
  const isPage = /\btext\/html\b/i.test(headers.get('accept') ?? '');
  return {
    device: { domainHash, hwid, junkHwid, providerCode, enforces, address },
    facts,
    key,
    code: code || null,
    mayJoin: method === 'GET',
    // Browsers send no HWID.
    isApp: hwid !== null || junkHwid !== null || !isPage,
    isQuiet,
  };
}

interface Deps {
  core: Core;
  panels: PanelFollowers;
}

/**
 * Decides by the rule of the door and without a write. A token that only the panel can prove is
 * forwarded; {@link decide} is asked again with `isProven` once a subscription has proved it.
 */
export async function decide(
  deps: Deps,
  { upstream }: Panel,
  request: SubscriptionRequest,
  nowMs: number,
  isProven = request.key === null || request.key.isProven,
): Promise<Forwarding | Denied> {
  const { core, panels } = deps;
  const { code, device, facts, isApp, key, mayJoin: takesSlot } = request;
  const isShared = device.hwid === null;
  const unknown = unknownTo(device.hwid);
  const believesOther = panelOf(upstream) === null;
  if (!isProven) {
    const isPage = !isApp && upstream.browsers === 'pass';
    return {
      ...WITHOUT_SLOT,
      isUnproven: true,
      isShared,
      isNewKey: true,
      unknown,
      takesSlot: takesSlot && !isPage,
      opensMy: false,
    };
  }
  const page = isApp ? null : await forPage(core, request, nowMs);
  if (page !== null && upstream.browsers === 'pass') return page;
  const ask = () =>
    decideByName(core, request, nowMs, (call) => judgeDevice(core, call, nowMs, facts));
  let found = await ask();
  // A link that was found by its key follows the panel's API.
  if (found?.key && upstream.panelTokenFile !== '') {
    const holdsSlot = 'outcome' in found && found.outcome !== PASSES && found.outcome.holdsSlot;
    const refusal = 'refused' in found ? found.refused.says : null;
    const state = { holdsSlot, refusal };
    if (await changesLink(panels, core, upstream, found.key.key, state)) found = await ask();
  }
  if (found === null) {
    if (key === null || code !== null) return unknown;
    return forNewKey(core, { ...request, key }, believesOther, nowMs);
  }
  if ('refused' in found) {
    // An unknown link has no page.
    return found === unknown ? found : { ...found, opensMy: page === FOR_PAGE };
  }
  // The panel proves the spelling that came.
  const proves = key !== null && found.key?.key === key.key ? key.key : null;
  if (found.outcome === PASSES) return { ...WITHOUT_SLOT, key: proves };
  const { holdsSlot } = found.outcome;
  if (!takesSlot) return { ...WITHOUT_SLOT, key: proves, holdsSlot };
  return {
    ...WITHOUT_SLOT,
    key: proves,
    holdsSlot,
    link: found.outcome,
    isShared,
    takesSlot,
    slot: { call: found.call, facts, isNew: false, nowMs },
    believesOther,
    unknown: { ...unknown, isGuess: false },
  };
}

/** The calls for the names in a request, the key first. */
const callsOf = ({ code, device, key }: SubscriptionRequest): DeviceCall[] => [
  ...(key === null ? [] : [{ ...device, installCode: null, subscriptionKey: key.key }]),
  ...(code === null ? [] : [{ ...device, installCode: code }]),
];

/**
 * Decides about a request for a page, which takes no slot: the first link that is found must not be
 * closed.
 */
async function forPage(
  core: Core,
  request: SubscriptionRequest,
  nowMs: number,
): Promise<Forwarding | Denied> {
  if (await isOfFormerUser(core, request, nowMs)) return unknownTo(null);
  for (const call of callsOf(request)) {
    const judged = await verdictOn(core, { ...call, hwid: ANY_HWID }, nowMs);
    if (isRefused(judged)) continue;
    const { verdict } = judged;
    const isShut = verdict === 'link_disabled' || verdict === 'link_domain_not_bound';
    return isShut ? { ...NOT_FOUND, refused: AT_DOOR[verdict] } : FOR_PAGE;
  }
  return { ...FOR_PAGE, isNewKey: true };
}

/** Decides about a key that no link has. */
async function forNewKey(
  core: Core,
  request: SubscriptionRequest & { key: KeyInPath },
  believesOther: boolean,
  nowMs: number,
): Promise<Forwarding | Denied> {
  const { device, key, mayJoin: takesSlot } = request;
  const unknown = unknownTo(device.hwid);
  const call = { ...device, installCode: null, subscriptionKey: key.key };
  const way = device.hwid === null ? await wayOfNewKeys(core, call, nowMs) : 'count';
  if (way === 'refuse') return unknown;
  if (await isKeyEnded(core, call)) return NOT_FOUND;
  if (way === 'pass') return { ...WITHOUT_SLOT, isNewKey: true };
  const passing = { ...WITHOUT_SLOT, key: key.key, isNewKey: true, unknown };
  if (!takesSlot) return passing;
  return {
    ...passing,
    isShared: device.hwid === null,
    takesSlot,
    slot: { call, facts: request.facts, isNew: true, nowMs },
    believesOther,
  };
}

/** Returns whether a device gets a response that does not prove the token of its request. */
export async function holdsNamedSlot(
  core: Core,
  request: SubscriptionRequest,
  nowMs: number,
): Promise<boolean> {
  for (const call of callsOf(request)) if (await holdsSlot(core, call, nowMs)) return true;
  return false;
}
