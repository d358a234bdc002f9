/**
 * The one interpreter of the endpoint table: credentials, subscription, plan, body, parameters in
 * the record's order, then the handler; the first that fails answers.
 */

import { Kind, type TSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import type { Clock } from '../clock.ts';
import type { Actor } from '../core/audit.ts';
import { actingAs, type Core } from '../core/core.ts';
import { type AuthenticDevice, authenticateDevice } from '../core/messaging.ts';
import { NotSaved } from '../core/outcome.ts';
import { authenticate, isActive, mayCommand, mayNotify, type Provider } from '../core/provider.ts';
import { hashKey, keyFingerprint } from '../core/secret.ts';
import { type Log, reasonOf } from '../log.ts';
import { readJsonObject } from './body.ts';
import type { Answer, Endpoint, Limits, Param, WireSettings } from './endpoint.ts';
import { type MessageKey, messages } from './messages.ts';
import { parseQuery, type Query, REPEATED } from './query.ts';

export interface InterpreterDeps {
  core: Core;
  clock: Clock;
  log: Log;
  settings: WireSettings;
  limits: Limits;
  /** The address that a request's client is counted under. */
  clientOf(request: Request): string;
  /** Counts a failed authentication; returns how late to answer it, ms. */
  authFailed(client: string, nowMs: number): number;
  /** Aborted when the server stops. */
  stopping: AbortSignal;
  /** How long a body may take to arrive, ms. */
  bodyTimeMaxMs: number;
  /** Lets a request go unanswered for longer than the server's idle time, s. */
  grantPatience(request: Request, seconds: number): void;
}

export type Interpreter = (request: Request) => Promise<Response>;

/** Headers of every answer. */
export const HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
};

/** Builds the response for an answer; `headers` has those of {@link HEADERS} too. */
export function respond(
  says: MessageKey,
  more: {
    body?: Readonly<Record<string, unknown>> | undefined;
    detail?: string | undefined;
    headers?: Readonly<Record<string, string>> | undefined;
  } = {},
): Response {
  const message = messages[says];
  const { body, detail = message.detail, headers = HEADERS } = more;
  const text = JSON.stringify({ rc: message.rc, msg: message.msg, ...body });
  if (!detail && !message.headers) return new Response(text, { headers });
  const named = { ...(detail && { 'x-error-detail': detail }), ...message.headers };
  return new Response(text, { headers: { ...headers, ...named } });
}

