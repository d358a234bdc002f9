/**
 * A device of a provider. It registers, receives messages by a stream, by polls and by pushes,
 * gives each message to the app once, and acknowledges it. The protocol is docs/device-protocol.md.
 */

import { Keeper } from './keeper.ts';
import { type Closed, Line, pause, timesOf } from './line.ts';
import {
  actionOf,
  COMMAND,
  type Message,
  messageIn,
  type Texts,
  textsOf,
  unknownIn,
} from './message.ts';
import {
  type Ack,
  type AckState,
  headersOf,
  knowing,
  owing,
  type PushAddress,
  type Store,
  seenIn,
  without,
  writeState,
} from './state.ts';

/**
 * The result of a handler: the state to acknowledge; undefined: the default; `kept`: see
 * {@link Handling}.
 */
export type Handled = AckState | 'kept' | undefined;

export interface Handling {
  message: Message;
  /** The texts in the language of the device. */
  texts: Texts;
  /** The action of a command: `update-subscription` and others; empty: a notification. */
  action: string;
  /**
   * The state of the device with this message in it. An app that writes it to its store in the
   * transaction of its own effect returns `kept`: then the message is handled exactly once, else at
   * least once.
   */
  state: string;
}

export interface DeviceOptions {
  /** `https://HOST` of the appliance. */
  url: string;
  /**
   * Fields of `POST /device/register` except `hwid` and `push`: the link, system, model, versions.
   */
  registration: Readonly<Record<string, unknown>>;
  store: Store;
  /** The HWID that the app has already; without it the device draws one and stores it. */
  hwid?: string;
  /** The language of texts, such as `pt-BR`. */
  locale?: string;
  push?: PushAddress;
  /** `poll` where no socket may stay open. */
  mode?: 'stream' | 'poll';
  /** The seconds between two pings of a stream, 15 to 600: more lets a phone sleep longer. */
  ping?: number;
  /** Multiplies all pauses and time limits, for tests. */
  pace?: number;
  /**
   * Handles a new message. If it throws, the message is acknowledged as `failed`. It must not wait
   * for a method of the device, because the device waits for it.
   */
  onMessage(handling: Handling): Handled | Promise<Handled>;
  onState?(state: 'open' | 'closed' | 'refused' | 'replaced', detail: string): void;
}

/** Why a device ended: it was closed, another stream uses its token, or the server refused it. */
export type Ending = 'closed' | 'replaced' | 'refused';
const CLOSE_TOKEN = 4001;
const CLOSE_REPLACED = 4002;
const TOKEN_ERROR = 'Device token error';
/** Refusals of a registration that may end by themselves. */
const PASSING: ReadonlySet<string> = new Set(['Too many requests', 'Unknown error']);
/** The most acknowledgements of one request. */
const ACKS_EACH = 100;

export class Device {
  readonly #times: ReturnType<typeof timesOf>;
  readonly #stop = new AbortController();
  readonly #line: Line;
  readonly #keeper: Keeper;
  #ending: Ending | null = null;
  #registration: Promise<void> = Promise.resolve();
  #isRunning = false;
  #isRegistered = false;
  #push: PushAddress | undefined;
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  /**
   * The token of a renewal whose answer was lost: its end does not mean that another device renewed
   * it.
   */
  #doubted: string | null = null;

  constructor(private readonly options: DeviceOptions) {
    this.#times = timesOf(options.pace ?? 1, options.ping);
    this.#line = new Line(options.url, this.#times, this.#stop.signal);
    this.#keeper = new Keeper(options.store, options.hwid);
    this.#push = options.push;
  }

