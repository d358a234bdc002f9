/** A request in progress: the parts of the server that answer it, and its caller. */

import type { Clock } from '../../base/clock.ts';
import { type Log, reasonOf } from '../../base/log.ts';
import { type Need, noteUse, opens } from '../../core/account/keys.ts';
import { actingAs, type Core } from '../../core/core.ts';
import type { AuthenticDevice } from '../../core/device.ts';
import type { ClientParts } from '../../core/door.ts';
import type { EventSenders } from '../../core/outbox/carrier.ts';
import type { Actor } from '../../core/port/audit.ts';
import type { Provider } from '../../core/port/provider.ts';
import type { ProviderKey } from '../../core/port/provider-key.ts';
import { languagesOf } from '../../core/ride/languages.ts';
import { keyFingerprint } from '../../core/secret.ts';
import type { Large } from '../answer/large.ts';
import type { Parties } from '../bound/parties.ts';
import type { Limits, WireSettings } from '../endpoint.ts';
import type { Traffic } from '../traffic.ts';
import { parseQuery, type Query, valueIn } from './query.ts';

/** The parts of the server that every call needs. */
export interface CallDeps {
  core: Core;
  clock: Clock;
  log: Log;
  settings: WireSettings;
  limits: Limits;
  eventSenders: EventSenders;
  traffic: Traffic;
  /** Returns the address under which the client of a request is counted. */
  clientOf(request: Request): string;
  /** Returns the parts of a call to the door that depend on its client. */
  clientPartsOf(request: Request): ClientParts;
  parties: Parties;
  /** Aborts when the server stops. */
  stopping: AbortSignal;
  large: Large;
  /** The time that a body may take to arrive, ms. */
  bodyTimeMaxMs: number;
  /** Sets the time that an answer may take, if longer than the server's idle time, s. */
  grantPatience(request: Request, seconds: number): void;
}

/** The fault of a change by a caller that has disconnected; it gets no answer. */
export class CallerGone extends Error {}

const NO_BODY: Readonly<Record<string, unknown>> = {};

/**
 * A request, read once. Handlers get it as the types of `endpoint.ts` show it; getters compute what
 * not every handler needs.
 */
export class IncomingCall {
  readonly startMs: number;
  readonly nowMs: number;
  readonly query: Query;
  readonly params: Record<string, unknown> = {};
  /** Parameters of the query that were read; the others are unknown to the endpoint. */
  readCount = 0;
  /** The JSON object of a POST, once it has been read. */
  body = NO_BODY;
  /** The authenticated provider: set by `access.ts`, as are `keyHash`, `key` and `device`. */
  provider: Provider | undefined = undefined;
  /** The hash of the provider's key. */
  keyHash: Uint8Array | undefined = undefined;
  /** That key, if it is one beside the main key. */
  key: ProviderKey | null = null;
  device: AuthenticDevice | undefined = undefined;
  readonly settings: WireSettings;
  readonly limits: Limits;
  readonly eventSenders: EventSenders;
  readonly #deps: CallDeps;

  /** Reads the query; with `foldCase`, the case of parameter names does not matter. */
  constructor(
    readonly request: Request,
    deps: CallDeps,
    foldCase: boolean,
  ) {
    this.#deps = deps;
    this.settings = deps.settings;
    this.limits = deps.limits;
    this.eventSenders = deps.eventSenders;
    this.startMs = deps.clock.steadyMs();
    this.nowMs = deps.clock.nowMs();
    this.query = parseQuery(request.url, foldCase);
  }

  /** The core. If a provider calls, it is the actor of the audit log. */
  get core(): Core {
    const { core } = this.#deps;
    const { provider, keyHash, request } = this;
    if (provider === undefined || keyHash === undefined) return core;
    return actingAs(core, () => providerActor(provider, keyHash, this.#deps.clientOf(request)));
  }

  /** Returns whether the key of the provider may do something. Its first use is saved meanwhile. */
  may(need: Need): boolean {
    const { key, nowMs, provider } = this;
    if (provider === undefined || !opens(key?.scope ?? 'main', need)) return false;
    const { core, log } = this.#deps;
    noteUse(core, provider, key, need, nowMs).catch((fault: unknown) => {
      // The next use is the first one then.
      log.warn('first_use_not_saved', { provider_code: provider.code, reason: reasonOf(fault) });
    });
    return true;
  }

  get client(): () => string {
    return () => this.#deps.clientOf(this.request);
  }

  get clientParts(): ClientParts {
    return this.#deps.clientPartsOf(this.request);
  }

  /**
   * Gives the rest of the call to the link that it names in its body, or by its token. Returns the
   * party of the link; null: the address is not one of those that many customers share.
   */
  isOfLink(installId: number, isInBody: boolean): string | null {
    return this.#deps.parties.found(this.request, installId, isInBody);
  }

  /** True if the address is one of those that many customers share. */
  get isShared(): boolean {
    return this.#deps.parties.isShared(this.request);
  }

  get token(): string | null {
    return bearerToken(this.request.headers);
  }

  get languages(): readonly string[] {
    return languagesOf(this.request.headers);
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.request.signal, this.#deps.stopping]);
  }

  /** Returns a credential from the query; null: it is missing or was given twice. */
  credential(name: string): string | null {
    const value = valueIn(this.query, name);
    if (value !== undefined) this.readCount += 1;
    return typeof value === 'string' ? value : null;
  }
}

/** Returns the token of `Authorization: Bearer TOKEN`, or null. */
export function bearerToken(headers: Headers): string | null {
  return /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null;
}

/**
 * Returns the caller as the actor of the audit log. Throws {@link CallerGone} for a closed
 * connection: it has no address, and every change needs one.
 */
function providerActor({ code: name }: Provider, keyHash: Uint8Array, from: string): Actor {
  if (from === '') throw new CallerGone('the connection was closed');
  return { kind: 'provider', name, key: keyFingerprint(keyHash), from };
}
