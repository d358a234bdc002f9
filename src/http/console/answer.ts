/**
 * Answers calls of the console. Checks connection, origin, session, right and input, in this order.
 */

import { TypeCompiler } from '@sinclair/typebox/compiler';
import { type CallName, mayCall } from '../../core/account/roles.ts';
import {
  findSignedIn,
  lookSignedIn,
  SESSION_MAX_MS,
  type SignedIn,
} from '../../core/account/session.ts';
import type { Passwords } from '../../core/account/sign-in.ts';
import { actingAs } from '../../core/core.ts';
import { readProviderCode } from '../../core/formats.ts';
import { REQUEST_BOUNDS } from '../../core/json-input.ts';
import { isRefused, malformed, Refused } from '../../core/outcome.ts';
import type { Provider } from '../../core/port/provider.ts';
import { TooManyDeeds } from '../../core/port/store.ts';
import { isLarge, nameOf } from '../answer/large.ts';
import { MinuteLimiter } from '../bound/limiter.ts';
import { reportFault } from '../interpreter.ts';
import { dropBody, readBody } from '../request/body.ts';
import { type CallDeps, CallerGone } from '../request/call.ts';
import type { Appliance } from './appliance.ts';
import type { AnyCall, Caller } from './call.ts';
import { hasOddText } from './inputs.ts';
import { type Connection, INSECURE, isOwnPage, sessionCookie, siteOf, tokenIn } from './site.ts';
import { pathOf, RECORDS } from './table.ts';
import { Visits } from './visits.ts';

/** The longest body of the API, and the fields that the console adds to it. */
const BODY_BYTES_MAX = REQUEST_BOUNDS.bytesMax + 1_024;
/**
 * The most wrong codes of a second factor in a minute: one of a million codes is right for 90 s.
 */
const WRONG_CODES_PER_MINUTE_MAX = 5;
/** The most passkey challenges of a client in a minute: a few people may share an address. */
const CHALLENGES_PER_MINUTE_MAX = 20;
/** Refusals that may be guesses. */
const GUESSES = new Set(['sign_in_wrong', 'code_wrong']);

export interface ConsoleDeps extends CallDeps {
  connectionOf(request: Request): Connection;
  passwords: Passwords;
  appliance: Appliance;
}

/** Headers of each answer to a call. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
};

type Answering = (request: Request) => Promise<Response>;

/** Makes the answers of the calls, by their paths. */
export function callAnswers(deps: ConsoleDeps): [path: `/${string}`, answer: Answering][] {
  const limits = {
    wrongCodes: new MinuteLimiter(() => WRONG_CODES_PER_MINUTE_MAX),
    challenges: new MinuteLimiter(() => CHALLENGES_PER_MINUTE_MAX),
  };
  const shared = { limits, visits: new Visits() };
  return RECORDS.map(([name, record]) => [pathOf(name), answering(name, record, deps, shared)]);
}

interface Shared {
  limits: Pick<Caller, 'wrongCodes' | 'challenges'>;
  visits: Visits;
}

/** The refusal if the room of unread answers is full. */
const CROWDED = new Refused('too_many_requests');

function textOf(outcome: unknown): string {
  if (!(outcome instanceof Refused)) return JSON.stringify({ ok: outcome ?? null });
  return JSON.stringify({ refused: outcome.says, detail: outcome.detail ?? null });
}

