/**
 * A server of the device protocol that follows a script and records all requests of an app. Without
 * a script it keeps the rules of docs/device-protocol.md.
 */

import type { Server, ServerWebSocket } from 'bun';
import { systemClock } from '../base/clock.ts';
import { Watch } from '../peer/watch.ts';
import { areFit, bodyOf, fieldsOf, type Item, itemsIn, itemsOf, subprotocolToken } from './sent.ts';

const { steadyMs } = systemClock;

/** A request or frame of an app. Times are of the steady clock, ms. */
type Deed =
  | {
      kind: 'register';
      atMs: number;
      token: string | null;
      body: Readonly<Record<string, unknown>>;
    }
  | { kind: 'inbox'; atMs: number; token: string | null; waitSeconds: number }
  | { kind: 'ack'; atMs: number; items: readonly Item[]; by: 'call' | 'stream' }
  | { kind: 'stream'; atMs: number; token: string | null; query: URLSearchParams }
  | { kind: 'left'; atMs: number };

export interface Sent {
  id: number;
  notification_type?: number;
  created_at?: string;
  expires_at?: string;
  payload?: Record<string, unknown>;
  [unknown: string]: unknown;
}

/** The scripted answer; null: by the rules. */
type Said = Response | Promise<Response> | null;

/** The default pause between two pings of a stream, ms. */
const PING_INTERVAL_MS = 9_000;
/** The most bytes of a request. */
const BODY_BYTES_MAX = 64 * 1024;
/** The most deeds that are kept, for an app that never rests, and the most characters of all. */
const DEEDS_MAX = 100_000;
const DEEDS_LENGTH_MAX = 16 * 1024 ** 2;
type Socket = ServerWebSocket<{ token: string }>;

export class Stage {
  readonly deeds: Deed[] = [];
  #length = 0;
  /** Scripted answers in place of the rules. */
  script: {
    register?(): Said;
    inbox?(): Said;
    ack?(): Said;
    stream?(): Said;
    /** True: frames of acknowledgements are neither saved nor answered. */
    ignoresFrames?: boolean;
    /** True: frames of acknowledgements are refused as malformed. */
    refusesFrames?: boolean;
    /** True: sends no pings. */
    isSilent?: boolean;
  } = {};
  /** The valid token; null: the device has none. */
  token: string | null = null;
  readonly #server: Server<{ token: string }>;
  readonly #watch = new Watch();
  readonly #messages = new Map<number, Sent>();
  readonly #pings: ReturnType<typeof setInterval>;
  #socket: Socket | null = null;

