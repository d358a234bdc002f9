/** Calls and streams of a case, with bounds on time and size. */

import { readJsonObject } from '../core/json-input.ts';
import { isRefused } from '../core/outcome.ts';
import { Watch } from '../peer/watch.ts';

/** The longest time that an answer, an opened stream or a frame may take, ms. */
const PATIENCE_MS = 20_000;
/** 5000 records with notes of 255 characters, each of them escaped as twelve, are 17 MB. */
const BOUNDS = { bytesMax: 24 * 1024 ** 2, valuesMax: 200_000 };
/** The most frames of a stream; together they have at most the bytes of an answer. */
const FRAMES_MAX = 1_000;

/** The fault of a missing or unreadable answer; the message is one sentence without the address. */
export class NoAnswer extends Error {
  constructor(
    message: string,
    readonly from: 'answer' | 'stream' = 'answer',
  ) {
    super(message);
  }
}

export interface Request {
  method: string;
  /** The URL with the query. */
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
}

interface CaseAnswer {
  status: number;
  headers: Headers;
  /** The object in the JSON; a text if it is none; null: empty. */
  body: unknown;
}

/** Makes a call. Throws {@link NoAnswer} if no readable answer comes. */
export async function ask({ method, url, headers, body }: Request): Promise<CaseAnswer> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  try {
    const response = await fetch(url, {
      method,
      headers,
      signal: patience,
      // As bytes: `fetch` would add a content type to a text.
      ...(body !== null && { body: new TextEncoder().encode(body) }),
      // The address has the credentials, so a redirect is not followed.
      redirect: 'manual',
    });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > BOUNDS.bytesMax) throw new NoAnswer(`more than ${BOUNDS.bytesMax} bytes`);
      chunks.push(chunk);
    }
    return { status: response.status, headers: response.headers, body: read(chunks) };
  } catch (error) {
    if (error instanceof NoAnswer) throw error;
    if (patience.aborted) throw new NoAnswer(`no answer within ${PATIENCE_MS / 1000} s`);
    // The error may hold the address, and with it the key.
    const code = (error as { code?: unknown }).code;
    throw new NoAnswer(typeof code === 'string' ? `no answer (${code.slice(0, 40)})` : 'no answer');
  }
}

function read(chunks: readonly Uint8Array[]): unknown {
  const bytes = Buffer.concat(chunks);
  if (bytes.length === 0) return null;
  const object = readJsonObject(bytes, BOUNDS, 'the answer');
  return isRefused(object) ? bytes.toString('utf8') : object;
}

/** A stream of a device. */
export class Stream {
  readonly #frames: unknown[] = [];
  readonly #socket: WebSocket;
  #closed: number | null = null;
  #bytes = 0;
  readonly #watch = new Watch();

  constructor(url: string, headers: Readonly<Record<string, string>>, protocols: string[]) {
    this.#socket = new WebSocket(url.replace(/^http/, 'ws'), { headers, protocols });
    this.#socket.onmessage = ({ data }) => {
      this.#bytes += Buffer.byteLength(data);
      const isRoom = this.#frames.length < FRAMES_MAX && this.#bytes <= BOUNDS.bytesMax;
      // Drops all that the server sends beyond the bound.
      if (!isRoom) this.#socket.terminate();
      else if (typeof data === 'string') this.#frames.push(read([Buffer.from(data)]));
      this.#watch.look();
    };
    this.#socket.onclose = ({ code }) => {
      this.#closed = code;
      this.#watch.look();
    };
    this.#socket.onopen = () => this.#watch.look();
  }

  /** Settles when the stream is open. Throws {@link NoAnswer} if the server refuses it. */
  async opened(): Promise<void> {
    await this.#until(() => this.#socket.readyState === WebSocket.OPEN, 'the stream did not open');
  }

  /** Returns the next frame. Throws {@link NoAnswer} if none comes. */
  async frame(): Promise<unknown> {
    await this.#until(() => this.#frames.length > 0, 'no frame came');
    return this.#frames.shift();
  }

  /** Returns the close code of the server. Throws {@link NoAnswer} if the stream stays open. */
  async closed(): Promise<number> {
    await this.#until(() => this.#closed !== null, 'the stream stayed open');
    return this.#closed ?? 0;
  }

  send(frame: unknown): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  end(): void {
    this.#socket.close();
  }

  async #until(isSo: () => boolean, otherwise: string): Promise<void> {
    const hasEnded = () => this.#closed !== null;
    const isInTime = await this.#watch.until(() => isSo() || hasEnded(), PATIENCE_MS);
    if (isSo()) return;
    if (!isInTime) throw new NoAnswer(otherwise, 'stream');
    throw new NoAnswer(`${otherwise}: it ended with ${this.#closed}`);
  }
}
