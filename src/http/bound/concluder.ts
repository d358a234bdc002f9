/**
 * The end of each answer: it is counted. A guess, an answer that reveals that a key, token or code
 * is wrong, counts as a failed authentication too, and is delayed beyond the limit of a minute.
 */

import type { Clock } from '../../base/clock.ts';
import type { Maybe } from '../../core/port/maybe.ts';
import { dropBody } from '../request/body.ts';
import type { EndpointTally, Traffic } from '../traffic.ts';
import type { AuthFailures } from './auth-failures.ts';

interface Deps {
  clock: Clock;
  traffic: Pick<Traffic, 'count'>;
  failures: Pick<AuthFailures, 'record'>;
  /** Returns the address under which the client of a request is counted. */
  clientOf(request: Request): string;
}

/** A decided answer. */
interface Decided {
  request: Request;
  /** The key of the message, or a more precise reason. */
  says: string;
  /** The steady time at which the request arrived, ms. */
  startMs: number;
  isGuess: boolean;
  /** The account that is guessed at; null: none. */
  account?: string | null;
  /** The provider, once authenticated. */
  providerCode?: string | undefined;
  /** The id under which the request was logged before. */
  requestId?: string | undefined;
}

export class Concluder {
  constructor(private readonly deps: Deps) {}

  /**
   * Counts an answer, then gives it, with its id in the log if it has one. The time that is counted
   * does not include the delay.
   */
  conclude<T>(
    tally: EndpointTally,
    { request, says, startMs, isGuess, account = null, providerCode, requestId: id }: Decided,
    respond: (requestId: string | undefined) => Maybe<T>,
  ): Maybe<T> {
    const { clientOf, clock, traffic } = this.deps;
    const tookMs = clock.steadyMs() - startMs;
    const requestId = traffic.count(tally, { request, says, tookMs, providerCode, requestId: id });
    if (!isGuess) return respond(requestId);
    return this.guessed(
      clientOf(request),
      () => respond(requestId),
      () => dropBody(request),
      account,
    );
  }

  /** Counts a guess of a client, then answers it; calls `onDelay` before a delay. */
  guessed<T>(
    client: string,
    respond: () => Maybe<T>,
    onDelay = () => {},
    account: string | null = null,
  ): Maybe<T> {
    const { clock, failures } = this.deps;
    const delayMs = failures.record(client, clock.nowMs(), account);
    if (delayMs === 0) return respond();
    onDelay();
    return clock.sleep(delayMs).then(respond);
  }
}
