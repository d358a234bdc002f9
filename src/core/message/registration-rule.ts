/** The rule of registration: what evidence claims, and what becomes of the place that it claims. */

/**
 * The claim that follows from the evidence. Disabled links count: a slot on one is as old as it
 * was. `later`: the HWID has been longer on (another) link of the provider.
 */
export type Claim = 'first_link' | 'binding' | 'later' | 'nothing';

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
  /** Granted since the slot, if the other token showed a link too or came after the slot. */
  | 'contested'
  | 'refused';

/**
 * The whole rule. A registration is for a place: a HWID at a provider, or (with nothing shown) the
 * HWID's place of nobody, where messages lie of providers that have not attached the device.
 * Nothing but a claim to a place changes it, so no provider's affairs change another's.
 */
export const REGISTRATION_RULE: Readonly<Record<Claim, Readonly<Record<Holder, Verdict>>>> = {
  first_link: {
    nobody: 'granted_since_slot',
    token_shown: 'kept_by_link',
    other_token: 'contested',
  },
  binding: { nobody: 'granted', token_shown: 'kept', other_token: 'refused' },
  later: { nobody: 'refused', token_shown: 'kept', other_token: 'refused' },
  nothing: { nobody: 'granted', token_shown: 'kept', other_token: 'refused' },
};

/** A device's first slot at a provider. */
export interface FirstSlot {
  id: number;
  installId: number;
  /** The newest ledger row when it was taken. */
  afterRecipientId: number;
}

/** A registration. */
export interface Place {
  /** The token that holds it; null: it is free. */
  tokenId: number | null;
  /** A link was shown for it. */
  isByLink: boolean;
  /** The newest ledger row when it began: it opens later ones. */
  afterRecipientId: number;
  /** The newest slot when it began: later slots are younger. */
  afterSlotId: number;
}

export const FREE_PLACE: Place = {
  tokenId: null,
  isByLink: false,
  afterRecipientId: 0,
  afterSlotId: 0,
};

/** The claim that a good link, with its id, or a good binding makes for a device. */
export function claimOf(shownInstallId: number | null, firstSlot: FirstSlot | null): Claim {
  if (shownInstallId === null) return firstSlot === null ? 'binding' : 'later';
  const isFirst = firstSlot === null || firstSlot.installId === shownInstallId;
  return isFirst ? 'first_link' : 'later';
}

/** Applies {@link REGISTRATION_RULE} to a place; `shownTokenId`: a token of the same device. */
export function judge(
  claim: Claim,
  place: Place,
  firstSlot: FirstSlot | null,
  shownTokenId: number | null,
): Exclude<Verdict, 'contested'> {
  const { tokenId, isByLink, afterSlotId } = place;
  // With nothing shown, a token speaks for all the places that it holds.
  const isOwn = shownTokenId !== null && (tokenId === shownTokenId || claim === 'nothing');
  const holder: Holder = isOwn ? 'token_shown' : tokenId === null ? 'nobody' : 'other_token';
  const verdict = REGISTRATION_RULE[claim][holder];
  if (verdict !== 'contested') return verdict;
  const isYoungerThanSlot = firstSlot !== null && firstSlot.id <= afterSlotId;
  return isByLink || isYoungerThanSlot ? 'granted_since_slot' : 'refused';
}

/**
 * The place of a token after a verdict that is no refusal; `before` itself if it stays as it is.
 * `firstSlot` is as it is with the slot that is taken for the link shown.
 */
export function placeAfter(
  verdict: Exclude<Verdict, 'contested' | 'refused'>,
  before: Place,
  tokenId: number,
  firstSlot: FirstSlot | null,
  newest: { recipientId: number; slotId: number },
): Place {
  if (verdict === 'kept') return before;
  const at = { tokenId, afterSlotId: newest.slotId };
  if (verdict === 'granted') {
    return { ...at, isByLink: false, afterRecipientId: newest.recipientId };
  }
  const sinceSlot = firstSlot?.afterRecipientId ?? 0;
  // A place that is kept opens what it opened.
  const isKept = before.tokenId === tokenId;
  const afterRecipientId = isKept ? Math.min(before.afterRecipientId, sinceSlot) : sinceSlot;
  return { ...at, isByLink: true, afterRecipientId };
}
