/** The inbox of a registered device: its messages, at once or when they come. */

import type { Core } from '../core.ts';
import { Refused } from '../outcome.ts';
import type { AckItem, Message, TokenHolder } from '../port/inbox.ts';

/**
 * The most messages in one answer, and the bytes of payload after which no further one is added:
 * data to import may be hundreds of kilobytes.
 */
export const INBOX_LIMITS = { countMax: 100, bytesMax: 256 * 1024 };
/** The most acknowledgements in one call. */
export const ACK_COUNT_MAX = 100;

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
      const { messages } = await lookIntoInbox(core, device, nowMs);
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

/**
 * Returns what waits for a device, oldest first, up to {@link INBOX_LIMITS}, without the messages
 * that it acknowledged to this process during the look: the store read them before that.
 */
export async function lookIntoInbox(
  core: Core,
  device: TokenHolder,
  nowMs: number,
): Promise<{ messages: Message[]; isCut: boolean }> {
  const acknowledged = new Set<number>();
  const stopNoting = core.signals.onAcknowledged(device.id, (id) => acknowledged.add(id));
  try {
    for (;;) {
      acknowledged.clear();
      const { messages, isCut } = await core.store.listInbox(device, nowMs, INBOX_LIMITS);
      const left = messages.filter(({ id }) => !acknowledged.has(id));
      // Behind those that are all acknowledged there are more.
      if (left.length > 0 || !isCut) return { messages: left, isCut };
    }
  } finally {
    stopNoting();
  }
}

/** Notes what a device says of its messages; what its token may not have is passed over. */
export async function acknowledge(
  core: Core,
  device: TokenHolder,
  items: readonly AckItem[],
  nowMs: number,
): Promise<void> {
  const changed = await core.store.acknowledge(device, items, nowMs);
  for (const { id } of changed) core.signals.acknowledged(device.id, id);
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
