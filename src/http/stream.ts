/**
 * The WebSocket at /device/stream: the inbox's messages as they come, acknowledgements on the same
 * socket. The store stays the truth: a stream looks into the inbox when it is told to, keeps at
 * most one answer's worth of messages unacknowledged on the wire, and forgets all when it closes.
 */

import type { Clock } from '../clock.ts';
import type { Core } from '../core/core.ts';
import { parseAckItems } from '../core/device-input.ts';
import { isRecord } from '../core/json-input.ts';
import {
  type AuthenticDevice,
  acknowledge,
  authenticateDevice,
  INBOX_LIMITS,
} from '../core/messaging.ts';
import type { Log } from '../log.ts';
import type { WireSettings } from './endpoint.ts';
import { bearerToken, reportFault, respond } from './interpreter.ts';
import { messageView } from './message-view.ts';
import type { MessageKey } from './messages.ts';
import type { Traffic } from './traffic.ts';

export const STREAM_PATH = '/device/stream';

/**
 * Own pings: the server's writes would keep a dead link's idle timer from ever running out. A link
 * that left two pings unanswered when the next is due is dead: noticed within 27 s.
 */
export const PING_INTERVAL_MS = 9_000;
const UNANSWERED_PINGS_MAX = 2;
/** Nobody acknowledges a hundred messages in more than this, bytes. */
const FRAME_BYTES_MAX = 64 * 1024;
/** What a slow reader may leave unread before it is cut off, bytes: more than one answer holds. */
const BACKPRESSURE_BYTES_MAX = 1024 * 1024;
/** How many frames of a device may wait for the disk. */
const FRAMES_IN_HAND_MAX = 256;

/** Close codes of RFC 6455. */
const CLOSE_STOPPING = 1001;
const CLOSE_TOO_FAST = 1008;
const CLOSE_FAULT = 1011;
const CLOSE_TOO_MANY = 1013;
/** Close codes of ours, from the range that RFC 6455 leaves to applications. */
export const CLOSE_TOKEN = 4001;
export const CLOSE_REPLACED = 4002;

export interface StreamDeps {
  core: Core;
  clock: Clock;
  log: Log;
  settings: WireSettings & { readonly streamCountMax: number };
  traffic: Traffic;
  /** {@link PING_INTERVAL_MS} unless a test is in a hurry. */
  pingIntervalMs: number;
  /** Makes a WebSocket of a request. False: it asks for none. */
  upgrade(request: Request, data: unknown): boolean;
  /** Counts a failed authentication; returns how late to answer it, ms. */
  tokenFailed(request: Request): number;
}

/** What a socket carries; `stream` once it is admitted. */
interface SocketData {
  device: AuthenticDevice;
  stream: DeviceStream | null;
  /** Of the handshake. */
  requestId: string;
}

type Socket = Bun.ServerWebSocket<SocketData>;

export interface Streams {
  /** Answers a handshake, or (null) upgraded it. */
  answer(request: Request): Promise<Response | null>;
  /** For the server that the handshakes come to. */
  handlers: Bun.WebSocketHandler<SocketData>;
  count(): number;
  /** Handshakes and sockets turned away since the start because there were too many. */
  refusedCount(): number;
  closeAll(): void;
}

/** One open stream of one device. */
class DeviceStream {
  unansweredPings = 0;
  /** Ids on the wire that wait for the device's acknowledgement. */
  #unacknowledged = new Set<number>();
  #isMoreWaiting = false;
  #isLooking = false;
  #mustLookAgain = false;
  #framesInHand = 0;
  #stopListening: () => void = () => {};
  isClosed = false;

  constructor(
    readonly device: AuthenticDevice,
    readonly socket: Socket,
    private readonly deps: StreamDeps,
  ) {}

  open(): void {
    const look = () => void this.#look();
    this.#stopListening = this.deps.core.signals.onMessages(this.device.id, look);
    look();
  }

  close(): void {
    this.isClosed = true;
    this.#stopListening();
  }

  async receive(frame: string | Buffer): Promise<void> {
    const said = parseFrame(frame);
    const items = parseAckItems(isRecord(said) ? said['items'] : null);
    if ('problem' in items) {
      this.#send({ rc: 0, msg: 'Unknown error', detail: items.problem });
      return;
    }
    if (this.#framesInHand >= FRAMES_IN_HAND_MAX) {
      this.socket.close(CLOSE_TOO_FAST, 'too many frames at once');
      return;
    }
    this.#framesInHand += 1;
    try {
      await acknowledge(this.deps.core, this.device, items, this.deps.clock.nowMs());
    } catch (fault) {
      this.#fail(fault);
      return;
    } finally {
      this.#framesInHand -= 1;
    }
    for (const item of items) this.#unacknowledged.delete(item.id);
    this.#send({ rc: 1, msg: 'Ok' });
    // Whatever comes anew is told by a signal.
    if (this.#isMoreWaiting) await this.#look();
  }

  /** Sends what waits and is not on the wire yet. One look at a time, or order would be lost. */
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
    const { core, clock, settings } = this.deps;
    const { messages, isCut } = await core.store.listInbox(
      this.device,
      clock.nowMs(),
      INBOX_LIMITS,
    );
    // With a dead token the inbox is empty.
    if (
      messages.length === 0 &&
      (await core.store.findDeviceByToken(this.device.tokenHash)) === null
    ) {
      this.socket.close(CLOSE_TOKEN, 'the token is not good any more');
      return;
    }
    const fresh = messages.filter((message) => !this.#unacknowledged.has(message.id));
    this.#unacknowledged = new Set(messages.map(({ id }) => id));
    this.#isMoreWaiting = isCut;
    if (fresh.length === 0) return;
    this.#send({ rc: 1, msg: 'Ok', data: fresh.map((message) => messageView(message, settings)) });
  }

  /** The device comes back, and finds in its inbox what was not acknowledged. */
  #fail(fault: unknown): void {
    reportFault(this.deps.log, STREAM_PATH, fault, this.socket.data.requestId);
    this.socket.close(CLOSE_FAULT, 'internal fault');
  }

