/** The rule of registration is one table, and the documents show it cell by cell. */

import { expect, test } from 'bun:test';
import { DAY_MS } from '../../../src/core/calendar.ts';
import {
  type Claim,
  FREE_PLACE,
  type Holder,
  type Place,
  placeAfter,
  REGISTRATION_RULE,
  type RegistrationOutcome,
  registrationOutcome,
  TOKEN_IDLE_DAYS,
} from '../../../src/core/message/registration-rule.ts';
import { readText } from '../../support/tree.ts';

const CLAIMS: Readonly<Record<Claim, string>> = {
  link: 'a link that speaks for the place',
  binding: 'a binding of the provider, the HWID on none of its links',
  later: 'another link of the provider, or a binding while the HWID is on a link of it',
  nothing: 'nothing: the unattached place',
};
const HOLDERS: Readonly<Record<Holder, string>> = {
  free: 'The place is free',
  token_shown: 'The token shown holds it',
  other_token: 'Another token holds it',
};
const VERDICTS: Readonly<Record<RegistrationOutcome, string>> = {
  granted_since_slot: 'granted, with what was addressed since the slot was taken',
  granted: 'granted, from now on',
  kept: 'kept',
  kept_by_link: 'kept, and now by link',
  contested: 'taken over, see below',
  refused: 'refused',
};

test('docs/device-protocol.md has the table', () => {
  const holders = Object.keys(HOLDERS) as Holder[];
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rows = (Object.keys(CLAIMS) as Claim[]).map((claim) =>
    row([CLAIMS[claim], ...holders.map((holder) => VERDICTS[REGISTRATION_RULE[claim][holder]])]),
  );
  const table = [row(['Shown', ...Object.values(HOLDERS)]), '|---|---|---|---|', ...rows];
  expect(readText('docs/device-protocol.md')).toContain(table.join('\n'));
});

const SLOT = { id: 7, installId: 1, afterRecipientId: 20 };
const NOW_MS = 100 * DAY_MS + 5;
/** The last millisecond at which a token is not idle that was seen at 0. */
const LAST_MS = (TOKEN_IDLE_DAYS + 1) * DAY_MS - 1;
const HELD: Place = {
  tokenId: 1,
  endedAtMs: null,
  tokenSeenAtMs: NOW_MS,
  isByLink: true,
  installId: 2,
  isOnLink: false,
  afterRecipientId: 30,
  afterSlotId: 6,
};

const asked = (shown: number, place: Place, nowMs = NOW_MS, shownTokenId: number | null = null) =>
  registrationOutcome({ shown, place, firstSlot: SLOT, shownTokenId, nowMs });

test('while its token lives, the link of the claim alone moves a place', () => {
  expect(asked(1, HELD)).toBe('refused');
  expect(asked(2, HELD)).toBe('granted_since_slot');
  expect(asked(1, HELD, NOW_MS, 1)).toBe('kept');
  expect(asked(2, HELD, NOW_MS, 1)).toBe('kept_by_link');
});

test('a place whose token ended with its last slot waits for its own link', () => {
  const ended = { ...HELD, tokenId: null, endedAtMs: 0, tokenSeenAtMs: 0 };
  expect(asked(1, ended, LAST_MS)).toBe('refused');
  expect(asked(2, ended, LAST_MS)).toBe('granted_since_slot');
  expect(asked(1, ended, LAST_MS + 1)).toBe('granted');
  const rest = { place: ended, firstSlot: null, shownTokenId: null };
  expect(registrationOutcome({ ...rest, shown: 'binding', nowMs: LAST_MS })).toBe('refused');
  expect(registrationOutcome({ ...rest, shown: 'binding', nowMs: LAST_MS + 1 })).toBe('granted');
});

test('a registration by a slot takes a place from no other token, not after any silence', () => {
  const once = (shown: number, place: Place, shownTokenId: number | null = null) => {
    const claim = { shown, place, firstSlot: SLOT, shownTokenId, nowMs: NOW_MS };
    return registrationOutcome({ ...claim, isOnce: true });
  };
  const idle = { ...HELD, tokenSeenAtMs: 0 };
  expect([once(1, HELD), once(2, HELD), once(1, idle)]).toEqual(Array(3).fill('refused'));
  expect([once(2, HELD, 1), once(1, HELD, 1)]).toEqual(['kept_by_link', 'kept']);
  expect([once(1, FREE_PLACE), once(2, FREE_PLACE)]).toEqual(['granted_since_slot', 'refused']);
});

test('after so many days without its token, the link of the first slot gets what comes later', () => {
  const idle = { ...HELD, tokenSeenAtMs: 0 };
  expect([asked(1, idle, LAST_MS), asked(1, idle, LAST_MS + 1)]).toEqual(['refused', 'granted']);
  expect(asked(3, idle, LAST_MS + 1)).toBe('refused');
  expect(asked(2, idle, LAST_MS + 1)).toBe('granted_since_slot');
  // A token that is shown is not idle.
  expect(asked(1, idle, LAST_MS + 1, 1)).toBe('kept');
  const newest = { recipientId: 50, slotId: 9 };
  const moved = placeAfter('granted', idle, 4, SLOT, newest);
  expect(moved).toMatchObject({ tokenId: 4, installId: 1, isByLink: true, afterRecipientId: 50 });
  // It opens no more by its own link, with or without its token.
  const opened = (['granted_since_slot', 'kept_by_link'] as const).map(
    (verdict) => placeAfter(verdict, moved, 4, SLOT, newest).afterRecipientId,
  );
  expect(opened).toEqual([50, 50]);
});

test('a token that lost the slot of its claim claims by the next link that it shows', () => {
  const newest = { recipientId: 50, slotId: 9 };
  const next = placeAfter('kept', HELD, 1, SLOT, newest);
  expect(next).toMatchObject({ installId: 1, afterRecipientId: 30 });
  expect(placeAfter('kept', { ...HELD, isOnLink: true }, 1, SLOT, newest).installId).toBe(2);
  expect(placeAfter('kept', HELD, 1, null, newest)).toBe(HELD);
});

test('a place of a forgotten token is free, whatever link it remembers', () => {
  const free = { ...HELD, tokenId: null };
  expect([asked(1, free), asked(2, free)]).toEqual(['granted_since_slot', 'refused']);
  const newest = { recipientId: 50, slotId: 9 };
  expect(placeAfter('granted_since_slot', free, 4, SLOT, newest).afterRecipientId).toBe(20);
});

test('a link takes over from a link that is not known, and from what came after its slot', () => {
  const verdicts = [false, true].flatMap((isByLink) =>
    [6, 7].map((afterSlotId) => asked(1, { ...HELD, installId: null, isByLink, afterSlotId })),
  );
  const taken = 'granted_since_slot';
  expect(verdicts).toEqual(['refused', taken, taken, taken]);
  const ofBinding = { ...HELD, installId: null, isByLink: false, tokenSeenAtMs: 0 };
  expect(asked(1, ofBinding, LAST_MS)).toBe('refused');
  expect(asked(1, ofBinding, LAST_MS + 1)).toBe('granted');
});
