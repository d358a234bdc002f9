/** One origin, such as `https://push.example.com`: its places, its pace, its addresses. */

import type http from 'node:http';
import type { Clock } from '../clock.ts';
import { addressOf } from '../core/outbox/address.ts';
import { type Deadline, unlessAborted } from '../deadline.ts';
import { type Leave, Places } from '../queue.ts';
import { agentFor } from './http1.ts';
import type { Resolve } from './resolve.ts';

/** Time for which addresses that were found are used, ms. */
const ADDRESSES_KEPT_MS = 30_000;

/** Calls to one origin that may wait for a place; there are not as many attempts at a time. */
const WAITING_MAX = 1_000;

/** How a call takes a place. */
export interface Entry {
  /** Most calls that are under way at a time. */
  concurrency: number;
  /** Most calls that begin in a second; null: as many as like. */
  rate: number | null;
  /** Whose turn it is; absent: of this call alone. */
  turn?: string | undefined;
}

export class Origin {
  readonly agent: http.Agent;
  /** Whether its certificate is of one of the authorities that the operator added. */
  isOurs = false;
  #concurrency = 1;
  #callCount = 0;
  readonly #places = new Places(() => ({
    placesMax: this.#concurrency,
    waitingMax: WAITING_MAX,
  }));
  /** Steady time before which no further call begins. */
  #nextAtMs = Number.NEGATIVE_INFINITY;
  #addresses: { list: readonly string[]; untilMs: number } | null = null;
  #lookUp: Promise<readonly string[]> | null = null;

  constructor(
    private readonly url: URL,
    private readonly resolve: Resolve,
    private readonly clock: Clock,
  ) {
    this.agent = agentFor(url.protocol);
  }

  /** Tells whether no call is under way or waits. */
  get isIdle(): boolean {
    return this.#places.takenCount === 0 && this.#places.waitingCount === 0;
  }

  /** Takes a place as {@link enter} does, if there is nothing to wait for; null: there is. */
  enterAtOnce({ concurrency, rate, turn }: Entry): Leave | null {
    this.#concurrency = concurrency;
    if (this.#places.waitingCount > 0) return null;
    const leave = this.#places.takeAtOnce(this.#party(turn));
    if (leave === null || rate === null || this.#paceMs(rate) === 0) return leave;
    leave();
    return null;
  }

  /**
   * Takes a place in turn as soon as there is one and, unless `rate` is null, the last call began
   * long enough ago. Null: none became free in time. Who has one gives it back.
   */
  async enter({ concurrency, rate, turn }: Entry, deadline: Deadline): Promise<Leave | null> {
    this.#concurrency = concurrency;
    const leave = await this.#places.take(this.#party(turn), deadline.signal);
    if (typeof leave === 'string') return null;
    if (rate === null) return leave;
    for (;;) {
      const waitMs = this.#paceMs(rate);
      if (waitMs === 0) return leave;
      if (waitMs > deadline.leftMs()) break;
      await unlessAborted(deadline.signal, this.clock.sleep(waitMs));
      if (deadline.signal.aborted) break;
    }
    leave();
    return null;
  }

  /** A call that shares its turn with none is a party of its own: all are served as they come. */
  #party(turn: string | undefined): string {
    this.#callCount += 1;
    return turn ?? `call ${this.#callCount}`;
  }

  /** The wait before the next call may begin, ms; 0: it begins now. */
  #paceMs(rate: number): number {
    const nowMs = this.clock.steadyMs();
    // Timers have no less than 1 ms; what is owed is waited for with the next calls.
    const waitMs = Math.floor(this.#nextAtMs - nowMs);
    if (waitMs > 0) return waitMs;
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs) + 1000 / rate;
    return 0;
  }

  /**
   * The IP addresses of the host, the one that did well last first; calls at the same time share a
   * look-up. Throws as {@link Resolve}.
   */
  async addresses(): Promise<readonly string[]> {
    const literal = addressOf(this.url.hostname);
    if (literal !== null) return [literal];
    const nowMs = this.clock.steadyMs();
    if (this.#addresses !== null && nowMs < this.#addresses.untilMs) return this.#addresses.list;
    this.#lookUp ??= this.resolve(this.url.hostname).finally(() => {
      this.#lookUp = null;
    });
    const list = await this.#lookUp;
    if (list.length > 0) this.#addresses = { list, untilMs: nowMs + ADDRESSES_KEPT_MS };
    return list;
  }

  /** Puts an address at the end, as it did not do well. */
  putBehind(address: string): void {
    if (this.#addresses === null) return;
    const { list, untilMs } = this.#addresses;
    if (!list.includes(address)) return;
    this.#addresses = { list: [...list.filter((one) => one !== address), address], untilMs };
  }

  /** Looks the name up again before the next call. */
  forgetAddresses(): void {
    this.#addresses = null;
  }
}

/** Idle origins that are remembered, each with its pace and its open connections. */
const ORIGINS_MAX = 256;

/** The origins that were called of late. */
export class Origins {
  readonly #byKey = new Map<string, Origin>();

  constructor(
    private readonly resolve: Resolve,
    private readonly clock: Clock,
  ) {}

  /** The origin of a URL, as those have it who share it. */
  of(url: URL, sharers: string): Origin {
    const key = `${sharers} ${url.origin}`;
    const origin = this.#byKey.get(key) ?? new Origin(url, this.resolve, this.clock);
    // Last among those of the map, which is in the order of their use.
    this.#byKey.delete(key);
    this.#byKey.set(key, origin);
    if (this.#byKey.size > ORIGINS_MAX) this.#forgetIdle(origin);
    return origin;
  }

  /** Closes every idle connection. */
  close(): void {
    for (const origin of this.#byKey.values()) origin.agent.destroy();
    this.#byKey.clear();
  }

  #forgetIdle(except: Origin): void {
    for (const [key, origin] of this.#byKey) {
      if (this.#byKey.size <= ORIGINS_MAX) return;
      if (!origin.isIdle || origin === except) continue;
      origin.agent.destroy();
      this.#byKey.delete(key);
    }
  }
}
