/**
 * Every outgoing call: to gateways, push services, webhooks and Telegram. It never throws, follows
 * no redirect, uses no proxy but that of its destination, and keeps a bounded part of an answer.
 */

import type { Clock } from '../base/clock.ts';
import { Deadline, unlessAborted } from '../base/deadline.ts';
import { bareHost, isCallable, readOperatorUrl, readPublicUrl } from '../core/outbox/address.ts';
import type { Reach } from '../core/port/reach.ts';
import type { OutgoingFiles } from './authorities.ts';
import {
  type FailureKind,
  type OutgoingAnswer,
  type OutgoingCall,
  OutgoingFailure,
} from './call.ts';
import { ConnectionFault, failureOf, isDistrusted, isStale, isUnreachable } from './failure.ts';
import { exchangeHttp1 } from './http1.ts';
import { exchangeHttp2 } from './http2.ts';
import { exchangeThroughTunnel, TunnelConnections } from './http2-tunnel.ts';
import { type Origin, Origins } from './origin.ts';
import { type ProxyAddress, type ProxySettings, placeOf, proxyOf } from './proxy.ts';
import { type Resolve, systemResolve } from './resolve.ts';
import type { Way } from './tunnel.ts';

/** Settings, read at each call: a change applies at once. */
export interface OutgoingSettings extends Reach, ProxySettings {
  /** Most calls in a second to one untrusted origin. */
  readonly outgoingOriginRate: number;
}

interface OutgoingOptions {
  settings: OutgoingSettings;
  clock: Clock;
  files: OutgoingFiles;
  /** For tests; absent: the machine's. */
  resolve?: Resolve;
}

/**
 * The timeout for a place at an origin, ms. A call takes no longer than that and its own timeout:
 * the lease of a destination relies on it.
 */
export const PLACE_WAIT_MAX_MS = 5_000;

/** Most addresses of one name that one call tries. */
const ADDRESSES_TRIED_MAX = 4;

interface Exchange {
  call: OutgoingCall;
  url: URL;
  origin: Origin;
  signal: AbortSignal;
}

export class Outgoing {
  readonly #origins: Origins;
  readonly #tunnels = new TunnelConnections();
  #files: OutgoingFiles;
  #latest: { text: string; url: URL } | null = null;

  constructor(private readonly options: OutgoingOptions) {
    this.#origins = new Origins(options.resolve ?? systemResolve, options.clock);
    this.#files = options.files;
  }

  /** Trusts other added authorities and has other logins from the next connection on. */
  use(files: OutgoingFiles): void {
    this.#files = files;
    this.#tunnels.close();
  }

  /** Calls once. Never throws; `signal` aborts the call. */
  async send(call: OutgoingCall, signal: AbortSignal): Promise<OutgoingAnswer | OutgoingFailure> {
    const { settings } = this.options;
    const isTrusted = call.trust === 'operator';
    const url = isTrusted ? this.#operatorUrl(call.url) : readPublicUrl(call.url, settings);
    if (!(url instanceof URL)) return failed('address', `the address ${url.detail}`);
    const proxy = proxyOf(settings, call.destination);
    if (proxy !== null && !settings.outgoingProxyPorts.includes(portOf(url))) {
      return failed('address', `outgoing.proxy.ports does not have the port of ${url.host}`);
    }
    const origin = this.#origins.of(url, `${call.trust} ${call.party ?? ''}`, this.#wayOf(proxy));
    const rate = call.originRate ?? (isTrusted ? null : settings.outgoingOriginRate);
    const entry = { concurrency: call.originConcurrency, rate, turn: call.turn };
    const waitMs = Math.min(PLACE_WAIT_MAX_MS, call.timeoutMs);
    const leave = await origin.enter(entry, waitMs, signal);
    if (signal.aborted) {
      leave?.();
      return failed('stopped', `the call to ${url.host} was stopped`);
    }
    if (leave === null) return failed('busy', `too many calls to ${url.host} are under way`);
    const deadline = new Deadline(call.timeoutMs, signal, this.options.clock.steadyMs);
    try {
      const outcome = await this.#exchange({ call, url, origin, signal: deadline.signal });
      if (!(outcome instanceof ConnectionFault)) return outcome;
      if (deadline.isOver) {
        return failed('timeout', `${url.host} gave no answer within ${call.timeoutMs / 1000} s`);
      }
      if (signal.aborted) return failed('stopped', `the call to ${url.host} was stopped`);
      return failureOf(outcome, url.host);
    } finally {
      deadline.end();
      leave();
    }
  }

  /** Reads an address; caches the last one, as most pushes have the same. */
  #operatorUrl(text: string): ReturnType<typeof readOperatorUrl> {
    if (this.#latest?.text === text) return this.#latest.url;
    const url = readOperatorUrl(text);
    if (url instanceof URL) this.#latest = { text, url };
    return url;
  }