  /** Listens; multiplies the pause between pings by `pace`. */
  constructor(
    hostname: string,
    port: number,
    private readonly pace: number,
  ) {
    this.#server = Bun.serve<{ token: string }>({
      hostname,
      port,
      idleTimeout: 120,
      maxRequestBodySize: BODY_BYTES_MAX,
      fetch: (request, server) => this.#answer(request, server),
      error: () => Response.json(UNKNOWN, { status: 500 }),
      websocket: {
        sendPings: false,
        idleTimeout: 0,
        maxPayloadLength: BODY_BYTES_MAX,
        open: (socket) => this.#opened(socket),
        message: (socket, frame) => this.#framed(socket, String(frame)),
        close: (socket) => {
          if (this.#socket === socket) this.#socket = null;
          this.#note({ kind: 'left', atMs: steadyMs() });
        },
      },
    });
    this.#pings = setInterval(() => {
      if (!this.script.isSilent) this.#socket?.ping();
    }, PING_INTERVAL_MS * pace);
  }

  get url(): string {
    const { hostname = '', port } = this.#server;
    return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
  }

  get isOpen(): boolean {
    return this.#socket !== null;
  }

  stop(): void {
    clearInterval(this.#pings);
    void this.#server.stop(true);
  }

  /** Puts messages into the inbox, and sends them on the stream in one frame. */
  send(...messages: readonly Sent[]): void {
    const whole = messages.map(wholeOf);
    for (const message of whole) this.#messages.set(message.id, message);
    this.#frame(whole);
    this.look();
  }

  /** Sends messages on the stream again, acknowledged or not. */
  repeat(...messages: readonly Sent[]): void {
    this.#frame(messages.map(wholeOf));
  }

  /** Sends any text on the stream. */
  sendText(text: string): void {
    this.#socket?.send(text);
  }

  /** Ends the stream with a code. */
  close(code: number, reason = ''): void {
    this.#socket?.close(code, reason);
  }

  /** Invalidates the token: the next call with it is refused. */
  killToken(): void {
    this.token = null;
    this.close(4001, 'the token died');
  }

  /** Removes a message from the inbox. */
  forget(id: number): void {
    this.#messages.delete(id);
  }

  /** Returns the deeds of one kind after the first `after` ones. */
  of<K extends Deed['kind']>(kind: K, after = 0): Extract<Deed, { kind: K }>[] {
    const isIt = (deed: Deed): deed is Extract<Deed, { kind: K }> => deed.kind === kind;
    return this.deeds.slice(after).filter(isIt);
  }

  /** Returns the acknowledged items after the first `after` deeds. */
  acked(after = 0): Item[] {
    return this.of('ack', after).flatMap(({ items }) => items);
  }

  /** Waits for a condition; returns false after the time. */
  until(isSo: () => boolean, ms: number): Promise<boolean> {
    return this.#watch.until(isSo, ms);
  }

  /** Checks the awaited conditions after a deed of the app. */
  look(): void {
    this.#watch.look();
  }

  #note(deed: Deed): void {
    const query = deed.kind === 'stream' ? deed.query.toString() : '';
    this.#length += JSON.stringify(deed).length + query.length;
    if (this.deeds.length < DEEDS_MAX && this.#length <= DEEDS_LENGTH_MAX) this.deeds.push(deed);
    this.look();
  }

  async #answer(
    request: Request,
    server: Server<{ token: string }>,
  ): Promise<Response | undefined> {
    const { pathname, searchParams: query } = new URL(request.url);
    const token = request.headers.get('authorization')?.replace(/^Bearer /, '') ?? null;
    const atMs = steadyMs();
    switch (`${request.method} ${pathname}`) {
      case 'POST /device/register': {
        this.#note({ kind: 'register', atMs, token, body: fieldsOf(await bodyOf(request)) });
        return (await this.script.register?.()) ?? this.#register(token);
      }
      case 'GET /device/inbox': {
        const waitSeconds = Number(query.get('wait') ?? 0) || 0;
        this.#note({ kind: 'inbox', atMs, token, waitSeconds });
        return (await this.script.inbox?.()) ?? (await this.#inbox(token, waitSeconds));
      }
      case 'POST /device/ack': {
        const items = itemsOf((await bodyOf(request))['items']);
        this.#note({ kind: 'ack', atMs, items, by: 'call' });
        const said = await this.script.ack?.();
        if (said) return said;
        if (token !== this.token) return Response.json(TOKEN_ERROR);
        this.#keep(items);
        return Response.json(OK);
      }
      case 'GET /device/stream': {
        const shown = token ?? subprotocolToken(request);
        this.#note({ kind: 'stream', atMs, token: shown, query });
        const said = await this.script.stream?.();
        if (said) return said;
        if (shown === null || shown !== this.token) return new Response('', { status: 401 });
        const data = { token: shown };
        return server.upgrade(request, { data }) ? undefined : new Response('', { status: 426 });
      }
      default:
        return new Response('not found', { status: 404 });
    }
  }

  #register(token: string | null): Response {
    if (token !== null && token !== this.token) return Response.json(TOKEN_ERROR);
    this.token = crypto.randomUUID().replaceAll('-', '').padEnd(43, '0');
    // The open stream of the token ends with it.
    this.close(4001, 'the token died');
    return Response.json({ ...OK, device_token: this.token });
  }

  async #inbox(token: string | null, waitSeconds: number): Promise<Response> {
    if (token === null || token !== this.token) return Response.json(TOKEN_ERROR);
    const isThere = () => this.#messages.size > 0 || this.token !== token;
    await this.until(isThere, Math.min(waitSeconds, 60) * 1_000 * this.pace);
    if (this.token !== token) return Response.json(TOKEN_ERROR);
    return Response.json({ ...OK, data: [...this.#messages.values()] });
  }

  #opened(socket: Socket): void {
    this.#socket?.close(4002, 'another stream was opened with the token');
    this.#socket = socket;
    this.#frame([...this.#messages.values()]);
    this.look();
  }

  #frame(messages: readonly Sent[]): void {
    for (let from = 0; from < messages.length; from += 100) {
      const data = messages.slice(from, from + 100);
      this.#socket?.send(JSON.stringify({ ...OK, data }));
    }
  }

  #framed(socket: Socket, frame: string): void {
    const items = itemsIn(frame);
    this.#note({ kind: 'ack', atMs: steadyMs(), items, by: 'stream' });
    if (this.script.ignoresFrames) return;
    if (!areFit(items) || this.script.refusesFrames) {
      socket.send(JSON.stringify({ ...UNKNOWN, detail: 'the frame does not fit' }));
      socket.close(1007, 'the frame does not fit');
      return;
    }
    this.#keep(items);
    socket.send(JSON.stringify(OK));
  }

  #keep(items: readonly Item[]): void {
    for (const { id } of items) this.#messages.delete(id);
  }
}

const OK = { rc: 1, msg: 'Ok' };
export const UNKNOWN = { rc: 0, msg: 'Unknown error' };
const TOKEN_ERROR = { rc: 0, msg: 'Device token error' };

function wholeOf({ id, ...rest }: Sent): Sent {
  const times = { created_at: '2026-01-01 00:00:00', expires_at: '2036-01-01 00:00:00' };
  return { id, notification_type: 10, ...times, payload: { body: `text ${id}` }, ...rest };
}
