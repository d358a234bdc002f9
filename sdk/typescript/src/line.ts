/** The calls of a device over HTTP, and its stream. This file does not interpret messages. */

import { type Fault, faultOf, wrongAnswer } from './fault.ts';
import type { Message } from './message.ts';
import { openPageSocket } from './page.ts';
import type { Ended, Socket, SocketEvents } from './socket.ts';
import type { Ack } from './state.ts';
import { openWire } from './wire.ts';

/** A notice that a place of the device ended: `slot_freed`, `link_ended` and others. */
export interface Notice {
  reason: string;
  at: string;
  /** In the language of the device. */
  text: string;
}

/** The answer of a call. Without a complete one: rc 0, and the fault. */
export interface Answer extends Partial<Notice> {
  rc: number;
  msg: string;
  device_token?: string;
  data?: Message[];
  ended?: Notice[];
  limit?: number;
  free_url?: string;
  /** Why there is no answer of the server. */
  fault?: Fault;
}

/** How a stream ended. */
export interface Closed extends Ended {
  wasOpen: boolean;
  /** True: the handshake had no answer, and the server may still open this stream. */
  wasGivenUp: boolean;
  /** True if the stream lasted long enough to reset the pauses. */
  wasSteady: boolean;
}

export interface Times {
  requestMs: number;
  steadyMs: number;
  /** The silence after which a stream that shows no pings is probed, unless pings are rarer. */
  probeMs: number;
  /** The longest silence of the server, ms, for these seconds between two pings. */
  silenceMs(pingSeconds: number | null): number;
}

const within = (least: number, given: number, most: number) =>
  Math.min(most, Math.max(least, given));

/** Pauses and time limits, ms, multiplied by `pace`. */
export const timesOf = (pace: number) => ({
  pauseFirstMs: 500 * pace,
  pauseLastMs: 60_000 * pace,
  requestMs: 30_000 * pace,
  steadyMs: 10_000 * pace,
  probeMs: 300_000 * pace,
  silenceMs: (pingSeconds: number | null) =>
    (pingSeconds === null ? 30 : 2 * within(1, pingSeconds, 600) + 10) * 1_000 * pace,
  /** Two tokens that end within this time mean two devices with one HWID. */
  renewalMs: 3_600_000 * pace,
});

/** The wait of a poll, s, unless the server sends another. */
const POLL_SECONDS = 60;
/** Bun, Node and others abort a request without an answer after 300 s. */
const POLL_SECONDS_MAX = 240;

export interface LineOptions {
  url: string;
  /** The path before `/register`, `/inbox` and the others. */
  base: string;
  locale: string;
  ping: number | undefined;
  frameMax: number | undefined;
  log(line: string): void;
}

export interface StreamEvents {
  open(): void;
  /** `cut` ends this stream. */
  answer(answer: Answer, cut: () => void): void;
  confirmed(acks: readonly Ack[]): void;
  /** The server will never save them. */
  malformed(acks: readonly Ack[]): void;
}

export class Line {
  /** The wait of the next poll, s. */
  pollSeconds = POLL_SECONDS;
  readonly #url: string;
  #socket: Socket | null = null;
  /** Frames of acknowledgements without an answer, the oldest first. */
  readonly #unanswered: { acks: readonly Ack[]; timer: ReturnType<typeof setTimeout> }[] = [];

  constructor(
    private readonly options: LineOptions,
    private readonly times: Times,
    private readonly stop: AbortSignal,
  ) {
    this.#url = options.url.replace(/\/+$/, '');
    stop.addEventListener('abort', () => this.cut());
  }

