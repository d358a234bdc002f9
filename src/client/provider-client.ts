/**
 * A client of the provider API of another server, with a bounded rate, retries after temporary
 * failures, and bounds on all answers. Uses only the documented API.
 */

import { unlessAborted } from '../base/deadline.ts';
import { counted } from '../core/counted.ts';
import { type JsonBounds, readJsonObject } from '../core/json-input.ts';
import { isRefused } from '../core/outcome.ts';

export interface ProviderClientOptions {
  /** The base URL; paths are appended to it. */
  url: string;
  providerCode: string;
  authKey: string;
  /** Calls that start per second. */
  callsPerSecondMax: number;
  userAgent: string;
  /** The time limit of a call, ms. */
  timeoutMs: number;
  nowMs(): number;
  sleep(ms: number): Promise<void>;
  /** Ends pauses and calls in progress; they throw {@link CallFailed}. */
  signal: AbortSignal;
  /** Called when a call failed and is retried after a pause. */
  onPause?(why: string, pauseMs: number): void;
}

/** A failure that no retry can fix; the message is one sentence without credentials. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
}

const ATTEMPTS_MAX = 8;
/** How often `Unknown error` is retried as a temporary fault. */
const UNKNOWN_ERRORS_MAX = 3;
/** Pauses between attempts, ms: doubled from the first to the last, each times 0.5 to 1.5. */
const PAUSE_FIRST_MS = 500;
const PAUSE_LAST_MS = 30_000;
/** A server that asks for a longer pause has locked the client out, ms. */
const RETRY_AFTER_MAX_MS = 10 * 60_000;
/** 5000 records with notes of 255 characters, each written as twelve, are 17 MB. */
const LIST_BOUNDS: JsonBounds = { bytesMax: 24 * 1024 ** 2, valuesMax: 200_000 };
/** The bounds of one link, or of its HWIDs, 100 at most: several such calls run at once. */
const PART_BOUNDS: JsonBounds = { bytesMax: 1024 ** 2, valuesMax: 10_000 };
const SHOWN_LENGTH_MAX = 200;
const BASE_ADDRESS = 'is it the base URL of the API?';

/** A temporary failure; the server may ask for a pause of `afterMs`. */
interface Again {
  why: string;
  afterMs: number | null;
}

type Query = Readonly<Record<string, string | number>>;
type ProviderAnswer = { data: unknown[] } | { refusal: string };

export class ProviderClient {
  /** The earliest start of the next call. */
  #nextAtMs = 0;
  /** False until the first answer of this API: a failure before it hints at a mistyped URL. */
  #hasAnswered = false;

  constructor(private readonly options: ProviderClientOptions) {}

  /**
   * Returns the `data` of a list, or the text of a refusal. Throws {@link CallFailed} if the
   * credentials or the subscription are refused, if an answer is not as specified, and after
   * {@link ATTEMPTS_MAX} failures.
   */
  async list(path: string, query: Query): Promise<unknown[] | { refusal: string }> {
    // A server may answer an unknown id with this text.
    let faultsLeft = query['id'] === undefined ? UNKNOWN_ERRORS_MAX : 1;
    for (let attempt = 1; ; attempt++) {
      await this.#turn();
      const got = await this.#attempt(path, query);
      if ('data' in got) return got.data;
      if ('refusal' in got) {
        if (got.refusal !== 'Unknown error' || --faultsLeft === 0) return got;
      }
      const why = 'why' in got ? got.why : `the source answers ${got.refusal}`;
      if (attempt >= ATTEMPTS_MAX) throw new CallFailed(`${why} (${path}, ${attempt} attempts)`);
      await this.#pause(why, attempt, 'afterMs' in got ? got.afterMs : null);
    }
  }

  /** Waits until the next call may start. */
  async #turn(): Promise<void> {
    const { nowMs, callsPerSecondMax } = this.options;
    const atMs = Math.max(nowMs(), this.#nextAtMs);
    this.#nextAtMs = atMs + 1000 / callsPerSecondMax;
    await this.#sleep(atMs - nowMs());
  }

