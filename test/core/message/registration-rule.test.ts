/** The rule of registration is one table, and the documents show it cell by cell. */

import { expect, test } from 'bun:test';
import {
  type Claim,
  type Holder,
  judge,
  REGISTRATION_RULE,
  type Verdict,
} from '../../../src/core/message/registration-rule.ts';
import { readText } from '../../support/tree.ts';

const CLAIMS: Readonly<Record<Claim, string>> = {
  first_link: 'a link on which the HWID has its first slot at the provider',
  binding: 'a binding of the provider, the HWID on none of its links',
  later: 'a link or binding of the provider, the HWID longer on another link of it',
  nothing: 'nothing: the place of nobody',
};
const HOLDERS: Readonly<Record<Holder, string>> = {
  nobody: 'The place is free',
  token_shown: 'The token shown holds it',
  other_token: 'Another token holds it',
};
const VERDICTS: Readonly<Record<Verdict, string>> = {
  granted_since_slot: 'granted, with what was addressed since the slot was taken',
  granted: 'granted, from now on',
  kept: 'kept',
  kept_by_link: 'kept, and now by link',
  contested:
    'taken over if that registration was by link or is younger than the slot, else refused',
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

test('a link takes a place over from a link, and from what came after its slot', () => {
  const slot = { id: 7, installId: 1, afterRecipientId: 0 };
  const verdicts = [false, true].flatMap((isByLink) =>
    [6, 7].map((afterSlotId) => {
      const place = { tokenId: 1, isByLink, afterRecipientId: 0, afterSlotId };
      return judge('first_link', place, slot, null);
    }),
  );
  const taken = 'granted_since_slot';
  expect(verdicts).toEqual(['refused', taken, taken, taken]);
});
