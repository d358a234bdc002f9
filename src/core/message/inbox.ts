/** The inbox of a registered device. */

import type { Core } from '../core.ts';
import type { AuthenticDevice } from '../device.ts';
import { Refused } from '../outcome.ts';
import type { AckItem, Glance, Message, TokenHolder } from '../port/inbox.ts';
import { fillGlances, fillMessages } from './filling.ts';

/**
 * Most messages of a look into an inbox, and bytes of payload after which no more are read: one
 * message may have hundreds of kilobytes.
 */
export const INBOX_LIMITS = { countMax: 100, bytesMax: 256 * 1024 };
/**
 * Bytes of the text of an answer or frame after which it takes no more messages: what libraries
 * read by default. One message that is longer goes alone.
 */
export const FRAME_BYTES = 16 * 1024;
/** The limits of a poll: an answer takes no more than these. */
const POLL_LIMITS = { ...INBOX_LIMITS, bytesMax: FRAME_BYTES };
/** Most acknowledgements in one call. */
export const ACK_COUNT_MAX = 100;

/** The result of a poll; `ended`: ends of which the token has not been notified, or null. */
interface Fetched {
  messages: Message[];
  ended: string | null;
}

/**
 * Returns the waiting messages of a device, oldest first, up to {@link POLL_LIMITS}, and the ends
 * of which it has not been notified. If there is neither, waits for one up to `waitMs`, or until
 * `signal` aborts. Messages expire by `nowMs`, the start of the wait, as new ones live for a day at
 * least. Refuses `device_token_error` if the token was revoked meanwhile.
 */
export async function fetchInbox(
  core: Core,
  device: AuthenticDevice,
  waitMs: number,
  nowMs: number,
  signal: AbortSignal,
): Promise<Fetched | Refused<'device_token_error'>> {
  const bell = listen(core, device.id, waitMs, signal);
  try {
    for (;;) {
      // Listens before it reads, so that no message is missed in between.
      const rung = bell.next();
      const { messages } = await readInbox(core, device, nowMs, POLL_LIMITS);
      if (messages.length > 0) return { messages, ended: device.ended };
      const found = await core.store.findDeviceByToken(device.tokenHash);
      if (found === null) return new Refused('device_token_error');
      if (found.ended !== null || bell.isOver()) return { messages, ended: found.ended };
      await rung;
    }
  } finally {
    bell.stop();
  }
}

/**
 * Returns the waiting messages of a device, oldest first, up to {@link INBOX_LIMITS}, without those
 * that it acknowledged to this process while the store was reading.
 */
export async function readInbox(
  core: Core,
  device: TokenHolder,
  nowMs: number,
  limits = INBOX_LIMITS,
): Promise<{ messages: Message[]; isCut: boolean }> {
  const acknowledged = new Set<number>();
  const stopListening = core.signals.onAcknowledged(device.id, (id) => acknowledged.add(id));
  try {
    for (;;) {
      acknowledged.clear();
      const { messages, isCut } = await core.store.listInbox(device, core.leastMs(nowMs), limits);
      const left = messages.filter(({ id }) => !acknowledged.has(id));
      // All of them are acknowledged, but the inbox has more.
      if (left.length > 0 || !isCut) {
        return { messages: await fillMessages(core.store, device.id, left, nowMs), isCut };
      }
    }
  } finally {
    stopListening();
  }
}

/**
 * Glances at the inboxes of several devices at once, without what they acknowledged to this process
 * while the store was reading.
 */
export async function glanceInboxes(
  core: Core,
  devices: readonly AuthenticDevice[],
  nowMs: number,
): Promise<readonly Glance[]> {
  const acknowledged = new Map<AuthenticDevice, Set<number>>();
  const listeners = devices.map((device) =>
    core.signals.onAcknowledged(device.id, (id) => {
      acknowledged.set(device, (acknowledged.get(device) ?? new Set()).add(id));
    }),
  );
  try {
    const found = await core.store.glanceInboxes(devices, core.leastMs(nowMs));
    const glances = await fillGlances(core.store, devices, found, nowMs);
    if (acknowledged.size === 0) return glances;
    return glances.map((glance, n) => {
      const gone = acknowledged.get(devices[n] as AuthenticDevice);
      if (gone === undefined || typeof glance === 'string') return glance;
      return glance.filter(({ id }) => !gone.has(id));
    });
  } finally {
    for (const stopListening of listeners) stopListening();
  }
}

/** Finds a message that waits for a device, however long it is; null: none has the id. */
export async function findInInbox(
  core: Core,
  device: TokenHolder,
  id: number,
  nowMs: number,
): Promise<Message | null> {
  const found = await core.store.findWaiting(device, id, core.leastMs(nowMs));
  const [message = null] =
    (found && (await fillMessages(core.store, device.id, [found], nowMs))) || [];
  return message;
}

/**
 * Records acknowledgements of a device; skips messages that its token cannot read. Refuses
 * `device_token_error` if nothing was recorded, and the token ended meanwhile.
 */
export async function acknowledge(
  core: Core,
  device: TokenHolder,
  items: readonly AckItem[],
  nowMs: number,
): Promise<'ok' | Refused<'device_token_error'>> {
  const changed = await core.store.acknowledge(device, items, nowMs);
  for (const { id } of changed) core.signals.acknowledged(device.id, id);
  if (changed.length > 0 || items.length === 0) return 'ok';
  const found = await core.store.findDeviceByToken(device.tokenHash);
  return found === null ? new Refused('device_token_error') : 'ok';
}

/** Listens for messages until the time is over or the caller has disconnected; both also ring. */
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
