/**
 * An open WebSocket of a device. A stream reads the inbox at each signal, sends at most one page of
 * it until the device acknowledges, and drops its state when it closes.
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { DAY_MS } from '../../core/calendar.ts';
import type { Core } from '../../core/core.ts';
import { type AuthenticDevice, noteSeen } from '../../core/device.ts';
import { byteLength, readJsonObject } from '../../core/json-input.ts';
import { readAckItems } from '../../core/message/device-input.ts';
import { noteNotified, whyEnded } from '../../core/message/ended.ts';
import { ACK_COUNT_MAX, acknowledge, INBOX_LIMITS, readInbox } from '../../core/message/inbox.ts';
import { isRefused, type Misfit, malformed } from '../../core/outcome.ts';
import type { AckItem, Glance, Message } from '../../core/port/inbox.ts';
import { isAway } from '../../core/port/store.ts';
import { endedViews, refusedText } from '../answer/ended-view.ts';
import { framesOf } from '../answer/frames.ts';
import { callerName } from '../answer/large.ts';
import { senderOf } from '../answer/message-view.ts';
import { bodyOf } from '../answer/respond.ts';
import { Budget } from '../bound/budget.ts';
import { LARGE_BYTES, type Room } from '../bound/room.ts';
import type { Turns } from '../bound/turns.ts';
import type { WireSettings } from '../endpoint.ts';
import { reportFault } from '../interpreter.ts';
import type { Ends } from './close-frame.ts';
import type { Looks } from './looks.ts';

export const STREAM_PATH = '/device/stream';

/** The longest frame, bytes: 100 acknowledgements take less. */
export const FRAME_BYTES_MAX = 64 * 1024;
/** Values in a frame: more than {@link ACK_COUNT_MAX} items of a few fields. */
const FRAME_VALUES_MAX = 2_000;
/** The most frames of a device whose acknowledgements wait to be saved. */
const FRAMES_IN_HAND_MAX = 256;
/**
 * Rate limits of a device, with the burst after silence: it may acknowledge 1000 messages in a few
 * seconds, each in its own frame. Pings and pongs count as frames.
 */
export const STREAM_BUDGET = {
  framesPerSecond: 100,
  framesAtOnce: 500,
  bytesPerSecond: 64 * 1024,
  bytesAtOnce: 256 * 1024,
};

/** Most ids that a stream remembers: a page, and those sent that moved to later pages. */
const ON_WIRE_MAX = 10 * INBOX_LIMITS.countMax;

/** Close codes of RFC 6455. */
export const CLOSE_MALFORMED = 1007;
export const CLOSE_TOO_FAST = 1008;
export const CLOSE_FAULT = 1011;
export const CLOSE_TOO_MANY = 1013;
/** Close codes of this program, from the range that RFC 6455 leaves to applications. */
export const CLOSE_TOKEN = 4001;
/** The token ended with the slot of its last place; the reason of the frame says how. */
export const CLOSE_ENDED = 4004;

export interface DeviceStreamDeps {
  core: Core;
  clock: Clock;
  log: Log;
  settings: WireSettings;
  /** The room of large frames. */
  room: Room;
  /** The queue in which lists of inboxes wait, in turns by device. */
  turns: Turns;
  looks: Looks;
  /** Closes a socket, whose stream is over at once. */
  end(socket: Socket, code: number, reason: string): void;
}

/** The data of a socket; `stream` is null until the socket is admitted. */
export interface SocketData {
  /** The device whose token the handshake carried; null: the first frame must bring the token. */
  device: AuthenticDevice | null;
  stream: DeviceStream | null;
  /** The id of the handshake. */
  requestId: string;
  /** The address under which the client is counted. */
  client: string;
  /** The party of its calls: the client, or at a shared address the link of its device. */
  party: string;
  /** Both ends of its connection, for its Close frame; null: unknown, or with TLS. */
  ends: Ends | null;
  /** The seconds between pings that the device asked for; null: the default. */
  pingSeconds: number | null;
  /** The longest frame that the device reads, bytes; null: it named none. */
  frameMax: number | null;
  /** The languages that the device reads, the preferred first. */
  languages: readonly string[];
}

export type Socket = Bun.ServerWebSocket<SocketData>;

