/** The answers of a check's server, its messages, and the frames that they fit into. */

export interface Sent {
  id: number;
  notification_type?: number;
  created_at?: string;
  expires_at?: string;
  payload?: Record<string, unknown>;
  [unknown: string]: unknown;
}

/** The end of a slot, as the device hears it. */
export interface Ending {
  reason: string;
  at: string;
  text: string;
}

export const OK = { rc: 1, msg: 'Ok' };
export const UNKNOWN = { rc: 0, msg: 'Unknown error' };
export const TOKEN_ERROR = { rc: 0, msg: 'Device token error' };
/** The text of each ending, for the user. */
export const ENDED_TEXT = 'Your place was given up.';

/** A batch closes before this many bytes, and has at most this many messages. */
const BATCH_BYTES = 16 * 1024;
const BATCH_MAX = 100;

export const endingOf = (reason: string): Ending => ({
  reason,
  at: '2026-01-01 00:00:00',
  text: ENDED_TEXT,
});

/** Returns a message with the fields that a case left out. */
export function wholeOf({ id, ...rest }: Sent): Sent {
  const times = { created_at: '2026-01-01 00:00:00', expires_at: '2036-01-01 00:00:00' };
  return { id, notification_type: 10, ...times, payload: { body: `text ${id}` }, ...rest };
}

/**
 * Returns the messages of each frame. One that is larger than a batch is alone; a stub stands for
 * one whose frame is larger than the device takes.
 */
export function framesOf(messages: readonly Sent[], frameMax: number | null): Sent[][] {
  const frames: Sent[][] = [];
  let bytes = 0;
  for (const message of messages) {
    const whole = bytesOf(message);
    const one = frameMax !== null && whole + FRAME_BYTES > frameMax ? stubOf(message) : message;
    const size = one === message ? whole : bytesOf(one);
    const last = frames.at(-1);
    const most = Math.min(frameMax ?? BATCH_BYTES, BATCH_BYTES) - FRAME_BYTES;
    if (last === undefined || last.length === BATCH_MAX || bytes + size > most) {
      frames.push([one]);
      bytes = size;
    } else {
      last.push(one);
      bytes += size;
    }
  }
  return frames;
}

/** The bytes of a frame around its messages. */
const FRAME_BYTES = JSON.stringify({ ...OK, data: [] }).length;

/** The bytes of a message and of the comma behind it. */
const bytesOf = (message: Sent) => Buffer.byteLength(JSON.stringify(message)) + 1;

const stubOf = ({ payload: _, ...rest }: Sent): Sent => ({ ...rest, stub: true });
