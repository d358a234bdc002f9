/**
 * Sockets whose handshake carried no token: the first frame must carry it, because pages in
 * browsers cannot send headers with a WebSocket. These sockets are unauthenticated, so their number
 * for each address, their time and their frames are bounded.
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { PartyQueue } from '../../base/queue.ts';
import type { Core } from '../../core/core.ts';
import { type AuthenticDevice, authenticateDevice } from '../../core/device.ts';
import { readJsonObject } from '../../core/json-input.ts';
import { whyShownEnded } from '../../core/message/ended.ts';
import { isRefused, type Misfit, malformed } from '../../core/outcome.ts';
import { refusedText } from '../answer/ended-view.ts';
import { bodyOf } from '../answer/respond.ts';
import { partyOfLink } from '../bound/parties.ts';
import type { WireSettings } from '../endpoint.ts';
import { reportFault } from '../interpreter.ts';
import {
  CLOSE_ENDED,
  CLOSE_FAULT,
  CLOSE_MALFORMED,
  CLOSE_TOKEN,
  CLOSE_TOO_FAST,
  CLOSE_TOO_MANY,
  type Socket,
  STREAM_PATH,
} from './device-stream.ts';

/** The time for the first frame, ms. */
const TOKEN_FRAME_MS = 5_000;
/** The most sockets that wait for their token, in total and for one address. */
export const WAITING_BOUNDS = { waitingMax: 1_000, waitingPerPartyMax: 100 };
/** A close code of this program: no token came in time. */
const CLOSE_NO_TOKEN = 4003;

/** The token has 43 characters. */
const TOKEN_FRAME_BOUNDS = { bytesMax: 1024, valuesMax: 16 };
/** Pings and pongs that a socket may send before its token. */
const CONTROL_FRAMES_MAX = 5;

interface TokenFrameDeps {
  core: Core;
  clock: Clock;
  log: Log;
  settings: WireSettings;
  /** Counts a failed authentication of a client. Returns its delay; undefined: there is none. */
  guessed(client: string): Promise<void> | undefined;
  /** Closes a socket. */
  end(socket: Socket, code: number, reason: string): void;
  /** Opens the stream of a device. Returns false if it closed the socket instead. */
  admit(socket: Socket, device: AuthenticDevice): boolean;
}

/** The state of one socket. */
interface Wait {
  /** The party in the queue. */
  party: string;
  hasFrame: boolean;
  controlFrames: number;
}

export class TokenFrames {
  readonly #waits = new Map<Socket, Wait>();
  readonly #queue = new PartyQueue<Socket>(() => WAITING_BOUNDS);
  /** Sockets that were closed since the start because too many waited. */
  refusedCount = 0;

  constructor(private readonly deps: TokenFrameDeps) {}

  /**
   * Waits for the token of a socket; closes the socket if none comes in time. If too many wait,
   * closes at once this socket or the last one of the address with most sockets.
   */
  add(socket: Socket): void {
    const { party } = socket.data;
    const wait = { party, hasFrame: false, controlFrames: 0 };
    this.#waits.set(socket, wait);
    const surplus = this.#queue.add(party, socket);
    if (surplus !== null) {
      this.refusedCount += 1;
      this.#end(surplus, CLOSE_TOO_MANY, 'too many streams wait for their token');
    }
    if (surplus === socket) return;
    void this.deps.clock.sleep(TOKEN_FRAME_MS).then(() => {
      if (wait.hasFrame) return;
      this.#end(socket, CLOSE_NO_TOKEN, `no token came within ${TOKEN_FRAME_MS / 1000} s`);
    });
  }

  /** Stops waiting for a socket that has closed or has sent its token. */
  forget(socket: Socket): void {
    const wait = this.#waits.get(socket);
    if (wait === undefined) return;
    this.#waits.delete(socket);
    this.#queue.remove(wait.party, socket);
  }

  /** Counts a ping or pong. Closes the socket after too many. */
  countControlFrame(socket: Socket): void {
    const wait = this.#waits.get(socket);
    if (wait === undefined) return;
    wait.controlFrames += 1;
    if (wait.controlFrames <= CONTROL_FRAMES_MAX) return;
    this.#end(socket, CLOSE_TOO_FAST, 'the first frame must bring the token');
  }

  /** Reads the token in the first frame and admits its device. Closes the socket on a failure. */
  async receive(socket: Socket, frame: string | Buffer): Promise<void> {
    const wait = this.#waits.get(socket);
    if (wait === undefined) return;
    if (wait.hasFrame) {
      this.#end(socket, CLOSE_TOO_FAST, 'wait for the answer to the token');
      return;
    }
    wait.hasFrame = true;
    const token = readTokenFrame(frame);
    if (isRefused(token)) {
      const { detail } = token;
      socket.send(bodyOf('unknown_error', { detail }));
      this.#end(socket, CLOSE_MALFORMED, detail);
      return;
    }
    try {
      await this.#authenticate(socket, token);
    } catch (fault) {
      reportFault(this.deps.log, STREAM_PATH, fault, socket.data.requestId);
      this.#end(socket, CLOSE_FAULT, 'internal fault');
    }
  }

  async #authenticate(socket: Socket, token: string): Promise<void> {
    const { core, clock } = this.deps;
    const device = await authenticateDevice(core, token, clock.nowMs());
    if (device !== null) await this.#noteLink(socket, device);
    if (!this.#waits.has(socket)) return;
    if (device !== null) {
      this.forget(socket);
      // Before any message: the stream sends nothing before it has read the inbox.
      if (this.deps.admit(socket, device)) socket.send(bodyOf('ok'));
      return;
    }
    const ended = await whyShownEnded(core, token, clock.nowMs());
    if (ended !== null) {
      socket.send(refusedText(ended, this.deps.settings, socket.data.languages));
      this.#end(socket, CLOSE_ENDED, ended.why);
      return;
    }
    await this.deps.guessed(socket.data.client);
    socket.send(bodyOf('device_token_error'));
    this.#end(socket, CLOSE_TOKEN, 'the token is of no device');
  }

  /** Gives the calls of a socket at a shared address to the link of its device. */
  async #noteLink({ data }: Socket, { tokenId }: AuthenticDevice): Promise<void> {
    if (data.party === data.client) return;
    const installId = await this.deps.core.store.findShownLink(tokenId);
    if (installId !== null) data.party = partyOfLink(installId);
  }

  /** Closes every socket. */
  closeAll(code: number, reason: string): void {
    for (const socket of [...this.#waits.keys()]) this.#end(socket, code, reason);
  }

  #end(socket: Socket, code: number, reason: string): void {
    if (!this.#waits.has(socket)) return;
    this.forget(socket);
    this.deps.end(socket, code, reason);
  }
}

function readTokenFrame(frame: string | Buffer): string | Misfit<'malformed' | 'over_bounds'> {
  if (typeof frame !== 'string') return malformed('the first frame must be text');
  const read = readJsonObject(frame, TOKEN_FRAME_BOUNDS, 'the first frame');
  if (isRefused(read)) return read;
  const token = read['device_token'];
  return typeof token === 'string' ? token : malformed('the first frame must bring device_token');
}
