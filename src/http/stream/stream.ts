/**
 * The WebSockets at /device/stream: messages of the inbox and their acknowledgements. Admits, pings
 * and counts the sockets; `device-stream.ts` is one of them.
 */

import { type AuthenticDevice, authenticateDevice, noteStream } from '../../core/device.ts';
import { whyShownEnded } from '../../core/message/ended.ts';
import type { Ended } from '../../core/port/ended.ts';
import { isAway } from '../../core/port/store.ts';
import { languagesOf } from '../../core/ride/languages.ts';
import { refusedText } from '../answer/ended-view.ts';
import { respond } from '../answer/respond.ts';
import type { Parties } from '../bound/parties.ts';
import type { WireSettings } from '../endpoint.ts';
import { reportFault } from '../interpreter.ts';
import type { MessageKey } from '../messages.ts';
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
import { Farewells } from './farewell.ts';
import { PING_HEADER, readFrameMax, readHandshake, readPing } from './handshake.ts';
import { Looks } from './looks.ts';
import { StreamShares } from './shares.ts';
import { TokenFrames } from './token-frame.ts';
import { Wheel } from './wheel.ts';

/**
 * The pause between pings, ms. Bun's idle timer cannot be used: each write to a dead connection
 * resets it. A connection with two unanswered pings is closed when the next is due: at most three
 * intervals (27 s) after its last pong.
 */
export const PING_INTERVAL_MS = 9_000;
const UNANSWERED_PINGS_MAX = 2;
/** Four ticks a second. */
const TICKS_PER_INTERVAL = 36;
/** Bytes that a slow reader may leave unread: more than one answer has. */
const BACKPRESSURE_BYTES_MAX = 1024 * 1024;

/** Close codes of RFC 6455. */
const CLOSE_STOPPING = 1001;
/** A close code from the range that RFC 6455 leaves to applications. */
export const CLOSE_REPLACED = 4002;

interface StreamDeps extends Omit<DeviceStreamDeps, 'looks' | 'end'> {
  settings: DeviceStreamDeps['settings'] & {
    readonly streamCountMax: number;
    /** The longest pause between pings that a device may ask for, s. */
    readonly pingSecondsMax: number;
  };
  traffic: Traffic;
  /** The default pause between pings, ms; tests shorten it, and all others with it. */
  pingIntervalMs: number;
  /** Upgrades a request to a WebSocket. Returns false if it asks for none. */
  upgrade(request: Request, data: SocketData, headers: Readonly<Record<string, string>>): boolean;
  /** Returns the address under which the client of a request is counted. */
  clientOf(request: Request): string;
  parties: Parties;
}

export interface Streams {
  /** Answers a handshake; null: it became a WebSocket. */
  answer(request: Request): Promise<Response | null>;
  /** The WebSocket handlers for the server that receives the handshakes. */
  handlers: Bun.WebSocketHandler<SocketData>;
  count(): number;
  /** Returns the number of handshakes and sockets that a bound has refused since the start. */
  refusedCount(): number;
  closeAll(): void;
}

