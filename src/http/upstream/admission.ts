/** Admits devices by the response of a panel: only a subscription gives a slot. */

import type { Clock } from '../../base/clock.ts';
import type { Core } from '../../core/core.ts';
import { admitDevice } from '../../core/door.ts';
import { AT_DOOR, type RefusedAtDoor } from '../../core/door-refusals.ts';
import { tieByFetch } from '../../core/link-tie.ts';
import { denied, NOT_FOUND } from '../../core/named-link.ts';
import { isRefused } from '../../core/outcome.ts';
import type { AdmittedDevice } from '../../core/port/link.ts';
import { subscriptionKeyHash } from '../../core/secret.ts';
import { SUBSCRIPTION_HEADERS } from '../../core/subscription.ts';
import { decide, holdsNamedSlot, type SubscriptionRequest } from './decision.ts';
import type { UpstreamResponse } from './exchange.ts';
import type { Denied, Forwarding, WantedSlot, WantedTie } from './forwarding.ts';
import { isPage } from './headers.ts';
import type { LinkLimit, NewLinks } from './new-links.ts';
import type { PanelFollowers } from './panel-followers.ts';
import type { Panel } from './panels.ts';
import { isProof, proofIn } from './proof.ts';
import type { ProxyError } from './responses.ts';

interface Deps {
  core: Core;
  clock: Clock;
  panels: PanelFollowers;
  newLinks: NewLinks;
  /** Returns the limit of new links of the client of a request. */
  limitLinks(request: Request): LinkLimit;
}

interface Asked {
  request: Request;
  panel: Panel;
  /** Null: the path has no name of a link. */
  subscription: SubscriptionRequest | null;
  forwarding: Forwarding;
}

type AdmissionOutcome = AdmittedDevice | Denied | ProxyError;

/**
 * Admits the device if the response of the panel allows it; null: it takes no slot. A device that
 * holds its slot gets every response of the panel; another one only a subscription, or, from a
 * panel that has no name, a 200 with a body that is no page. Cancels the response if a step throws.
 */
export async function admissionOf(
  deps: Deps,
  asked: Asked,
  response: UpstreamResponse,
): Promise<AdmissionOutcome | null> {
  try {
    return await admission(deps, asked, response);
  } catch (fault) {
    response.cancel();
    throw fault;
  }
}

async function admission(
  deps: Deps,
  asked: Asked,
  response: UpstreamResponse,
): Promise<AdmissionOutcome | null> {
  const { core, clock } = deps;
  const { forwarding, panel, subscription } = asked;
  const { believesOther, isForPage, isUnproven, slot } = forwarding;
  if (isForPage) return asPage(response);
  const isGood = isSuccess(response);
  if (!isUnproven && (slot === null || forwarding.holdsSlot)) {
    // A device with a slot is seen even if its subscription is unchanged.
    const isSeen = isGood || response.status === NOT_MODIFIED;
    if (slot === null || !isSeen) return null;
    const isNamed =
      response.status === 200 && SUBSCRIPTION_HEADERS.some((name) => response.headers.has(name));
    const isUnproved = response.status !== 200;
    return enter(deps, asked, slot, { proved: isNamed ? forwarding : null, isUnproved });
  }
  if (!isGood) return null;
  const proof = forwarding.takesSlot ? await proofIn(response, !believesOther) : 'subscription';
  if (!isProof(proof)) return proof;
  if (proof === 'other' || proof === 'none') noteOther(deps, panel.upstream.host, response);
  const proves = proof === 'subscription' || (proof !== 'none' && believesOther);
  if (!proves) {
    return (await passesUnproven(core, asked, clock.nowMs())) ? null : forwarding.unknown;
  }
  const decided =
    isUnproven && subscription !== null
      ? await decide(deps, panel, subscription, clock.nowMs(), true)
      : forwarding;
  if ('refused' in decided) return decided;
  if (decided.isForPage) return asPage(response);
  if (decided.slot === null) return null;
  return enter(deps, asked, decided.slot, { proved: proof === 'subscription' ? decided : null });
}

/** Returns whether the device gets a response that does not prove its token. */
export async function passesUnproven(
  core: Core,
  { forwarding, subscription }: Pick<Asked, 'forwarding' | 'subscription'>,
  nowMs: number,
): Promise<boolean> {
  if (!forwarding.isUnproven || subscription === null) return false;
  return holdsNamedSlot(core, subscription, nowMs);
}

interface Proved {
  /** The names that the response proves; null: none. */
  proved: Pick<Forwarding, 'key' | 'tie'> | null;
  /** True: it was no 200, by which alone a further phone of a HWID is noted. */
  isUnproved?: boolean;
}

/** Takes a slot. */
async function enter(
  deps: Deps,
  { panel, request }: Asked,
  slot: WantedSlot,
  { proved, isUnproved = false }: Proved,
): Promise<AdmissionOutcome> {
  const admitted = slot.isNew
    ? await deps.newLinks.make(panel, slot, deps.limitLinks(request))
    : await admitDevice(deps.core, { ...slot.call, isUnproved }, slot.facts, slot.nowMs);
  if (admitted === null) return 'new_link_limit_reached';
  if (!isRefused(admitted)) {
    const { providerId } = admitted;
    const isTied = proved?.tie ? await tie(deps, panel, slot, proved.tie, providerId) : false;
    const provedKey = isTied ? proved?.tie?.key : proved?.key;
    if (provedKey) {
      const { newLinks, panels } = deps;
      panels.proved(panel.upstream, providerId, provedKey);
      const areServed = () => newLinks.areServed(panel);
      panels.proofs.noteLater(panel.upstream, providerId, provedKey, areServed);
    }
    return admitted;
  }
  const { says } = admitted;
  if (says === 'install_code_limit_reached') return { ...NOT_FOUND, outcome: says };
  return denied(admitted as RefusedAtDoor);
}

/** Ties the key and the code of a request, by the rule of core/link-tie.ts. */
async function tie(
  { core, newLinks }: Deps,
  panel: Panel,
  { call, nowMs }: WantedSlot,
  { code, key }: WantedTie,
  providerId: number,
): Promise<boolean> {
  const { hwid } = call;
  if (hwid === null || (await newLinks.areServed(panel))) return false;
  const keyHash = subscriptionKeyHash(key);
  return tieByFetch(core, { providerId, keyHash, installCode: code, hwid }, nowMs);
}

/** Notes for the doctor what the panel responded to a device without a slot. */
function noteOther(
  { core, clock }: Deps,
  host: string,
  { headers, status }: UpstreamResponse,
): void {
  const type = /^[\w.+/-]{1,64}/.exec(headers.get('content-type') ?? '')?.[0].toLowerCase();
  const subject = `${status} ${type ?? ''}`.trim();
  core.store.noteSighting({ host, kind: 'no_subscription', subject }, clock.nowMs());
}

function asPage({ headers }: UpstreamResponse): Denied | null {
  return isPage(headers) ? null : denied(AT_DOOR.hwid_required);
}

const NOT_MODIFIED = 304;

export function isSuccess({
  status,
  headers,
}: Pick<UpstreamResponse, 'status' | 'headers'>): boolean {
  return status >= 200 && status < 300 && !isRefusal(headers);
}

/** Headers, with any status, by which a panel refuses a device over its own limit. */
const REFUSING = ['x-hwid-max-devices-reached', 'x-hwid-not-supported'];

function isRefusal(headers: Headers): boolean {
  return REFUSING.some((name) => isTrue(headers, name));
}

export const isTrue = (headers: Headers, name: string) =>
  /^(?!\s*false\s*$)/i.test(headers.get(name) ?? 'false');
