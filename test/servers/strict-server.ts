/**
 * A server over TLS, HTTP/2 and (where the real one has it) HTTP/1.1, by the implementation of the
 * runtime: nghttp2 in Node. It asks a service for each answer, and misbehaves on command.
 */

import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  constants as h2,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { type Answer, type Exchange, type Outcome, type Service, Violation } from './exchange.ts';
import { Ledger } from './ledger.ts';
import { type Behaviour, type Misdeed, Temper } from './misdeed.ts';

export interface ServerConfig {
  cert: string;
  key: string;
  /** HTTP/2 alone. */
  h2Only: boolean;
  maxConcurrentStreams: number;
}

const BODY_BYTES_MAX = 1024 * 1024;
/** After a GOAWAY the connection stays for so long, ms. */
const GOAWAY_MS = 50;

const NONE: Outcome = {
  answer: { status: 500 },
  to: null,
  id: null,
  content: null,
  delivers: false,
};

export class StrictServer {
  readonly ledger = new Ledger();
  readonly #temper = new Temper();
  readonly #server: Http2SecureServer;
  readonly #sockets = new Map<number, Socket>();
  /** Numbers of connections by the client's port. */
  readonly #numbers = new Map<number, number>();
  #resetting: NodeJS.Timeout | null = null;
  /** By how much its clock is ahead, s. */
  aheadS = 0;

  constructor(
    private readonly service: Service,
    { cert, key, h2Only, maxConcurrentStreams }: ServerConfig,
  ) {
    this.#server = createSecureServer(
      { cert, key, allowHTTP1: !h2Only, settings: { maxConcurrentStreams } },
      (request, response) => void this.#serve(request, response),
    );
    // What a client that was reset makes of its connection is its own business.
    this.#server.on('sessionError', () => {});
    this.#server.on('tlsClientError', () => {});
    this.#server.on('connection', (socket: Socket) => this.#keep(socket));
  }

  /** Listens on a free port, or this one; returns the port. */
  async listen(port = 0): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    return this.port;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Throws for a refusal that the service never gives. */
  behave(behaviour: Behaviour): void {
    const { next = [], to = {}, some = [], always = [] } = behaviour;
    for (const misdeed of [
      next,
      Object.values(to),
      some.map((one) => one.misdeed),
      always,
    ].flat()) {
      if (misdeed.kind === 'refuse') this.service.refusal(misdeed.name);
    }
    this.#temper.set(behaviour);
    if (this.#resetting !== null) clearInterval(this.#resetting);
    const { resetEveryMs } = behaviour;
    this.#resetting =
      resetEveryMs === undefined ? null : setInterval(() => this.resetAll(), resetEveryMs);
  }

  /** Resets every TCP connection. */
  resetAll(): void {
    for (const socket of this.#sockets.values()) socket.resetAndDestroy();
  }

  #keep(socket: Socket): void {
    this.ledger.connections += 1;
    this.ledger.open += 1;
    const number = this.ledger.connections;
    this.#sockets.set(number, socket);
    this.#numbers.set(socket.remotePort ?? 0, number);
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#sockets.delete(number);
      this.ledger.open -= 1;
    });
  }

  async #serve(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    this.ledger.begin();
    response.on('close', () => this.ledger.end());
    request.on('error', () => {});
    response.on('error', () => {});
    const stream = streamOf(response);
    stream?.on('error', () => {});
    const body = await readBody(request);
    if (body === null) return;
    const exchange = this.#exchangeOf(request, body);
    const outcome = this.#ask(exchange);
    const misdeed = this.#temper.pick(outcome.to);
    const answer = misdeed === null ? outcome.answer : this.#answerOf(misdeed, outcome);
    const spared = misdeed === null || misdeed.kind === 'goaway-after';
    const delivered = outcome.delivers && (spared || ('delivers' in misdeed && !!misdeed.delivers));
    this.#note(exchange, outcome, misdeed, answer, delivered);
    const { delayMs } = this.#temper;
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    const reset = () => this.#sockets.get(exchange.connection)?.resetAndDestroy();
    if (misdeed === null) reply(response, answer);
    else misbehave(misdeed, response, answer, reset);
  }

  #ask(exchange: Exchange): Outcome {
    try {
      return this.service.handle(exchange);
    } catch (error) {
      if (error instanceof Violation) {
        if (error.isBreach) this.ledger.violate(error.message);
        return { ...NONE, answer: error.answer };
      }
      this.ledger.violate(`the service threw: ${String(error)}`);
      return NONE;
    }
  }

  #answerOf(misdeed: Misdeed, { answer }: Outcome): Answer {
    if (misdeed.kind === 'refuse') {
      const refusal = this.service.refusal(misdeed.name);
      const { retryAfter } = misdeed;
      if (retryAfter === undefined) return refusal;
      return { ...refusal, headers: { ...refusal.headers, 'retry-after': retryAfter } };
    }
    return misdeed.kind === 'answer' ? misdeed : answer;
  }

  #exchangeOf(request: Http2ServerRequest, body: Buffer): Exchange {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.headers)) {
      if (!name.startsWith(':')) headers[name] = String(value);
    }
    return {
      method: request.method,
      path: request.url,
      headers,
      body,
      protocol: request.httpVersionMajor === 2 ? 'h2' : 'h1',
      connection: this.#numbers.get(request.socket.remotePort ?? 0) ?? 0,
      nowS: Date.now() / 1000 + this.aheadS,
    };
  }

  #note(
    { headers, path, body, protocol, connection }: Exchange,
    { to, id, content }: Outcome,
    misdeed: Misdeed | null,
    { status }: Answer,
    delivered: boolean,
  ): void {
    const isWords = misdeed === null || misdeed.kind === 'refuse' || misdeed.kind === 'answer';
    const answer = isWords ? String(status) : misdeed.kind;
    const brief = { to, id, answer, delivered, protocol };
    this.ledger.note(() => {
      const whole = { content, headers, path, connection, body: body.toString('base64') };
      return { atMs: Date.now(), ...brief, ...whole };
    }, brief);
  }
}

