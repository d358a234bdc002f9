/**
 * The interpreter of the endpoint table. It checks credentials, subscription, plan, body, then
 * parameters in the record's order, and calls the handler; the first failure is the answer. A value
 * that is available is used without a promise, because a promise costs as much as a read.
 */

import { type Log, reasonOf } from '../base/log.ts';
import { authenticateDevice } from '../core/device.ts';
import { REQUEST_BOUNDS } from '../core/json-input.ts';
import { innermostReason, isRefused, type Reason, type Refused } from '../core/outcome.ts';
import { after, type Maybe, settle } from '../core/port/maybe.ts';
import { isAway, isBusy, isFull, TooManyDeeds } from '../core/port/store.ts';
import { accessOf } from './access.ts';
import { callerName, isLarge } from './answer/large.ts';
import { bodyOf, type Outgoing, Responses } from './answer/respond.ts';
import type { Answer, Endpoint, Reply } from './endpoint.ts';
import { IDLE_TIMEOUT_S } from './listener.ts';
import { type MessageKey, messages } from './messages.ts';
import { readBody } from './request/body.ts';
import { type CallDeps, CallerGone, IncomingCall } from './request/call.ts';
import { reader } from './request/param-reader.ts';
import { aboutUnknown } from './request/query.ts';

type Interpreter = (request: Request) => Maybe<Response>;

/** A reply of a handler or of the interpreter. */
interface Answered extends Reply<MessageKey>, Omit<Outgoing, 'payload'> {
  /** The body, if it is serialised already and has its place. */
  payload?: Blob;
  /** A more precise reason than the message, for the log and the metrics. */
  reason?: Reason | undefined;
}

