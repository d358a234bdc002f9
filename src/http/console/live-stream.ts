/** One open stream of the console: an answer of server-sent events. */

import type { Change } from '../../core/changes.ts';
import type { Provider } from '../../core/port/provider.ts';

/** The interval of beats: proxies keep the connection, and a page sees that it lives, ms. */
const BEAT_MS = 20_000;
/** The age at which a stream ends and the page opens another, perhaps at another node, ms. */
const AGE_MAX_MS = 1_800_000;
/** The pause that the server asks of a page before it reconnects, ms. */
const RETRY_MS = 2_000;

/** The facts of a stream. */
interface StreamFacts {
  provider: Provider;
  /** The session and its owner, as hashes, by which streams are counted. */
  sessionId: number;
  owner: string;
  /** The token of the session, to check the right again. */
  token: string | null;
}

type Controller = ReadableStreamDirectController;

export class LiveStream {
  isOver = false;
  /** Time of the last check of session and role, ms of the steady clock. */
  checkedAtMs: number;
  /** True: the store has committed since that check. */
  isUnsure = false;
  #beatAtMs: number;
  #controller: Controller | null = null;
  /** The last write, while the client has not read enough to take it. */
  #unread: Promise<unknown> | null = null;
  #finish: () => void = () => {};

  constructor(
    readonly of: StreamFacts,
    private readonly beganAtMs: number,
    private readonly onEnd: () => void,
  ) {
    this.checkedAtMs = beganAtMs;
    this.#beatAtMs = beganAtMs;
  }

  /** The body of the answer. */
  body(): ReadableStream {
    return new ReadableStream({
      type: 'direct',
      pull: (controller: Controller) => {
        if (this.isOver) return this.#close(controller);
        this.#controller = controller;
        this.#write(`retry: ${RETRY_MS}\n\n`);
        return new Promise<void>((resolve) => {
          this.#finish = resolve;
        });
      },
    });
  }

  /** Sends an event. Ends the stream of a client that does not read. */
  send(event: Change | { isOver: true }): void {
    this.#write(`data: ${JSON.stringify(event)}\n\n`);
  }

  /** Keeps the connection open; ends a stream that reached its greatest age. */
  beat(nowMs: number): void {
    if (nowMs - this.beganAtMs >= AGE_MAX_MS) this.end();
    if (nowMs - this.#beatAtMs < BEAT_MS) return;
    this.#beatAtMs = nowMs;
    // An event, and no comment: a page cannot see those.
    this.#write('event: beat\ndata: 0\n\n');
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.onEnd();
    if (this.#controller !== null) void this.#close(this.#controller);
    this.#finish();
  }

  #write(text: string): void {
    if (this.isOver) return;
    try {
      if (this.#unread !== null) throw new Error('the client does not read');
      const written = this.#controller?.write(text) as number | Promise<number> | undefined;
      void this.#controller?.flush();
      if (written instanceof Promise) {
        this.#unread = written.then(
          () => {
            this.#unread = null;
          },
          () => this.end(),
        );
      }
    } catch {
      this.end();
    }
  }

  async #close(controller: Controller): Promise<void> {
    try {
      await controller.end();
    } catch {
      // The connection is closed already.
    }
  }
}