export function makeStreams(deps: StreamDeps): Streams {
  const tally = deps.traffic.tallyOf(STREAM_PATH);
  const streams = new Set<DeviceStream>();
  const byToken = new Map<number, DeviceStream>();
  const shares = new StreamShares(() => deps.settings.streamCountMax);
  // One object for all streams: a copy for each would take 200 bytes.
  const ofStreams = { ...deps, looks: new Looks(deps), end };
  const farewells = new Farewells(deps.clock);
  let isStopping = false;
  let refusedCount = 0;
  const tokenFrames = new TokenFrames({
    ...deps,
    guessed: (client) => {
      tally.answers.add('device_token_error');
      return deps.traffic.guessed(client);
    },
    admit,
    end,
  });

  const pings = new Wheel<DeviceStream>(
    Math.max(1, deps.pingIntervalMs / TICKS_PER_INTERVAL),
    (stream) => {
      if (stream.unansweredPings >= UNANSWERED_PINGS_MAX) {
        stream.socket.terminate();
        return;
      }
      stream.unansweredPings += 1;
      stream.socket.ping();
      if (!stream.isClosed) pings.enter(stream, intervalMsOf(stream));
    },
  );

  function intervalMsOf({ socket }: DeviceStream): number {
    const { pingSeconds } = socket.data;
    if (pingSeconds === null) return deps.pingIntervalMs;
    return (pingSeconds * 1000 * deps.pingIntervalMs) / PING_INTERVAL_MS;
  }

  /** Starts the pings. Spreads those of the default interval: many streams may open at once. */
  function startPings(stream: DeviceStream): void {
    const isUsual = stream.socket.data.pingSeconds === null;
    pings.enter(stream, intervalMsOf(stream) * (isUsual ? Math.random() : 1));
  }

  function isFullFor(device: AuthenticDevice, party: string): boolean {
    return !byToken.has(device.tokenId) && !shares.takes(device, party);
  }

  function open(socket: Socket): void {
    const { device } = socket.data;
    if (isStopping) {
      socket.close(CLOSE_STOPPING, 'the server stops');
    } else if (device === null) {
      tokenFrames.add(socket);
    } else {
      admit(socket, device);
    }
  }

  /** Opens the stream of a device. Returns false, and closes the socket, if there are too many. */
  function admit(socket: Socket, device: AuthenticDevice): boolean {
    const stream = new DeviceStream(device, socket, ofStreams);
    const replaced = byToken.get(device.tokenId);
    if (replaced !== undefined) shares.remove(replaced);
    // Many requests may have been upgraded at once.
    const surplus = shares.add(stream);
    if (surplus !== null) {
      refusedCount += 1;
      end(surplus.socket, CLOSE_TOO_MANY, 'too many streams');
      if (surplus === stream) return false;
    }
    socket.data.stream = stream;
    streams.add(stream);
    byToken.set(device.tokenId, stream);
    if (replaced) end(replaced.socket, CLOSE_REPLACED, 'the device opened another stream');
    startPings(stream);
    deps.log.debug('stream_opened', { device: device.id });
    stream.open();
    // May be lost: counts of a message's ways alone depend on it.
    deps.core.store.onBehalfOf(socket.data.party, String, () => {
      noteStream(deps.core, device).catch((fault) => isAway(fault) || stream.failed(fault));
    });
    return true;
  }

  /** Closes a socket. Its stream is over at once; the connection, when the peer has answered. */
  function end(socket: Socket, code: number, reason: string): void {
    forget(socket);
    if (isStopping) socket.close(code, reason);
    else farewells.close(socket, code, reason);
  }

  function forget(socket: Socket): void {
    const { stream } = socket.data;
    if (stream === null) {
      tokenFrames.forget(socket);
      return;
    }
    stream.close();
    if (!streams.delete(stream)) return;
    deps.log.debug('stream_closed', { device: stream.device.id });
    shares.remove(stream);
    if (byToken.get(stream.device.tokenId) === stream) byToken.delete(stream.device.tokenId);
    pings.leave(stream);
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
    const client = deps.clientOf(request);
    const { token, isTokenShown, isUpgrade, headers } = readHandshake(request.headers);
    const upgrade = (device: AuthenticDevice | null) => {
      const pingSeconds = readPing(request.url, deps.settings.pingSecondsMax);
      const data: SocketData = {
        device,
        stream: null,
        requestId,
        client,
        party: deps.parties.of(request),
        ends: null,
        pingSeconds,
        frameMax: readFrameMax(request),
        languages: languagesOf(request.headers),
      };
      const answer = pingSeconds === null ? {} : { [PING_HEADER]: String(pingSeconds) };
      if (!deps.upgrade(request, data, { ...headers, ...answer }))
        return refuse(says('not_a_stream'), 426);
      says('ok');
      return null;
    };
    if (isUpgrade && !isTokenShown) return upgrade(null);
    let device: AuthenticDevice | null;
    let ended: Ended | null = null;
    try {
      device = await authenticateDevice(deps.core, token, clock.nowMs());
      if (device !== null && deps.parties.isShared(request)) {
        const installId = await deps.core.store.findShownLink(device.tokenId);
        if (installId !== null) deps.parties.found(request, installId);
      }
      if (device === null) ended = await whyShownEnded(deps.core, token, clock.nowMs());
    } catch (fault) {
      // Not 200: libraries would conclude that the server has no WebSockets.
      const detail = reportFault(deps.log, STREAM_PATH, fault, requestId);
      return refuse(says('unknown_error'), 503, detail);
    }
    if (device === null) {
      const key = 'device_token_error';
      if (ended !== null) {
        says(key);
        return refuseEnded(ended, deps.settings, languagesOf(request.headers));
      }
      const decided = { request, says: key, startMs, isGuess: true, requestId };
      await traffic.conclude(tally, decided);
      return refuse(key, 401);
    }
    if (isFullFor(device, deps.parties.of(request)) || isStopping) {
      refusedCount += 1;
      return refuse(says('too_many_streams'), 503);
    }
    return upgrade(device);
  }

  return {
    answer,
    handlers: {
      maxPayloadLength: FRAME_BYTES_MAX,
      backpressureLimit: BACKPRESSURE_BYTES_MAX,
      // See PING_INTERVAL_MS.
      idleTimeout: 0,
      sendPings: false,
      open,
      message(socket, frame) {
        const { party, stream } = socket.data;
        return deps.core.store.onBehalfOf(party, String, () =>
          stream === null ? tokenFrames.receive(socket, frame) : stream.receive(frame),
        );
      },
      // Bun sends the pong.
      ping(socket, payload) {
        const { stream } = socket.data;
        if (stream === null) tokenFrames.countControlFrame(socket);
        else stream.admits(payload.length);
      },
      pong(socket, payload) {
        const { stream } = socket.data;
        if (stream === null) tokenFrames.countControlFrame(socket);
        else if (stream.admits(payload.length)) void stream.answered();
      },
      close(socket) {
        forget(socket);
        farewells.left(socket);
      },
    },
    count: () => streams.size,
    refusedCount: () => refusedCount + tokenFrames.refusedCount,
    closeAll,
  };

  function closeAll(): void {
    isStopping = true;
    tokenFrames.closeAll(CLOSE_STOPPING, 'the server stops');
    for (const stream of [...streams]) {
      stream.socket.close(CLOSE_STOPPING, 'the server stops');
    }
  }
}

/** Refuses the handshake of a token that ended with its last slot; libraries show the header. */
function refuseEnded(ended: Ended, settings: WireSettings, languages: readonly string[]): Response {
  const { headers } = respond('device_token_error');
  headers.set('x-ended', ended.why);
  return new Response(refusedText(ended, settings, languages), { status: 401, headers });
}

/** Refuses a handshake with an HTTP status: WebSocket libraries show nothing else. */
function refuse(says: MessageKey, status: 401 | 426 | 503, detail?: string): Response {
  const { body, headers } = respond(says, { detail });
  return new Response(body, { status, headers });
}