/** Who calls, once the gates are passed. */
interface Caller {
  provider?: Provider;
  device?: AuthenticDevice;
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
 * connection that was reset cannot be had any more, and nothing is changed from nowhere.
 */
function providerActor(provider: Provider, query: Query, from: string): Actor {
  if (from === '') throw new CallerGone('the connection was closed');
  const key = keyFingerprint(hashKey(credential(query, 'auth_key') ?? ''));
  return { kind: 'provider', name: provider.code, key, from };
}

type Gate = (request: Request, query: Query, nowMs: number) => Promise<Caller | MessageKey>;

/** Compiles a record of the table into the function that answers its requests. */
export function interpret(endpoint: Endpoint, deps: InterpreterDeps): Interpreter {
  const { core, clock } = deps;
  const { audience, method, path, patienceSeconds } = endpoint;
  const headers = { ...HEADERS, ...endpoint.headers };
  const passGates = gateOf(endpoint, core);
  const read = Object.entries(endpoint.params).map(([name, param]) => reader(name, param));
  // What `call` holds is what the record's own types asked for: endpoint.ts's builders see to it.
  const handle = endpoint.handle as (call: unknown) => Promise<Answer<MessageKey>>;

  async function answer(request: Request): Promise<Response> {
    const nowMs = clock.nowMs();
    // Once its body is waited for, the caller may be gone, and its address with it.
    const from = method === 'POST' ? deps.clientOf(request) : null;
    const query = parseQuery(request.url, audience === 'app');
    const caller = await passGates(request, query, nowMs);
    if (typeof caller === 'string') {
      if (caller === 'auth_error' || caller === 'device_token_error') await beLate(request, nowMs);
      return respond(caller, { headers });
    }

    const body = method === 'POST' ? await readJsonObject(request, deps.bodyTimeMaxMs) : NO_BODY;
    if ('problem' in body) {
      // What is still to come of a late body nobody waits for.
      const last = body.isLate ? { ...headers, connection: 'close' } : headers;
      return respond('unknown_error', { detail: body.problem, headers: last });
    }
    const params: Record<string, unknown> = {};
    for (const readParam of read) {
      const misfit = readParam(query, request.headers, params);
      if (misfit) return respond(misfit.says, { detail: misfit.detail, headers });
    }

    if (patienceSeconds) deps.grantPatience(request, patienceSeconds);
    const { provider, device } = caller;
    const actor = provider
      ? () => providerActor(provider, query, from ?? deps.clientOf(request))
      : null;
    const says = await handle(
      new Incoming(request, deps, provider, device, params, body.object, nowMs, actor),
    );
    if (typeof says === 'string') {
      if (GUESSES.has(says)) await beLate(request, nowMs);
      return respond(says, { headers });
    }
    if (says instanceof NotSaved) {
      const detail = `${messages[says.says].detail}; ${reportFault(deps.log, path, says.fault)}`;
      return respond(says.says, { detail, headers });
    }
    return respond(says.says, { body: says.body, detail: says.detail, headers });
  }

  async function beLate(request: Request, nowMs: number): Promise<void> {
    const delayMs = deps.authFailed(deps.clientOf(request), nowMs);
    if (delayMs > 0) await clock.sleep(delayMs);
  }

  return async (request) => {
    // Elysia hands HEAD to the GET route; HEAD and other methods never change anything.
    if (request.method !== method) return respond('wrong_method', { headers });
    try {
      return await answer(request);
    } catch (fault) {
      if (fault instanceof CallerGone) return respond('unknown_error', { headers });
      return respond('unknown_error', { detail: reportFault(deps.log, path, fault), headers });
    }
  };
}

/** What whoever tries out codes of links or providers hears: counted as failed credentials. */
const GUESSES: ReadonlySet<MessageKey> = new Set(['link_not_found', 'provider_not_found']);

const NO_BODY = { object: {} };

/** The gates of a record, in the order of decision 1.3: credentials, subscription, plan. */
function gateOf({ audience, plan }: Endpoint, core: Core): Gate {
  if (audience === 'app') return async () => ({});
  if (audience === 'device') {
    return async (request) => {
      const device = await authenticateDevice(core, bearerToken(request.headers));
      return device === null ? 'device_token_error' : { device };
    };
  }
  return async (_request, query, nowMs) => {
    const code = credential(query, 'provider_code');
    const authKey = credential(query, 'auth_key');
    const provider = await authenticate(core, code, authKey, nowMs);
    if (provider === null) return 'auth_error';
    if (!isActive(provider, nowMs)) return 'subscription_required';
    if (plan === 'enterprise' && !mayNotify(provider, nowMs)) return 'enterprise_required';
    if (plan === 'pro' && !mayCommand(provider, nowMs)) return 'pro_required';
    return { provider };
  };
}

/** The token of `Authorization: Bearer TOKEN`, or null. */
export function bearerToken(headers: Headers): string | null {
  return /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null;
}

/** Logs a fault under an id and returns what the client may know of it. */
export function reportFault(log: Log, path: string, fault: unknown): string {
  const id = crypto.randomUUID().slice(0, 8);
  log.error('fault', { id, path, reason: reasonOf(fault) });
  return `internal fault ${id}, see the log of the server`;
}

function credential(query: Query, name: string): string | null {
  const value = query.get(name);
  return typeof value === 'string' ? value : null;
}

interface Misfit {
  says: MessageKey;
  detail: string;
}

type ReadParam = (
  query: Query,
  headers: Headers,
  params: Record<string, unknown>,
) => Misfit | undefined;

/** The function that reads one parameter into `params`, or says how it does not fit. */
function reader(name: string, param: Param): ReadParam {
  const checker = TypeCompiler.Compile(param.schema);
  const decode = isNumeric(param.schema) ? decodeDigits : (raw: string) => raw;
  const { header, isRequired, keepsEmpty, misfit, rule } = param;
  const refuse = (detail: string): Misfit | undefined =>
    misfit === null ? undefined : { says: misfit, detail };

  return (query, headers, params) => {
    params[name] = null;
    const raw = (header && readHeader(headers, header)) || query.get(name);
    if (raw === REPEATED) return refuse(`${name} was given more than once`);
    if (raw === undefined || (raw === '' && !keepsEmpty)) {
      return isRequired ? refuse(`${name} is required: ${rule}`) : undefined;
    }
    const decoded = decode(raw);
    if (!checker.Check(decoded)) return refuse(`${name} must be ${rule}`);
    params[name] = decoded;
    return undefined;
  };
}

function isNumeric(schema: TSchema): boolean {
  if (schema[Kind] === 'Union') return (schema['anyOf'] as TSchema[]).every(isNumeric);
  return schema[Kind] === 'Integer' || typeof schema['const'] === 'number';
}

/** Plain decimal digits: no sign, exponent, fraction, hex or blanks. */
function decodeDigits(raw: string): number | null {
  return /^[0-9]{1,15}$/.test(raw) ? Number(raw) : null;
}

/** Bun reads header bytes as Latin-1; apps send UTF-8. */
function readHeader(headers: Headers, name: string): string | null {
  const value = headers.get(name);
  if (value === null || !/[\x80-\xff]/.test(value)) return value;
  const utf8 = Buffer.from(value, 'latin1').toString('utf8');
  return utf8.includes('\uFFFD') ? value : utf8;
}
