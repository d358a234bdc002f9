/**
 * Counts answers for the monitor and, with `log.requests`, logs a line for each request. Neither
 * shows more of a request than its endpoint: path and query can hold a key. A guess, an answer that
 * reveals that a key, token or code is wrong, counts as a failed authentication too, and is delayed
 * beyond the limit of a minute.
 */

import type { Clock } from '../base/clock.ts';
import { Counts, Histogram } from '../base/counts.ts';
import type { Log } from '../base/log.ts';
import type { Maybe } from '../core/port/maybe.ts';
import type { AuthFailures } from './bound/auth-failures.ts';
import type { TrustedProxies } from './request/address.ts';
import { dropBody } from './request/body.ts';

/** Bounds of the histogram, s: from a look-up in memory to a commit on a slow disk. */
const SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const;

/** The name under which requests for no endpoint are counted. */
const OTHER = 'other';
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/**
 * The ids that proxies generate: hexadecimal digits and hyphens, as in a UUID. A wider form would
 * admit a key that a client sent as an id and a proxy passed on.
 */
const FOREIGN_ID = /^[0-9a-f][0-9a-f-]{7,63}$/i;

/** The answers of one endpoint since the start. */
export class EndpointTally {
  /** The answers by the key of the message. */
  readonly answers = new Counts();
  readonly seconds = new Histogram(SECONDS);

  constructor(readonly endpoint: string) {}
}

/** Settings that are read for each request, so that a change applies at once. */
export interface TrafficSettings {
  /** Networks whose `X-Forwarded-For` and `X-Request-Id` are trusted. */
  readonly trustedProxies: TrustedProxies;
  /** True if each request is logged. */
  readonly logRequests: boolean;
}

interface TrafficOptions {
  clock: Clock;
  log: Log;
  failures: Pick<AuthFailures, 'record'>;
  settings: TrafficSettings;
  /** Returns whether the peer is a trusted proxy. */
  isTrusted(request: Request): boolean;
  /** Returns the address of the client, behind all trusted proxies. */
  addressOf(request: Request): string;
  /** Returns the address under which the client of a request is counted. */
  clientOf(request: Request): string;
  /** Hears of each request that is a guess. */
  onGuess(request: Request): void;
}

/** A request with its answer. */
interface Answered {
  request: Request;
  /** The key of the message, or a more precise reason. */
  says: string;
  /** The time that the answer took, ms; null: not measured. */
  tookMs: number | null;
  /** The provider, once authenticated. */
  providerCode?: string | undefined;
  /** The id under which the request was logged before. */
  requestId?: string | undefined;
}

/** A decided answer. */
interface Decided extends Omit<Answered, 'tookMs'> {
  /** The steady time at which the request arrived, ms. */
  startMs: number;
  isGuess: boolean;
  /** The account that is guessed at; null: none. */
  account?: string | null;
  /** The code of a link that a guess has; absent: none. */
  code?: unknown;
  /** True: the key of a provider is guessed at. */
  isKey?: boolean;
}

export class Traffic {
  readonly #tallies = new Map<string, EndpointTally>();
  /** Distinguishes the ids of this process from those of others and of earlier runs. */
  readonly #idPrefix = crypto.randomUUID().slice(0, 8);
  #idCount = 0;

  constructor(private readonly options: TrafficOptions) {}

  /** Returns the tally of the endpoint with this path; null stands for all other paths. */
  tallyOf(path: string | null): EndpointTally {
    const endpoint = path ?? OTHER;
    const tally = this.#tallies.get(endpoint) ?? new EndpointTally(endpoint);
    this.#tallies.set(endpoint, tally);
    return tally;
  }

  get tallies(): Iterable<EndpointTally> {
    return this.#tallies.values();
  }

  /** Returns the id that a trusted proxy gave a request, else a new one. */
  requestIdOf(request: Request): string {
    const isTrusted = this.options.isTrusted(request);
    const foreign = isTrusted ? (request.headers.get('x-request-id') ?? '') : '';
    if (FOREIGN_ID.test(foreign)) return foreign;
    this.#idCount += 1;
    return `${this.#idPrefix}-${this.#idCount}`;
  }

  /**
   * The end of each answer: counts it, and delays a guess. Returns its id in the log, if any. The
   * time that is counted does not include the delay.
   */
  conclude(
    tally: EndpointTally,
    {
      request,
      says,
      startMs,
      isGuess,
      account = null,
      code,
      isKey = false,
      providerCode,
      requestId: id,
    }: Decided,
  ): Maybe<string | undefined> {
    const { clientOf, clock, onGuess } = this.options;
    if (isGuess) onGuess(request);
    const tookMs = clock.steadyMs() - startMs;
    const requestId = this.count(tally, { request, says, tookMs, providerCode, requestId: id });
    const delay = isGuess ? this.guessed(clientOf(request), { account, code, isKey }) : undefined;
    if (delay === undefined) return requestId;
    dropBody(request);
    return delay.then(() => requestId);
  }

  /** Counts a guess of a client. Returns its delay; undefined: there is none. */
  guessed(
    client: string,
    guess: Parameters<AuthFailures['record']>[2] = {},
  ): Promise<void> | undefined {
    const { clock, failures } = this.options;
    const delayMs = failures.record(client, clock.nowMs(), guess);
    return delayMs === 0 ? undefined : clock.sleep(delayMs);
  }

  /** Counts an answer and logs its line; returns the id of the request in the log, if any. */
  count(tally: EndpointTally, answered: Answered): string | undefined {
    tally.answers.add(answered.says);
    if (answered.tookMs !== null) tally.seconds.observe(answered.tookMs / 1000);
    return this.options.settings.logRequests ? this.#write(tally, answered) : answered.requestId;
  }

  #write({ endpoint }: EndpointTally, answered: Answered): string {
    const { request, says, tookMs, providerCode } = answered;
    const id = answered.requestId ?? this.requestIdOf(request);
    this.options.log.info('request', {
      id,
      method: METHODS.has(request.method) ? request.method : OTHER,
      path: endpoint,
      answer: says,
      ...(tookMs !== null && { ms: Math.round(tookMs * 100) / 100 }),
      client: this.options.addressOf(request),
      ...(providerCode !== undefined && { provider: providerCode }),
    });
    return id;
  }
}
