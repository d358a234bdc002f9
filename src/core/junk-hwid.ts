/**
 * HWIDs that identify nothing: apps send them that could not read the real one. Different phones
 * send the same, so at the gate and the proxy such an app counts as one without a HWID. A slot that
 * such a HWID holds goes on working.
 */

import { readHwid } from './formats.ts';
import { isRefused } from './outcome.ts';

export const JUNK_WORDS: readonly string[] = ['null', 'undefined', 'unknown', 'none'];
/** `0`, `0000`, and the UUID of zeros. */
const ZEROS = /^[0-]*0[0-]*$/;
const ONE_SIGN = /^(.)\1{7,}$/s;

/**
 * Returns true for a well-formed HWID that names no device. Short ones such as `x` are HWIDs.
 *
 * @example isJunkHwid('00000000-0000-0000-0000-000000000000') // true
 */
export const isJunkHwid = (hwid: string): boolean =>
  !isRefused(readHwid(hwid)) &&
  (JUNK_WORDS.includes(hwid.toLowerCase()) || ZEROS.test(hwid) || ONE_SIGN.test(hwid));
