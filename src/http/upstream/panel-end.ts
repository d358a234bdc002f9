/**
 * Says to a customer why the panel refuses: the date of the end, as `follow` or `limits` last read
 * it. The panel alone refuses; its status and body stay. Only a device that has a slot on a link
 * whose key the panel proved reads it.
 */

import type { Clock } from '../../base/clock.ts';
import type { Core } from '../../core/core.ts';
import { panelOf } from '../../core/panel/kind.ts';
import { isProvedBy } from '../../core/panel/proof.ts';
import { readAnnounce } from '../../core/ride/text.ts';
import { subscriptionKeyHash } from '../../core/secret.ts';
import { announcing, type EndReason, endTextFor, type TextSettings } from '../gate/texts.ts';
import type { UpstreamResponse } from './exchange.ts';
import type { Forwarding } from './forwarding.ts';
import type { PanelFollowers } from './panel-followers.ts';
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
 * Adds the reason to the headers of a panel's refusal of a device that has its slot. Returns true
 * if the panel refuses: 4xx, or success without a body.
 */
export async function addEnd(
  deps: Deps,
  { headers }: Request,
  upstream: Upstream,
  { holdsSlot, key, link }: Forwarding,
  response: UpstreamResponse,
): Promise<boolean> {
  if (!holdsSlot || key === null || link === null || panelOf(upstream) === null) return false;
  if (!(await isRefusal(response))) return false;
  const end = await endOf(deps, upstream, link.providerId, key);
  if (end === null) return true;
  const wording = endTextFor(deps.settings, end.reason, headers, end.atMs);
  response.headers.set(STATE, STATES[end.reason]);
  if (readAnnounce(response.headers.get('announce') ?? '') !== '') return true;
  for (const [name, value] of Object.entries(announcing(wording)))
    response.headers.set(name, value);
  return true;
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

/** Returns how the customer of a key ended; null: it did not, as far as is known. */
async function endOf(
  { clock, core, panels }: Deps,
  upstream: Upstream,
  providerId: number,
  key: string,
): Promise<PanelEnd | null> {
  const panel = panelOf(upstream);
  const keyHash = subscriptionKeyHash(key);
  const tied = await core.store.findTiedLink(providerId, keyHash);
  // A provider may type the key of another's customer.
  if (panel === null || tied === null || !isProvedBy(panel, tied)) return null;
  const followed = await core.store.findFollowed(upstream.host, keyHash);
  if (followed?.state === 'limited') return { reason: 'traffic_used_up', atMs: null };
  const atMs = followed === null ? panels.users.endOf(upstream, key) : followed.endsAtMs;
  const isOver = atMs !== null && atMs <= clock.nowMs();
  return isOver ? { reason: 'subscription_ended', atMs } : null;
}
