/**
 * The reference device: all that an app must do to get its messages. Written to be ported, it uses
 * `fetch`, `WebSocket` and nothing of this project. The protocol is docs/device-protocol.md.
 *
 * It registers once, stores its token, keeps one stream open, reconnects with growing, jittered
 * pauses, ignores duplicates, and acknowledges. It ends if reconnecting cannot help: after a
 * refusal, or when another device of the same HWID has replaced it.
 */

export interface DeviceMessage {
  /** The same in every copy: a device ignores duplicates by it. */
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
  /** Stores the token between runs. */
  tokens: TokenKeeper;
  /** Handles a new message and returns its acknowledgement. */
  onMessage(message: DeviceMessage): AckState | Promise<AckState>;
  onState?(state: 'open' | 'closed' | 'refused', detail: string): void;
}

interface TokenKeeper {
  load(): Promise<string | null>;
  /** Saves the token; null: it is no longer valid. */
  save(token: string | null): Promise<void>;
}

/**
 * The reason why a run ended: {@link DeviceClient.stop}, another stream of the device, or a refusal
 * by the server, which `onState` gets as a text.
 */
export type Ending = 'stopped' | 'replaced' | 'refused';

/** Pauses between attempts, ms: doubled from the first to the last, each times 0.5 to 1.5. */
const PAUSE_FIRST_MS = 500;
const PAUSE_LAST_MS = 60_000;
/** A stream that lasts this long resets the pause to the first, ms. */
const STEADY_MS = 10_000;
/** The longest silence of the server, which pings every 9 s, ms. */
const SILENCE_MAX_MS = 30_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** The longest text of a failure: the server bounds frames. */
const DETAIL_LENGTH_MAX = 255;
/** Ids of messages that are remembered. */
const SEEN_MAX = 1_000;

/** Close codes of the server. */
const CLOSE_TOKEN = 4001;
const CLOSE_REPLACED = 4002;
/** The answer to a token that is no longer valid. */
const TOKEN_ERROR = 'Device token error';
/** Temporary refusals of a registration. */
const PASSING = new Set(['Too many requests', 'Unknown error']);

interface Answer {
  rc: number;
  msg: string;
  device_token?: string;
}

export class DeviceClient {
  readonly #seen = new Map<number, AckState>();
  #socket: WebSocket | null = null;
  #ending: Ending | null = null;
  #hasRenewed = false;
  #wake: () => void = () => {};

  constructor(private readonly options: DeviceOptions) {}

  /** Runs until {@link stop}, a refusal or a replacement. */
  async run(): Promise<Ending> {
    for (let pauseMs = PAUSE_FIRST_MS; ; ) {
      const token = (await this.options.tokens.load()) ?? (await this.#register());
      const wasSteady = token !== null && this.#ending === null && (await this.#stream(token));
      if (this.#ending !== null) return this.#ending;
      if (wasSteady) pauseMs = PAUSE_FIRST_MS;
      await this.#pause(pauseMs * (0.5 + Math.random()));
      if (this.#ending !== null) return this.#ending;
      pauseMs = Math.min(pauseMs * 2, PAUSE_LAST_MS);
    }
  }

  stop(): void {
    this.#end('stopped');
  }

  #end(ending: Ending): void {
    this.#ending ??= ending;
    this.#socket?.close();
    this.#wake();
  }

  #refused(reason: string): void {
    this.options.onState?.('refused', reason);
    this.#end('refused');
  }

  /** Registers and returns the new token; null: the server refused or could not be reached. */
  async #register(): Promise<string | null> {
    const body = JSON.stringify(this.options.registration);
    const headers = { 'content-type': 'application/json' };
    const answer = await this.#ask('/device/register', { method: 'POST', headers, body });
    if (answer === null) return null;
    const { rc, msg, device_token: token } = answer;
    if (rc === 1 && token !== undefined) {
      await this.options.tokens.save(token);
      return token;
    }
    if (PASSING.has(msg)) this.options.onState?.('refused', msg);
    else this.#refused(msg);
    return null;
  }

