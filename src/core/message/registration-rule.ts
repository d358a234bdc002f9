/**
 * The rule of registration. A place is an inbox that a token can hold: of a HWID at a provider, or
 * the HWID's unattached inbox, which receives messages of providers to which the device is not
 * attached. The evidence of a registration claims one place.
 */

import { DAY_MS, lastMsOfDay } from '../calendar.ts';

/**
 * Days without a call by its token after which another link can claim a place: longer than most
 * phones stay unused, and short enough for a user who lost link and token.
 */
export const TOKEN_IDLE_DAYS = 30;

/**
 * The claim of the evidence. `link`: a link that may claim the place, see {@link claimOf}. `later`:
 * another link, or a binding while the HWID has a slot. `nothing`: no evidence.
 */
export type Claim = 'link' | 'binding' | 'later' | 'nothing';

/** The holder of the claimed place; `free`: it has none. */
export type Holder = 'free' | 'token_shown' | 'other_token';

export type RegistrationOutcome =
  /** The place opens the messages since the device took its slot on the link. */
  | 'granted_since_slot'
  /** The place opens the messages from now on. */
  | 'granted'
  | 'kept'
  /** The place is kept, as if the link had claimed it first. */
  | 'kept_by_link'
  /** Granted to the place's own link since its slot, to another one from now on, or refused. */
  | 'contested'
  | 'refused';

/**
 * The rule. Only a claim to a place changes it: neither events at another provider nor the end of a
 * slot do.
 */
export const REGISTRATION_RULE: Readonly<
  Record<Claim, Readonly<Record<Holder, RegistrationOutcome>>>
> = {
  link: { free: 'granted_since_slot', token_shown: 'kept_by_link', other_token: 'contested' },
  binding: { free: 'granted', token_shown: 'kept', other_token: 'refused' },
  later: { free: 'refused', token_shown: 'kept', other_token: 'refused' },
  nothing: { free: 'granted', token_shown: 'kept', other_token: 'refused' },
};

/** A device's slot at a provider. */
interface Slot {
  id: number;
  installId: number;
  /** The newest ledger row when it was taken: its link can claim later ones. */
  afterRecipientId: number;
}

/** A place with the registration that holds it. */
export interface Place {
  /** The token that holds it; null: none does. */
  tokenId: number | null;
  /** When its token ended with its last slot; null: it did not, or the place was claimed since. */
  endedAtMs: number | null;
  /** Time at which that token was last shown, to a UTC day, or ended. */
  tokenSeenAtMs: number;
  /** True: a link was shown for it. */
  isByLink: boolean;
  /** The link that claimed it; null: none did, or an earlier version did not record it. */
  installId: number | null;
  /** True: the device has a slot on that link. */
  isOnLink: boolean;
  /** The newest ledger row at its start: it opens later ones. */
  afterRecipientId: number;
  /** The newest slot at its start: later slots are younger. */
  afterSlotId: number;
}

export const FREE_PLACE: Place = {
  tokenId: null,
  endedAtMs: null,
  tokenSeenAtMs: 0,
  isByLink: false,
  installId: null,
  isOnLink: false,
  afterRecipientId: 0,
  afterSlotId: 0,
};

/** A claim to a place. */
interface Claiming {
  /** The id of a link that admits the device, or other evidence. */
  shown: number | 'binding' | 'nothing';
  place: Place;
  /** The device's first slot at the provider, before it takes one on the shown link. */
  firstSlot: Slot | null;
  /** The device's token that is shown too; null: none. */
  shownTokenId: number | null;
  /** True: the link takes the place from no other token. */
  isOnce?: boolean;
  nowMs: number;
}

/** Returns true if the token of a place was not shown for {@link TOKEN_IDLE_DAYS}. */
function isIdle({ tokenSeenAtMs }: Place, nowMs: number): boolean {
  return nowMs > lastMsOfDay(tokenSeenAtMs) + TOKEN_IDLE_DAYS * DAY_MS;
}

