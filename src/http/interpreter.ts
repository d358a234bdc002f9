/**
 * The one interpreter of the endpoint table: credentials, subscription, plan, body, parameters in
 * the record's order, then the handler; the first that fails answers.
 */

import type { Clock } from '../clock.ts';
import { actingAs, type Core } from '../core/core.ts';
import { REQUEST_BOUNDS } from '../core/json-input.ts';
import { type AuthenticDevice, authenticateDevice } from '../core/message/inbox.ts';
import { isRefused, type Reason, type Refused } from '../core/outcome.ts';
import type { Actor } from '../core/port/audit.ts';
import type { Maybe } from '../core/port/maybe.ts';
import type { Provider } from '../core/port/provider.ts';
import { authenticate, isActive, mayCommand, mayNotify } from '../core/provider.ts';
import { keyFingerprint } from '../core/secret.ts';
import { type Log, reasonOf } from '../log.ts';
import { dropBody, readBody } from './body.ts';
import type { Answer, Endpoint, Limits, WireSettings } from './endpoint.ts';
import { isLarge, type Large, nameOf } from './large.ts';
import { type MessageKey, messages } from './messages.ts';
import { reader } from './param-reader.ts';
import { parseQuery, type Query } from './query.ts';
import { HEADERS, respond, textOf } from './respond.ts';
import type { Traffic } from './traffic.ts';

export interface InterpreterDeps {
  core: Core;
  clock: Clock;
  log: Log;
  settings: WireSettings;
  limits: Limits;
  traffic: Traffic;
  /** The address that a request's client is counted under. */
  clientOf(request: Request): string;
  /** Counts a failed authentication; returns how late to answer it, ms. */
  authFailed(client: string, nowMs: number): number;
  /** Aborted when the server stops. */
  stopping: AbortSignal;
  large: Large;
  /** How long a body may take to arrive, ms. */
  bodyTimeMaxMs: number;
  /** Lets a request go unanswered for longer than the server's idle time, s. */
  grantPatience(request: Request, seconds: number): void;
}

export type Interpreter = (request: Request) => Promise<Response>;

/** Who calls, as far as the gates found out, and what they refuse it with. */
interface Caller {
  provider?: Provider;
  /** Of the provider's key. */
  keyHash?: Uint8Array;
  device?: AuthenticDevice;
  refusal?: MessageKey;
}

/** What a request is answered with. */
interface Said {
  says: MessageKey;
  body?: Readonly<Record<string, unknown>> | undefined;
  /** The body as it goes out, if it has been written and has its place. */
  payload?: Blob | undefined;
  detail?: string | undefined;
  reason?: Reason | undefined;
  provider?: Provider | undefined;
  device?: AuthenticDevice | undefined;
  /** Of the messages in the body. */
  sender?: number | undefined;
  requestId?: string;
  /** Counted as failed credentials, and perhaps late. */
  isFailure?: boolean;
  /** What is still to come of the request nobody waits for. */
  isLast?: boolean | undefined;
}

/** What a handler is called with. What not every handler needs is made when it is asked for. */
class Incoming {
  readonly core: Core;
  readonly settings: WireSettings;
  readonly limits: Limits;

  constructor(
    private readonly request: Request,
    private readonly deps: InterpreterDeps,
    readonly provider: Provider | undefined,
    readonly device: AuthenticDevice | undefined,
    readonly params: Record<string, unknown>,
    readonly body: Readonly<Record<string, unknown>>,
    readonly nowMs: number,
    actor: (() => Actor) | null,
  ) {
    this.core = actor === null ? deps.core : actingAs(deps.core, actor);
    this.settings = deps.settings;
    this.limits = deps.limits;
  }

  get client(): () => string {
    return () => this.deps.clientOf(this.request);
  }

  get token(): string | null {
    return bearerToken(this.request.headers);
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.request.signal, this.deps.stopping]);
  }
}

/** Thrown instead of a change by somebody who has hung up: nobody waits for an answer. */
class CallerGone extends Error {}

