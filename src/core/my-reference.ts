/** References on the page of users: they reveal nothing, and end after minutes. */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { MINUTE_MS } from './calendar.ts';
import type { MyLink } from './port/my.ts';

/** The minutes for which a reference to a device is valid. */
const REFERENCE_MINUTES = 15;
/** The minutes for which a reference to a link, or to its figures, is valid. */
export const LINK_MINUTES = 1_440;
const MAC_BYTES = 12;
const REFERENCE = /^[0-9a-z]{1,9}\.[-_A-Za-z0-9]{16}$/;

/**
 * The purpose of a reference: to free the device's slot, to identify the device or the link, or to
 * show the figures of its subscription.
 */
type Purpose = 'free' | 'this' | 'link' | 'figures';

export type Signing = Pick<MyLink, 'installId' | 'installCode' | 'keyHash'>;

function macOf(link: Signing, purpose: Purpose, subject: string, until: number): Buffer {
  const text = ['my', purpose, link.installId, link.installCode, subject, until].join('\n');
  return createHmac('sha256', link.keyHash).update(text).digest().subarray(0, MAC_BYTES);
}

/** Makes a reference to a device that reveals nothing about it and expires after minutes. */
export function makeReference(
  link: Signing,
  purpose: Purpose,
  subject: string,
  nowMs: number,
  minutes = REFERENCE_MINUTES,
): string {
  const until = Math.floor(nowMs / MINUTE_MS) + minutes;
  const mac = macOf(link, purpose, subject, until).toString('base64url');
  return `${until.toString(36)}.${mac}`;
}

/** Finds the device of a reference; undefined: it refers to none of these, or has expired. */
export function findReferred<T>(
  link: Signing,
  purpose: Purpose,
  reference: string,
  {
    among,
    subjectOf,
    nowMs,
    minutes = REFERENCE_MINUTES,
  }: { among: readonly T[]; subjectOf(one: T): string; nowMs: number; minutes?: number },
): T | undefined {
  if (!REFERENCE.test(reference)) return undefined;
  const [first = '', mac = ''] = reference.split('.');
  const until = Number.parseInt(first, 36);
  const minute = Math.floor(nowMs / MINUTE_MS);
  if (until < minute || until > minute + minutes) return undefined;
  const given = Buffer.from(mac, 'base64url');
  return among.find((one) => timingSafeEqual(given, macOf(link, purpose, subjectOf(one), until)));
}
