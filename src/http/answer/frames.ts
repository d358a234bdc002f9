/**
 * Messages in answers and frames that devices can read: a batch ends before 16 KiB, which the
 * libraries of all languages take. One message that is longer goes alone, or, to a device that
 * names a lower bound, as a stub that it fetches by its id.
 */

import { byteLength } from '../../core/json-input.ts';
import { FRAME_BYTES } from '../../core/message/inbox.ts';
import type { Message } from '../../core/port/inbox.ts';
import type { WireSettings } from '../endpoint.ts';
import { messageText, messageView } from './message-view.ts';

/** Bytes of the longest frame that a device may name as its bound. */
export const FRAME_MAX = { min: 1024, max: 64 * 1024 };
/** The header by which a device names it, and the parameter where it can set no header. */
export const FRAME_HEADER = 'x-frame-max';

const BEGIN = '{"rc":1,"msg":"Ok","data":[';
const END = ']}';

/** Returns the bound for a number that a device names: the nearest in {@link FRAME_MAX}. */
export const frameMaxOf = (bytes: number): number =>
  Math.min(FRAME_MAX.max, Math.max(FRAME_MAX.min, bytes));

/** A message that is too long for the device, without its payload. */
function stubOf(message: Message, settings: WireSettings) {
  const { payload: _, ...view } = messageView(message, settings);
  return { ...view, stub: true };
}

/** Where a message is too long for a device's bound (null: none). */
const isTooLong = (bytes: number, frameMax: number | null) =>
  frameMax !== null && BEGIN.length + bytes + END.length > frameMax;

/** Cuts messages into batches; `takenBytes` of a frame are for something else. */
function batchesOf<T>(
  items: readonly T[],
  bytesOf: (item: T) => number,
  frameMax: number | null,
  takenBytes = 0,
): T[][] {
  const bytesMax = Math.min(FRAME_BYTES, frameMax ?? FRAME_BYTES) - takenBytes;
  const batches: T[][] = [];
  let bytes = 0;
  for (const item of items) {
    const added = bytesOf(item) + 1;
    const last = batches.at(-1);
    if (last === undefined || bytes + added > bytesMax) {
      batches.push([item]);
      bytes = BEGIN.length + END.length + added;
    } else {
      last.push(item);
      bytes += added;
    }
  }
  return batches;
}

/**
 * Returns the messages of a poll's answer: the first batch, with stubs. What else the answer has
 * goes alone if the first message does not fit beside it.
 */
export function firstBatch(
  messages: readonly Message[],
  settings: WireSettings,
  frameMax: number | null,
  takenBytes: number,
) {
  const items = messages.map((message) => {
    const view = messageView(message, settings);
    const bytes = byteLength(JSON.stringify(view));
    if (!isTooLong(bytes, frameMax)) return { view, bytes };
    const stub = stubOf(message, settings);
    return { view: stub, bytes: byteLength(JSON.stringify(stub)) };
  });
  const [first = []] = batchesOf(items, ({ bytes }) => bytes, frameMax, takenBytes);
  const [{ bytes } = { bytes: 0 }] = first;
  const isAlone = takenBytes > 0 && isTooLong(bytes + takenBytes, frameMax ?? FRAME_BYTES);
  return isAlone ? [] : first.map(({ view }) => view);
}

/** Returns the frames of a stream for some messages, each with its messages. */
export function framesOf(
  messages: readonly Message[],
  settings: WireSettings,
  frameMax: number | null,
): { text: string; messages: Message[] }[] {
  const items = messages.map((message) => {
    const { text, bytes } = messageText(message, settings);
    if (!isTooLong(bytes, frameMax)) return { message, text, bytes };
    const stub = JSON.stringify(stubOf(message, settings));
    return { message, text: stub, bytes: stub.length };
  });
  return batchesOf(items, ({ bytes }) => bytes, frameMax).map((batch) => ({
    text: `${BEGIN}${batch.map(({ text }) => text).join(',')}${END}`,
    messages: batch.map(({ message }) => message),
  }));
}
