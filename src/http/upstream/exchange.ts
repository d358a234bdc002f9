/** A request to an upstream, from its start to the last byte of the response. */

import type http from 'node:http';
import { isTooFine } from '../../outgoing/slices.ts';
import { responseHeaders } from './headers.ts';
import type { Upstream } from './settings.ts';

/** The bounds of a response. */
export type Bounds = Pick<Upstream, 'timeoutMs' | 'answerBytesMax'>;

/** A request; the path includes the query. */
export interface UpstreamRequest {
  method: 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT';
  path: string;
  headers: Readonly<Record<string, string>>;
  /** The body of a POST or PUT. */
  body?: string;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
  /** Called once, at the end of the exchange; null: the response is complete. */
  onEnd(failure: Failure | null): void;
}

/** The head of a response, and its body as it arrives. */
export interface UpstreamResponse {
  status: number;
  headers: Headers;
  /** Returns the body: complete, or as a stream; null: there is none. */
  body(): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
  /**
   * Passes the parts of the body to `sees` until that returns true, while at most
   * {@link AHEAD_BYTES} have arrived; the body keeps them. Call it before `body`. Returns the
   * failure of the upstream; null: none so far.
   */
  peek(sees: (part: Uint8Array, isLast: boolean) => Promise<boolean>): Promise<Failure | null>;
  /** Ends the exchange without the rest of the response. */
  cancel(): void;
}

/** Kinds of failure before there is a response. */
export type FailureKind =
  | 'upstream_away'
  | 'upstream_slow'
  | 'upstream_malformed'
  | 'upstream_too_large'
  | 'client_left'
  | 'bad_request';

/** A failure, with a code for the log. */
export class Failure {
  constructor(
    readonly kind: FailureKind,
    readonly code: string,
    /** True if the upstream accepted the connection and closed it without a byte. */
    readonly isDropped = false,
  ) {}
}

/** A panel may write line by line, but not byte by byte. */
const PIECE_BOUNDS = { piecesFree: 4_096, pieceBytesMin: 16 };
/** Bytes that are buffered for a client; beyond them the upstream is paused. */
const AHEAD_BYTES = 128 * 1024;
/**
 * The time for which a body is buffered before it goes out, ms. Nearly every subscription is
 * complete by then: its length is known, and a failed one takes no slot.
 */
const GATHER_MS = 20;
/**
 * The time for which a client may read nothing, ms. It is long because on a slow line the kernel
 * sends a large part of its buffer before it asks for more.
 */
const UNREAD_MAX_MS = 120_000;
/** The failure of a kept connection that the upstream had closed. */
export const STALE = Symbol('stale');

export class Exchange {
  #message: http.IncomingMessage | null = null;
  /** Parts of the body that are not passed on yet. */
  #chunks: Buffer[] = [];
  #bytes = 0;
  #pieces = 0;
  #hasBody = true;
  #isComplete = false;
  #isOver = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #gathering: ReturnType<typeof setTimeout> | undefined;
  #hasBegun = false;
  #isAccepted = false;
  #failure: Failure | null = null;
  /** Continues {@link #peek}. */
  #wake: (() => void) | null = null;

