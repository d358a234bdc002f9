/**
 * Cut-off: the panel makes the credentials of one customer new, so that copied servers stop, and
 * the link stays as it is. This file has what callers see and the rule where it is possible;
 * `http/upstream/panel-cuts.ts` asks the panels.
 */

import { createHash } from 'node:crypto';
import { bareHost } from '../outbox/address.ts';
import { inboundsIn } from './credentials.ts';
import { PANEL_TRAITS } from './index.ts';
import { knowsUsersOf, type PanelKey, type PanelKind, panelOf } from './kind.ts';

/** The settings of an upstream that a cut-off needs. */
export interface CutUpstream {
  /** The host of its subscriptions. */
  readonly host: string;
  /** The code of the provider that owns the links. */
  readonly provider: string;
  readonly key: PanelKey;
  readonly panel: PanelKind | '';
  readonly url: string;
  /** The URL of the API; empty: `url`. */
  readonly panelUrl: string;
  readonly panelTokenFile: string;
  readonly panelAccountFile: string;
  /** True: the operator lets Gatepost change credentials at this panel. */
  readonly cutOff: boolean;
  /** The admin, group or squad of the provider's users at the panel; empty: all users. */
  readonly panelAdmin: string;
}

/** Whether an upstream lets credentials be changed; `why` is a sentence for people. */
export type CanCut =
  | { readonly possible: true }
  | { readonly possible: false; readonly why: string };

/** The outcome of one try. No text of it has a key, a credential, a token or a name of a user. */
export type CutOutcome =
  /** The panel was read back: the credentials are new, and nothing else changed. */
  | {
      readonly is: 'done';
      /** Hours after which apps fetch again, as the panel says; null: unknown. */
      readonly interval: number | null;
    }
  /** No later try can succeed: the link is not proved, its user is gone or of another admin. */
  | { readonly is: 'impossible'; readonly why: string }
  /** The panel is away or refuses: it is to be tried again later. */
  | {
      readonly is: 'failed';
      readonly why: string;
      /** The print of the credentials that the panel had; null: they were not read. Keep it. */
      readonly seen: string | null;
    }
  /** These other fields of the user changed too: the cut-offs of this upstream must stop. */
  | { readonly is: 'differs'; readonly fields: readonly string[] }
  /** The credentials are others than those that an earlier try saw: there is nothing to do. */
  | { readonly is: 'changed_already' };

/** A cut-off of the customer of one link. */
export interface CutOrder {
  /** SHA-256 of the key of the link's subscription, hex. */
  readonly subscriptionKeyHash: string;
  /** `seen` of the last failed try; null: none. */
  readonly seen: string | null;
}

/** Changes credentials at panels. */
export interface PanelCuts {
  /** Returns whether the credentials of an upstream's customers can be changed. Asks no panel. */
  canCut(upstream: CutUpstream): CanCut;
  /**
   * Has the panel of an upstream make the credentials of one customer new, and reads them back. The
   * user is found by the link of the upstream's provider with that key, if a panel of this kind
   * proved it; where the provider has several of a kind, the caller knows which one did. Never
   * throws for an answer of a panel; an aborted deadline is `failed`.
   */
  changeCredentials(
    upstream: CutUpstream,
    order: CutOrder,
    deadline: AbortSignal,
  ): Promise<CutOutcome>;
}

/** Returns whether an upstream of these allows cut-offs. */
export function canCut(upstream: CutUpstream, upstreams: readonly CutUpstream[]): CanCut {
  const why = obstacleOf(upstream, upstreams);
  return why === null ? { possible: true } : { possible: false, why };
}

/** Returns why an upstream allows no cut-off; null: it does. */
function obstacleOf(upstream: CutUpstream, upstreams: readonly CutUpstream[]): string | null {
  const panel = panelOf(upstream);
  if (panel === null) return 'the settings name no panel for this host';
  const { cutOff, title } = PANEL_TRAITS[panel];
  if ('why' in cutOff) return cutOff.why;
  if (!upstream.cutOff) return `cut_off is not switched on for ${upstream.host}`;
  if (upstream.panelTokenFile === '' && upstream.panelAccountFile === '') {
    return `the settings name no token for the API of ${title}`;
  }
  if (!knowsUsersOf(panel, upstream.key)) return `${title} does not know users by these keys`;
  return isShared(upstream, upstreams)
    ? 'another provider has an upstream at this panel: set a panel_admin that it does not have'
    : null;
}

/**
 * Returns whether users of another provider are at the same panel, and `panel_admin` does not part
 * them. An upstream without cut-off has no `panel_admin`.
 */
function isShared(upstream: CutUpstream, upstreams: readonly CutUpstream[]): boolean {
  const { panelAdmin, provider } = upstream;
  return upstreams.some(
    (other) =>
      other.provider !== provider &&
      isSamePanel(upstream, other) &&
      (panelAdmin === '' || overlap(other.panelAdmin, panelAdmin)),
  );
}

/** Returns whether users may belong to both: a list of inbounds may share some with another one. */
function overlap(one: string, other: string): boolean {
  const inbounds = inboundsIn(one);
  return one === other || inboundsIn(other).some((id) => inbounds.includes(id));
}

/**
 * Returns the name under which proofs by an upstream are kept, which ends with the panel behind its
 * host: another panel there has proved nothing.
 */
export function proverOf({
  host,
  panelUrl,
  url,
}: Pick<CutUpstream, 'host' | 'panelUrl' | 'url'>): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([url, panelUrl]))
    .digest('hex');
  return `${host} ${hash.slice(0, 16)}`;
}

/** Returns whether two upstreams may lead to one panel: paths and schemes decide nothing. */
export function isSamePanel(one: CutUpstream, other: CutUpstream): boolean {
  const places = placesOf(one);
  const files = filesOf(one);
  return (
    placesOf(other).some((place) => places.includes(place)) ||
    filesOf(other).some((file) => files.includes(file))
  );
}

const placesOf = ({ url, panelUrl }: CutUpstream) =>
  [url, panelUrl].filter((each) => each !== '').map(placeOf);

const filesOf = ({ panelTokenFile, panelAccountFile }: CutUpstream) =>
  [panelTokenFile, panelAccountFile].filter((file) => file !== '');

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/;

/** Returns host and port of a URL; all names of this machine are one. */
function placeOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  const host = bareHost(hostname);
  const place = LOOPBACK.test(host) ? 'here' : host;
  return `${place}:${port || (protocol === 'https:' ? '443' : '80')}`;
}
