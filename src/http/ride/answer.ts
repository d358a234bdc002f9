/** Adds what rides to the headers of an answer. */

import type { CarriedStamp } from '../../core/port/ride.ts';
import { SUPPORT_URL, UPDATE_INTERVAL, WEB_PAGE_URL } from '../../core/ride/headers.ts';
import type { Riders } from '../../core/ride/riding.ts';
import { type AnnounceMode, announceWith, readAnnounce } from '../../core/ride/text.ts';

/** What went out, for the stamps of the ledger. */
export type Carried = Riders['carried'];

const NONE: Carried = [];
/** The names of headers and parts of a message that a panel's announcement takes the place of. */
const ANNOUNCED = new Set(['announce', 'announce-url']);

/**
 * Replaces headers of the panel with those that ride, and adds buttons that it lacks. Returns what
 * the answer then carries.
 */
export function addRiders(headers: Headers, riders: Riders, mode: AnnounceMode): Carried {
  const { announceText, buttons, buttonsAlways } = riders;
  const panel = headers.get('announce');
  const isOfPanel = announceText !== null && mode === 'panel' && readAnnounce(panel ?? '') !== '';
  // A link of the panel belongs to its text.
  if (announceText !== null && mode === 'message') headers.delete('announce-url');
  for (const [name, value] of Object.entries(riders.headers)) {
    if (!(isOfPanel && ANNOUNCED.has(name))) headers.set(name, value);
  }
  if (announceText !== null && mode === 'both') {
    headers.set('announce', announceWith(panel, announceText, mode));
  }
  for (const [name, url] of buttonsOf(buttons)) {
    if (buttonsAlways || !headers.get(name)) headers.set(name, url);
  }
  return isOfPanel ? withoutAnnounce(riders.carried) : riders.carried;
}

/** Returns the buttons that are set, by the names of their headers. */
export function buttonsOf({ supportUrl, webPageUrl }: Riders['buttons']): [string, string][] {
  const all: [string, string | null][] = [
    [SUPPORT_URL, supportUrl],
    [WEB_PAGE_URL, webPageUrl],
  ];
  return all.filter((button): button is [string, string] => button[1] !== null);
}

/** Returns the header that says how often apps fetch the subscription; 0: as the panel says. */
export const intervalHeader = (hours: number): Readonly<Record<string, string>> =>
  hours > 0 ? { [UPDATE_INTERVAL]: String(hours) } : {};

function withoutAnnounce(carried: Carried): Carried {
  const left = carried.map(({ distributionId, what }) => ({
    distributionId,
    what: what
      .split(', ')
      .filter((name) => !ANNOUNCED.has(name))
      .join(', '),
  }));
  return left.some(({ what }) => what !== '') ? left.filter(({ what }) => what !== '') : NONE;
}

/** Makes the stamps of what an answer carried to a device; `by` is the app, or a proxy. */
export function stampsOf(
  carried: Carried,
  device: Pick<CarriedStamp, 'deviceId' | 'hwid'>,
  by: string,
  atMs: number,
): CarriedStamp[] {
  return carried.map(({ distributionId, what }) => ({
    ...device,
    ...{ distributionId, atMs },
    carried: `${by}: ${what}`.slice(0, STAMP_LENGTH_MAX),
  }));
}

const STAMP_LENGTH_MAX = 64;
