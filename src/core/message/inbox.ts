/** The messaging protocol: a registered device shows its token and fetches its messages. */

import { sameUtcDay } from '../calendar.ts';
import type { Core } from '../core.ts';
import { readDeviceToken } from '../formats.ts';
import { isRefused, Refused } from '../outcome.ts';
import type { Message, TokenHolder } from '../port/inbox.ts';
import { WriteFailed } from '../port/store.ts';
import { hashKey } from '../secret.ts';

/**
 * The most messages in one answer, and the bytes of payload after which no further one is added:
 * data to import may be hundreds of kilobytes.
 */
export const INBOX_LIMITS = { countMax: 100, bytesMax: 256 * 1024 };
/** The most acknowledgements in one call. */
export const ACK_COUNT_MAX = 100;

/** A device that showed its token. */
export interface AuthenticDevice extends TokenHolder {
  hwid: string;
  /** The same through every renewal. Of one device several tokens may be good, in several hands. */
  tokenId: number;
}

/** The device that a token belongs to, or null. */
export async function authenticateDevice(
  core: Core,
  shownToken: string | null,
  nowMs: number,
): Promise<AuthenticDevice | null> {
  const token = readDeviceToken(shownToken);
  if (isRefused(token)) return null;
  const tokenHash = hashKey(token);
  const found = await core.store.findDeviceByToken(tokenHash);
  if (found === null) return null;
  const { lastSeenAtMs, ...device } = found;
  if (!sameUtcDay(lastSeenAtMs, nowMs)) await noteSeen(core, device.id, nowMs);
  return { ...device, tokenHash };
}

/** Notes once a day that a device is there. If that fails, tomorrow is early enough. */
async function noteSeen(core: Core, deviceId: number, nowMs: number): Promise<void> {
  try {
    await core.store.noteSeen(deviceId, nowMs);
  } catch (fault) {
    if (!(fault instanceof WriteFailed)) throw fault;
  }
}

/**
 * Returns the messages that wait for a device, oldest first, up to {@link INBOX_LIMITS}. With none
 * there it waits for up to `waitMs`, or until `signal` is aborted. Messages are looked for as of
 * `nowMs`, when the wait began: what comes meanwhile lives for a day at least. Refuses
 * `device_token_error` if the token died meanwhile.
 */
export async function fetchInbox(
  core: Core,
  device: TokenHolder,
  waitMs: number,
  nowMs: number,
  signal: AbortSignal,
): Promise<Message[] | Refused<'device_token_error'>> {
  const bell = listen(core, device.id, waitMs, signal);
  try {
    for (;;) {
      // Armed before the look: what arrives in between is not missed.
      const rung = bell.next();
      const { messages } = await core.store.listInbox(device, nowMs, INBOX_LIMITS);
      if (messages.length > 0) return messages;
      if ((await core.store.findDeviceByToken(device.tokenHash)) === null) {
        return new Refused('device_token_error');
      }
      if (bell.isOver()) return messages;
      await rung;
    }
  } finally {
    bell.stop();
  }
}

/** Rings when messages may be there, and once more when the time is over or the caller gone. */
function listen(core: Core, deviceId: number, waitMs: number, signal: AbortSignal) {
  let isOver = waitMs === 0 || signal.aborted;
  let ring: () => void = () => {};
  const stopListening = core.signals.onMessages(deviceId, () => ring());
  const end = () => {
    isOver = true;
    ring();
  };
  const timer = setTimeout(end, waitMs);
  signal.addEventListener('abort', end);
  return {
    isOver: () => isOver,
    next: () =>
      new Promise<void>((resolve) => {
        ring = resolve;
      }),
    stop() {
      stopListening();
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    },
  };
}
