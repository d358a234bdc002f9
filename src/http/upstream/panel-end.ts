/**
 * Says to a customer why the panel refuses: the end of the subscription, or of its traffic, as the
 * response has it, or `follow`, `limits` or the kept figures. The panel alone refuses; its status
 * and body stay, unless the operator chose placeholders. Only a device that has a slot on the link
 * reads it.
 */

import type { Clock } from '../../base/clock.ts';
import type { Core } from '../../core/core.ts';
import { panelOf } from '../../core/panel/kind.ts';
import { isProvedBy } from '../../core/panel/proof.ts';
import type { AdmittedLink } from '../../core/port/slot.ts';
import type { Figures } from '../../core/port/subscription-figures.ts';
import { readAnnounce } from '../../core/ride/text.ts';
import { subscriptionKeyHash } from '../../core/secret.ts';
import { figuresIn } from '../../core/subscription-figures.ts';
import { announcing, type EndReason, endTextFor, type TextSettings } from '../gate/texts.ts';
import type { UpstreamResponse } from './exchange.ts';
import { FIGURES_HEADER } from './figures.ts';
import type { Forwarding } from './forwarding.ts';
import { describeDecoded } from './headers.ts';
import type { PanelFollowers } from './panel-followers.ts';
import { type Placeholder, placeholderFor } from './placeholder.ts';
import type { Upstream } from './settings.ts';

interface Deps {
  core: Core;
  clock: Clock;
  panels: PanelFollowers;
  settings: TextSettings;
}

/** The end of a customer. */
interface PanelEnd {
  reason: EndReason;
  /** Null: the traffic ended, at no known time. */
  atMs: number | null;
}

const STATE = 'x-subscription-state';
const STATES: Readonly<Record<EndReason, string>> = {
  subscription_ended: 'expired',
  traffic_used_up: 'limited',
};

/**
 * Returns the panel's refusal of a device that has its slot, with the reason in its headers. Null:
 * the panel does not refuse. It does by 4xx, or by success without a body.
 */
export async function refusalWithEnd(
  deps: Deps,
  request: Request,
  upstream: Upstream,
  { holdsSlot, isShared, key, link }: Forwarding,
  response: UpstreamResponse,
): Promise<UpstreamResponse | null> {
  if (!holdsSlot || link === null || !(await isRefusal(response))) return null;
  const { headers } = response;
  // All apps without a HWID share one slot: a stranger's too.
  const end = isShared ? null : await endOf(deps, upstream, link, key, headers);
  // The empty answer of a panel that has no name may be its subscription.
  if (end === null) return key === null || panelOf(upstream) === null ? null : response;
  const wording = endTextFor(deps.settings, end.reason, request.headers, end.atMs);
  headers.set(STATE, STATES[end.reason]);
  if (readAnnounce(headers.get('announce') ?? '') === '') {
    for (const [name, value] of Object.entries(announcing(wording))) headers.set(name, value);
  }
  const { pathname } = new URL(request.url);
  const own = upstream.placeholder && placeholderFor(request.headers, pathname, wording.text);
  return own ? replacedBy(own, response) : response;
}

/** Headers by which a client would keep the body for later. */
const OF_BODY = ['etag', 'last-modified', 'expires', 'age'];

/** Returns a response with another body, as a success: apps read no other. */
function replacedBy({ type, body }: Placeholder, response: UpstreamResponse): UpstreamResponse {
  const { cancel, headers } = response;
  cancel();
  describeDecoded(headers);
  for (const name of OF_BODY) headers.delete(name);
  headers.set('content-type', type);
  headers.set('cache-control', 'no-store');
  const bytes = Buffer.from(body);
  const peek: UpstreamResponse['peek'] = async (sees) => {
    await sees(bytes, true);
    return null;
  };
  return { status: 200, headers, cancel, peek, body: () => bytes };
}

/** Returns whether the panel refuses. A failure in the middle of a body is none. */
async function isRefusal({ headers, peek, status }: UpstreamResponse): Promise<boolean> {
  if (status >= 400 && status < 500) return true;
  if (status < 200 || status >= 300 || Number(headers.get('content-length')) > 0) return false;
  let isEmpty = true;
  const failure = await peek(async (part) => {
    isEmpty &&= part.length === 0;
    return !isEmpty;
  });
  return isEmpty && failure === null;
}

/** Returns how the customer of a link ended; null: it did not, as far as is known. */
async function endOf(
  deps: Deps,
  upstream: Upstream,
  link: AdmittedLink,
  key: string | null,
  headers: Headers,
): Promise<PanelEnd | null> {
  const { clock, core } = deps;
  const nowMs = clock.nowMs();
  const inHeader = figuresIn(headers.get(FIGURES_HEADER) ?? '', nowMs);
  const said = endIn(inHeader, nowMs);
  if (said !== null) return said;
  const told = key === null ? undefined : await toldEnd(deps, upstream, link.providerId, key);
  if (told !== undefined) return told;
  return inHeader === null
    ? endIn(await core.store.findSubscriptionFigures(link.installId), nowMs)
    : null;
}

/** Returns the end that figures say; null: none yet. */
function endIn(figures: Figures | null, nowMs: number): PanelEnd | null {
  if (figures === null) return null;
  const { endsAtMs, totalBytes, usedBytes } = figures;
  if (endsAtMs !== null && endsAtMs <= nowMs) {
    return { reason: 'subscription_ended', atMs: endsAtMs };
  }
  const isUsedUp = totalBytes !== null && usedBytes !== null && usedBytes >= totalBytes;
  return isUsedUp ? { reason: 'traffic_used_up', atMs: null } : null;
}

/** Returns the end of which `follow` or `limits` told; null: none yet; undefined: not known. */
async function toldEnd(
  { clock, core, panels }: Deps,
  upstream: Upstream,
  providerId: number,
  key: string,
): Promise<PanelEnd | null | undefined> {
  const panel = panelOf(upstream);
  const keyHash = subscriptionKeyHash(key);
  const tied = await core.store.findTiedLink(providerId, keyHash);
  // A provider may type the key of another's customer.
  if (panel === null || tied === null || !isProvedBy(panel, tied)) return undefined;
  const followed = await core.store.findFollowed(upstream.host, keyHash);
  if (followed?.state === 'limited') return { reason: 'traffic_used_up', atMs: null };
  const atMs = followed === null ? panels.users.endOf(upstream, key) : followed.endsAtMs;
  if (atMs === null) return undefined;
  return atMs <= clock.nowMs() ? { reason: 'subscription_ended', atMs } : null;
}