  constructor(
    private readonly sent: http.ClientRequest,
    private readonly upstream: Bounds,
    private readonly request: UpstreamRequest,
    private readonly running: Set<Exchange>,
    private readonly resolve: (outcome: UpstreamResponse | Failure | typeof STALE) => void,
  ) {
    running.add(this);
    request.signal.addEventListener('abort', this.#leave);
    this.#wait();
  }

  /** Notes that the upstream has accepted the connection, TLS included. */
  accept(): void {
    this.#isAccepted = true;
  }

  /** Fails with an upstream that sends 1xx answers alone. */
  flood(): void {
    this.#settle(new Failure('upstream_malformed', 'INTERIM'));
  }

  /** Fails with a timeout. */
  stop(): void {
    this.#settle(SLOW);
  }

  /** Takes the head of the response, and waits for the start of the body. */
  receive(message: http.IncomingMessage): void {
    this.#message = message;
    const status = message.statusCode ?? 0;
    // A listener is needed, or Bun prints the error.
    message.on('error', () => this.#settle(new Failure('upstream_away', 'CUT')));
    message.on('end', () => this.#complete());
    this.#hasBody = WITH_BODY.includes(this.request.method) && status !== 204 && status !== 304;
    if (status < 200 || status > 599) {
      this.#settle(MALFORMED);
      return;
    }
    const length = Number(message.headers['content-length'] ?? 0);
    if (this.#hasBody && length > this.upstream.answerBytesMax) {
      this.#settle(new Failure('upstream_too_large', 'CONTENT_LENGTH'));
      return;
    }
    message.on('data', (chunk: Buffer) => this.#take(chunk));
    if (!this.#hasBody) this.#respond();
  }

  /** Takes the error of the request. */
  fail(fault: Error): void {
    const code = String((fault as { code?: unknown }).code ?? 'UNKNOWN');
    const isClosed = this.#message === null && CLOSED_CODES.has(code);
    const isDropped = isClosed && this.#isAccepted && this.sent.socket?.bytesRead === 0;
    // More bytes arrived than announced: the response is complete, and about to be read.
    if (this.#message?.complete) return;
    if (this.request.signal.aborted) this.#settle(LEFT);
    else if (isClosed && this.sent.reusedSocket) this.#settle(STALE);
    else if (code.startsWith('HPE_')) this.#settle(new Failure('upstream_malformed', code));
    else this.#settle(new Failure('upstream_away', code, isDropped));
  }

  /** Ends the exchange: no timer and no listener remains. */
  #end(): void {
    this.#isOver = true;
    this.running.delete(this);
    clearTimeout(this.#timer);
    clearTimeout(this.#gathering);
    this.request.signal.removeEventListener('abort', this.#leave);
    this.#wake?.();
  }

  #leave = (): void => this.#settle(LEFT);

  /** Ends the exchange with a failure, before the response or in the middle of it. */
  #settle(failure: Failure | typeof STALE): void {
    if (this.#isOver) return;
    if (failure !== STALE) this.#failure = failure;
    this.#end();
    this.sent.destroy();
    this.#controller?.error(undefined);
    this.resolve(failure);
    if (failure !== STALE) this.request.onEnd(failure);
  }

  /** Restarts the timeout of the upstream. */
  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.stop(), this.upstream.timeoutMs);
  }

  #take(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.upstream.answerBytesMax) {
      this.#settle(new Failure('upstream_too_large', 'BODY'));
      return;
    }
    this.#pieces += 1;
    if (isTooFine(this.#pieces, this.#bytes, PIECE_BOUNDS)) {
      this.#settle(new Failure('upstream_malformed', 'PIECES'));
      return;
    }
    if (this.#controller === null) {
      const isFirst = this.#chunks.push(chunk) === 1;
      if (this.#bytes >= AHEAD_BYTES) this.#begin();
      else if (isFirst) this.#gathering = setTimeout(() => this.#begin(), GATHER_MS);
      this.#wake?.();
      return;
    }
    this.#controller.enqueue(chunk);
    if ((this.#controller.desiredSize ?? 0) > 0) this.#wait();
    else this.#pause();
  }

  #complete(): void {
    if (this.#isOver) return;
    this.#isComplete = true;
    this.#end();
    this.request.onEnd(null);
    this.#controller?.close();
    if (this.#hasBody) this.#begin();
  }

  /** Answers with the part of the body that has arrived. */
  #begin(): void {
    if (this.#hasBegun || (this.#isOver && !this.#isComplete)) return;
    this.#hasBegun = true;
    if (!this.#isComplete) this.#pause();
    this.#respond();
  }

  /** Pauses the upstream until the client has read the buffered part. */
  #pause(): void {
    this.#message?.pause();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#leave, UNREAD_MAX_MS);
  }

  #respond(): void {
    const { statusCode: status = 0, rawHeaders = [] } = this.#message ?? {};
    const headers = responseHeaders(rawHeaders);
    if (headers === null) this.#settle(MALFORMED);
    // Resolves even if the exchange is over: then the response is complete.
    this.resolve(
      headers === null
        ? MALFORMED
        : {
            status,
            headers,
            body: () => this.#body(),
            cancel: this.#leave,
            peek: (sees) => this.#peek(sees),
          },
    );
  }

  async #peek(sees: Parameters<UpstreamResponse['peek']>[0]): Promise<Failure | null> {
    for (let at = 0; ; ) {
      const part = this.#chunks[at];
      if (part !== undefined) {
        at += 1;
        if (await sees(part, this.#isComplete && at === this.#chunks.length)) break;
      } else if (this.#isOver || this.#bytes >= AHEAD_BYTES) break;
      else await this.#more();
    }
    return this.#failure;
  }

  /** Waits for the next part of the body, or its end; the upstream is paused before and after. */
  async #more(): Promise<void> {
    this.#wait();
    await new Promise<void>((settle) => {
      this.#wake = settle;
      this.#message?.resume();
    });
    this.#wake = null;
    if (!this.#isOver) this.#pause();
  }

  #body(): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null {
    if (!this.#hasBody) return null;
    if (this.#isComplete) return this.#bytes === 0 ? null : Buffer.concat(this.#chunks);
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          for (const chunk of this.#chunks) controller.enqueue(chunk);
          this.#chunks = [];
          // The upstream failed while the device was admitted.
          if (this.#isOver) controller.error(undefined);
        },
        pull: () => {
          if (this.#isOver) return;
          this.#wait();
          this.#message?.resume();
        },
        cancel: this.#leave,
      },
      new ByteLengthQueuingStrategy({ highWaterMark: AHEAD_BYTES }),
    );
  }
}

const SLOW = new Failure('upstream_slow', 'TIMEOUT');
const MALFORMED = new Failure('upstream_malformed', 'HEAD');
export const UNSENDABLE = new Failure('bad_request', 'UNSENDABLE');
const LEFT = new Failure('client_left', 'ABORTED');
const WITH_BODY: readonly string[] = ['GET', 'POST', 'PUT'];
const CLOSED_CODES = new Set(['ECONNRESET', 'EPIPE']);
