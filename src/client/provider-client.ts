/**
 * A polite caller of the provider API of another server: not too often, patient with faults that
 * pass, and distrustful of what comes back. It knows the documented API and nothing of ours.
 */

export interface ProviderClientOptions {
  /** The base address; paths are appended to it. */
  url: string;
  providerCode: string;
  authKey: string;
  /** Calls begin no oftener than this. */
  callsPerSecondMax: number;
  userAgent: string;
  /** How long a call may take, ms. */
  timeoutMs: number;
  nowMs(): number;
  sleep(ms: number): Promise<void>;
  /** Ends pauses and calls under way; they then throw {@link CallFailed}. */
  signal: AbortSignal;
  /** Told when a call failed and will be made again. */
  onPause?(why: string, pauseMs: number): void;
}

/** The server cannot be used; the message is one sentence without credentials. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
}

/** How often a call is made before it has failed. */
const ATTEMPTS_MAX = 8;
/** How often `Unknown error` is believed to be a fault that passes. */
const UNKNOWN_ERRORS_MAX = 3;
/** Pauses between attempts, ms: doubled from the first to the last, each times 0.5 to 1.5. */
const PAUSE_FIRST_MS = 500;
const PAUSE_LAST_MS = 30_000;
/** A server that asks for a longer pause than this has shut us out. */
const RETRY_AFTER_MAX_MS = 10 * 60_000;
/** 5000 records with notes of 255 characters, each written as twelve, are 17 MB. */
const ANSWER_BYTES_MAX = 24 * 1024 ** 2;
const SHOWN_LENGTH_MAX = 200;

/** An attempt that may go better another time. `afterMs`: as the server asks. */
interface Again {
  why: string;
  afterMs: number | null;
}

type Answer = { data: unknown[] } | { refusal: string };

export class ProviderClient {
  readonly #options: ProviderClientOptions;
  /** The earliest moment at which the next call may begin. */
  #nextAtMs = 0;
  readonly #stopped: Promise<void>;

  constructor(options: ProviderClientOptions) {
    this.#options = options;
    const { signal } = options;
    this.#stopped = new Promise((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /**
   * The `data` of a list, or the text of a refusal. Throws {@link CallFailed} when the credentials
   * or the subscription are refused, when the server does not answer as specified, and when it
   * fails again and again.
   */
  async list(
    path: string,
    query: Readonly<Record<string, string | number>>,
  ): Promise<unknown[] | { refusal: string }> {
    // A server may have no better word for an id that is nobody's.
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

  /** Waits for this call's turn. */
  async #turn(): Promise<void> {
    const { nowMs, callsPerSecondMax } = this.#options;
    const atMs = Math.max(nowMs(), this.#nextAtMs);
    this.#nextAtMs = atMs + 1000 / callsPerSecondMax;
    await this.#sleep(atMs - nowMs());
  }

  /** A pause that the server asked for is one for all calls. */
  async #pause(why: string, attempt: number, afterMs: number | null): Promise<void> {
    if (afterMs !== null && afterMs > RETRY_AFTER_MAX_MS) {
      const minutes = Math.ceil(afterMs / 60_000);
      throw new CallFailed(`${why} and asks to wait ${minutes} minutes: try again then`);
    }
    const growing = Math.min(PAUSE_FIRST_MS * 2 ** (attempt - 1), PAUSE_LAST_MS);
    const pauseMs = Math.max(afterMs ?? 0, growing * (0.5 + Math.random()));
    const { onPause, nowMs } = this.#options;
    onPause?.(why, pauseMs);
    if (afterMs !== null) this.#nextAtMs = Math.max(this.#nextAtMs, nowMs() + afterMs);
    await this.#sleep(pauseMs);
  }

  async #sleep(ms: number): Promise<void> {
    const { signal, sleep } = this.#options;
    if (ms > 0 && !signal.aborted) await Promise.race([sleep(ms), this.#stopped]);
    if (signal.aborted) throw new CallFailed('stopped');
  }

  async #attempt(
    path: string,
    query: Readonly<Record<string, string | number>>,
  ): Promise<Answer | Again> {
    const { url, providerCode, authKey, userAgent, timeoutMs, signal } = this.#options;
    const search = new URLSearchParams({ provider_code: providerCode, auth_key: authKey });
    for (const [name, value] of Object.entries(query)) search.set(name, String(value));
    const patience = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(`${url}${path}?${search}`, {
        headers: { accept: 'application/json', 'user-agent': userAgent },
        // The credentials are in the address: no other server may get them.
        redirect: 'manual',
        signal: AbortSignal.any([signal, patience]),
      });
      const passing = this.#passing(response);
      if (passing !== null) {
        await response.body?.cancel();
        return passing;
      }
      return this.#read(path, await boundedText(response));
    } catch (error) {
      if (error instanceof CallFailed) throw error;
      if (signal.aborted) throw new CallFailed('stopped');
      if (patience.aborted) {
        return { why: `the source took longer than ${timeoutMs / 1000} s`, afterMs: null };
      }
      // The error itself may hold the address, and with it the key.
      const code = (error as { code?: unknown }).code;
      const reason = typeof code === 'string' && /^\w{1,40}$/.test(code) ? ` (${code})` : '';
      return { why: `the source cannot be reached${reason}`, afterMs: null };
    }
  }

  /** Null: the status is 200. Throws when another attempt would not help. */
  #passing(response: Response): Again | null {
    const { status, headers } = response;
    if (status === 200) return null;
    const why = `the source answers HTTP ${status}`;
    if (status === 408 || status === 429 || status >= 500) {
      return { why, afterMs: this.#retryAfterMs(headers.get('retry-after')) };
    }
    const target = URL.parse(headers.get('location') ?? '', this.#options.url);
    if (status >= 300 && status < 400 && target !== null) {
      throw new CallFailed(
        `${why} and points to ${target.origin}: if that is the right server, give its address`,
      );
    }
    throw new CallFailed(`${why}: is it the base address of the API?`);
  }

  /** Retry-After is a number of seconds or a date. */
  #retryAfterMs(value: string | null): number | null {
    if (value === null) return null;
    if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
    const atMs = Date.parse(value);
    return Number.isNaN(atMs) ? null : Math.max(0, atMs - this.#options.nowMs());
  }

  #read(path: string, text: string): Answer | Again {
    let body: { rc?: unknown; msg?: unknown; data?: unknown } | null = null;
    try {
      body = JSON.parse(text);
    } catch {
      // A proxy in between has its own pages.
    }
    if (typeof body !== 'object' || body === null || !Number.isInteger(body.rc)) {
      return { why: 'the source does not answer as this API does', afterMs: null };
    }
    if (body.rc === 1) {
      if (Array.isArray(body.data)) return { data: body.data };
      throw new CallFailed(`the source answers ${path} without a list`);
    }
    const refusal = this.#shown(body.msg);
    if (refusal === 'Auth error') {
      throw new CallFailed('the source does not take these credentials (Auth error)');
    }
    if (refusal === 'This feature requires an active subscription') {
      throw new CallFailed(
        'the subscription is not active at the source, which tells nothing then',
      );
    }
    return { refusal };
  }

  /** What a foreign server says, fit for a terminal. */
  #shown(text: unknown): string {
    if (typeof text !== 'string') return 'nothing';
    const line = text.replaceAll(this.#options.authKey, '***').replace(/[^\x20-\x7e]+/g, ' ');
    return line.slice(0, SHOWN_LENGTH_MAX);
  }
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > ANSWER_BYTES_MAX) {
      throw new CallFailed(`the source sends more than ${ANSWER_BYTES_MAX} bytes for one list`);
    }
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