/** An admitted stream, from `open` to `close`. A fault ends it and is never thrown. */
export class DeviceStream {
  unansweredPings = 0;
  /** The slot of the timer that holds this stream. */
  slot: Set<unknown> | null = null;
  isClosed = false;
  /** Ids that were sent and not acknowledged. */
  #unacknowledged = new Set<number>();
  #isMoreWaiting = false;
  #isLooking = false;
  #mustLookAgain = false;
  /** The items of each frame that waits to be saved. */
  #inHand: AckItem[][] = [];
  #isAcknowledging = false;
  #stopListening: (() => void) | null = null;
  /** The ends of which the device was notified last; null: none. */
  #notified: string | null = null;
  readonly #frames: Budget;
  readonly #bytes: Budget;
  /** The time at which the device was last noted as seen. */
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
    this.#stopListening = core.signals.onMessages(this.device.id, () => this.#look());
    this.#look();
  }

  /** Rejects further frames; those that wait are still saved. */
  close(): void {
    this.isClosed = true;
    this.deps.looks.remove(this);
    this.#stopListening?.();
  }

  /** Notes a pong, and once a day that the device was seen: a stream may last for months. */
  async answered(): Promise<void> {
    this.unansweredPings = 0;
    const { core, clock } = this.deps;
    const nowMs = clock.nowMs();
    if (nowMs - this.#seenAtMs < DAY_MS) return;
    this.#seenAtMs = nowMs;
    try {
      await noteSeen(core, this.device, nowMs);
    } catch (fault) {
      if (!isAway(fault)) this.failed(fault);
    }
  }

  /** Counts a frame. Ends the stream and returns false if it exceeds the rate limits. */
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
      while (this.#inHand.length > 0) {
        let frames: AckItem[][] | null = null;
        const save = () => {
          frames ??= this.#takeFrames();
          return this.#acknowledge(frames);
        };
        await this.deps.looks.save(save, () => !this.isClosed);
      }
    } catch (fault) {
      this.failed(fault);
    } finally {
      this.#isAcknowledging = false;
    }
  }

  /** Takes the waiting frames that one write can save: some devices send one per message. */
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
    const done = await acknowledge(core, this.device, items, clock.nowMs());
    if (isRefused(done)) {
      // The look finds that the token ended, and why.
      this.#look();
      return;
    }
    let wasAwaited = false;
    for (const { id } of items) wasAwaited = this.#unacknowledged.delete(id) || wasAwaited;
    for (const _ of frames) this.#send({ rc: 1, msg: 'Ok' });
    // If the inbox has no more, the next message sends a signal.
    if (wasAwaited && this.#isMoreWaiting) this.#look();
  }

  /** Requests a look into the inbox. One look at a time keeps the order of messages. */
  #look(): void {
    if (this.isClosed) return;
    this.#mustLookAgain = this.#isLooking;
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.deps.looks.add(this);
  }

  /** Receives the result of a look, and sends the messages that were not sent. */
  found(glance: Glance): void {
    if (this.isClosed) return;
    if (typeof glance === 'string') {
      // The look was for many streams; these reads are for one client.
      const { party } = this.socket.data;
      const read = glance === 'revoked' ? () => this.#endRevoked() : () => this.#list(glance);
      this.deps.core.store.onBehalfOf(party, String, () => void read());
    } else if (glance.length === 0) {
      // Nearly every stream opens this way: 10,000 may open at once, as after a restart.
      this.#isMoreWaiting = false;
      this.#unacknowledged.clear();
      this.#looked();
    } else {
      this.#isMoreWaiting = false;
      this.#sendFresh(glance).then(
        () => this.#looked(),
        (fault) => this.missed(fault),
      );
    }
  }

  /** Ends the stream of a revoked token, with the reason if it ended with its last slot. */
  async #endRevoked(): Promise<void> {
    const { core, clock, settings } = this.deps;
    try {
      const ended = await whyEnded(core, this.device.tokenHash, clock.nowMs());
      if (ended === null) {
        this.end(CLOSE_TOKEN, 'the token is no longer valid');
      } else {
        this.#write(refusedText(ended, settings, this.socket.data.languages));
        this.end(CLOSE_ENDED, ended.why);
      }
    } catch (fault) {
      this.missed(fault);
    }
  }

  /** Sends the ends of slots and links of which the token has not been notified. */
  async #notifyEnded(): Promise<void> {
    const { core, settings } = this.deps;
    const found = await core.store.findDeviceByToken(this.device.tokenHash);
    const ended = found?.ended ?? null;
    // A stream that has closed carries nothing: the next stream or poll does.
    if (this.isClosed || ended === null || ended === this.#notified) return;
    this.#notified = ended;
    const views = endedViews(ended, settings, this.socket.data.languages);
    this.#write(bodyOf('ok', { data: [], ended: views }));
    await noteNotified(core, this.device, ended);
  }

  /**
   * Reads the first page of an inbox with many or long messages, or after ends of slots.
   */
  async #list(glance: 'more' | 'ended'): Promise<void> {
    const { core, clock, turns } = this.deps;
    try {
      await turns.next(callerName({ device: this.device }));
      if (glance === 'ended') await this.#notifyEnded();
      const { messages, isCut } = await readInbox(core, this.device, clock.nowMs());
      this.#isMoreWaiting = isCut;
      await this.#sendFresh(messages);
      this.#looked();
    } catch (fault) {
      this.missed(fault);
    }
  }

  #looked(): void {
    this.#isLooking = false;
    if (!this.#mustLookAgain) return;
    this.#mustLookAgain = false;
    this.#look();
  }

  async #sendFresh(messages: readonly Message[]): Promise<void> {
    if (this.isClosed) return;
    const fresh = messages.filter((message) => !this.#unacknowledged.has(message.id));
    const onWire = new Set(messages.map(({ id }) => id));
    // Late arrivals with lower ids may have moved sent messages to a later page.
    if (this.#isMoreWaiting) {
      for (const id of this.#unacknowledged) if (onWire.size < ON_WIRE_MAX) onWire.add(id);
    }
    this.#unacknowledged = onWire;
    if (fresh.length === 0) return;
    for (const frame of framesOf(fresh, this.deps.settings, this.socket.data.frameMax)) {
      await this.#deliver(frame.text, senderOf(frame.messages));
    }
  }

  /** Sends messages. They wait for room if they and the unread bytes together are large. */
  async #deliver(text: string, sender: number | undefined): Promise<void> {
    const unread = () => this.socket.getBufferedAmount();
    if (unread() + text.length >= LARGE_BYTES) {
      const place = await this.deps.room.enter({
        caller: callerName({ device: this.device }),
        bytes: byteLength(text),
        sender,
        isTaken: () => this.isClosed || unread() === 0,
      });
      if (place === null) this.end(CLOSE_TOO_MANY, 'too many unread bytes: reconnect later');
    }
    this.#write(text);
  }

  /** Looks later if the database is away; any other fault ends the stream. */
  missed(fault: unknown): void {
    if (isAway(fault)) this.deps.looks.addLater(this);
    else this.failed(fault);
  }

  /** Logs a fault and ends the stream: the device reconnects and reads its inbox again. */
  failed(fault: unknown): void {
    const detail = reportFault(this.deps.log, STREAM_PATH, fault, this.socket.data.requestId);
    this.end(CLOSE_FAULT, isAway(fault) ? detail : 'internal fault');
  }

  /** Ends the stream with a close code and its reason, unless it has ended. */
  end(code: number, reason: string): void {
    if (this.isClosed) return;
    this.close();
    this.deps.end(this.socket, code, reason);
  }

  #send(value: unknown): void {
    this.#write(JSON.stringify(value));
  }

  #write(text: string): void {
    // 0: Bun 1.4.5 dropped the frame, as too many bytes are unread, and left the socket open.
    if (!this.isClosed && this.socket.send(text) === 0) this.socket.terminate();
  }
}

function readFrame(frame: string | Buffer): AckItem[] | Misfit<'malformed' | 'over_bounds'> {
  if (typeof frame !== 'string') return malformed('the frame must be text');
  const bounds = { bytesMax: FRAME_BYTES_MAX, valuesMax: FRAME_VALUES_MAX };
  const read = readJsonObject(frame, bounds, 'the frame');
  return isRefused(read) ? read : readAckItems(read['items']);
}
