/**
 * The reference device: all that an app has to do to get its messages. Written to be ported: it
 * uses `fetch`, `WebSocket` and nothing else of this project. The protocol is
 * docs/device-protocol.md.
 *
 * It registers once and keeps its token, holds one stream open, comes back with growing, jittered
 * pauses, drops what it has seen before, and acknowledges.
 */

export interface DeviceMessage {
  /** The same in every copy: what has been seen is dropped by it. */
  id: number;
  /** 10 push, 20 command. */
  notification_type: number;
  created_at: string;
  expires_at: string;
  payload: Record<string, unknown>;
}

export type AckState = 'received' | 'opened' | 'executed' | 'failed';

export interface DeviceOptions {
  /** `http://HOST:PORT` of the appliance. */
  url: string;
  /** The fields of `POST /device/register`; `hwid` and `os` at least. */
  registration: Readonly<Record<string, unknown>> & { hwid: string };
  /** Where the token is kept between runs. */
  tokens: TokenKeeper;
  /** Handles a message that was not seen before; what it returns is acknowledged. */
  onMessage(message: DeviceMessage): AckState | Promise<AckState>;
  onState?(state: 'open' | 'closed' | 'refused', detail: string): void;
}

export interface TokenKeeper {
  load(): Promise<string | null>;
  save(token: string): Promise<void>;
}

/** Pauses between attempts, ms: doubled from the first to the last, each times 0.5 to 1.5. */
const PAUSE_FIRST_MS = 500;
const PAUSE_LAST_MS = 60_000;
/** How many ids of messages are remembered. */
const SEEN_MAX = 1_000;
/** Sent by the server when another stream of this device has taken over. */
const CLOSE_REPLACED = 4002;

export class DeviceClient {
  readonly #options: DeviceOptions;
  readonly #seen = new Map<number, AckState>();
  #socket: WebSocket | null = null;
  #isStopped = false;
  #wake: () => void = () => {};

  constructor(options: DeviceOptions) {
    this.#options = options;
  }

  /** Runs until {@link stop}. */
  async run(): Promise<void> {
    let pauseMs = PAUSE_FIRST_MS;
    while (!this.#isStopped) {
      const token = await this.#token();
      const wasOpen = token !== null && (await this.#stream(token));
      if (this.#isStopped) return;
      if (wasOpen) pauseMs = PAUSE_FIRST_MS;
      await this.#pause(pauseMs * (0.5 + Math.random()));
      pauseMs = Math.min(pauseMs * 2, PAUSE_LAST_MS);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#socket?.close();
    this.#wake();
  }

  /** The kept token, or a new one; null: the server refused or could not be reached. */
  async #token(): Promise<string | null> {
    const kept = await this.#options.tokens.load();
    return kept ?? this.#register();
  }

  async #register(): Promise<string | null> {
    try {
      const response = await fetch(`${this.#options.url}/device/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(this.#options.registration),
        signal: AbortSignal.timeout(30_000),
      });
      const answer = (await response.json()) as { rc: number; msg: string; device_token?: string };
      if (answer.rc !== 1 || answer.device_token === undefined) {
        this.#options.onState?.('refused', answer.msg);
        return null;
      }
      await this.#options.tokens.save(answer.device_token);
      return answer.device_token;
    } catch (error) {
      this.#options.onState?.('closed', String(error));
      return null;
    }
  }

  /** Holds a stream until it ends. Was it ever open? */
  #stream(token: string): Promise<boolean> {
    return new Promise((resolve) => {
      const url = `${this.#options.url.replace(/^http/, 'ws')}/device/stream`;
      const headers = { authorization: `Bearer ${token}` };
      const socket = new WebSocket(url, { headers });
      let wasOpen = false;
      this.#socket = socket;
      socket.onopen = () => {
        wasOpen = true;
        this.#options.onState?.('open', '');
      };
      socket.onmessage = (event) => void this.#receive(socket, String(event.data));
      socket.onclose = (event) => {
        this.#options.onState?.('closed', event.reason);
        if (event.code === CLOSE_REPLACED) this.stop();
        resolve(wasOpen);
      };
    });
  }

  async #receive(socket: WebSocket, frame: string): Promise<void> {
    const { data } = JSON.parse(frame) as { data?: DeviceMessage[] };
    if (data === undefined) return;
    const items: { id: number; state: AckState }[] = [];
    for (const message of data) items.push({ id: message.id, state: await this.#handle(message) });
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ items }));
  }

  /** A repeat is not handled again, but acknowledged again: the first one may have been lost. */
  async #handle(message: DeviceMessage): Promise<AckState> {
    const before = this.#seen.get(message.id);
    if (before !== undefined) return before;
    const state = await this.#options.onMessage(message);
    this.#seen.set(message.id, state);
    if (this.#seen.size > SEEN_MAX) {
      const oldest = this.#seen.keys().next().value;
      if (oldest !== undefined) this.#seen.delete(oldest);
    }
    return state;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
