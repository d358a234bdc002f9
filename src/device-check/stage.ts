/**
 * A server of the device protocol that follows a script and records all requests of an app. Without
 * a script it keeps the rules of docs/device-protocol.md.
 */

import type { Server, ServerWebSocket } from 'bun';
import { systemClock } from '../base/clock.ts';
import {
  type Ending,
  endingOf,
  framesOf,
  OK,
  type Sent,
  TOKEN_ERROR,
  UNKNOWN,
  wholeOf,
} from './answers.ts';
import { Deeds } from './deeds.ts';
import {
  areFit,
  bodyOf,
  fieldsOf,
  frameMaxOf,
  type Item,
  itemsIn,
  itemsOf,
  pingOf,
  subprotocolToken,
} from './sent.ts';

const { steadyMs } = systemClock;

/** The scripted answer; null: by the rules. */
type Said = Response | Promise<Response> | null;

/** The path of the calls, and the one that the answer to a subscription's fetch names. */
const DEVICE_BASE = '/device';
export const DISCOVERED_BASE = '/.well-known/device-messages';
/** The default pause between two pings of a stream, s. */
const PING_SECONDS = 9;
/** The most bytes of a request. */
const BODY_BYTES_MAX = 64 * 1024;
/** The facts of a stream; `pingSeconds`: the pause between two of its pings. */
interface Held {
  token: string;
  pingSeconds: number;
  frameMax: number | null;
  pings: ReturnType<typeof setInterval> | undefined;
}
type Socket = ServerWebSocket<Held>;

