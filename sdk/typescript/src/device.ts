/**
 * A device of a provider. It registers, receives messages by a stream, by polls and by pushes,
 * gives each message to the app once, and acknowledges it. The protocol is docs/device-protocol.md.
 */

import { badUrl } from './fault.ts';
import { Inbox, textOf } from './inbox.ts';
import { Keeper } from './keeper.ts';
import { type Answer, type Closed, Line, type Notice, pause, timesOf } from './line.ts';
import { messageIn } from './message.ts';
import type { DeviceOptions, DeviceState, Ending, Why } from './options.ts';
import { canStream } from './socket.ts';
import { headersOf, knowing, owing, type PushAddress, seenIn } from './state.ts';

const CLOSE_TOKEN = 4001;
const CLOSE_REPLACED = 4002;
/** The place of the token ended; the reason of the frame is the word. */
const CLOSE_ENDED = 4004;
const TOKEN_ERROR = 'Device token error';
/** Refusals of a registration that may end by themselves. */
const PASSING: ReadonlySet<string> = new Set(['Too many requests', 'Unknown error']);

export class Device {
  readonly #times: ReturnType<typeof timesOf>;
  readonly #keeper: Keeper;
  readonly #inbox: Inbox;
  #stop = new AbortController();
  #line: Line;
  #ending: Ending | null = null;
  #registration: Promise<void> = Promise.resolve();
  #running: Promise<Ending> | null = null;
  /** The run after the running one, which was closed. */
  #next: Promise<Ending> | null = null;
  /** False: the last call was `close`. */
  #isWanted = false;
  #isRegistered = false;
  #push: PushAddress | undefined;
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  /**
   * The token of a renewal whose answer was lost: its end does not mean that another device renewed
   * it.
   */
  #doubted: string | null = null;
  /** True: the server may still open a stream that this device has given up, and end the next. */
  #hasStray = false;