  /** Asks the server; `path` is one of a device: `/inbox`. */
  async ask(path: string, token: string | null, body: object | null, extraMs = 0): Promise<Answer> {
    const { locale, frameMax, base } = this.options;
    const headers = {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== null && { 'content-type': 'application/json' }),
      ...(locale !== '' && { 'accept-language': locale }),
      // A page of another origin may not send it.
      ...(frameMax !== undefined &&
        !('document' in globalThis) && { 'x-frame-max': `${frameMax}` }),
    };
    // React Native and older browsers have no AbortSignal.any.
    const given = new AbortController();
    const giveUp = () => given.abort();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      giveUp();
    }, this.times.requestMs + extraMs);
    this.stop.addEventListener('abort', giveUp);
    if (this.stop.aborted) giveUp();
    const request = body === null ? {} : { method: 'POST', body: JSON.stringify(body) };
    const { signal } = given;
    try {
      const response = await fetch(this.#url + base + path, { ...request, headers, signal });
      if (path !== '/ack') this.pollSeconds = pollSecondsIn(response.headers);
      const text = await response.text();
      const answer = response.status === 404 ? null : answerIn(text);
      return this.#told(
        path,
        answer ?? faulty(wrongAnswer(response.status, this.#url, base + path)),
      );
    } catch (error) {
      const cause = isLate ? new Error('timed out') : error;
      return this.#told(path, faulty(faultOf(cause, this.#url)));
    } finally {
      clearTimeout(timer);
      this.stop.removeEventListener('abort', giveUp);
    }
  }

  #told(path: string, answer: Answer): Answer {
    const { msg, data, fault } = answer;
    const count = data === undefined ? '' : `, ${data.length} messages`;
    this.options.log(`${path}: ${fault === undefined ? msg : `${fault.reason}: ${msg}`}${count}`);
    return answer;
  }

  get isOpen(): boolean {
    return this.#socket?.isOpen === true;
  }

  /** Ends the stream at once. */
  cut(reason = ''): void {
    this.#socket?.end(reason);
  }

  /** Returns whether the answer to an acknowledgement is pending. */
  isUnderWay(ack: Ack): boolean {
    const isIt = (one: Ack) => one.id === ack.id && one.state === ack.state;
    return this.#unanswered.some(({ acks }) => acks.some(isIt));
  }

  /**
   * Sends acknowledgements on the stream. A missing answer ends the stream, and they are sent
   * again.
   */
  acknowledge(acks: readonly Ack[]): void {
    this.#socket?.send(JSON.stringify({ items: acks }));
    const timer = setTimeout(() => this.cut('no answer'), this.times.requestMs);
    this.#unanswered.push({ acks, timer });
  }

  /** Runs a stream until it ends. */
  hold(token: string, on: StreamEvents): Promise<Closed> {
    const { base, ping, locale, frameMax, log } = this.options;
    const query = ping === undefined ? '' : `?ping=${ping}`;
    const handshake = { url: `${this.#url}${base}/stream${query}`, token, locale, frameMax };
    let openedAtMs = Number.POSITIVE_INFINITY;
    // A handshake has the time of a request.
    let silenceMs = this.times.requestMs;
    let silence: ReturnType<typeof setTimeout> | undefined;
    let hasEnded = false;
    let wasGivenUp = false;
    const heard = () => {
      clearTimeout(silence);
      if (hasEnded) return;
      const isProbed = this.#socket?.isOpen === true && !this.#socket.showsPings;
      silence = isProbed
        ? setTimeout(
            () => void this.#askAlive(token, heard),
            Math.max(this.times.probeMs, silenceMs),
          )
        : setTimeout(() => {
            wasGivenUp = !Number.isFinite(openedAtMs);
            this.cut('silence');
          }, silenceMs);
    };
    return new Promise((resolve) => {
      const events: SocketEvents = {
        heard,
        open: (pingSeconds) => {
          openedAtMs = performance.now();
          const shown = socket.showsPings ? pingSeconds : (ping ?? null);
          silenceMs = this.times.silenceMs(shown);
          heard();
          log('/stream: open');
          on.open();
        },
        text: (text) => {
          const answer = answerIn(text);
          if (answer === null) return socket.end();
          if (!isReceipt(answer)) return on.answer(answer, () => socket.end());
          const sent = this.#unanswered.shift();
          if (sent === undefined) return;
          clearTimeout(sent.timer);
          if (answer.rc === 1) on.confirmed(sent.acks);
          else on.malformed(sent.acks);
        },
        end: ({ code, reason }) => {
          hasEnded = true;
          clearTimeout(silence);
          for (const { timer } of this.#unanswered.splice(0)) clearTimeout(timer);
          const wasOpen = Number.isFinite(openedAtMs);
          const wasSteady = performance.now() - openedAtMs >= this.times.steadyMs;
          log(`/stream: closed, ${code} ${reason}`);
          resolve({ code, reason, wasOpen, wasGivenUp, wasSteady });
        },
      };
      const socket = openWire(handshake, events) ?? openPageSocket(handshake, events);
      this.#socket = socket;
      heard();
    });
  }

  async #askAlive(token: string, isAlive: () => void): Promise<void> {
    const answer = await this.ask('/inbox', token, null);
    if (answer.rc === 1) isAlive();
    else this.cut('silence');
  }
}

/** Returns whether a frame is the answer to acknowledgements. */
const isReceipt = ({ data, ended, reason }: Answer): boolean =>
  data === undefined && ended === undefined && reason === undefined;

const faulty = (fault: Fault): Answer => ({ rc: 0, msg: fault.text, fault });

/** Resolves after a time, or at once when the signal aborts. */
export function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      stop.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    stop.addEventListener('abort', end);
    if (stop.aborted) end();
  });
}

/** An older server sends no wait, and refuses a longer one. */
function pollSecondsIn(headers: Headers): number {
  const named = Number(headers.get('x-wait-max'));
  return named >= 1 ? Math.min(Math.floor(named), POLL_SECONDS_MAX) : POLL_SECONDS;
}

function answerIn(text: string): Answer | null {
  try {
    const answer = JSON.parse(text);
    return typeof answer?.rc === 'number' && typeof answer.msg === 'string' ? answer : null;
  } catch {
    return null;
  }
}