export class Stage extends Deeds {
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
    /** The longest wait of a poll that answers name, s; 60 without it. */
    waitMax?: number;
    /** The longest pause between pings that a stream may ask for, s; 600 without it. */
    pingSecondsMax?: number;
  } = {};
  /** The valid token; null: the device has none. */
  token: string | null = null;
  /** The paths at which the app called. */
  readonly bases = new Set<string>();
  /** The tokens that ended with their slot, and why. */
  readonly #ended = new Map<string, Ending>();
  /** The notice that the next answer of a poll carries. */
  #notice: Ending | null = null;
  #openedAtMs = 0;
  readonly #server: Server<Held>;
  readonly #messages = new Map<number, Sent>();
  #socket: Socket | null = null;

  /** Listens; multiplies the pause between pings by `pace`. */
  constructor(
    hostname: string,
    port: number,
    private readonly pace: number,
  ) {
    super();
    this.#server = Bun.serve<Held>({
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
          clearInterval(socket.data.pings);
          if (this.#socket === socket) this.#socket = null;
          this.note({ kind: 'left', atMs: steadyMs() });
        },
      },
    });
  }

  get url(): string {
    const { hostname = '', port } = this.#server;
    return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
  }

  get isOpen(): boolean {
    return this.#socket !== null;
  }

  /** For how long the stream is open, ms; 0: it is not. */
  get openForMs(): number {
    return this.isOpen ? steadyMs() - this.#openedAtMs : 0;
  }

  /** The pause between two pings of the open stream, s. */
  get pingSeconds(): number {
    return this.#socket?.data.pingSeconds ?? PING_SECONDS;
  }

  stop(): void {
    clearInterval(this.#socket?.data.pings);
    void this.#server.stop(true);
  }

  /** Puts messages into the inbox, and sends them on the stream in one frame. */
  send(...messages: readonly Sent[]): void {
    const whole = messages.map(wholeOf);
    for (const message of whole) this.#messages.set(message.id, message);
    this.#send(whole);
    this.look();
  }

  /** Sends messages on the stream again, acknowledged or not. */
  repeat(...messages: readonly Sent[]): void {
    this.#send(messages.map(wholeOf));
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

  /**
   * Ends the slot of the device's only place: its token is refused with the reason. `tells`: the
   * stream says it before its close frame.
   */
  endSlot(reason: string, tells = true): void {
    const ending = endingOf(reason);
    if (this.token !== null) this.#ended.set(this.token, ending);
    this.token = null;
    if (tells) this.sendText(JSON.stringify({ ...TOKEN_ERROR, ...ending }));
    this.close(4004, reason);
    this.look();
  }

  /** Tells on the stream or by a poll that one place ended while another one lives. */
  tellEnded(reason: string): void {
    const ending = endingOf(reason);
    if (this.isOpen) this.sendText(JSON.stringify({ ...OK, data: [], ended: [ending] }));
    else this.#notice = ending;
    this.look();
  }

  /** Removes a message from the inbox. */
  forget(id: number): void {
    this.#messages.delete(id);
  }

  async #answer(request: Request, server: Server<Held>): Promise<Response | undefined> {
    const { pathname, searchParams: query } = new URL(request.url);
    const base = [DEVICE_BASE, DISCOVERED_BASE].find((one) => pathname.startsWith(`${one}/`));
    if (base === undefined) return new Response('not found', { status: 404 });
    this.bases.add(base);
    const token = request.headers.get('authorization')?.replace(/^Bearer /, '') ?? null;
    const atMs = steadyMs();
    switch (`${request.method} ${pathname.slice(base.length)}`) {
      case 'POST /register': {
        const language = request.headers.get('accept-language') ?? '';
        const body = fieldsOf(await bodyOf(request));
        this.note({ kind: 'register', atMs, token, language, body });
        return (await this.script.register?.()) ?? this.#register(token);
      }
      case 'GET /inbox': {
        const waitSeconds = Number(query.get('wait') ?? 0) || 0;
        const id = query.has('id') ? Number(query.get('id')) : null;
        this.note({ kind: 'inbox', atMs, token, waitSeconds, id });
        const said = await this.script.inbox?.();
        return said ?? (await this.#inbox(token, waitSeconds, id, frameMaxOf(request)));
      }
      case 'POST /ack': {
        const items = itemsOf((await bodyOf(request))['items']);
        this.note({ kind: 'ack', atMs, items, by: 'call' });
        const said = await this.script.ack?.();
        if (said) return said;
        if (token !== this.token) return this.#refusal(token);
        this.#keep(items);
        return Response.json(OK);
      }
      case 'GET /stream': {
        const shown = token ?? subprotocolToken(request);
        const frameMax = frameMaxOf(request);
        this.note({ kind: 'stream', atMs, token: shown, query, frameMax });
        const said = await this.script.stream?.();
        if (said) return said;
        return this.#upgrade(request, server, shown, frameMax, pingOf(query));
      }
      default:
        return new Response('not found', { status: 404 });
    }
  }

  #upgrade(
    request: Request,
    server: Server<Held>,
    token: string | null,
    frameMax: number | null,
    asked: number | null,
  ): Response | undefined {
    if (token === null || token !== this.token) {
      const { reason } = this.#ended.get(token ?? '') ?? {};
      return new Response('', { status: 401, ...(reason && { headers: { 'x-ended': reason } }) });
    }
    const most = this.script.pingSecondsMax ?? 600;
    const named = asked === null ? null : Math.min(Math.max(asked, 15), most);
    const data: Held = { token, frameMax, pingSeconds: named ?? PING_SECONDS, pings: undefined };
    const headers = named === null ? {} : { 'x-ping-interval': String(named) };
    const isOpened = server.upgrade(request, { data, headers });
    return isOpened ? undefined : new Response('', { status: 426 });
  }

  #refusal(token: string | null): Response {
    return Response.json({ ...TOKEN_ERROR, ...this.#ended.get(token ?? '') });
  }

  /** An answer that names how long a poll may wait. */
  #named(body: unknown): Response {
    const headers = { 'x-wait-max': String(this.#waitMax) };
    return Response.json(body, { headers });
  }

  get #waitMax(): number {
    return this.script.waitMax ?? 60;
  }

  #register(token: string | null): Response {
    if (token !== null && token !== this.token) return this.#refusal(token);
    this.token = crypto.randomUUID().replaceAll('-', '').padEnd(43, '0');
    // The open stream of the token ends with it.
    this.close(4001, 'the token died');
    return this.#named({ ...OK, device_token: this.token });
  }

  async #inbox(
    token: string | null,
    waitSeconds: number,
    id: number | null,
    frameMax: number | null,
  ): Promise<Response> {
    if (token === null || token !== this.token) return this.#refusal(token);
    if (id !== null) {
      const one = this.#messages.get(id);
      return this.#named({ ...OK, data: one === undefined ? [] : [one] });
    }
    const isThere = () => this.#messages.size > 0 || this.#notice !== null || this.token !== token;
    await this.until(isThere, Math.min(waitSeconds, this.#waitMax) * 1_000 * this.pace);
    if (this.token !== token) return this.#refusal(token);
    const notice = this.#notice;
    this.#notice = null;
    const [first] = framesOf([...this.#messages.values()], frameMax);
    return this.#named({ ...OK, data: first ?? [], ...(notice && { ended: [notice] }) });
  }

  #opened(socket: Socket): void {
    this.#socket?.close(4002, 'another stream was opened with the token');
    this.#socket = socket;
    this.#openedAtMs = steadyMs();
    socket.data.pings = setInterval(
      () => {
        if (!this.script.isSilent) socket.ping();
      },
      socket.data.pingSeconds * 1_000 * this.pace,
    );
    this.#send([...this.#messages.values()]);
    this.look();
  }

  #send(messages: readonly Sent[]): void {
    const socket = this.#socket;
    if (socket === null) return;
    for (const data of framesOf(messages, socket.data.frameMax)) {
      socket.send(JSON.stringify({ ...OK, data }));
    }
  }

  #framed(socket: Socket, frame: string): void {
    const items = itemsIn(frame);
    this.note({ kind: 'ack', atMs: steadyMs(), items, by: 'stream' });
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
