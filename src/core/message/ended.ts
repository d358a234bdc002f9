/** Ends of slots and links of which devices are notified. */

import { DAY_MS } from '../calendar.ts';
import type { Core } from '../core.ts';
import type { AuthenticDevice } from '../device.ts';
import { readDeviceToken } from '../formats.ts';
import { isRefused, orUnsaved } from '../outcome.ts';
import type { Ended } from '../port/ended.ts';
import { hashKey } from '../secret.ts';

/** How long a token that ended with its last slot is refused with the reason, ms. */
export const ENDED_TOKEN_MS = DAY_MS;

/** Finds why a token ended with its last slot; null: it did not, or a day has passed. */
export async function whyEnded(
  core: Core,
  tokenHash: Uint8Array,
  nowMs: number,
): Promise<Ended | null> {
  const ended = await core.store.findEndedToken(tokenHash);
  return ended !== null && core.leastMs(nowMs) < ended.atMs + ENDED_TOKEN_MS ? ended : null;
}

/** As {@link whyEnded}, for a token as it was shown; null for a malformed one. */
export async function whyShownEnded(
  core: Core,
  shownToken: string | null,
  nowMs: number,
): Promise<Ended | null> {
  const token = readDeviceToken(shownToken);
  return isRefused(token) ? null : whyEnded(core, hashKey(token), nowMs);
}

/** Saves that an answer carries the ends of a token. If it can't be saved, they come again. */
export async function noteNotified(
  { store }: Core,
  { tokenId }: Pick<AuthenticDevice, 'tokenId'>,
  ended: string,
): Promise<void> {
  await orUnsaved(true, store.noteNotified(tokenId, ended));
}
