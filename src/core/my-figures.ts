/**
 * The figures of a subscription on the page of its user. A code is shown around, so it alone shows
 * none: the page was opened by the address of the subscription, or by the button of an app that the
 * link admitted, whose address has a proof for a day.
 */

import { HOUR_MS } from './calendar.ts';
import type { Core } from './core.ts';
import { findReferred, LINK_MINUTES, makeReference, type Signing } from './my-reference.ts';
import { after, type Maybe } from './port/maybe.ts';
import type { MyLink, MyName } from './port/my.ts';

/** The time after which a read of traffic shows nothing; an end stays true. */
export const TRAFFIC_MS = 48 * HOUR_MS;

/** The parameter of the proof. */
export const FIGURES_PARAM = 'sub';

export interface MyFigures {
  /** When the subscription ends; null: never, or not known. */
  endsAtMs: number | null;
  /** The traffic, where the provider shows it; null: not known, or not shown. */
  usedBytes: number | null;
  totalBytes: number | null;
  /** The proof, for further pages. */
  proof: string;
}

const subjectOf = ({ installId }: Signing) => installId.toString(36);

const proofOf = (link: Signing, nowMs: number) =>
  makeReference(link, 'figures', subjectOf(link), nowMs, LINK_MINUTES);

/** Returns the proof as the end of an address; empty: no figures of the link are kept. */
export const figuresProof = (link: MyLink, nowMs: number): string =>
  link.subscriptionFigures === 1 ? `&${FIGURES_PARAM}=${proofOf(link, nowMs)}` : '';

/** Returns whether a name is the address of the subscription. */
export const namesSubscription = (name: MyName): boolean => 'subscriptionKeyHash' in name;

/** How the page of a link was opened; `proof`: that of its address, if it has one. */
interface OpenedBy {
  name: MyName;
  proof: string | null;
}

/** Returns whether a page that was opened so may show the figures of the link. */
export function mayShowFigures(link: MyLink, { name, proof }: OpenedBy, nowMs: number): boolean {
  if (link.subscriptionFigures === 0) return false;
  const of = { among: [link], subjectOf, nowMs, minutes: LINK_MINUTES };
  return (
    namesSubscription(name) ||
    (proof !== null && findReferred(link, 'figures', proof, of) !== undefined)
  );
}

/** Returns the proof for further pages. One makes no later one: it shows figures for its day. */
export const furtherProof = (link: MyLink, { name, proof }: OpenedBy, nowMs: number): string =>
  namesSubscription(name) ? proofOf(link, nowMs) : (proof ?? '');

/** Reads what the page of a link shows. */
export function figuresOfMine(
  { store }: Pick<Core, 'store'>,
  link: MyLink,
  by: OpenedBy,
  nowMs: number,
): Maybe<MyFigures | null> {
  if (!mayShowFigures(link, by, nowMs)) return null;
  const proof = furtherProof(link, by, nowMs);
  return after(store.findSubscriptionFigures(link.installId), (kept) => {
    if (kept === null) return null;
    const { endsAtMs, readAtMs, totalBytes, usedBytes } = kept;
    const isShown = link.myTraffic === 1 && readAtMs > nowMs - TRAFFIC_MS;
    const traffic = isShown ? { totalBytes, usedBytes } : { totalBytes: null, usedBytes: null };
    return { endsAtMs, ...traffic, proof };
  });
}
