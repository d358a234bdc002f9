/**
 * The WebSockets at /device/stream: the inbox's messages as they come, acknowledgements on the same
 * socket. Here they are admitted, pinged and counted; `device-stream.ts` is one of them.
 */

import { type AuthenticDevice, authenticateDevice } from '../../core/device.ts';
import { respond } from '../answer/respond.ts';
import type { MessageKey } from '../messages.ts';
import { dropBody } from '../request/body.ts';
import { bearerToken } from '../request/call.ts';
import type { Traffic } from '../traffic.ts';
import {
  CLOSE_TOO_MANY,
  DeviceStream,
  type DeviceStreamDeps,
  FRAME_BYTES_MAX,
  type Socket,
  type SocketData,
  STREAM_PATH,
} from './device-stream.ts';

/**
 * Own pings: the server's writes would keep a dead link's idle timer from ever running out. A link
 * that left two pings unanswered when the next is due is dead: noticed within 27 s.
 */
export const PING_INTERVAL_MS = 9_000;
const UNANSWERED_PINGS_MAX = 2;
/** The most that a slow reader may leave unread, bytes: more than one answer holds. */
const BACKPRESSURE_BYTES_MAX = 1024 * 1024;

/** Close codes of RFC 6455. */
const CLOSE_STOPPING = 1001;
/** A close code of ours, from the range that RFC 6455 leaves to applications. */
export const CLOSE_REPLACED = 4002;

interface StreamDeps extends DeviceStreamDeps {
  settings: DeviceStreamDeps['settings'] & { readonly streamCountMax: number };
  traffic: Traffic;
  /** The pause between pings: {@link PING_INTERVAL_MS} unless a test is in a hurry. */
  pingIntervalMs: number;
  /** Makes a WebSocket of a request. False if it asks for none. */
  upgrade(request: Request, data: unknown): boolean;
  /** Counts a failed authentication; returns the delay of its answer, ms. */
  tokenFailed(request: Request): number;
}

export interface Streams {
  /** Answers a handshake, or (null) upgraded it. */
  answer(request: Request): Promise<Response | null>;
  /** The handlers of the server that the handshakes come to. */
  handlers: Bun.WebSocketHandler<SocketData>;
  count(): number;
  /** Handshakes and sockets turned away since the start because there were too many. */
  refusedCount(): number;
  closeAll(): void;
}

export function makeStreams(deps: StreamDeps): Streams {
  const tally = deps.traffic.tallyOf(STREAM_PATH);
  const streams = new Set<DeviceStream>();
  const byToken = new Map<number, DeviceStream>();
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
    return streams.size >= deps.settings.streamCountMax && !byToken.has(device.tokenId);
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
    const replaced = byToken.get(device.tokenId);
    byToken.set(device.tokenId, stream);
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
    if (byToken.get(stream.device.tokenId) === stream) byToken.delete(stream.device.tokenId);
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
    const device = await authenticateDevice(deps.core, bearerToken(request.headers), clock.nowMs());
    if (device === null) {
      says('device_token_error');
      const delayMs = deps.tokenFailed(request);
      if (delayMs > 0) {
        dropBody(request);
        await clock.sleep(delayMs);
      }
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
      // Bun answers a ping by itself.
      ping: ({ data: { stream } }, payload) => void stream?.admits(payload.length),
      pong({ data: { stream } }, payload) {
        if (stream?.admits(payload.length)) stream.unansweredPings = 0;
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
