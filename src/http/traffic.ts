/**
 * The answers: counted for the monitor and, if the operator wants it, one line in the log for each
 * request. Neither says more of a request than its endpoint, never its path or query: a key can be
 * in both.
 */

import { Counts, Histogram } from '../counts.ts';
import type { Log } from '../log.ts';
import type { TrustedProxies } from './request/address.ts';
import { RequestIds } from './request/request-id.ts';

/** Bounds of the histogram, s: from a look-up in memory to a commit on a tired disk. */
const SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const;

/** The name under which everything is counted that asks for no endpoint. */
const OTHER = 'other';
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The answers of one endpoint since the start. */
export class EndpointTally {
  /** The answers by the key of the message. */
  readonly answers = new Counts();
  readonly seconds = new Histogram(SECONDS);

  constructor(readonly endpoint: string) {}
}

/** Settings that are looked at for each request, so that a change holds at once. */
export interface TrafficSettings {
  /** Networks whose `X-Forwarded-For` and `X-Request-Id` are believed. */
  readonly trustedProxies: TrustedProxies;
  /** True if each request is a line in the log. */
  readonly logRequests: boolean;
}

interface TrafficOptions {
  log: Log;
  settings: TrafficSettings;
  /** The address of a request's peer; IPv4 in its plain form. */
  peerOf(request: Request): string;
  /** The address of the client, behind whatever proxies are trusted. */
  addressOf(request: Request): string;
}

/** A request that is answered. */
export interface Answered {
  request: Request;
  /** The key of the message, or the reason that stands for it. */
  says: string;
  /** The time that it took, ms; null where nothing takes time. */
  tookMs: number | null;
  /** The provider, once its credentials have proved good. */
  providerCode?: string | undefined;
  /** The id under which the request is in the log already. */
  requestId?: string | undefined;
}

export class Traffic {
  readonly #tallies = new Map<string, EndpointTally>();
  readonly #ids: RequestIds;

  constructor(private readonly options: TrafficOptions) {
    this.#ids = new RequestIds(options.settings);
  }

  /** The tally of the endpoint with this path in the table; null for everything else. */
  tallyOf(path: string | null): EndpointTally {
    const endpoint = path ?? OTHER;
    const tally = this.#tallies.get(endpoint) ?? new EndpointTally(endpoint);
    this.#tallies.set(endpoint, tally);
    return tally;
  }

  get tallies(): Iterable<EndpointTally> {
    return this.#tallies.values();
  }

  requestIdOf(request: Request): string {
    return this.#ids.of(this.options.peerOf(request), request);
  }

  /** Counts an answer and writes its line; returns the id that the log has it under, if any. */
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
