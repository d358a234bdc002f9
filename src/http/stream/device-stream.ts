/**
 * One open WebSocket of one device. The store stays the truth: a stream looks into the inbox when
 * it is told to, keeps at most one answer's worth of messages unacknowledged on the wire, and
 * forgets all when it closes.
 */

import type { Clock } from '../../clock.ts';
import { DAY_MS } from '../../core/calendar.ts';
import type { Core } from '../../core/core.ts';
import { type AuthenticDevice, noteSeen } from '../../core/device.ts';
import { byteLength, readJsonObject } from '../../core/json-input.ts';
import { readAckItems } from '../../core/message/device-input.ts';
import {
  ACK_COUNT_MAX,
  acknowledge,
  INBOX_LIMITS,
  lookIntoInbox,
} from '../../core/message/inbox.ts';
import { isRefused, type Misfit, malformed } from '../../core/outcome.ts';
import type { AckItem } from '../../core/port/inbox.ts';
import type { Log } from '../../log.ts';
import { nameOf } from '../answer/large.ts';
import { messageView, senderOf } from '../answer/message-view.ts';
import { Budget } from '../bound/budget.ts';
import { LARGE_BYTES, type Room } from '../bound/room.ts';
import type { Turns } from '../bound/turns.ts';
import type { WireSettings } from '../endpoint.ts';
import { reportFault } from '../interpreter.ts';

export const STREAM_PATH = '/device/stream';

/** The longest frame, bytes: a hundred acknowledgements take less. */
export const FRAME_BYTES_MAX = 64 * 1024;
/** The most values in a frame: more than {@link ACK_COUNT_MAX} items of a few fields. */
const FRAME_VALUES_MAX = 2_000;
/** The most frames of a device that may wait for the disk. */
const FRAMES_IN_HAND_MAX = 256;
/**
 * Bounds of a device in a second, and at once after silence: it acknowledges a thousand messages,
 * each in a frame of its own, in a few seconds. Pings and pongs count as frames.
 */
export const STREAM_BUDGET = {
  framesPerSecond: 100,
  framesAtOnce: 500,
  bytesPerSecond: 64 * 1024,
  bytesAtOnce: 256 * 1024,
};

/** The most ids that a stream remembers: an answer's worth, and those pushed behind a cut. */
const ON_WIRE_MAX = 10 * INBOX_LIMITS.countMax;

/** Close codes of RFC 6455. */
export const CLOSE_MALFORMED = 1007;
export const CLOSE_TOO_FAST = 1008;
export const CLOSE_FAULT = 1011;
export const CLOSE_TOO_MANY = 1013;
/** Close codes of ours, from the range that RFC 6455 leaves to applications. */
export const CLOSE_TOKEN = 4001;

/** The parts of its server that a stream needs. */
export interface DeviceStreamDeps {
  core: Core;
  clock: Clock;
  log: Log;
  settings: WireSettings;
  /** The room in which large frames have their places. */
  room: Room;
  /** The turns for which each look into an inbox waits. */
  turns: Turns;
}

/** The data of a socket; `stream` once it is admitted. */
export interface SocketData {
  /** The device whose token the handshake carried; null if the first frame has to bring one. */
  device: AuthenticDevice | null;
  stream: DeviceStream | null;
  /** The id of the handshake. */
  requestId: string;
  /** The address under which the handshake is counted. */
  client: string;
}

export type Socket = Bun.ServerWebSocket<SocketData>;

/** An admitted stream, from `open` until `close`. A failure ends it and is never thrown. */
export class DeviceStream {
  unansweredPings = 0;
  isClosed = false;
  /** Ids on the wire that wait for the device's acknowledgement. */
  #unacknowledged = new Set<number>();
  #isMoreWaiting = false;
  #isLooking = false;
  #mustLookAgain = false;
  /** The items of each frame in hand. */
  #inHand: AckItem[][] = [];
  #isAcknowledging = false;
  #stopListening: () => void = () => {};
  readonly #frames: Budget;
  readonly #bytes: Budget;
  /** Time at which it was last noted that the device is there. */
  #seenAtMs: number;

  constructor(
    readonly device: AuthenticDevice,
    readonly socket: Socket,
    private readonly deps: DeviceStreamDeps,
  ) {
    const { framesPerSecond, framesAtOnce, bytesPerSecond, bytesAtOnce } = STREAM_BUDGET;
    const nowMs = deps.clock.steadyMs();
    this.#frames = new Budget(framesPerSecond, framesAtOnce, nowMs);
    this.#bytes = new Budget(bytesPerSecond, bytesAtOnce, nowMs);
    this.#seenAtMs = deps.clock.nowMs();
  }

