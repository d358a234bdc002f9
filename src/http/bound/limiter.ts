/** Limits of events per minute and client. Further events are refused until the minute ends. */

import { PartyQueue } from '../../base/queue.ts';
import { networkOf } from '../request/address.ts';

const MINUTE_MS = 60_000;
/** Clients remembered at a time. */
const CLIENTS_MAX = 10_000;
const TABLE = { waitingMax: CLIENTS_MAX, waitingPerPartyMax: CLIENTS_MAX };

interface Window {
  startMs: number;
  count: number;
}

/**
 * Returns whether a window still runs. It ends too if the clock was set far back. A time slightly
 * before its start belongs to it: a call whose body came late must not reset the count.
 */
function isWithin({ startMs }: Window, nowMs: number, windowMs: number): boolean {
  return Math.abs(nowMs - startMs) < windowMs;
}

/**
 * Counts events by client in windows, for a bounded number of clients. In a full table a new client
 * takes the place of the newest of the network with most, or of the oldest of its own network if
 * that has most: no network makes the server forget the clients of others. Where each network has
 * one client, the one known for longest is forgotten.
 */
export class MinuteCounter {
  readonly #windows = new Map<string, Window & { network: string }>();
  readonly #byNetwork = new PartyQueue<string>(() => TABLE);

  constructor(private readonly windowMs: number = MINUTE_MS) {}

  /**
   * Counts an event, or as many; returns the count of the window, this event included. `from`: the
   * address or party that could fill the table, unless that is the client.
   */
  count(client: string, nowMs: number, from = client, times = 1): number {
    const window = this.#windowOf(client, nowMs, from);
    window.count += times;
    return window.count;
  }

  /** Returns whether the window has reached `max`. Counts nothing. */
  hasReached(client: string, max: number, nowMs: number): boolean {
    const known = this.#windows.get(client);
    const isCounted = known !== undefined && isWithin(known, nowMs, this.windowMs);
    return (isCounted ? known.count : 0) >= max;
  }

  /** Takes back a counted event that did not happen. */
  takeBack(client: string): void {
    const window = this.#windows.get(client);
    if (window && window.count > 0) window.count -= 1;
  }

  #windowOf(client: string, nowMs: number, from: string): Window {
    const known = this.#windows.get(client);
    if (known && isWithin(known, nowMs, this.windowMs)) return known;
    this.#forget(client);
    const window = { startMs: nowMs, count: 0, network: networkOf(from) };
    const [oldest] = this.#windows;
    const isOver = oldest !== undefined && !isWithin(oldest[1], nowMs, this.windowMs);
    if (isOver) this.#forget(oldest[0]);
    const surplus = this.#byNetwork.add(window.network, client);
    if (surplus === client) {
      const { network } = window;
      const isOwn = this.#byNetwork.has(network);
      const own = isOwn ? this.#byNetwork.take((party) => party === network) : null;
      this.#forget(own?.item ?? oldest?.[0]);
      this.#byNetwork.add(window.network, client);
    } else if (surplus !== null) {
      this.#windows.delete(surplus);
    }
    this.#windows.set(client, window);
    return window;
  }

  #forget(client: string | undefined): void {
    const known = client === undefined ? undefined : this.#windows.get(client);
    if (client === undefined || known === undefined) return;
    this.#windows.delete(client);
    this.#byNetwork.remove(known.network, client);
  }
}

/** A log line that is written once a minute at most, with the number of its causes. */
export class MinuteLine {
  #window: Window = { startMs: Number.NEGATIVE_INFINITY, count: 0 };

  /** Counts a cause; returns the causes since the last line if a line is due, else 0. */
  due(nowMs: number): number {
    this.#window.count += 1;
    if (isWithin(this.#window, nowMs, MINUTE_MS)) return 0;
    const { count } = this.#window;
    this.#window = { startMs: nowMs, count: 0 };
    return count;
  }
}

export class MinuteLimiter {
  /** Calls that were refused since the start. */
  refusedCount = 0;
  readonly #counter: MinuteCounter;

  /**
   * Reads `perMinuteMax` each time, so that a changed setting applies at once. Another window has
   * another length than a minute, ms. `timesOf` returns how often the limit holds for a client.
   */
  constructor(
    private readonly perMinuteMax: () => number,
    windowMs = MINUTE_MS,
    private readonly timesOf: (client: string) => number = () => 1,
  ) {
    this.#counter = new MinuteCounter(windowMs);
  }

  /**
   * Counts a call. Returns false, and counts a refusal, if the limit is reached. `from`: as in
   * {@link MinuteCounter.count}.
   */
  admits(client: string, nowMs: number, from = client): boolean {
    const isAdmitted = !this.isUsedUp(client, nowMs);
    if (isAdmitted) this.#counter.count(client, nowMs, from);
    else this.refusedCount += 1;
    return isAdmitted;
  }

  /** Notes that an admitted call has ended. */
  done(_client: string): void {}

  /** Returns whether the limit is reached. Counts nothing. */
  isUsedUp(client: string, nowMs: number): boolean {
    return this.#counter.hasReached(client, this.perMinuteMax() * this.timesOf(client), nowMs);
  }

  /**
   * Runs `act`, and counts it only if its outcome `counts`: calls that are refused for another
   * reason must not use up the limit of all clients behind an address. Null: the limit is reached.
   */
  async attempt<T>(
    client: string,
    nowMs: number,
    act: () => Promise<T>,
    counts: (done: T) => boolean,
    from = client,
  ): Promise<T | null> {
    if (!this.admits(client, nowMs, from)) return null;
    let isCounted = false;
    try {
      const done = await act();
      isCounted = counts(done);
      return done;
    } finally {
      if (!isCounted) this.#counter.takeBack(client);
    }
  }

  /**
   * Runs `act` as {@link attempt} does, for a client, and for its link where many customers share
   * the client's address: none of them uses up the limit of the others.
   */
  attemptBy<T>(
    { client, link }: { client: string; link: string | null },
    nowMs: number,
    act: () => Promise<T>,
    counts: (done: T) => boolean,
  ): Promise<T | null> {
    const ofClient = () => this.attempt(client, nowMs, act, counts);
    if (link === null) return ofClient();
    return this.attempt(link, nowMs, ofClient, (done) => done !== null && counts(done), client);
  }
}

/** Admits one call of a client at a time, and so many a minute. */
export class RunLimiter extends MinuteLimiter {
  readonly #running = new Set<string>();

  override admits(client: string, nowMs: number): boolean {
    const isAdmitted = !this.#running.has(client) && super.admits(client, nowMs);
    if (isAdmitted) this.#running.add(client);
    return isAdmitted;
  }

  override done(client: string): void {
    this.#running.delete(client);
  }
}
