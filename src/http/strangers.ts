/**
 * Answers strangers where `server.strangers` is `quiet`: each path, host and key that is not known
 * here gets one answer, which does not mention Gatepost.
 */

import type { Clock } from '../base/clock.ts';
import { dropBody } from './request/body.ts';
import { authorityOf, Hosts } from './request/hosts.ts';

/** Settings that are read for each request, so that a change applies at once. */
export interface StrangerSettings {
  readonly strangers: 'answer' | 'quiet';
  /** The hosts of Gatepost itself, in the form of `hostName`; none: all that are of no panel. */
  readonly ownHosts: readonly string[];
}

/** The answer that the operator chose. */
export interface StrangerPage {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array<ArrayBuffer>;
}

/** The view of Gatepost that a request gets. */
export interface Exposure {
  /** True if strangers are answered quietly. */
  isQuiet: boolean;
  /** True if Gatepost itself answers at the host of the request. */
  isServed: boolean;
}

interface StrangersOptions {
  settings: StrangerSettings;
  clock: Clock;
  /** Returns the page; null: there is none now. */
  page(): StrangerPage | null;
  /** Returns whether the peer of a request is a proxy whose `X-Forwarded-*` are trusted. */
  isTrusted(request: Request): boolean;
}

/**
 * The least time that the answer takes, ms: what is known at once, and a key that a panel had to be
 * asked for, take the same time, unless the panel takes longer.
 */
export const STRANGER_MS = 100;

export class Strangers {
  readonly #hosts = new Hosts();

  constructor(private readonly options: StrangersOptions) {}

  get isQuiet(): boolean {
    return this.options.settings.strangers === 'quiet';
  }

  exposureTo(request: Request): Exposure {
    const { isQuiet } = this;
    const { isTrusted, settings } = this.options;
    if (!isQuiet || settings.ownHosts.length === 0) return { isQuiet, isServed: true };
    const authority = authorityOf(request.headers, isTrusted(request));
    const isServed = settings.ownHosts.includes(this.#hosts.find(authority)?.name ?? '');
    return { isQuiet, isServed };
  }

  /** Answers a request that began at the steady time `startMs`. */
  async answer(request: Request, startMs: number): Promise<Response> {
    const { clock, page } = this.options;
    dropBody(request);
    const restMs = startMs + STRANGER_MS - clock.steadyMs();
    if (restMs > 0) await clock.sleep(restMs);
    const chosen = page();
    if (chosen === null) return new Response(null, { status: 404 });
    const { body, headers, status } = chosen;
    return new Response(body, { status, headers });
  }
}

/** Returns an answer without its text and without headers, but for `retry-after`. */
export function bare({ status, headers }: Response): Response {
  const after = headers.get('retry-after');
  return new Response(null, { status, headers: after === null ? {} : { 'retry-after': after } });
}