  async #ask(path: string, init: RequestInit): Promise<Answer | null> {
    try {
      const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
      const response = await fetch(this.options.url + path, { ...init, signal });
      return (await response.json()) as Answer;
    } catch (error) {
      this.options.onState?.('closed', String(error));
      return null;
    }
  }

  /**
   * Drops a token that is no longer valid: the HWID was registered again, or the operator removed
   * the device. Registers again once; after a second time two devices share the HWID.
   */
  async #dropToken(): Promise<void> {
    await this.options.tokens.save(null);
    if (this.#hasRenewed) this.#refused('another device registers this HWID');
    this.#hasRenewed = true;
  }

  /** Keeps a stream open until it ends. Returns whether it lasted {@link STEADY_MS}. */
  async #stream(token: string): Promise<boolean> {
    const headers = { authorization: `Bearer ${token}` };
    const { wasOpen, wasSteady, code } = await this.#hold(headers);
    if (code === CLOSE_REPLACED) this.#end('replaced');
    if (this.#ending !== null) return wasSteady;
    if (code === CLOSE_TOKEN) {
      await this.#dropToken();
    } else if (!wasOpen) {
      // WebSocket hides why a handshake failed; the inbox answers it.
      const answer = await this.#ask('/device/inbox', { headers });
      if (answer?.msg === TOKEN_ERROR) await this.#dropToken();
    }
    return wasSteady;
  }

  #hold(
    headers: Record<string, string>,
  ): Promise<{ wasOpen: boolean; wasSteady: boolean; code: number }> {
    const url = `${this.options.url.replace(/^http/, 'ws')}/device/stream`;
    const socket = new WebSocket(url, { headers });
    this.#socket = socket;
    let wasOpen = false;
    let wasSteady = false;
    let silence: ReturnType<typeof setTimeout> | undefined;
    let steady: ReturnType<typeof setTimeout> | undefined;
    const restartSilence = () => {
      clearTimeout(silence);
      silence = setTimeout(() => socket.terminate(), SILENCE_MAX_MS);
    };
    restartSilence();
    // Frames are handled one after the other.
    let handling = Promise.resolve();
    return new Promise((resolve) => {
      socket.onopen = () => {
        wasOpen = true;
        steady = setTimeout(() => {
          wasSteady = true;
        }, STEADY_MS);
        this.options.onState?.('open', '');
      };
      socket.addEventListener('ping', restartSilence);
      socket.onmessage = ({ data }) => {
        restartSilence();
        handling = handling
          .then(() => this.#receive(socket, String(data)))
          .catch(() => socket.terminate());
      };
      socket.onclose = ({ code, reason }) => {
        clearTimeout(silence);
        clearTimeout(steady);
        this.options.onState?.('closed', reason || `code ${code}`);
        resolve({ wasOpen, wasSteady, code });
      };
    });
  }

  async #receive(socket: WebSocket, frame: string): Promise<void> {
    const { data } = JSON.parse(frame) as { data?: DeviceMessage[] };
    if (data === undefined) return;
    const items: { id: number; state: AckState; detail?: string }[] = [];
    for (const message of data) items.push({ id: message.id, ...(await this.#handle(message)) });
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ items }));
  }

  /** Handles a message. Acknowledges a duplicate again: the first acknowledgement may be lost. */
  async #handle(message: DeviceMessage): Promise<{ state: AckState; detail?: string }> {
    const before = this.#seen.get(message.id);
    if (before !== undefined) return { state: before };
    let detail: string | undefined;
    let state: AckState = 'failed';
    try {
      state = await this.options.onMessage(message);
    } catch (error) {
      detail = String(error).slice(0, DETAIL_LENGTH_MAX);
    }
    this.#seen.set(message.id, state);
    if (this.#seen.size > SEEN_MAX) {
      const oldest = this.#seen.keys().next().value;
      if (oldest !== undefined) this.#seen.delete(oldest);
    }
    return detail === undefined ? { state } : { state, detail };
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