  /** Runs until {@link close}, a refusal, or another stream of the device. */
  async run(): Promise<Ending> {
    this.#isRunning = true;
    const { pauseFirstMs, pauseLastMs } = this.#times;
    for (let pauseMs = pauseFirstMs; ; pauseMs = Math.min(2 * pauseMs, pauseLastMs)) {
      const token = await this.#registered();
      const wasSteady = token !== null && this.#ending === null && (await this.#listen(token));
      if (this.#ending !== null) return this.#ending;
      if (wasSteady) pauseMs = pauseFirstMs;
      await pause(pauseMs * (0.5 + Math.random()), this.#stop.signal);
      if (this.#ending !== null) return this.#ending;
    }
  }

  /** Ends at once, without waiting. The next start sends the remaining acknowledgements. */
  close(): void {
    this.#end('closed');
  }

  /** Takes a push. `wasShown`: the system has shown the notification, so the app must not. */
  async push(data: Readonly<Record<string, unknown>>, wasShown: boolean): Promise<void> {
    const id = Number(data['id']);
    if (!Number.isSafeInteger(id) || id <= 0) return;
    const message = messageIn(data['message']);
    if (wasShown && data['kind'] === 'notification') {
      await this.#keeper.change((state) =>
        seenIn(state, id) === null ? knowing(state, { id, state: 'received' }) : state,
      );
    } else if (message?.id === id) {
      await this.#take([message]);
    } else if (!this.#line.isOpen) {
      await this.#fetchInbox();
    }
    await this.#sendAcks();
  }

  /** Acknowledges that the user opened a notification. */
  async opened(id: number): Promise<void> {
    await this.#keeper.change((state) => owing(state, { id, state: 'opened' }));
    await this.#sendAcks();
  }

  /** Sets the address for pushes, after the network changed it; null: none. */
  async setPush(push: PushAddress | null): Promise<void> {
    this.#push = push ?? undefined;
    this.#isRegistered = false;
    if (this.#isRunning) await this.#register();
  }

  /** Returns the headers that identify this device when it fetches a subscription. */
  async headers(): Promise<Record<string, string>> {
    return headersOf((await this.#keeper.now()).hwid, this.options.registration);
  }

  #end(ending: Ending, detail = ''): void {
    if (this.#ending === null && ending !== 'closed') this.options.onState?.(ending, detail);
    this.#ending ??= ending;
    this.#stop.abort();
  }

  /** Registers if necessary. Returns the token; null: there is none now. */
  async #registered(): Promise<string | null> {
    const { token } = await this.#keeper.now();
    // The gateway may have dropped a dead address: a device with pushes registers at each start.
    const isDue = token === null || (this.#push !== undefined && !this.#isRegistered);
    if (isDue) await this.#register();
    return (await this.#keeper.now()).token;
  }

  /** Registers, after a running registration. */
  #register(): Promise<void> {
    const made = this.#registration.then(() => this.#registerNow());
    this.#registration = made.catch(() => {});
    return made;
  }

  async #registerNow(): Promise<void> {
    const { hwid, token } = await this.#keeper.now();
    const push = this.#push;
    const body = { ...this.options.registration, hwid, ...(push && { push }) };
    const answer = await this.#line.ask('/device/register', token, body);
    if (this.#ending !== null) return;
    if (answer === null) this.#doubted = token;
    const { rc, msg, device_token: renewed } = answer ?? { rc: 0, msg: 'Unknown error' };
    if (rc === 1 && renewed !== undefined) {
      await this.#keeper.change((state) => ({ ...state, token: renewed }));
      this.#isRegistered = push === this.#push;
    } else if (msg === TOKEN_ERROR && token !== null) {
      await this.#forget(token);
    } else if (PASSING.has(msg)) {
      this.options.onState?.('closed', answer === null ? 'no answer' : msg);
    } else {
      this.#end('refused', msg);
    }
  }

  /**
   * Forgets a token that ended. Registers again once: two devices with one HWID would renew for
   * ever.
   */
  async #dropToken(token: string): Promise<void> {
    // A registration ends the stream of the token that it renews, before or after its own answer.
    await this.#registration;
    await this.#forget(token);
  }

  async #forget(token: string): Promise<void> {
    if ((await this.#keeper.now()).token !== token) return;
    await this.#keeper.change((state) => ({ ...state, token: null }));
    this.#isRegistered = false;
    if (token === this.#doubted) return;
    const nowMs = performance.now();
    if (nowMs - this.#renewedAtMs < this.#times.renewalMs) {
      this.#end('refused', 'another device registers this HWID');
    }
    this.#renewedAtMs = nowMs;
  }

  /** Receives messages until the connection ends. Returns whether it worked for a while. */
  async #listen(token: string): Promise<boolean> {
    if (this.options.mode === 'poll') return await this.#poll(token);
    const closed = await this.#line.hold(token, this.options.ping, {
      open: () => {
        this.options.onState?.('open', '');
        void this.#sendAcks();
      },
      messages: (messages) => {
        // A state that cannot be written ends the stream; the messages come again.
        this.#take(messages).then(
          () => this.#sendAcks(),
          () => this.#line.cut(),
        );
      },
      confirmed: (acks) => void this.#confirmed(acks),
      malformed: (acks) => void this.#confirmed(acks),
    });
    if (closed.wasOpen) this.options.onState?.('closed', closed.reason || `code ${closed.code}`);
    await this.#judge(closed, token);
    return closed.wasSteady;
  }

  async #judge({ code, wasOpen }: Closed, token: string): Promise<void> {
    if (this.#ending !== null) return;
    if (code === CLOSE_REPLACED) this.#end('replaced');
    else if (code === CLOSE_TOKEN) await this.#dropToken(token);
    // Libraries hide why a handshake failed; the answer of the inbox shows it.
    else if (!wasOpen) await this.#fetchInbox(token);
  }

  async #poll(token: string): Promise<boolean> {
    for (let count = 0; ; count++) {
      // The server repeats a message at once until it is acknowledged.
      const isWell = (await this.#sendAcks()) && (await this.#fetchInbox(token, true));
      if (!isWell && count > 0) this.options.onState?.('closed', 'no answer');
      if (!isWell || this.#ending !== null) return count > 0;
      if (count === 0) this.options.onState?.('open', '');
    }
  }

  /** Receives the messages of the inbox. Returns false if the server does not answer. */
  async #fetchInbox(given?: string, waits = false): Promise<boolean> {
    const token = given ?? (await this.#keeper.now()).token;
    if (token === null) return false;
    const seconds = waits ? this.#line.pollSeconds : 0;
    const path = `/device/inbox${waits ? `?wait=${seconds}` : ''}`;
    const answer = await this.#line.ask(path, token, null, seconds * 1_000);
    if (answer?.msg === TOKEN_ERROR) await this.#dropToken(token);
    if (answer?.rc !== 1) return false;
    await this.#take(answer.data ?? []);
    return true;
  }

  async #take(messages: readonly Message[]): Promise<void> {
    await Promise.all(messages.map((one) => this.#keeper.step(() => this.#handle(one))));
  }

  /**
   * Handles a new message. Acknowledges a duplicate again: the first acknowledgement may be lost.
   */
  async #handle(message: Message): Promise<void> {
    if (this.#ending !== null) return;
    const state = await this.#keeper.read();
    const { id } = message;
    const before = seenIn(state, id);
    if (before !== null) return await this.#keeper.write(owing(state, { id, state: before }));
    const usual = message.notification_type === COMMAND ? 'executed' : 'received';
    const known = knowing(state, { id, state: usual });
    const ack: Ack = { id, state: usual };
    try {
      const unknown = unknownIn(message);
      if (unknown !== null) throw new Error(unknown);
      const said = await this.options.onMessage({
        message,
        action: actionOf(message),
        state: writeState(known),
        texts: textsOf(message, this.options.locale ?? ''),
      });
      if (said === 'kept') {
        this.#keeper.wasWritten(known);
        return;
      }
      ack.state = said ?? usual;
    } catch (error) {
      ack.state = 'failed';
      ack.detail = error instanceof Error ? error.message : String(error);
    }
    await this.#keeper.write(knowing(state, ack));
  }

  /**
   * Sends unconfirmed acknowledgements, on the stream or by a call. Returns false if some could not
   * be sent.
   */
  async #sendAcks(): Promise<boolean> {
    const { acks, token } = await this.#keeper.now();
    const due = acks.filter((ack) => !this.#line.isUnderWay(ack));
    for (let from = 0; from < due.length; from += ACKS_EACH) {
      if (this.#ending !== null || token === null) return false;
      const some = due.slice(from, from + ACKS_EACH);
      if (this.#line.isOpen) {
        this.#line.acknowledge(some);
        continue;
      }
      const answer = await this.#line.ask('/device/ack', token, { items: some });
      if (answer?.rc !== 1) return false;
      await this.#confirmed(some);
    }
    return true;
  }

  #confirmed(acks: readonly Ack[]): Promise<void> {
    return this.#keeper.change((state) => without(state, acks));
  }
}
