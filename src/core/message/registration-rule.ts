/** The rule of registration: what evidence claims, and what becomes of the place that it claims. */

import { DAY_MS, lastMsOfDay } from '../calendar.ts';

/**
 * Days without a sight of its token after which a place may move to another link: longer than most
 * phones lie in a drawer, and short enough that a user who lost link and token gets in again.
 */
export const TOKEN_IDLE_DAYS = 30;

/**
 * The claim that follows from the evidence. `link`: a link that speaks for the place, see
 * {@link claimOf}. `later`: another link, or a binding while the HWID is on a link.
 */
export type Claim = 'link' | 'binding' | 'later' | 'nothing';

/** The holder of the place that is claimed. */
export type Holder = 'nobody' | 'token_shown' | 'other_token';

export type Verdict =
  /** The place opens what was addressed to the device since it is on the link. */
  | 'granted_since_slot'
  /** The place opens what is addressed to the device from now on. */
  | 'granted'
  | 'kept'
  /** The place is kept, and from now on as firmly as with the link shown at first. */
  | 'kept_by_link'
  /** Granted to the place's own link since the slot, to another one from now on, or refused. */
  | 'contested'
  | 'refused';

/**
 * The whole rule. A registration is for a place: a HWID at a provider, or (with nothing shown) the
 * HWID's place of nobody, where messages lie of providers that have not attached the device.
 * Nothing but a claim to a place changes it, so no provider's affairs change another's, and no slot
 * that ends changes any.
 */
export const REGISTRATION_RULE: Readonly<Record<Claim, Readonly<Record<Holder, Verdict>>>> = {
  link: { nobody: 'granted_since_slot', token_shown: 'kept_by_link', other_token: 'contested' },
  binding: { nobody: 'granted', token_shown: 'kept', other_token: 'refused' },
  later: { nobody: 'refused', token_shown: 'kept', other_token: 'refused' },
  nothing: { nobody: 'granted', token_shown: 'kept', other_token: 'refused' },
};

/** A device's slot at a provider. */
export interface Slot {
  id: number;
  installId: number;
  /** The newest ledger row when it was taken: what came later is for its link to claim. */
  afterRecipientId: number;
}

/** A registration. */
export interface Place {
  /** The token that holds it; null: it is free. */
  tokenId: number | null;
  /** Time at which that token was last shown; a UTC day notes it once. */
  tokenSeenAtMs: number;
  /** A link was shown for it. */
  isByLink: boolean;
  /** The link by which it was claimed; null: by none, or by an earlier version. */
  installId: number | null;
  /** The device has a slot on that link. */
  isOnLink: boolean;
  /** The newest ledger row when it began: it opens later ones. */
  afterRecipientId: number;
  /** The newest slot when it began: later slots are younger. */
  afterSlotId: number;
}

export const FREE_PLACE: Place = {
  tokenId: null,
  tokenSeenAtMs: 0,
  isByLink: false,
  installId: null,
  isOnLink: false,
  afterRecipientId: 0,
  afterSlotId: 0,
};

/** A claim to a place. */
export interface Claiming {
  /** The id of a good link, or what else is shown. */
  shown: number | 'binding' | 'nothing';
  place: Place;
  /** The device's first slot at the provider, before one is taken for the link shown. */
  firstSlot: Slot | null;
  /** A token of the same device that is shown beside it. */
  shownTokenId: number | null;
  nowMs: number;
}

/** True if the token of the place was not seen for {@link TOKEN_IDLE_DAYS}, so it may move. */
function isIdle({ tokenSeenAtMs }: Place, nowMs: number): boolean {
  return nowMs > lastMsOfDay(tokenSeenAtMs) + TOKEN_IDLE_DAYS * DAY_MS;
}

/**
 * Says what is claimed. The link by which a place was claimed speaks for it, whatever became of the
 * slot. The link of the device's first slot speaks for a place that is free, for one that no link
 * claimed, and for one whose token is idle. A slot on a disabled link is as old as it was.
 */
function claimOf({ shown, place, firstSlot, shownTokenId, nowMs }: Claiming): Claim {
  if (shown === 'nothing') return 'nothing';
  if (shown === 'binding') return firstSlot === null ? 'binding' : 'later';
  const { tokenId, installId } = place;
  const isClaimed = tokenId !== null && installId !== null;
  if (isClaimed && installId === shown) return 'link';
  if (isClaimed && (tokenId === shownTokenId || !isIdle(place, nowMs))) return 'later';
  return firstSlot === null || firstSlot.installId === shown ? 'link' : 'later';
}

/** Applies {@link REGISTRATION_RULE} to a place. */
export function judge(claiming: Claiming): Exclude<Verdict, 'contested'> {
  const { shown, place, firstSlot, shownTokenId, nowMs } = claiming;
  const { tokenId, installId, isByLink, afterSlotId } = place;
  const claim = claimOf(claiming);
  // With nothing shown, a token speaks for all the places that it holds.
  const isOwn = shownTokenId !== null && (tokenId === shownTokenId || claim === 'nothing');
  const holder: Holder = isOwn ? 'token_shown' : tokenId === null ? 'nobody' : 'other_token';
  const verdict = REGISTRATION_RULE[claim][holder];
  if (verdict !== 'contested') return verdict;
  if (installId !== null) return installId === shown ? 'granted_since_slot' : 'granted';
  // Claimed before links were remembered, or by a binding.
  const isYoungerThanSlot = firstSlot !== null && firstSlot.id <= afterSlotId;
  if (isByLink || isYoungerThanSlot) return 'granted_since_slot';
  return isIdle(place, nowMs) ? 'granted' : 'refused';
}

/**
 * The place of a token after a verdict that is no refusal; `before` itself if it stays as it is.
 * `slot` is the device's on the link shown, which may just have been taken; null: no link was.
 */
export function placeAfter(
  verdict: Exclude<Verdict, 'contested' | 'refused'>,
  before: Place,
  tokenId: number,
  slot: Slot | null,
  newest: { recipientId: number; slotId: number },
): Place {
  const by = {
    ...{ tokenId, isByLink: slot !== null, installId: slot?.installId ?? null },
    ...{ afterSlotId: newest.slotId, tokenSeenAtMs: before.tokenSeenAtMs, isOnLink: slot !== null },
  };
  const { afterRecipientId: mark, installId } = before;
  // A place that is kept opens what it opened. Who left the link of the claim has another one now.
  if (verdict === 'kept') {
    return slot === null || before.isOnLink ? before : { ...before, ...by };
  }
  if (verdict === 'granted') return { ...by, afterRecipientId: newest.recipientId };
  const sinceSlot = slot?.afterRecipientId ?? 0;
  if (verdict === 'kept_by_link') {
    return { ...by, afterRecipientId: installId === null ? Math.min(mark, sinceSlot) : mark };
  }
  // The link of the claim opens nothing from before the claim.
  const isClaimed = before.tokenId !== null && installId !== null;
  return { ...by, afterRecipientId: isClaimed ? Math.max(mark, sinceSlot) : sinceSlot };
}
