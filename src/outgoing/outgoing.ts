/**
 * The only way out: every call to a gateway, a push service or a webhook. It never throws, follows
 * no redirect, goes through no proxy, and keeps no more of an answer than it was told to.
 */

import type { Clock } from '../clock.ts';
import { isCallable, readOperatorUrl, readPublicUrl } from '../core/outbox/address.ts';
import type { Reach } from '../core/port/reach.ts';
import { Deadline, unlessAborted } from '../deadline.ts';
import type { Leave } from '../queue.ts';
import type { OutgoingAnswer, OutgoingCall, OutgoingFailure } from './call.ts';
import { failure, failureOf, isDistrusted, isStale, isUnreachable, Trouble } from './failure.ts';
import { exchangeHttp1 } from './http1.ts';
import { exchangeHttp2 } from './http2.ts';
import { type Entry, type Origin, Origins } from './origin.ts';
import { type Resolve, systemResolve } from './resolve.ts';

/** Settings that are read for each call, so that a change holds at once. */
export interface OutgoingSettings extends Reach {
  /** Most calls in a second to one origin that anybody supplied. */
  readonly outgoingOriginRate: number;
}

export interface OutgoingOptions {
  settings: OutgoingSettings;
  clock: Clock;
  /** Certificates of authorities that are believed beside the usual ones, PEM; null: none. */
  ca: string | null;
  /** For tests; else the machine's own. */
  resolve?: Resolve;
}

/**
 * Longest wait for a place and the pace of an origin, ms. A call has that and its own time, and no
 * more: who holds a lease while it calls counts on it.
 */
export const PLACE_WAIT_MAX_MS = 5_000;

/** Addresses of one name that are tried in one call. */
const ADDRESSES_TRIED_MAX = 4;

/** One call on its way. */
interface Journey {
  call: OutgoingCall;
  url: URL;
  origin: Origin;
  signal: AbortSignal;
}

export class Outgoing {
  readonly #origins: Origins;
  #latest: { text: string; url: URL } | null = null;

  constructor(private readonly options: OutgoingOptions) {
    this.#origins = new Origins(options.resolve ?? systemResolve, options.clock);
  }

  /** Calls once. Never throws; `signal` breaks it off. */
  async send(call: OutgoingCall, signal: AbortSignal): Promise<OutgoingAnswer | OutgoingFailure> {
    const { settings } = this.options;
    const isTrusted = call.trust === 'operator';
    const url = isTrusted ? this.#operatorUrl(call.url) : readPublicUrl(call.url, settings);
    if (!(url instanceof URL)) return failure('address', `the address ${url.detail}`);
    const origin = this.#origins.of(url, `${call.trust} ${call.party ?? ''}`);
    const rate = call.originRate ?? (isTrusted ? null : settings.outgoingOriginRate);
    const entry = { concurrency: call.originConcurrency, rate, turn: call.turn };
    const leave = origin.enterAtOnce(entry) ?? (await this.#wait(origin, entry, call, signal));
    if (signal.aborted) {
      leave?.();
      return failure('stopped', `the call to ${url.host} was stopped`);
    }
    if (leave === null) return failure('busy', `too many calls to ${url.host} are under way`);
    const deadline = this.#deadline(call.timeoutMs, signal);
    try {
      const outcome = await this.#travel({ call, url, origin, signal: deadline.signal });
      if (!(outcome instanceof Trouble)) return outcome;
      if (deadline.isOver) {
        return failure('timeout', `${url.host} gave no answer within ${call.timeoutMs / 1000} s`);
      }
      if (signal.aborted) return failure('stopped', `the call to ${url.host} was stopped`);
      return failureOf(outcome, url.host);
    } finally {
      deadline.end();
      leave();
    }
  }

  /** Most pushes go to one address: it is read once. */
  #operatorUrl(text: string): ReturnType<typeof readOperatorUrl> {
    if (this.#latest?.text === text) return this.#latest.url;
    const url = readOperatorUrl(text);
    if (url instanceof URL) this.#latest = { text, url };
    return url;
  }

  /** Closes every idle connection. */
  close(): void {
    this.#origins.close();
  }

  async #wait(
    origin: Origin,
    entry: Entry,
    { timeoutMs }: OutgoingCall,
    signal: AbortSignal,
  ): Promise<Leave | null> {
    const patience = this.#deadline(Math.min(PLACE_WAIT_MAX_MS, timeoutMs), signal);
    const leave = await origin.enter(entry, patience);
    patience.end();
    return leave;
  }