/**
 * Returns true if a token holds a place, or held it until its last slot ended: its user may come
 * back with the same link, and others who know the HWID must not be first.
 */
const isTaken = ({ tokenId, endedAtMs }: Place) => tokenId !== null || endedAtMs !== null;

/**
 * Returns the claim. The link that claimed a place may claim it again, also after its slot has
 * ended. The link of the device's first slot, also a disabled link, may claim a place that is free,
 * that no link claimed, or whose token is idle.
 */
function claimOf({ shown, place, firstSlot, shownTokenId, nowMs }: Claiming): Claim {
  if (shown === 'nothing') return 'nothing';
  if (shown === 'binding') return firstSlot === null ? 'binding' : 'later';
  const { tokenId, installId } = place;
  const isClaimed = isTaken(place) && installId !== null;
  if (isClaimed && installId === shown) return 'link';
  const isShown = tokenId !== null && tokenId === shownTokenId;
  if (isClaimed && (isShown || !isIdle(place, nowMs))) return 'later';
  return firstSlot === null || firstSlot.installId === shown ? 'link' : 'later';
}

/** Applies {@link REGISTRATION_RULE} to a claim. */
export function registrationOutcome(claiming: Claiming): Exclude<RegistrationOutcome, 'contested'> {
  const { shown, place, firstSlot, shownTokenId, nowMs } = claiming;
  const { tokenId, installId, isByLink, afterSlotId } = place;
  const claim = claimOf(claiming);
  // Without evidence, a token keeps all of its places.
  const isOwn = shownTokenId !== null && (tokenId === shownTokenId || claim === 'nothing');
  if (claiming.isOnce && tokenId !== null && !isOwn) return 'refused';
  const isFree =
    !isTaken(place) || (tokenId === null && claim === 'binding' && isIdle(place, nowMs));
  const holder = isOwn ? 'token_shown' : isFree ? 'free' : 'other_token';
  const verdict = REGISTRATION_RULE[claim][holder];
  if (verdict !== 'contested') return verdict;
  if (installId !== null) return installId === shown ? 'granted_since_slot' : 'granted';
  // A binding claimed it, or a version that did not record links.
  const isYoungerThanSlot = firstSlot !== null && firstSlot.id <= afterSlotId;
  if (isByLink || isYoungerThanSlot) return 'granted_since_slot';
  return isIdle(place, nowMs) ? 'granted' : 'refused';
}

/**
 * Returns the place after a verdict that is no refusal; `before` itself if it does not change.
 * `slot`: the device's slot on the shown link, perhaps a new one; null: no link was shown.
 */
export function placeAfter(
  verdict: Exclude<RegistrationOutcome, 'contested' | 'refused'>,
  before: Place,
  tokenId: number,
  slot: Slot | null,
  newest: { recipientId: number; slotId: number },
): Place {
  const by = {
    tokenId,
    endedAtMs: null,
    isByLink: slot !== null,
    installId: slot?.installId ?? null,
    afterSlotId: newest.slotId,
    tokenSeenAtMs: before.tokenSeenAtMs,
    isOnLink: slot !== null,
  };
  const { afterRecipientId: mark, installId } = before;
  // A kept place opens the same messages; a device that left the claiming link has another one.
  if (verdict === 'kept') {
    return slot === null || before.isOnLink ? before : { ...before, ...by };
  }
  if (verdict === 'granted') return { ...by, afterRecipientId: newest.recipientId };
  const sinceSlot = slot?.afterRecipientId ?? 0;
  if (verdict === 'kept_by_link') {
    return { ...by, afterRecipientId: installId === null ? Math.min(mark, sinceSlot) : mark };
  }
  // The claiming link opens no messages from before the claim.
  const isClaimed = isTaken(before) && installId !== null;
  return { ...by, afterRecipientId: isClaimed ? Math.max(mark, sinceSlot) : sinceSlot };
}
