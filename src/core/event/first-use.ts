/**
 * The first use by a key of a right that the keys of bots did not have from the beginning. A key
 * that was stolen or lent is noticed so: provider and operator get one event.
 */

import { utcDay } from '../calendar.ts';
import type { Happening } from '../port/event.ts';
import type { FurtherScope } from '../port/provider-key.ts';
import { tidyFact } from '../text.ts';

/** The rights: those of scopes, and naming many HWIDs. */
type LateRight = FurtherScope | 'add_hwid';

interface FirstUse {
  providerCode: string;
  /** The fingerprint of the key. */
  key: string;
  /** The name of the key; null: it is the main key, or none is known. */
  keyName: string | null;
  right: LateRight;
}

const NAME_LENGTH_MAX = 100;

/** The event of the provider, and that of the operator. */
export const keyFirstUsed = ({ providerCode, key, keyName, right }: FirstUse): Happening => ({
  kind: 'key.first_use',
  data: {
    provider_code: providerCode,
    right,
    key,
    key_name: keyName && tidyFact(keyName.toWellFormed(), NAME_LENGTH_MAX),
  },
});

/** The HWIDs that all keys of a provider name on a UTC day without a word about it. */
const NAMED_A_DAY = 100;

/** The keys that are remembered as told: all that a provider may have, and some that it had. */
const TOLD_MAX = 100;

/**
 * Returns the mark of a provider after one of its keys named HWIDs, and whether that makes an
 * event: the key named some beyond {@link NAMED_A_DAY}, for the first time.
 */
export function afterNaming(
  before: string | null,
  key: string,
  addedCount: number,
  nowMs: number,
): { mark: string; isFirst: boolean } {
  const [day, count, ...told] = (before ?? '').split(' ');
  const today = `${utcDay(nowMs)}`;
  const named = addedCount + (day === today ? Number(count) : 0);
  const isFirst = named > NAMED_A_DAY && !told.includes(key);
  const all = isFirst ? [...told, key].slice(-TOLD_MAX) : told;
  return { mark: [today, named, ...all].join(' '), isFirst };
}