/** Compiles a record into the function that answers its requests. */
export function interpret(endpoint: Endpoint, deps: CallDeps): Interpreter {
  const { large, limits, log, traffic } = deps;
  const { bodyBytesMax = REQUEST_BOUNDS.bytesMax, limitedBy, method, path } = endpoint;
  const foldCase = endpoint.audience === 'app';
  const grantAccess = accessOf(endpoint, deps);
  const read = Object.entries(endpoint.params).map(([name, param]) => reader(name, param));
  const known = new Set([...Object.keys(endpoint.params), ...CREDENTIALS]);
  const wrongMethod: Answered = {
    says: 'wrong_method',
    detail: `this endpoint takes ${method} alone`,
  };
  const responses = new Responses(endpoint.headers);
  const tally = traffic.tallyOf(path);
  // The builders of endpoint.ts ensure that the call fits the record's own types.
  const handle = endpoint.handle as (call: IncomingCall) => Maybe<Answer<MessageKey>>;

  function answer(call: IncomingCall): Maybe<MessageKey | Answered> {
    return after(grantAccess(call), (refusal) => {
      if (refusal !== null) return refusal;
      if (call.provider === undefined) return proceed(call);
      return deps.core.store.onBehalfOf(call, callerName, proceed);
    });
  }

  function proceed(call: IncomingCall): Maybe<MessageKey | Answered> {
    return method === 'POST' ? receive(call) : readAndHandle(call);
  }

  async function receive(call: IncomingCall): Promise<MessageKey | Answered> {
    const { request, nowMs } = call;
    if (limitedBy && limits[limitedBy].isUsedUp(call.client(), nowMs)) {
      if ((await authenticateDevice(deps.core, call.token, nowMs)) === null) {
        limits[limitedBy].refusedCount += 1;
        return 'too_many_requests';
      }
    }
    const body = await readBody(request, bodyBytesMax, deps.bodyTimeMaxMs, {
      enter: (bytes) => large.enterBody(request, call, bytes),
      turn: () => large.turns.next(callerName(call)),
    });
    if (isRefused(body)) {
      return { says: 'unknown_error', detail: body.detail, isLast: body.says === 'late' };
    }
    call.body = body;
    return readAndHandle(call);
  }

  function readAndHandle(call: IncomingCall): Maybe<MessageKey | Answered> {
    for (const readParam of read) {
      const misfit = readParam(call);
      if (misfit) return misfit;
    }
    if (endpoint.patienceSeconds) deps.grantPatience(call.request, endpoint.patienceSeconds);
    return after(handle(call), (answer) => {
      if (typeof answer === 'string') return answer;
      if (isRefused(answer)) return refused(call, answer);
      if (answer.list === undefined) return answer;
      const listed = large.list(call.request, call, answer.says, answer.list);
      return after(listed, (data) => (data === null ? CROWDED : { ...data, says: answer.says }));
    });
  }

  /** Returns the answer to a refusal: `unknown_error` with its detail if the contract has none. */
  function refused(call: IncomingCall, refusal: Refused<MessageKey | 'malformed'>): Answered {
    const says = refusal.says === 'malformed' ? 'unknown_error' : refusal.says;
    const { reason, fault, detail = endpoint.details?.[says] } = refusal;
    return fault === undefined ? { says, detail, reason } : faulty(call, says, fault);
  }

  function faulty({ request }: IncomingCall, says: MessageKey, fault: unknown): Answered {
    const requestId = traffic.requestIdOf(request);
    const report = reportFault(log, path, fault, requestId);
    const detail = says === 'unknown_error' ? report : `${messages[says].detail}; ${report}`;
    return { says, detail, requestId };
  }

  function answerToFault(call: IncomingCall, fault: unknown): Answered {
    if (fault instanceof TooManyDeeds) return { says: 'unknown_error', detail: fault.message };
    return fault instanceof CallerGone ? UNHEARD : faulty(call, 'unknown_error', fault);
  }

  /** Adds the unknown parameters of the query to a success. */
  function withUnknown({ query }: IncomingCall, detail: string | undefined): string | undefined {
    const unknown = aboutUnknown(query, known);
    return detail && unknown ? `${detail}; ${unknown}` : (detail ?? unknown);
  }

  function send(call: IncomingCall, given: MessageKey | Answered): Maybe<Response> {
    const answered = typeof given === 'string' ? { says: given } : given;
    if (answered.payload) return conclude(call, answered, answered.payload);
    const text = bodyOf(answered.says, answered.body);
    if (!isLarge(text)) return conclude(call, answered, text);
    const { request, provider, device } = call;
    const caller = { provider, device, sender: answered.sender };
    return large.admit(request, caller, text).then((isAdmitted) => {
      if (isAdmitted) return conclude(call, answered, text);
      return conclude(call, CROWDED, bodyOf(CROWDED.says));
    });
  }

  function conclude(
    call: IncomingCall,
    answered: Answered,
    payload: string | Blob,
  ): Maybe<Response> {
    const { says, reason = says, headers, isLast } = answered;
    // Apps use different names of parameters.
    const isAll = says !== 'ok' || foldCase || call.query.length === call.readCount;
    const detail = isAll ? answered.detail : withUnknown(call, answered.detail);
    // Bun keeps the time for the connection, so it is set back: an idle connection would stay open
    // as long.
    if (endpoint.patienceSeconds) deps.grantPatience(call.request, IDLE_TIMEOUT_S);
    const decided = {
      request: call.request,
      says: reason,
      startMs: call.startMs,
      isGuess: answered.isGuess ?? isGuess(call, says),
      isKey: says === 'auth_error',
      code: call.params['installid'] ?? call.body['install_code'],
      providerCode: call.provider?.code,
      requestId: answered.requestId,
    };
    return after(deps.traffic.conclude(tally, decided), (requestId) =>
      responses.respond(says, { payload, detail, headers, requestId, isLast }),
    );
  }

  return (request) => {
    const call = new IncomingCall(request, deps, foldCase);
    return settle(
      // Elysia routes HEAD to the GET record; HEAD and other methods never change anything.
      () => (request.method === method ? answer(call) : wrongMethod),
      (fault) => answerToFault(call, fault),
      (answered) => send(call, answered),
    );
  };
}

/** Parameters that `access.ts` reads. */
const CREDENTIALS = ['provider_code', 'auth_key'];

const CROWDED: Answered = {
  says: 'unknown_error',
  detail: 'too many large answers are unread: read those, then ask again',
};
/** The answer to a caller that has disconnected. */
const UNHEARD: Answered = { says: 'unknown_error' };

/** Answers to keys, tokens and codes that may be guesses: they count as failures. */
const GUESSES: ReadonlySet<MessageKey> = new Set([
  'auth_error',
  'device_token_error',
  'link_not_found',
  'provider_not_found',
]);

/** Returns false for a token that expired since it was checked, and a key of another scope. */
function isGuess({ device, provider }: IncomingCall, says: MessageKey): boolean {
  return GUESSES.has(says) && device === undefined && provider === undefined;
}

/** Returns for callers why the database cannot serve a call now; null: the fault is another. */
export function whyNotNow(fault: unknown): string | null {
  if (isFull(fault)) return "the server's disk is full: nothing new can be saved";
  if (isBusy(fault)) return 'the database is busy: try again in a moment';
  return isAway(fault) ? 'the database does not answer now' : null;
}

/** Logs a fault under the id of the request; returns the detail for the client. */
export function reportFault(log: Log, path: string, fault: unknown, id: string): string {
  const detail = whyNotNow(fault);
  if (detail !== null) {
    log.debug('call_refused', { id, path, reason: innermostReason(fault) });
    return detail;
  }
  log.error('fault', { id, path, reason: reasonOf(fault) });
  return `internal fault ${id}, see the log of the server`;
}
