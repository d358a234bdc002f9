/** Decides whether a request is forwarded to a panel: before it is asked, and after it responds. */

import type { Core } from '../../core/core.ts';
import { ANY_HWID, type DeviceCall, isKeyEnded, verdictOn } from '../../core/door.ts';
import { AT_DOOR } from '../../core/door-refusals.ts';
import { holdsSlot } from '../../core/former-key.ts';
import type { KeyInPath, Path } from '../../core/key-path.ts';
import {
  codeAsKey,
  denied,
  isOfFormerUser,
  judgeByName,
  type NamedRequest,
  NOT_FOUND,
  unknownTo,
} from '../../core/named-link.ts';
import { isRefused } from '../../core/outcome.ts';
import { panelOf } from '../../core/panel/kind.ts';
import { after, type Maybe } from '../../core/port/maybe.ts';
import type { MyName } from '../../core/port/my.ts';
import { subscriptionKeyHash } from '../../core/secret.ts';
import { PASSES, wayOfNewKeys } from '../../core/without-hwid.ts';
import {
  type Denied,
  FOR_PAGE,
  type Forwarding,
  type WantedTie,
  WITHOUT_SLOT,
} from './forwarding.ts';
import { changesLink, type PanelFollowers } from './panel-followers.ts';
import { sourceOf } from './panel-source.ts';
import type { Panel } from './panels.ts';

/** A request for a subscription, read. */
export interface SubscriptionRequest extends NamedRequest {
  device: NamedRequest['device'] & { domainHash: string; providerCode: string };
  path: Path;
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
  if (!isProven) {
    const isPage = !isApp && upstream.browsers === 'pass';
    return {
      ...WITHOUT_SLOT,
      isUnproven: true,
      isShared,
      isNewKey: true,
      unknown: unknownTo(device.hwid),
      takesSlot: takesSlot && !isPage,
      opensMy: false,
    };
  }
  const page = isApp ? null : await forPage(core, request, nowMs);
  if (page !== null && upstream.browsers === 'pass') return page;
  let found = await judgeByName(core, request, nowMs);
  // A link that was found by its key follows the panel's API.
  const source = found?.key ? sourceOf(upstream) : null;
  if (found?.key && source !== null) {
    const open = 'outcome' in found && found.outcome !== PASSES ? found.outcome : null;
    const refusal = 'refused' in found ? found.refused.says : null;
    const judged = { held: open?.holdsSlot ? open : null, refusal };
    if (await changesLink(panels, core, upstream, source, found.key.key, judged)) {
      found = await judgeByName(core, request, nowMs);
    }
  }
  const believesOther = panelOf(upstream) === null;
  if (found === null) {
    if (key === null || code !== null) return unknownTo(device.hwid);
    return forNewKey(core, { ...request, key }, believesOther, nowMs);
  }
  if ('refused' in found) {
    // An unknown link has no page.
    const opensMy = page === FOR_PAGE && !found.isGuess;
    const names = opensMy && request.codesAsKeys ? await namesIn(core, request) : undefined;
    return { ...found, opensMy, ...(names && { names }) };
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
    tie: isShared || key === null ? null : await tieOf(core, { ...request, key }, found),
    believesOther,
    unknown: denied(unknownTo(device.hwid).refused),
  };
}

/** Returns what a request ties that was decided by the link of its key, or of a code. */
function tieOf(
  core: Core,
  request: SubscriptionRequest & { key: KeyInPath },
  found: { key: KeyInPath | null; code: string | null },
): Maybe<WantedTie | null> {
  const { key } = request.key;
  // Another spelling of the key is that of the link for now.
  if (found.key !== null && found.key.key !== key) return null;
  return after(found.code ?? codeAsKey(core, request), (named) => {
    const code = named ?? request.code;
    return code === null ? null : { key, code };
  });
}

/** Returns the calls for the names in a request, the key first. */
async function callsOf(core: Core, request: SubscriptionRequest): Promise<DeviceCall[]> {
  const { code, device, key } = request;
  const asKey = await codeAsKey(core, request);
  return [
    ...(key === null ? [] : [{ ...device, installCode: null, subscriptionKey: key.key }]),
    ...[asKey, code].flatMap((one) => (one === null ? [] : [{ ...device, installCode: one }])),
  ];
}

/** Returns the names in a request for the page of its link. */
async function namesIn(core: Core, request: SubscriptionRequest): Promise<MyName[]> {
  const { domainHash, providerCode } = request.device;
  const of = { domainHash, providerCode };
  return (await callsOf(core, request)).map(({ installCode, subscriptionKey }) =>
    installCode === null
      ? { ...of, subscriptionKeyHash: subscriptionKeyHash(subscriptionKey ?? '') }
      : { ...of, installCode },
  );
}

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
  for (const call of await callsOf(core, request)) {
    const judged = await verdictOn(core, { ...call, hwid: ANY_HWID }, nowMs);
    if (isRefused(judged)) continue;
    const { verdict } = judged;
    const isShut = verdict === 'link_disabled' || verdict === 'link_domain_not_bound';
    return isShut ? denied(AT_DOOR[verdict]) : FOR_PAGE;
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
  if (await isKeyEnded(core, call, request.codesAsKeys)) return NOT_FOUND;
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
  // A token may be forged until the panel takes it: until then its call is not of the link.
  const { onLink: _, ...device } = request.device;
  for (const call of await callsOf(core, { ...request, device }))
    if (await holdsSlot(core, call, nowMs)) return true;
  return false;
}