/**
 * The caller as the audit log names it, once the gates have passed its key. The address of a
 * connection that is closed cannot be had any more, and nothing is changed from nowhere.
 */
function providerActor({ code: name }: Provider, keyHash: Uint8Array, from: string): Actor {
  if (from === '') throw new CallerGone('the connection was closed');
  return { kind: 'provider', name, key: keyFingerprint(keyHash), from };
}

type Gate = (request: Request, query: Query, nowMs: number) => Promise<Caller>;

/** Compiles a record of the table into the function that answers its requests. */
export function interpret(endpoint: Endpoint, deps: InterpreterDeps): Interpreter {
  const { core, clock, large, limits, traffic } = deps;
  const {
    audience,
    bodyBytesMax = REQUEST_BOUNDS.bytesMax,
    limitedBy,
    method,
    path,
    patienceSeconds,
  } = endpoint;
  const headers = { ...HEADERS, ...endpoint.headers };
  const lastHeaders = { ...headers, connection: 'close' };
  const passGates = gateOf(endpoint, core);
  const read = Object.entries(endpoint.params).map(([name, param]) => reader(name, param));
  const tally = traffic.tallyOf(path);
  // What `call` holds is what the record's own types asked for: endpoint.ts's builders see to it.
  const handle = endpoint.handle as (call: unknown) => Maybe<Answer<MessageKey>>;

  async function answer(request: Request): Promise<Said> {
    const nowMs = clock.nowMs();
    const query = parseQuery(request.url, audience === 'app');
    const { provider, keyHash, device, refusal } = await passGates(request, query, nowMs);
    if (refusal) return { says: refusal, provider, isFailure: provider === undefined };

    if (limitedBy && limits[limitedBy].isUsedUp(deps.clientOf(request), nowMs)) {
      const holder = await authenticateDevice(core, bearerToken(request.headers), nowMs);
      if (holder === null) {
        limits[limitedBy].refusedCount += 1;
        return { says: 'too_many_requests' };
      }
    }
    const body =
      method === 'POST'
        ? await readBody(request, bodyBytesMax, deps.bodyTimeMaxMs, {
            enter: (bytes) => large.enterBody(request, { provider, device }, bytes),
            turn: () => large.turns.next(nameOf({ provider, device })),
          })
        : NO_BODY;
    if ('problem' in body) {
      return { says: 'unknown_error', detail: body.problem, provider, isLast: body.isLate };
    }
    const params: Record<string, unknown> = {};
    for (const readParam of read) {
      const misfit = readParam(query, request.headers, params);
      if (misfit) return { says: misfit.says, detail: misfit.detail, provider };
    }

    if (patienceSeconds) deps.grantPatience(request, patienceSeconds);
    const actor =
      provider && keyHash ? () => providerActor(provider, keyHash, deps.clientOf(request)) : null;
    const says = await handle(
      new Incoming(request, deps, provider, device, params, body.object, nowMs, actor),
    );
    if (typeof says === 'string') return { says, provider, isFailure: GUESSES.has(says) };
    if (isRefused(says)) return { ...refused(request, says), provider };
    if ('list' in says) {
      const listed = await large.list(request, { provider }, says);
      return { ...(listed === null ? CROWDED : { says: says.says, ...listed }), provider };
    }
    const { says: key, body: fields, detail, reason, sender } = says;
    return {
      says: key,
      body: fields,
      detail,
      reason,
      provider,
      device,
      sender,
      isFailure: GUESSES.has(key),
    };
  }

  /** A refusal in the words of the contract: where it has none, its detail stands alone. */
  function refused(request: Request, refusal: Refused<MessageKey | 'malformed'>): Said {
    const says = refusal.says === 'malformed' ? 'unknown_error' : refusal.says;
    if (refusal.fault !== undefined) return faulty(request, says, refusal.fault);
    const detail = refusal.detail ?? endpoint.details?.[says];
    return { says, detail, reason: refusal.reason, isFailure: GUESSES.has(says) };
  }

  function faulty(request: Request, says: MessageKey, fault: unknown): Said {
    const requestId = traffic.requestIdOf(request);
    const told = reportFault(deps.log, path, fault, requestId);
    const detail = says === 'unknown_error' ? told : `${messages[says].detail}; ${told}`;
    return { says, detail, requestId };
  }

  /** Only after it was counted: what an answer is late on purpose is not what it took. */
  async function beLate(request: Request): Promise<void> {
    const delayMs = deps.authFailed(deps.clientOf(request), clock.nowMs());
    if (delayMs === 0) return;
    dropBody(request);
    await clock.sleep(delayMs);
  }

  return async (request) => {
    const startMs = clock.steadyMs();
    let said: Said;
    try {
      // Elysia hands HEAD to the GET route; HEAD and other methods never change anything.
      said = request.method === method ? await answer(request) : WRONG_METHOD;
    } catch (fault) {
      said = fault instanceof CallerGone ? UNHEARD : faulty(request, 'unknown_error', fault);
    }
    let payload = said.payload ?? textOf(said.says, said.body);
    if (typeof payload === 'string' && isLarge(payload)) {
      if (!(await large.admit(request, said, payload))) {
        said = { ...CROWDED, provider: said.provider };
        payload = textOf(said.says, undefined);
      }
    }
    const { says, detail, reason, provider, requestId: knownId, isFailure, isLast } = said;
    const tookMs = clock.steadyMs() - startMs;
    const providerCode = provider?.code;
    const requestId = traffic.count(tally, {
      request,
      says: reason ?? says,
      tookMs,
      providerCode,
      requestId: knownId,
    });
    if (isFailure) await beLate(request);
    return respond(says, { payload, detail, headers: isLast ? lastHeaders : headers, requestId });
  };
}