  #send(value: unknown): void {
    // 0: over the limit of what may be unread, and dropped; Bun 1.4.5 does not close by itself.
    if (!this.isClosed && this.socket.send(JSON.stringify(value)) === 0) this.socket.terminate();
  }
}

function parseFrame(frame: string | Buffer): unknown {
  try {
    return typeof frame === 'string' ? JSON.parse(frame) : null;
  } catch {
    return null;
  }
}

export function makeStreams(deps: StreamDeps): Streams {
  const tally = deps.traffic.tallyOf(STREAM_PATH);
  const streams = new Set<DeviceStream>();
  const byDevice = new Map<number, DeviceStream>();
  let pinger: ReturnType<typeof setInterval> | null = null;
  let isStopping = false;
  let refusedCount = 0;

  function pingAll(): void {
    for (const stream of streams) {
      if (stream.unansweredPings >= UNANSWERED_PINGS_MAX) {
        stream.socket.terminate();
      } else {
        stream.unansweredPings += 1;
        stream.socket.ping();
      }
    }
  }

  function isFullFor(device: AuthenticDevice): boolean {
    return streams.size >= deps.settings.streamCountMax && !byDevice.has(device.id);
  }

  function open(socket: Socket): void {
    const { device } = socket.data;
    if (isStopping) {
      socket.close(CLOSE_STOPPING, 'the server stops');
      return;
    }
    // Asked again: many may have been admitted at once.
    if (isFullFor(device)) {
      refusedCount += 1;
      socket.close(CLOSE_TOO_MANY, 'too many streams');
      return;
    }
    const stream = new DeviceStream(device, socket, deps);
    socket.data.stream = stream;
    streams.add(stream);
    const replaced = byDevice.get(device.id);
    byDevice.set(device.id, stream);
    replaced?.socket.close(CLOSE_REPLACED, 'the device opened another stream');
    pinger ??= setInterval(pingAll, deps.pingIntervalMs);
    deps.log.debug('stream_opened', { device: device.id });
    stream.open();
  }

  function forget({ data: { stream } }: Socket): void {
    if (stream === null) return;
    stream.close();
    deps.log.debug('stream_closed', { device: stream.device.id });
    streams.delete(stream);
    if (byDevice.get(stream.device.id) === stream) byDevice.delete(stream.device.id);
    if (streams.size === 0 && pinger !== null) {
      clearInterval(pinger);
      pinger = null;
    }
  }

  async function answer(request: Request): Promise<Response | null> {
    const { clock, traffic } = deps;
    const startMs = clock.steadyMs();
    const requestId = traffic.requestIdOf(request);
    const says = (key: MessageKey) => {
      const tookMs = clock.steadyMs() - startMs;
      traffic.count(tally, { request, says: key, tookMs, requestId });
      return key;
    };
    const device = await authenticateDevice(deps.core, bearerToken(request.headers));
    if (device === null) {
      says('device_token_error');
      const delayMs = deps.tokenFailed(request);
      if (delayMs > 0) await clock.sleep(delayMs);
      return refuse('device_token_error', 401);
    }
    if (isFullFor(device) || isStopping) {
      refusedCount += 1;
      return refuse(says('too_many_streams'), 503);
    }
    const data: SocketData = { device, stream: null, requestId };
    if (!deps.upgrade(request, data)) return refuse(says('not_a_stream'), 426);
    says('ok');
    return null;
  }

  return {
    answer,
    handlers: {
      maxPayloadLength: FRAME_BYTES_MAX,
      backpressureLimit: BACKPRESSURE_BYTES_MAX,
      // Ours do that: see PING_INTERVAL_MS.
      idleTimeout: 0,
      sendPings: false,
      open,
      message: (socket, frame) => socket.data.stream?.receive(frame),
      pong({ data: { stream } }) {
        if (stream !== null) stream.unansweredPings = 0;
      },
      close: forget,
    },
    count: () => streams.size,
    refusedCount: () => refusedCount,
    closeAll,
  };

  function closeAll(): void {
    isStopping = true;
    for (const stream of [...streams]) {
      stream.socket.close(CLOSE_STOPPING, 'the server stops');
    }
  }
}

/**
 * A handshake that is refused. Unlike the calls, with a status of its own: WebSocket libraries show
 * that, and not the body.
 */
function refuse(says: MessageKey, status: 401 | 426 | 503): Response {
  const { body, headers } = respond(says);
  return new Response(body, { status, headers });
}
