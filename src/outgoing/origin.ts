/** One origin, such as `https://push.example.com`: its places, its pace, its addresses. */

import type http from 'node:http';
import type { Clock } from '../base/clock.ts';
import { Deadline, unlessAborted } from '../base/deadline.ts';
import { type Leave, Places } from '../base/queue.ts';
import { addressOf } from '../core/outbox/address.ts';
import { makeAgent } from './http1.ts';
import { placeOf } from './proxy.ts';
import type { Resolve } from './resolve.ts';
import type { Way } from './tunnel.ts';

/** The time for which resolved addresses are used, ms. */
const ADDRESSES_KEPT_MS = 30_000;

/** Most calls to one origin that wait for a place; there are not as many attempts at a time. */
const WAITING_MAX = 1_000;

/** The bounds under which a call takes a place. */
interface Entry {
  /** Most calls at a time. */
  concurrency: number;
  /** Most calls that begin in a second; null: no bound. */
  rate: number | null;
  /** The group that takes turns; absent: the call alone. */
  turn?: string | undefined;
}

export class Origin {
  readonly agent: http.Agent;
  /** True: its certificate was last trusted by an authority that the operator added. */
  usesAddedAuthority = false;
  #concurrency = 1;
  #callCount = 0;
  readonly #places = new Places(() => ({
    placesMax: this.#concurrency,
    waitingMax: WAITING_MAX,
  }));
  /** The steady time before which no further call begins. */
  #nextAtMs = Number.NEGATIVE_INFINITY;
  #addresses: { list: readonly string[]; untilMs: number } | null = null;
  #lookUp: Promise<readonly string[]> | null = null;

  constructor(
    private readonly url: URL,
    private readonly resolve: Resolve,
    private readonly clock: Clock,
    /** The way through a proxy; null: directly. */
    readonly way: Way | null,
  ) {
    this.agent = makeAgent(url.protocol, way);
  }

  /** Returns what opens a connection that is not kept. */
  freshAgent(): http.Agent | false {
    return this.way !== null && makeAgent(this.url.protocol, this.way, false);
  }

  /** Returns whether no call is in progress or waits. */
  get isIdle(): boolean {
    return this.#places.takenCount === 0 && this.#places.waitingCount === 0;
  }

  /**
   * Takes a place when one is free, it is the group's turn and the pace allows another call.
   * Returns null if that takes longer than `timeoutMs` or `signal` is aborted.
   */
  async enter(entry: Entry, timeoutMs: number, signal: AbortSignal): Promise<Leave | null> {
    const { concurrency, rate, turn } = entry;
    this.#concurrency = concurrency;
    this.#callCount += 1;
    const party = turn ?? `call ${this.#callCount}`;
    const leave = this.#places.takeAtOnce(party);
    // The fast path, without a timer.
    if (leave !== null && this.#paceMs(rate) === 0) return leave;
    const deadline = new Deadline(timeoutMs, signal, this.clock.steadyMs);
    const taken = leave ?? (await this.#places.take(party, deadline.signal));
    const isInTime = typeof taken !== 'string' && (await this.#awaitPace(rate, deadline));
    deadline.end();
    if (isInTime) return taken;
    if (typeof taken !== 'string') taken();
    return null;
  }

  /** Waits until the pace allows a call. Returns false if that takes too long. */
  async #awaitPace(rate: number | null, deadline: Deadline): Promise<boolean> {
    for (;;) {
      const waitMs = this.#paceMs(rate);
      if (waitMs === 0) return true;
      if (waitMs > deadline.leftMs()) return false;
      await unlessAborted(deadline.signal, this.clock.sleep(waitMs));
      if (deadline.signal.aborted) return false;
    }
  }

  /** Returns the wait before the next call may begin, ms; 0: the call begins now. */
  #paceMs(rate: number | null): number {
    if (rate === null) return 0;
    const nowMs = this.clock.steadyMs();
    // Timers have a resolution of 1 ms; a later call waits for what is left.
    const waitMs = Math.floor(this.#nextAtMs - nowMs);
    if (waitMs > 0) return waitMs;
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs) + 1000 / rate;
    return 0;
  }

  /**
   * Returns the IP addresses of the host, the one that was reached last first; calls at the same
   * time share a look-up. Throws as {@link Resolve} does.
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

  /** Puts an address at the end of the list, as the call to it failed. */
  demote(address: string): void {
    if (this.#addresses === null) return;
    const { list, untilMs } = this.#addresses;
    if (!list.includes(address)) return;
    this.#addresses = { list: [...list.filter((one) => one !== address), address], untilMs };
  }

  /** Drops the addresses: the next call resolves the name again. */
  forgetAddresses(): void {
    this.#addresses = null;
  }
}

/** Origins that are kept although they are idle, with their pace and their connections. */
const ORIGINS_MAX = 256;

export class Origins {
  /** By scope and origin, in the order of use. */
  readonly #byKey = new Map<string, Origin>();

  constructor(
    private readonly resolve: Resolve,
    private readonly clock: Clock,
  ) {}

  /** Returns the origin of a URL within a scope, whose calls share it, by a way. */
  of(url: URL, scope: string, way: Way | null = null): Origin {
    const through = way === null ? '' : `${way.proxy.kind} ${placeOf(way.proxy)}`;
    const key = `${scope} ${through} ${url.origin}`;
    const origin = this.#byKey.get(key) ?? new Origin(url, this.resolve, this.clock, way);
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