const WRONG_METHOD: Said = { says: 'wrong_method' };
const CROWDED: Said = {
  says: 'unknown_error',
  detail: 'too many large answers are unread: read those, then ask again',
};
/** To somebody who has hung up. */
const UNHEARD: Said = { says: 'unknown_error' };
/** What whoever tries out codes of links or providers hears: counted as failed credentials. */
const GUESSES: ReadonlySet<MessageKey> = new Set(['link_not_found', 'provider_not_found']);

const NO_BODY = { object: {} };

/** The gates of a record, in the order of decision 1.3: credentials, subscription, plan. */
function gateOf({ audience, plan }: Endpoint, core: Core): Gate {
  if (audience === 'app') return async () => ({});
  if (audience === 'device') {
    return async (request, _query, nowMs) => {
      const device = await authenticateDevice(core, bearerToken(request.headers), nowMs);
      return device === null ? { refusal: 'device_token_error' } : { device };
    };
  }
  return async (_request, query, nowMs) => {
    const code = credential(query, 'provider_code');
    const authKey = credential(query, 'auth_key');
    const authentic = await authenticate(core, code, authKey, nowMs);
    if (authentic === null) return { refusal: 'auth_error' };
    const { provider } = authentic;
    if (!isActive(provider, nowMs)) return { provider, refusal: 'subscription_required' };
    if (plan === 'enterprise' && !mayNotify(provider, nowMs)) {
      return { provider, refusal: 'enterprise_required' };
    }
    if (plan === 'pro' && !mayCommand(provider, nowMs)) {
      return { provider, refusal: 'pro_required' };
    }
    return authentic;
  };
}

/** The token of `Authorization: Bearer TOKEN`, or null. */
export function bearerToken(headers: Headers): string | null {
  return /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null;
}

/** Logs a fault under the request's id and returns what the client may know of it. */
export function reportFault(log: Log, path: string, fault: unknown, id: string): string {
  log.error('fault', { id, path, reason: reasonOf(fault) });
  return `internal fault ${id}, see the log of the server`;
}

function credential(query: Query, name: string): string | null {
  const value = query.get(name);
  return typeof value === 'string' ? value : null;
}
