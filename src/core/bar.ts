/**
 * Bars: a HWID that was cut off from a link is refused there at every door until its bar ends or is
 * lifted, also in another spelling.
 */

import { DAY_MS } from './calendar.ts';
import { hashInHwid } from './formats.ts';
import { hwidHash } from './secret.ts';

/** The life of a bar. */
export const BAR_MS = 90 * DAY_MS;
/** The most bars of a link; the oldest ends first. */
export const BARS_MAX = 100;

/** Signs with which one HWID is written in several ways. */
const PUNCTUATION = /[-_:.{}'"]|%20/g;

/** Returns a HWID without case and punctuation. */
const spelled = (hwid: string): string => {
  const plain = hwid.toLowerCase().replace(PUNCTUATION, '');
  return plain === '' ? hwid : plain;
};

/**
 * Returns the hash by which a bar keeps a HWID, hexadecimal: that of all its spellings, or the hash
 * itself where only that is known.
 */
export const barHashOf = (hwid: string): string => hashInHwid(hwid) ?? hwidHash(spelled(hwid));

/** Returns the hashes of bars that refuse a HWID. */
export const barHashesOf = (hwid: string): [string, string] => [hwidHash(hwid), barHashOf(hwid)];