function streamOf(response: Http2ServerResponse): ServerHttp2Stream | null {
  // A response of HTTP/1.1 comes through the same door without one.
  return response.stream ?? null;
}

/** Null: the client left, or sends too much. */
function readBody(request: Http2ServerRequest): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_BYTES_MAX) chunks.push(chunk);
    });
    request.on('end', () => resolve(size <= BODY_BYTES_MAX ? Buffer.concat(chunks) : null));
    request.on('close', () => resolve(null));
  });
}

function reply(response: Http2ServerResponse, { status, headers = {}, body = '' }: Answer): void {
  if (response.destroyed || streamOf(response)?.destroyed) return;
  response.writeHead(status, headers);
  response.end(body);
}

/** Acts out a misdeed that is more than another answer. */
function misbehave(
  misdeed: Misdeed,
  response: Http2ServerResponse,
  answer: Answer,
  reset: () => void,
): void {
  const stream = streamOf(response);
  if (stream?.destroyed) return;
  const { kind } = misdeed;
  if (kind === 'refuse' || kind === 'answer') reply(response, answer);
  else if (kind === 'reset-connection') reset();
  else if (kind === 'reset-stream') {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"half":');
    // Not before the half is on its way.
    setTimeout(() => {
      if (stream === null) reset();
      else stream.close(h2.NGHTTP2_INTERNAL_ERROR);
    }, 5);
  } else if (kind === 'drip') {
    response.writeHead(200, {});
    const timer = setInterval(() => response.write(' '), misdeed.everyMs);
    response.on('close', () => clearInterval(timer));
  } else if (kind === 'huge') {
    response.writeHead(misdeed.status ?? 200, {});
    writeMuch(response, misdeed.bytes);
  } else if (kind === 'goaway' || kind === 'goaway-after') goAway(kind, response, answer, reset);
}

function goAway(
  kind: 'goaway' | 'goaway-after',
  response: Http2ServerResponse,
  answer: Answer,
  reset: () => void,
): void {
  const stream = streamOf(response);
  const session = stream?.session;
  if (stream === null || session === undefined) {
    // HTTP/1.1 has no such word: the connection closes.
    if (kind === 'goaway-after') reply(response, answer);
    else reset();
    return;
  }
  const last = kind === 'goaway-after' ? stream.id : Math.max((stream.id ?? 1) - 2, 0);
  const reason = Buffer.from(JSON.stringify({ reason: 'Shutdown' }));
  session.goaway(h2.NGHTTP2_NO_ERROR, last ?? 0, reason);
  if (kind === 'goaway-after') reply(response, answer);
  setTimeout(() => session.destroy(), GOAWAY_MS);
}

function writeMuch(response: Http2ServerResponse, bytes: number): void {
  const chunk = Buffer.alloc(16 * 1024, 0x20);
  let left = bytes;
  const more = () => {
    while (left > 0) {
      left -= chunk.length;
      if (!response.write(chunk)) {
        response.once('drain', more);
        return;
      }
    }
    response.end();
  };
  more();
}
