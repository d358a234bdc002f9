/** Every race of the contract, by a name that another process can be told. */

import { BROWSER_RACES } from './browser.ts';
import { COUNTING_RACES } from './counting-race.ts';
import { CUT_RACES } from './cut-race.ts';
import { HASH_RACES } from './held-by-hash.ts';
import { IDEMPOTENCY_RACES } from './idempotency-race.ts';
import { IMPORT_RACES } from './import-race.ts';
import { LIMIT_RACES } from './limit-race.ts';
import { JOIN_RACES } from './link-join.ts';
import { MY_RACES } from './my.ts';
import { NAMED_RACES } from './named-hwid.ts';
import { OUTBOX_RACES } from './outbox-race.ts';
import { type Race, SINGLE_RACES } from './race.ts';
import { SERIAL_RACES } from './serial-race.ts';
import { TIE_RACES } from './tie-race.ts';

export const RACES: Readonly<Record<string, Race>> = {
  ...SINGLE_RACES,
  ...SERIAL_RACES,
  ...OUTBOX_RACES,
  ...IMPORT_RACES,
  ...IDEMPOTENCY_RACES,
  ...COUNTING_RACES,
  ...MY_RACES,
  ...BROWSER_RACES,
  ...HASH_RACES,
  ...JOIN_RACES,
  ...LIMIT_RACES,
  ...NAMED_RACES,
  ...TIE_RACES,
  ...CUT_RACES,
};
