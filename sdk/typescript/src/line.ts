/** The calls of a device over HTTP, and its stream. This file does not interpret messages. */

import type { Message } from './message.ts';
import type { Ack } from './state.ts';

/** The answer of a call; null: none, or not a complete one (a proxy's page, a truncated text). */
export interface Answer {
  rc: number;
  msg: string;
  device_token?: string;
  data?: Message[];
}

/** How a stream ended. */
export interface Closed {
  code: number;
  reason: string;
  wasOpen: boolean;
  /** True if the stream lasted long enough to reset the pauses. */
  wasSteady: boolean;
}

export interface Times {
  requestMs: number;
  steadyMs: number;
  /** The longest silence of the server. */
  silenceMs: number;
}

const within = (least: number, given: number, most: number) =>
  Math.min(most, Math.max(least, given));

/** Pauses and time limits, ms, multiplied by `pace`. */
export const timesOf = (pace: number, ping: number | undefined) => ({
  pauseFirstMs: 500 * pace,
  pauseLastMs: 60_000 * pace,
  requestMs: 30_000 * pace,
  steadyMs: 10_000 * pace,
  // A WebSocket hides the answer's header with the interval; the server pings at least this often.
  silenceMs: (ping === undefined ? 30 : 2 * within(15, ping, 600) + 10) * 1_000 * pace,
  /** Two tokens that end within this time mean two devices with one HWID. */
  renewalMs: 3_600_000 * pace,
});

/** The wait of a poll, s, unless the server sends another. */
const POLL_SECONDS = 60;
/** Bun, Node and others abort a request without an answer after 300 s. */
const POLL_SECONDS_MAX = 240;

export class Line {
  /** The wait of the next poll, s. */
  pollSeconds = POLL_SECONDS;
  readonly #url: string;
  readonly #stop: AbortSignal;
  #socket: WebSocket | null = null;
  /** Frames of acknowledgements without an answer, the oldest first. */
  readonly #unanswered: { acks: readonly Ack[]; timer: ReturnType<typeof setTimeout> }[] = [];

  constructor(
    url: string,
    private readonly times: Times,
    stop: AbortSignal,
  ) {
    this.#url = url.replace(/\/+$/, '');
    this.#stop = stop;
    stop.addEventListener('abort', () => this.cut());
  }

  /** Asks the server. Returns null if no complete answer comes. */
  async ask(
    path: string,
    token: string | null,
    body: object | null,
    extraMs = 0,
  ): Promise<Answer | null> {
    const headers = {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== null && { 'content-type': 'application/json' }),
    };
    const late = AbortSignal.timeout(this.times.requestMs + extraMs);
    const signal = AbortSignal.any([this.#stop, late]);
    const request = body === null ? {} : { method: 'POST', body: JSON.stringify(body) };
    try {
      const response = await fetch(this.#url + path, { ...request, headers, signal });
      if (path !== '/device/ack') this.pollSeconds = pollSecondsIn(response.headers);
      return answerIn(await response.text());
    } catch {
      return null;
    }
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Ends the stream at once, without a close frame. */
  cut(): void {
    const socket = this.#socket;
    if (socket === null) return;
    // Bun and Node can end without waiting for the other side; a browser cannot.
    if ('terminate' in socket) socket.terminate();
    else (socket as WebSocket).close();
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
    const timer = setTimeout(() => this.cut(), this.times.requestMs);
    this.#unanswered.push({ acks, timer });
  }

  /**
   * Runs a stream until it ends. `onMessages` receives messages, `onConfirmed` acknowledgements
   * that the server saved, `onMalformed` those that it will never save.
   */
  hold(
    token: string,
    ping: number | undefined,
    on: {
      open(): void;
      messages(messages: readonly Message[]): void;
      confirmed(acks: readonly Ack[]): void;
      malformed(acks: readonly Ack[]): void;
    },
  ): Promise<Closed> {
    const path = `/device/stream${ping === undefined ? '' : `?ping=${ping}`}`;
    const socket = connect(this.#url.replace(/^http/, 'ws') + path, token);
    this.#socket = socket;
    let openedAtMs = Number.POSITIVE_INFINITY;
    let silence: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(silence);
      silence = TELLS_PINGS
        ? setTimeout(() => this.cut(), this.times.silenceMs)
        : setTimeout(() => void this.#askAlive(token, heard), 10 * this.times.silenceMs);
    };
    heard();
    socket.addEventListener('ping' as 'message', heard);
    return new Promise((resolve) => {
      socket.onopen = () => {
        openedAtMs = performance.now();
        on.open();
      };
      socket.onmessage = ({ data }) => {
        heard();
        const answer = answerIn(String(data));
        if (answer === null) return this.cut();
        if (answer.data !== undefined) return on.messages(answer.data);
        const sent = this.#unanswered.shift();
        if (sent === undefined) return;
        clearTimeout(sent.timer);
        if (answer.rc === 1) on.confirmed(sent.acks);
        else on.malformed(sent.acks);
      };
      const end = ({ code, reason }: { code: number; reason: string }) => {
        clearTimeout(silence);
        for (const { timer } of this.#unanswered.splice(0)) clearTimeout(timer);
        const wasOpen = Number.isFinite(openedAtMs);
        const wasSteady = performance.now() - openedAtMs >= this.times.steadyMs;
        resolve({ code, reason, wasOpen, wasSteady });
      };
      socket.onclose = end;
      // Node 20 reports a failed handshake only this way.
      socket.onerror = () => end({ code: 1006, reason: '' });
    });
  }

  async #askAlive(token: string, isAlive: () => void): Promise<void> {
    const answer = await this.ask('/device/inbox', token, null);
    if (answer?.rc === 1) isAlive();
    else this.cut();
  }
}

/** Node and browsers answer pings without an event: there a silent stream is probed. */
const TELLS_PINGS = 'Bun' in globalThis;

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

/** A browser sends no headers with a WebSocket: there the token is in a subprotocol. */
function connect(url: string, token: string): WebSocket {
  if ('Bun' in globalThis) {
    const WithHeaders = WebSocket as unknown as new (url: string, options: object) => WebSocket;
    return new WithHeaders(url, { headers: { authorization: `Bearer ${token}` } });
  }
  return new WebSocket(url, ['gatepost', `bearer.${token}`]);
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