function answering(
  name: CallName,
  record: AnyCall,
  deps: ConsoleDeps,
  { limits, visits }: Shared,
): Answering {
  const { clock, core, large, log, traffic } = deps;
  const input = TypeCompiler.Compile(record.input);
  const tally = traffic.tallyOf(pathOf(name));
  const handle = record.handle as (caller: unknown, given: unknown) => unknown;

  async function outcomeOf(
    request: Request,
    setToken: Caller['setToken'],
    setSession: (id: number) => void,
  ): Promise<unknown> {
    const site = siteOf(request, deps.connectionOf(request));
    if (site === null) return new Refused('insecure', { detail: INSECURE.trim() });
    if (!isOwnPage(request, site)) return new Refused('other_origin');
    const nowMs = clock.nowMs();
    const client = deps.clientOf(request);
    let session: number | undefined;
    const given = await readBody(request, BODY_BYTES_MAX, deps.bodyTimeMaxMs, {
      // Rejects long bodies without a session.
      enter: async (bytes) => {
        session = (await lookSignedIn(core, tokenIn(request), nowMs))?.session.id;
        return session === undefined ? null : large.enterBody(request, { session }, bytes);
      },
      turn: () => large.turns.next(nameOf({ session })),
    });
    if (isRefused(given)) return given;
    // The session may have ended while the body arrived.
    const signedIn = await findSignedIn(core, tokenIn(request), nowMs);
    if (record.kind !== 'open' && signedIn === null) return new Refused('signed_out');
    if (signedIn !== null) setSession(signedIn.session.id);
    const provider = await providerOf(signedIn, given);
    if (provider instanceof Refused) return provider;
    const misfit = input.Errors(given).First();
    if (misfit) return malformed(`${misfit.path.slice(1) || 'the body'}: ${misfit.message}`);
    if (hasOddText(given)) return malformed('a text has a NUL, or half a character');
    if (record.kind === 'account' && signedIn?.account === null) return new Refused('no_account');
    const agent = request.headers.get('user-agent') ?? '';
    const actor = () => {
      if (client === '') throw new CallerGone('the connection was closed');
      return signedIn === null ? core.actor() : { ...signedIn.actor, from: client };
    };
    const acting = actingAs(core, actor);
    if (signedIn && provider) await visits.note(acting, signedIn, provider, nowMs);
    const caller = {
      ...{ core: acting, nowMs, site, browser: { client, agent } },
      ...{ passwords: deps.passwords, ...limits, setToken, signedIn, provider },
      account: signedIn?.account,
      appliance: deps.appliance,
      ...{ eventSenders: deps.eventSenders, webhookTests: deps.limits.webhookTests },
      signal: request.signal,
      grantPatience: (seconds: number) => deps.grantPatience(request, seconds),
    };
    return handle(caller, given);
  }

  /** Checks the right to the call. Returns its provider; null: the call is about none. */
  async function providerOf(
    signedIn: SignedIn | null,
    given: Readonly<Record<string, unknown>>,
  ): Promise<Provider | null | Refused<'no_right'>> {
    const grants = signedIn?.grants ?? [];
    const code = readProviderCode(given['at']);
    const isKnown = record.kind === 'staff' && !isRefused(code);
    const provider = isKnown ? await core.store.findProvider(code) : null;
    // An unknown provider gets the same answer as one without the right.
    if (record.kind === 'staff' && provider === null) return new Refused('no_right');
    return mayCall(name, grants, provider?.id ?? null) ? provider : new Refused('no_right');
  }

  function refusalOf(fault: unknown, request: Request): Refused<'fault' | 'too_many_requests'> {
    if (fault instanceof CallerGone) return new Refused('fault');
    if (fault instanceof TooManyDeeds) {
      return new Refused('too_many_requests', { detail: fault.message });
    }
    const id = traffic.requestIdOf(request);
    return new Refused('fault', { detail: reportFault(log, pathOf(name), fault, id) });
  }

  return async (request) => {
    const startMs = clock.steadyMs();
    const headers = new Headers(HEADERS);
    const setToken = (token: string | null) =>
      headers.append('set-cookie', sessionCookie(token, SESSION_MAX_MS / 1_000));
    let session: number | undefined;
    let outcome: unknown;
    try {
      outcome =
        request.method === 'POST'
          ? await outcomeOf(request, setToken, (id) => (session = id))
          : new Refused('wrong_method', { detail: 'calls of the console are POST' });
    } catch (fault) {
      outcome = refusalOf(fault, request);
    }
    const says = outcome instanceof Refused ? outcome.says : 'ok';
    const requestId = traffic.count(tally, { request, says, tookMs: clock.steadyMs() - startMs });
    if (requestId !== undefined) headers.set('x-request-id', requestId);
    // A success without a value has `ok`.
    let body = textOf(outcome);
    if (isLarge(body) && !(await large.admit(request, { session }, body))) body = textOf(CROWDED);
    const delayMs = GUESSES.has(says) ? deps.authFailed(deps.clientOf(request)) : 0;
    if (delayMs > 0) {
      dropBody(request);
      await clock.sleep(delayMs);
    }
    return new Response(body, { headers });
  };
}
