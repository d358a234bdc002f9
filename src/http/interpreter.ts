/**
 * The one interpreter of the endpoint table: credentials, subscription, parameters in the record's
 * order, then the handler; the first that fails answers.
 */

import { Kind, type TSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import type { Clock } from '../clock.ts';
import type { Core } from '../core/core.ts';
import { NotSaved } from '../core/outcome.ts';
import { authenticate, isActive, type Provider } from '../core/provider.ts';
import type { Log } from '../log.ts';
import type { Answer, Endpoint, Param, WireSettings } from './endpoint.ts';
import { type MessageKey, messages } from './messages.ts';
import { parseQuery, type Query, REPEATED } from './query.ts';

export interface InterpreterDeps {
  core: Core;
  clock: Clock;
  log: Log;
  settings: WireSettings;
  /** Counts a failed authentication of this request's client; returns how late to answer, ms. */
  authFailed(request: Request, nowMs: number): number;
}

export type Interpreter = (request: Request) => Promise<Response>;

const HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };

/** Builds the response for an answer. */
export function respond(
  says: MessageKey,
  more: {
    body?: Readonly<Record<string, unknown>> | undefined;
    detail?: string | undefined;
    headers?: Readonly<Record<string, string>> | undefined;
  } = {},
): Response {
  const message = messages[says];
  const detail = more.detail ?? message.detail;
  const body = JSON.stringify({ rc: message.rc, msg: message.msg, ...more.body });
  if (!detail && !more.headers && !message.headers) return new Response(body, { headers: HEADERS });
  const headers = {
    ...HEADERS,
    ...(detail && { 'x-error-detail': detail }),
    ...more.headers,
    ...message.headers,
  };
  return new Response(body, { headers });
}

/** Compiles a record of the table into the function that answers its requests. */
export function interpret(endpoint: Endpoint, deps: InterpreterDeps): Interpreter {
  const { core, clock, settings } = deps;
  const { audience, headers, method, path } = endpoint;
  const read = Object.entries(endpoint.params).map(([name, param]) => reader(name, param));
  // What `call` holds is what the record's own types asked for: endpoint.ts's builders see to it.
  const handle = endpoint.handle as (call: unknown) => Promise<Answer<MessageKey>>;

  async function answer(request: Request): Promise<Response> {
    const nowMs = clock.nowMs();
    const query = parseQuery(request.url, audience === 'device');
    let provider: Provider | null = null;
    if (audience === 'provider') {
      provider = await authenticate(
        core,
        credential(query, 'provider_code'),
        credential(query, 'auth_key'),
        nowMs,
      );
      if (provider === null) {
        const delayMs = deps.authFailed(request, nowMs);
        if (delayMs > 0) await clock.sleep(delayMs);
        return respond('auth_error', { headers });
      }
      if (!isActive(provider, nowMs)) return respond('subscription_required', { headers });
    }

    const params: Record<string, unknown> = {};
    for (const readParam of read) {
      const misfit = readParam(query, request.headers, params);
      if (misfit) return respond(misfit.says, { detail: misfit.detail, headers });
    }

    const says = await handle({ core, provider, params, nowMs, settings });
    if (typeof says === 'string') return respond(says, { headers });
    if (says instanceof NotSaved) {
      const detail = `${messages[says.says].detail}; ${reportFault(deps.log, path, says.fault)}`;
      return respond(says.says, { detail, headers });
    }
    return respond(says.says, { body: says.body, detail: says.detail, headers });
  }

  return async (request) => {
    // Elysia hands HEAD to the GET route; HEAD and other methods never change anything.
    if (request.method !== method) return respond('wrong_method', { headers });
    try {
      return await answer(request);
    } catch (fault) {
      return respond('unknown_error', { detail: reportFault(deps.log, path, fault), headers });
    }
  };
}

/** Logs a fault under an id and returns what the client may know of it. */
export function reportFault(log: Log, path: string, fault: unknown): string {
  const id = crypto.randomUUID().slice(0, 8);
  log.error('fault', { id, path, reason: chain(fault) });
  return `internal fault ${id}, see the log of the server`;
}

function chain(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  const trace = fault.stack ?? `${fault.name}: ${fault.message}`;
  return fault.cause === undefined ? trace : `${trace}\ncaused by ${chain(fault.cause)}`;
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
