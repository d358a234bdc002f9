/** One origin, such as `https://push.example.com`: its places, its pace, its addresses. */

import type http from 'node:http';
import type { Clock } from '../clock.ts';
import { addressOf } from '../core/outbox/address.ts';
import { type Deadline, unless } from '../deadline.ts';
import { agentFor } from './http1.ts';
import type { Resolve } from './resolve.ts';

/** Time for which addresses that were found are used, ms. */
const ADDRESSES_KEPT_MS = 30_000;

interface Waiter {
  concurrency: number;
  go(): void;
}

export class Origin {
  readonly agent: http.Agent;
  /** Whether its certificate is of one of the authorities that the operator added. */
  isOurs = false;
  #running = 0;
  readonly #waiting: Waiter[] = [];
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
    return this.#running === 0 && this.#waiting.length === 0;
  }

  /** Takes a place as {@link enter} does, if there is nothing to wait for. */
  enterAtOnce(concurrency: number, rate: number | null): boolean {
    if (this.#waiting.length > 0 || this.#running >= concurrency) return false;
    if (rate !== null && this.#paceMs(rate) > 0) return false;
    this.#running += 1;
    return true;
  }

  /**
   * Takes a place as soon as fewer than `concurrency` calls are under way and, unless `rate` is
   * null, the last one began long enough ago. False: none became free in time. Who has one gives it
   * back by {@link leave}.
   */
  async enter(concurrency: number, rate: number | null, deadline: Deadline): Promise<boolean> {
    if (this.#waiting.length === 0 && this.#running < concurrency) this.#running += 1;
    else if (!(await this.#wait(concurrency, deadline.signal))) return false;
    if (rate === null) return true;
    for (;;) {
      const waitMs = this.#paceMs(rate);
      if (waitMs === 0) return true;
      if (waitMs > deadline.leftMs()) break;
      await unless(deadline.signal, this.clock.sleep(waitMs));
      if (deadline.signal.aborted) break;
    }
    this.leave();
    return false;
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

  leave(): void {
    this.#running -= 1;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#running >= next.concurrency) return;
      this.#running += 1;
      this.#waiting.shift();
      next.go();
    }
  }

  #wait(concurrency: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
      const waiter = {
        concurrency,
        go: () => {
          signal.removeEventListener('abort', giveUp);
          resolve(true);
        },
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        resolve(false);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(waiter);
    });
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