  #deadline(ms: number, signal: AbortSignal): Deadline {
    return new Deadline(ms, signal, this.options.clock.steadyMs);
  }

  async #travel(journey: Journey): Promise<OutgoingAnswer | OutgoingFailure | Trouble> {
    const { call, url, origin, signal } = journey;
    if (call.http2 && call.trust === 'operator' && url.protocol === 'https:') {
      return this.#overHttp2(journey);
    }
    let addresses: readonly string[] | null;
    try {
      addresses = await unlessAborted(signal, origin.addresses());
    } catch {
      addresses = [];
    }
    if (addresses === null) return new Trouble('ABORT_ERR');
    if (call.trust === 'operator') {
      if (addresses.length === 0) return failure('name', `${url.host} has no address`);
      return this.#overHttp1(journey, addresses);
    }
    // All of them: whoever has one among them that is private may mean that one. A name without an
    // address fails in the same way, or a provider would learn which names there are inside.
    const { outgoingAllow } = this.options.settings;
    const isPublic = addresses.every((address) => isCallable(address, outgoingAllow));
    if (addresses.length === 0 || !isPublic) {
      return failure('name', `${url.host} has no public address`);
    }
    return this.#overHttp1(journey, addresses);
  }

  /** Calls one address after the other, until there is one that can be connected to. */
  async #overHttp1(
    journey: Journey,
    addresses: readonly string[],
  ): Promise<OutgoingAnswer | Trouble> {
    const { call, url, origin, signal } = journey;
    const common = { call, url, signal, nowMs: this.options.clock.nowMs };
    let outcome: OutgoingAnswer | Trouble = new Trouble('ABORT_ERR');
    for (const address of addresses.slice(0, ADDRESSES_TRIED_MAX)) {
      outcome = await this.#trusting(origin, async (ca) => {
        const first = await exchangeHttp1({ ...common, ca, address, agent: origin.agent });
        const isAgain = first instanceof Trouble && isStale(first);
        return isAgain ? await exchangeHttp1({ ...common, ca, address, agent: false }) : first;
      });
      if (!(outcome instanceof Trouble)) return outcome;
      origin.putBehind(address);
      if (!isUnreachable(outcome)) return outcome;
    }
    origin.forgetAddresses();
    return outcome;
  }

  /** Calls; again if the server said that it has not looked at the call. */
  #overHttp2({ call, url, origin, signal }: Journey): Promise<OutgoingAnswer | Trouble> {
    const common = { call, host: url.hostname, signal, nowMs: this.options.clock.nowMs };
    return this.#trusting(origin, async (ca) => {
      const first = await exchangeHttp2({ ...common, ca });
      const isAgain = first instanceof Trouble && first.code === 'HTTP2RefusedStream';
      return isAgain ? await exchangeHttp2({ ...common, ca }) : first;
    });
  }

  /**
   * Calls as one who believes the usual authorities, or else as one who believes our own: what did
   * for the origin last comes first. (All of them together would be gone through for each call.)
   */
  async #trusting(
    origin: Origin,
    act: (ca: string | null) => Promise<OutgoingAnswer | Trouble>,
  ): Promise<OutgoingAnswer | Trouble> {
    const { ca } = this.options;
    const isOurs = ca !== null && origin.isOurs;
    const first = await act(isOurs ? ca : null);
    // Nothing was sent: the handshake came before.
    if (ca === null || !(first instanceof Trouble) || !isDistrusted(first)) return first;
    const second = await act(isOurs ? null : ca);
    if (!(second instanceof Trouble) || !isDistrusted(second)) origin.isOurs = !isOurs;
    return second;
  }
}