  open(): void {
    const { core } = this.deps;
    // A signal comes from the call of another party.
    const look = () =>
      core.store.onBehalfOf(this.socket.data.client, String, () => void this.#look());
    this.#stopListening = core.signals.onMessages(this.device.id, look);
    look();
  }

  /** Takes no more frames: its socket closes, or is to. Those in hand are still kept. */
  close(): void {
    this.isClosed = true;
    this.#stopListening();
  }

  /** Takes the answer to a ping. A stream may hold for months: once a day the device is seen. */
  async answered(): Promise<void> {
    this.unansweredPings = 0;
    const { core, clock } = this.deps;
    const nowMs = clock.nowMs();
    if (nowMs - this.#seenAtMs < DAY_MS) return;
    this.#seenAtMs = nowMs;
    try {
      await noteSeen(core, this.device, nowMs);
    } catch (fault) {
      this.#fail(fault);
    }
  }

  /** Counts a frame of so many bytes. A frame over the budget ends the stream. */
  admits(bytes: number): boolean {
    if (this.isClosed) return false;
    const nowMs = this.deps.clock.steadyMs();
    if (this.#frames.take(1, nowMs) && this.#bytes.take(bytes, nowMs)) return true;
    this.end(CLOSE_TOO_FAST, 'more frames or bytes in a second than a device needs');
    return false;
  }

  async receive(frame: string | Buffer): Promise<void> {
    if (!this.admits(typeof frame === 'string' ? byteLength(frame) : frame.length)) return;
    const items = readFrame(frame);
    if (isRefused(items)) {
      this.#send({ rc: 0, msg: 'Unknown error', detail: items.detail });
      this.end(CLOSE_MALFORMED, items.detail);
      return;
    }
    if (this.#inHand.length >= FRAMES_IN_HAND_MAX) {
      this.end(CLOSE_TOO_FAST, 'too many frames at once');
      return;
    }
    this.#inHand.push(items);
    if (this.#isAcknowledging) return;
    this.#isAcknowledging = true;
    try {
      while (this.#inHand.length > 0) await this.#acknowledge(this.#takeFrames());
    } catch (fault) {
      this.#fail(fault);
    } finally {
      this.#isAcknowledging = false;
    }
  }

  /** Takes as many frames as make one step: a device may acknowledge each message by itself. */
  #takeFrames(): AckItem[][] {
    let count = 0;
    let items = 0;
    for (const frame of this.#inHand) {
      items += frame.length;
      if (items > ACK_COUNT_MAX) break;
      count += 1;
    }
    return this.#inHand.splice(0, count);
  }

  async #acknowledge(frames: readonly AckItem[][]): Promise<void> {
    const { core, clock } = this.deps;
    const items = frames.flat();
    await acknowledge(core, this.device, items, clock.nowMs());
    let wasAwaited = false;
    for (const { id } of items) wasAwaited = this.#unacknowledged.delete(id) || wasAwaited;
    for (const _ of frames) this.#send({ rc: 1, msg: 'Ok' });
    // A signal tells of everything that comes anew.
    if (wasAwaited && this.#isMoreWaiting) await this.#look();
  }

  /** Sends all that waits and is not on the wire. One look at a time, or order would be lost. */
  async #look(): Promise<void> {
    this.#mustLookAgain = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#mustLookAgain && !this.isClosed) {
        this.#mustLookAgain = false;
        await this.#lookOnce();
      }
    } catch (fault) {
      this.#fail(fault);
    } finally {
      this.#isLooking = false;
    }
  }

  async #lookOnce(): Promise<void> {
    const { core, clock, settings, turns } = this.deps;
    await turns.next(nameOf({ device: this.device }));
    const { messages, isCut } = await lookIntoInbox(core, this.device, clock.nowMs());
    // With a dead token the inbox is empty.
    if (
      messages.length === 0 &&
      (await core.store.findDeviceByToken(this.device.tokenHash)) === null
    ) {
      this.end(CLOSE_TOKEN, 'the token is not good any more');
      return;
    }
    const fresh = messages.filter((message) => !this.#unacknowledged.has(message.id));
    const onWire = new Set(messages.map(({ id }) => id));
    // Older ones that came later push what is on the wire behind the cut, where it still waits.
    if (isCut) for (const id of this.#unacknowledged) addWithin(onWire, id, ON_WIRE_MAX);
    this.#unacknowledged = onWire;
    this.#isMoreWaiting = isCut;
    if (fresh.length === 0) return;
    const data = fresh.map((message) => messageView(message, settings));
    await this.#deliver(JSON.stringify({ rc: 1, msg: 'Ok', data }), senderOf(fresh));
  }

  /** Sends messages, which need their place beside everything that is unread already. */
  async #deliver(text: string, sender: number | undefined): Promise<void> {
    const unread = () => this.socket.getBufferedAmount();
    if (unread() + text.length >= LARGE_BYTES) {
      const isTaken = () => this.isClosed || unread() === 0;
      const caller = nameOf({ device: this.device });
      const place = await this.deps.room.enter({
        caller,
        bytes: byteLength(text),
        sender,
        isTaken,
      });
      if (place === null) this.end(CLOSE_TOO_MANY, 'too much is unread: come back later');
    }
    this.#write(text);
  }

  /** Ends the stream by a fault: the device comes back and finds its messages in the inbox. */
  #fail(fault: unknown): void {
    reportFault(this.deps.log, STREAM_PATH, fault, this.socket.data.requestId);
    this.end(CLOSE_FAULT, 'internal fault');
  }

  /** Ends the stream and says why. */
  end(code: number, reason: string): void {
    this.close();
    this.socket.close(code, reason);
  }

  #send(value: unknown): void {
    this.#write(JSON.stringify(value));
  }

  #write(text: string): void {
    // 0: over the limit of what may be unread, and dropped; Bun 1.4.5 does not close by itself.
    if (!this.isClosed && this.socket.send(text) === 0) this.socket.terminate();
  }
}

function addWithin(ids: Set<number>, id: number, countMax: number): void {
  if (ids.size < countMax) ids.add(id);
}

function readFrame(frame: string | Buffer): AckItem[] | Misfit<'malformed' | 'over_bounds'> {
  if (typeof frame !== 'string') return malformed('the frame must be text');
  const bounds = { bytesMax: FRAME_BYTES_MAX, valuesMax: FRAME_VALUES_MAX };
  const read = readJsonObject(frame, bounds, 'the frame');
  return isRefused(read) ? read : readAckItems(read['items']);
}