  /** Waits before a retry. A pause that the server asked for delays all calls. */
  async #pause(why: string, attempt: number, afterMs: number | null): Promise<void> {
    if (afterMs !== null && afterMs > RETRY_AFTER_MAX_MS) {
      const minutes = Math.ceil(afterMs / 60_000);
      throw new CallFailed(`${why} and asks to wait ${counted(minutes, 'minute')}: try again then`);
    }
    const growing = Math.min(PAUSE_FIRST_MS * 2 ** (attempt - 1), PAUSE_LAST_MS);
    const pauseMs = Math.max(afterMs ?? 0, growing * (0.5 + Math.random()));
    const { onPause, nowMs } = this.options;
    onPause?.(why, pauseMs);
    if (afterMs !== null) this.#nextAtMs = Math.max(this.#nextAtMs, nowMs() + afterMs);
    await this.#sleep(pauseMs);
  }

  async #sleep(ms: number): Promise<void> {
    const { signal, sleep } = this.options;
    if (ms > 0) await unlessAborted(signal, sleep(ms));
    if (signal.aborted) throw new CallFailed('stopped');
  }

  async #attempt(path: string, query: Query): Promise<ProviderAnswer | Again> {
    const { url, providerCode, authKey, userAgent, timeoutMs, signal } = this.options;
    const search = new URLSearchParams({ provider_code: providerCode, auth_key: authKey });
    for (const [name, value] of Object.entries(query)) search.set(name, String(value));
    const patience = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(`${url}${path}?${search}`, {
        headers: { accept: 'application/json', 'user-agent': userAgent },
        // The URL has the credentials, so a redirect is not followed.
        redirect: 'manual',
        signal: AbortSignal.any([signal, patience]),
      });
      const passing = this.#passing(response);
      if (passing !== null) {
        await response.body?.cancel();
        return passing;
      }
      const bounds = boundsOf(query);
      return this.#read(path, response.status, await boundedBytes(response, bounds), bounds);
    } catch (error) {
      if (error instanceof CallFailed) throw error;
      if (signal.aborted) throw new CallFailed('stopped');
      if (patience.aborted) {
        return this.#again(`the source took longer than ${timeoutMs / 1000} s`, 'is it there?');
      }
      // The error may contain the URL, and with it the key.
      const code = (error as { code?: unknown }).code;
      const reason = typeof code === 'string' && /^\w{1,40}$/.test(code) ? ` (${code})` : '';
      return this.#again(`the source cannot be reached${reason}`, 'is its address right?');
    }
  }

  /** Returns a failure worth a retry; throws before the first answer, with a hint. */
  #again(why: string, question: string): Again {
    if (!this.#hasAnswered) throw new CallFailed(`${why}: ${question}`);
    return { why, afterMs: null };
  }

  /** Returns a temporary failure by status; null: the answer can be read. Throws for a redirect. */
  #passing(response: Response): Again | null {
    const { status, headers } = response;
    const why = `the source answers HTTP ${status}`;
    if (status === 408 || status === 429 || status >= 500) {
      return { why, afterMs: this.#retryAfterMs(headers.get('retry-after')) };
    }
    const target = URL.parse(headers.get('location') ?? '', this.options.url);
    if (status >= 300 && status < 400 && target !== null) {
      const origin = target.origin.slice(0, SHOWN_LENGTH_MAX);
      throw new CallFailed(
        `${why} and points to ${origin}: if that is the right server, give its URL`,
      );
    }
    return null;
  }

  /** Retry-After is a number of seconds or a date. */
  #retryAfterMs(value: string | null): number | null {
    if (value === null) return null;
    if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
    const atMs = Date.parse(value);
    return Number.isNaN(atMs) ? null : Math.max(0, atMs - this.options.nowMs());
  }

  #read(
    path: string,
    status: number,
    bytes: Uint8Array,
    bounds: JsonBounds,
  ): ProviderAnswer | Again {
    const read = readJsonObject(bytes, bounds, `what the source answers to ${path}`);
    if (isRefused(read) && read.says === 'over_bounds') throw new CallFailed(read.detail);
    const body = !isRefused(read) && Number.isInteger(read['rc']) ? read : null;
    // Earlier versions of the API answered refusals with other statuses.
    if (body === null && status !== 200) {
      const question = this.#hasAnswered ? '' : `: ${BASE_ADDRESS}`;
      throw new CallFailed(`the source answers HTTP ${status} to ${path}${question}`);
    }
    if (body === null) {
      return this.#again('the source does not answer like this API', BASE_ADDRESS);
    }
    this.#hasAnswered = true;
    if (body['rc'] === 1 && status < 400) {
      if (Array.isArray(body['data'])) return { data: body['data'] };
      throw new CallFailed(`the answer of the source to ${path} has no list`);
    }
    const refusal = this.#shown(body['msg']);
    if (refusal === 'This feature requires an active subscription') {
      throw new CallFailed('the subscription is not active at the source, so it returns no data');
    }
    if (refusal === 'Auth error' || status === 401 || status === 403) {
      const how = status === 200 ? refusal : `HTTP ${status}, ${refusal}`;
      throw new CallFailed(`the source rejects these credentials (${how})`);
    }
    return { refusal };
  }

  /** Returns a text of the other server, safe for a terminal. */
  #shown(text: unknown): string {
    if (typeof text !== 'string') return 'nothing';
    const line = text.replaceAll(this.options.authKey, '***').replace(/[^\x20-\x7e]+/g, ' ');
    return line.slice(0, SHOWN_LENGTH_MAX);
  }
}

function boundsOf(query: Query): JsonBounds {
  const isPart = query['id'] !== undefined || query['install_code'] !== undefined;
  return isPart ? PART_BOUNDS : LIST_BOUNDS;
}

async function boundedBytes(response: Response, { bytesMax }: JsonBounds): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > bytesMax) {
      throw new CallFailed(`the source sends more than ${bytesMax} bytes for one list`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