  #wayOf(proxy: ProxyAddress | null): Way | null {
    if (proxy === null) return null;
    return { proxy, login: () => this.#files.logins.get(placeOf(proxy)) ?? null };
  }

  /** Closes every idle connection. */
  close(): void {
    this.#origins.close();
    this.#tunnels.close();
  }

  async #exchange(exchange: Exchange): Promise<OutgoingAnswer | OutgoingFailure | ConnectionFault> {
    const { call, url, origin, signal } = exchange;
    if (call.http2 && call.trust === 'operator' && url.protocol === 'https:') {
      return this.#overHttp2(exchange);
    }
    if (call.trust === 'operator' && origin.way !== null) {
      // The proxy looks the name up: a look-up here would tell what is called.
      return this.#overHttp1(exchange, [bareHost(url.hostname)]);
    }
    let addresses: readonly string[] | null;
    try {
      addresses = await unlessAborted(signal, origin.addresses());
    } catch {
      addresses = [];
    }
    if (addresses === null) return new ConnectionFault('ABORT_ERR');
    if (call.trust === 'operator') {
      if (addresses.length === 0) return failed('name', `${url.host} has no address`);
      return this.#overHttp1(exchange, addresses);
    }
    // Every address must be public: the name may exist for its private one. A name without any
    // fails in the same way, or a provider could find out which names a private network has.
    const { outgoingAllow } = this.options.settings;
    const isPublic = addresses.every((address) => isCallable(address, outgoingAllow));
    if (addresses.length === 0 || !isPublic) {
      return failed('name', `${url.host} has no public address`);
    }
    return this.#overHttp1(exchange, addresses);
  }

  /** Calls one address after the other, until one is reachable. */
  async #overHttp1(
    exchange: Exchange,
    addresses: readonly string[],
  ): Promise<OutgoingAnswer | ConnectionFault> {
    const { call, url, origin, signal } = exchange;
    const common = { call, url, signal, nowMs: this.options.clock.nowMs };
    let outcome: OutgoingAnswer | ConnectionFault = new ConnectionFault('ABORT_ERR');
    for (const address of addresses.slice(0, ADDRESSES_TRIED_MAX)) {
      outcome = await this.#trusting(origin, async (ca) => {
        const first = await exchangeHttp1({ ...common, ca, address, agent: origin.agent });
        const isAgain = first instanceof ConnectionFault && isStale(first);
        return isAgain
          ? await exchangeHttp1({ ...common, ca, address, agent: origin.freshAgent() })
          : first;
      });
      if (!(outcome instanceof ConnectionFault)) return outcome;
      origin.demote(address);
      if (!isUnreachable(outcome)) return outcome;
    }
    origin.forgetAddresses();
    return outcome;
  }

  /** Calls; once more if the server refused the stream, as it has not read the call then. */
  #overHttp2({ call, url, origin, signal }: Exchange): Promise<OutgoingAnswer | ConnectionFault> {
    const { way } = origin;
    const common = { call, url, signal, nowMs: this.options.clock.nowMs };
    const exchange = (ca: string | null) =>
      way === null
        ? exchangeHttp2({ ...common, ca, host: url.hostname })
        : exchangeThroughTunnel({ ...common, ca, way }, this.#tunnels);
    return this.#trusting(origin, async (ca) => {
      const first = await exchange(ca);
      const isAgain = first instanceof ConnectionFault && first.code === 'HTTP2RefusedStream';
      return isAgain ? await exchange(ca) : first;
    });
  }

  /**
   * Calls with the usual authorities, and with the added ones if those are not trusted; the set
   * that the origin needed last comes first. One set of both would be parsed for each call.
   */
  async #trusting(
    origin: Origin,
    act: (ca: string | null) => Promise<OutgoingAnswer | ConnectionFault>,
  ): Promise<OutgoingAnswer | ConnectionFault> {
    const { ca } = this.#files;
    const isAdded = ca !== null && origin.usesAddedAuthority;
    const first = await act(isAdded ? ca : null);
    // The handshake failed, so nothing was sent.
    if (ca === null || !(first instanceof ConnectionFault) || !isDistrusted(first)) return first;
    const second = await act(isAdded ? null : ca);
    if (!(second instanceof ConnectionFault) || !isDistrusted(second)) {
      origin.usesAddedAuthority = !isAdded;
    }
    return second;
  }
}

const portOf = ({ port, protocol }: URL) => Number(port || (protocol === 'https:' ? 443 : 80));

function failed(kind: FailureKind, problem: string): OutgoingFailure {
  return new OutgoingFailure(kind, problem);
}