  constructor(private readonly options: DeviceOptions) {
    this.#times = timesOf(options.pace ?? 1);
    this.#line = this.#newLine();
    this.#keeper = new Keeper(options.store, options.hwid, (error) => {
      this.#log(`the store refused the state: ${error}`);
      const { pauseLastMs } = this.#times;
      void pause(pauseLastMs, this.#stop.signal).then(() => this.#keeper.again());
    });
    this.#inbox = new Inbox(options, this.#keeper, {
      line: () => this.#line,
      isOver: () => this.#ending !== null,
      log: (line) => this.#log(line),
      onFailed: (token, answer) => this.#failed(token, answer),
    });
    this.#push = options.push;
  }

  /**
   * Runs until {@link close}, the signal, a refusal, or another stream of the device. While it
   * runs, another call waits for the same end.
   */
  run({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<Ending> {
    if (signal?.aborted === true) return Promise.resolve('closed');
    this.#isWanted = true;
    const ended = this.#begun();
    if (signal === undefined) return ended;
    const close = () => this.close();
    signal.addEventListener('abort', close);
    return ended.finally(() => signal.removeEventListener('abort', close));
  }

  /** Ends at once, without waiting. The next start sends the remaining acknowledgements. */
  close(): void {
    this.#isWanted = false;
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
      await this.#inbox.take([message]);
    } else if (!this.#line.isOpen) {
      await this.#fetchInbox();
    }
    await this.#inbox.sendAcks();
  }

  /** Acknowledges that the user opened a notification. */
  async opened(id: number): Promise<void> {
    await this.#keeper.change((state) => owing(state, { id, state: 'opened' }));
    await this.#inbox.sendAcks();
  }

  /** Sets the address for pushes, after the network changed it; null: none. */
  async setPush(push: PushAddress | null): Promise<void> {
    this.#push = push ?? undefined;
    this.#isRegistered = false;
    if (this.#running !== null) await this.#register();
  }

  /** Returns the headers that identify this device when it fetches a subscription. */
  async headers(): Promise<Record<string, string>> {
    return headersOf((await this.#keeper.now()).hwid, this.options.registration);
  }

  #newLine(): Line {
    const { url, base = '/device', locale = '', ping, frameMax } = this.options;
    const log = (line: string) => this.#log(line);
    // Other signs would make the header invalid.
    const language = /^[\w-]+$/.test(locale) ? locale.replaceAll('_', '-') : '';
    const options = { url, base, locale: language, ping, frameMax, log };
    return new Line(options, this.#times, this.#stop.signal);
  }

  /** Starts a run, or joins the one that is under way. */
  #begun(): Promise<Ending> {
    if (this.#running === null) {
      this.#running = this.#live().finally(() => {
        this.#running = null;
      });
    } else if (this.#ending !== null) {
      this.#next ??= this.#running.then(() => {
        this.#next = null;
        return this.#isWanted ? this.#begun() : 'closed';
      });
      return this.#next;
    }
    return this.#running;
  }

  async #live(): Promise<Ending> {
    if (this.#ending !== null) {
      this.#ending = null;
      this.#isRegistered = false;
      this.#stop = new AbortController();
      this.#line = this.#newLine();
    }
    const fault = badUrl(this.options.url);
    if (fault !== null) this.#end('refused', fault.text, fault);
    else if (this.options.mode !== 'poll' && !canStream())
      this.#end('refused', OLD_NODE, NO_STREAM);
    const { pauseFirstMs, pauseLastMs } = this.#times;
    for (let pauseMs = pauseFirstMs; ; pauseMs = Math.min(2 * pauseMs, pauseLastMs)) {
      const wasSteady = this.#ending === null && (await this.#attempt());
      if (this.#ending !== null) return this.#ending;
      if (wasSteady) pauseMs = pauseFirstMs;
      await pause(pauseMs * (0.5 + Math.random()), this.#stop.signal);
      if (this.#ending !== null) return this.#ending;
    }
  }

  /** Registers if necessary, and receives. Returns whether it worked for a while. */
  async #attempt(): Promise<boolean> {
    try {
      const token = await this.#registered();
      return token !== null && this.#ending === null && (await this.#listen(token));
    } catch (error) {
      const text = `The store of the app failed: ${textOf(error)}`;
      this.#say('closed', text, { reason: 'store', text });
      return false;
    }
  }

  #end(ending: Ending, detail = '', why: Why | null = null): void {
    if (this.#ending === null && ending !== 'closed') this.#say(ending, detail, why);
    this.#ending ??= ending;
    this.#stop.abort();
  }

  #say(state: DeviceState, detail: string, why: Why | null = null): void {
    this.#log(`${state} ${detail}`);
    this.#calmly(() => this.options.onState?.(state, detail, why));
  }

  #log(line: string): void {
    this.#calmly(
      () => this.options.log?.(line),
      () => {},
    );
  }

  /** Calls the app. What it throws, now or later, ends nothing. */
  #calmly(
    call: () => unknown,
    failed = (error: unknown) => this.#log(`the app failed: ${textOf(error)}`),
  ): void {
    try {
      Promise.resolve(call()).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  /** Registers if necessary. Returns the token; null: there is none now. */
  async #registered(): Promise<string | null> {
    const { token } = await this.#keeper.now();
    // The gateway may have dropped a dead address, and the server of a subscription does not say
    // that a token is unknown: such devices register at each start.
    const registers = this.#push !== undefined || this.options.base !== undefined;
    const isDue = token === null || (registers && !this.#isRegistered);
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
    // A device whose slot was freed would come back by its link: it asks first.
    if (token !== null && !this.#line.isOpen && !(await this.#isAlive(token))) return;
    const push = this.#push;
    const body = { ...this.options.registration, hwid, ...(push && { push }) };
    const answer = await this.#line.ask('/register', token, body);
    if (this.#ending !== null) return;
    if (answer.fault !== undefined) this.#doubted = token;
    const { rc, msg, device_token: renewed, fault } = answer;
    if (rc === 1 && renewed !== undefined) {
      await this.#keeper.change((state) => ({ ...state, token: renewed }));
      this.#isRegistered = push === this.#push;
    } else if (msg === TOKEN_ERROR && token !== null) {
      await this.#dropped(token, answer);
    } else if (fault !== undefined || PASSING.has(msg)) {
      this.#say('closed', msg, fault ?? whyOf(answer));
    } else {
      this.#end('refused', msg, whyOf(answer));
    }
  }

  /** Returns whether a token may be shown to renew it, or is not known at the server. */
  async #isAlive(token: string): Promise<boolean> {
    const answer = await this.#line.ask('/inbox', token, null);
    const { rc, msg, fault } = answer;
    // To a token that is not known there, the server of a subscription is another site.
    if (rc === 1 || fault?.reason === 'wrong_path' || fault?.reason === 'not_json') return true;
    if (msg === TOKEN_ERROR) await this.#dropped(token, answer);
    else await this.#failed(token, answer);
    return false;
  }

  /** Says why a call failed, and forgets a token that ended. */
  async #failed(token: string, answer: Answer): Promise<void> {
    if (this.#ending !== null) return;
    if (answer.msg === TOKEN_ERROR) await this.#dropToken(token, answer);
    else this.#say('closed', answer.msg, whyOf(answer));
  }

  /**
   * Forgets a token that ended. Registers again once: two devices with one HWID would renew for
   * ever. If the server says why it ended, the device is refused, and registers no more.
   */
  async #dropToken(token: string, answer: Answer): Promise<void> {
    // A registration ends the stream of the token that it renews, before or after its own answer.
    await this.#registration;
    await this.#dropped(token, answer);
  }

  async #dropped(token: string, answer: Answer): Promise<void> {
    if ((await this.#keeper.now()).token !== token) return;
    await this.#keeper.change((state) => ({ ...state, token: null }));
    this.#isRegistered = false;
    if (answer.reason !== undefined) return this.#end('refused', answer.reason, whyOf(answer));
    if (token === this.#doubted) return;
    const nowMs = performance.now();
    if (nowMs - this.#renewedAtMs < this.#times.renewalMs) {
      const text = 'another device registers this HWID';
      this.#end('refused', text, { reason: 'other_device', text });
    }
    this.#renewedAtMs = nowMs;
  }

  /** Receives messages until the connection ends. Returns whether it worked for a while. */
  async #listen(token: string): Promise<boolean> {
    if (this.options.mode === 'poll') return await this.#poll(token);
    // The server says why the token ended.
    let last: Answer | null = null;
    const closed = await this.#line.hold(token, {
      open: () => {
        this.#say('open', '');
        void this.#inbox.sendAcks();
      },
      answer: (answer, cut) => {
        if (answer.msg === TOKEN_ERROR) {
          last = answer;
          cut();
          return;
        }
        // A message that was not handled comes again on the next stream.
        void this.#receive(answer)
          .catch(() => false)
          .then((isWhole) => (isWhole ? void this.#inbox.sendAcks() : cut()));
      },
      confirmed: (acks) => void this.#inbox.confirmed(acks),
      malformed: (acks) => void this.#inbox.confirmed(acks),
    });
    if (last !== null) {
      await this.#dropToken(token, last);
    } else {
      const { wasOpen, code, reason } = closed;
      if (wasOpen && this.#ending === null) this.#say('closed', reason || `code ${code}`);
      await this.#judge(closed, token);
    }
    return closed.wasSteady;
  }

  async #judge(closed: Closed, token: string): Promise<void> {
    if (this.#ending !== null) return;
    const { code, reason, wasOpen } = closed;
    const isStray = this.#hasStray && !closed.wasSteady;
    if (wasOpen) this.#hasStray = false;
    if (code === CLOSE_REPLACED && !isStray) {
      this.#end('replaced');
    } else if (code === CLOSE_TOKEN) {
      await this.#dropToken(token, { rc: 0, msg: TOKEN_ERROR });
    } else if (code === CLOSE_ENDED) {
      // The frame before it may be lost: the inbox has the text.
      const { rc, text, at } = await this.#line.ask('/inbox', token, null);
      const notice = { reason, ...(text && { text }), ...(at && { at }) };
      if (rc !== 1) await this.#dropToken(token, { rc, msg: TOKEN_ERROR, ...notice });
    } else if (!wasOpen) {
      this.#hasStray ||= closed.wasGivenUp;
      // A browser hides why a handshake failed; the answer of the inbox shows it.
      const isWell = await this.#fetchInbox(token);
      if (isWell) this.#say('closed', `no stream: ${reason || 'the handshake failed'}`);
    }
  }

  async #poll(token: string): Promise<boolean> {
    for (let count = 0; ; count++) {
      // The server repeats a message until it is acknowledged. The first poll does not wait.
      const isWell = (await this.#inbox.sendAcks()) && (await this.#fetchInbox(token, count > 0));
      if (!isWell || this.#ending !== null) return count > 0;
      if (count === 0) this.#say('open', '');
    }
  }

  /** Receives the messages of the inbox. Returns false, and says why, if there is no answer. */
  async #fetchInbox(given?: string, waits = false): Promise<boolean> {
    const token = given ?? (await this.#keeper.now()).token;
    if (token === null) return false;
    const seconds = waits ? this.#line.pollSeconds : 0;
    const path = `/inbox${waits ? `?wait=${seconds}` : ''}`;
    const answer = await this.#line.ask(path, token, null, seconds * 1_000);
    if (answer.rc !== 1) await this.#failed(token, answer);
    return answer.rc === 1 && (await this.#receive(answer));
  }

  /** Takes an answer of the inbox or a frame. Returns false if something of it is to come again. */
  async #receive({ rc, ended = [], data = [] }: Answer): Promise<boolean> {
    for (const notice of ended) this.#say('ended', notice.reason, whyOf(notice));
    return rc === 1 && (await this.#inbox.take(data));
  }
}

const OLD_NODE = 'This runtime has no WebSocket: use Node 20.16 or newer, or the mode "poll".';
const NO_STREAM: Why = { reason: 'no_websocket', text: OLD_NODE };

function whyOf(answer: Answer | Notice): Why {
  const { msg = '', limit, free_url: freeUrl, fault }: Partial<Answer> = answer;
  const { reason = '', text = msg, at } = answer;
  return (
    fault ?? {
      reason,
      text,
      ...(at !== undefined && { at }),
      ...(limit !== undefined && { limit }),
      // An app opens it.
      ...(freeUrl !== undefined && /^https?:\/\//i.test(freeUrl) && { freeUrl }),
    }
  );
}
