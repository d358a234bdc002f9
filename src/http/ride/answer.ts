/** Adds the headers that ride to an answer. */

import type { CarriedStamp } from '../../core/port/ride.ts';
import { SUPPORT_URL, UPDATE_INTERVAL, WEB_PAGE_URL } from '../../core/ride/headers.ts';
import type { Riders } from '../../core/ride/riding.ts';
import { type AnnounceMode, announceWith, NO_TEXT, readAnnounce } from '../../core/ride/text.ts';

/** The parts of messages in an answer, for the stamps of the ledger. */
export type Carried = Riders['carried'];

const NONE: Carried = [];
/** Headers and parts of a message that a panel's announcement replaces. */
const ANNOUNCED = new Set(['announce', 'announce-url']);

/**
 * Replaces headers of the panel with those that ride, and adds missing buttons. Returns the parts
 * of messages in the answer.
 */
export function addRiders(headers: Headers, riders: Riders, mode: AnnounceMode): Carried {
  const { announceText } = riders;
  const panel = headers.get('announce');
  const hasText = readAnnounce(panel ?? '') !== '';
  // An announcement of no text makes room for that of the panel in each mode.
  const isOfPanel = hasText && (announceText === null || mode === 'panel');
  // The panel's link belongs to the panel's text.
  if (announceText !== null && mode === 'message') headers.delete('announce-url');
  for (const [name, value] of Object.entries(riders.headers)) {
    if (!(isOfPanel && ANNOUNCED.has(name))) headers.set(name, value);
  }
  if (announceText !== null && mode === 'both') {
    headers.set('announce', announceWith(panel, announceText, mode));
  }
  const replacing = replacingButtons(riders);
  for (const [name, url] of buttonsOf(riders.buttons)) {
    if (replacing[name] !== undefined || !headers.get(name)) headers.set(name, url);
  }
  return isOfPanel ? withoutAnnounce(riders.carried) : riders.carried;
}

/**
 * Returns the headers that a proxy hands on. It does not know whether the panel has a text of its
 * own, so none takes a text away. nginx sends no empty header: Happ takes its box away by `0` too.
 */
export function handedOn({ headers }: Riders): Readonly<Record<string, string>> {
  const { announce, ...others } = headers;
  return {
    ...(announce !== undefined && announce !== NO_TEXT && { announce }),
    ...others,
    ...(headers['sub-info-text'] === '' && { 'sub-info-text': '0' }),
  };
}

/** Returns the configured buttons by header. */
function buttonsOf({ supportUrl, webPageUrl }: Riders['buttons']): [string, string][] {
  const all: [string, string | null][] = [
    [SUPPORT_URL, supportUrl],
    [WEB_PAGE_URL, webPageUrl],
  ];
  return all.filter((button): button is [string, string] => button[1] !== null);
}

/** Returns the buttons that replace those of the panel, by header. */
export function replacingButtons({
  buttons,
  buttonsAlways,
  replacesPage,
}: Riders): Readonly<Record<string, string>> {
  const replacing = buttonsOf(buttons).filter(
    ([name]) => buttonsAlways || (replacesPage && name === WEB_PAGE_URL),
  );
  return Object.fromEntries(replacing);
}

/** Returns the header with the interval of fetches; none for 0: the panel sets it. */
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

/** Makes the stamps of an answer to a device; `by` is the app, or a proxy. */
export function stampsOf(
  carried: Carried,
  device: Pick<CarriedStamp, 'deviceId' | 'hwid'>,
  by: string,
  atMs: number,
): CarriedStamp[] {
  return carried.map(({ distributionId, what }) => ({
    ...device,
    distributionId,
    atMs,
    carried: `${by}: ${what}`.slice(0, STAMP_LENGTH_MAX),
  }));
}

const STAMP_LENGTH_MAX = 64;
