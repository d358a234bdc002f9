/**
 * Answers calls of the console. Checks connection, origin, session, right and input, in this order.
 */

import { TypeCompiler } from '@sinclair/typebox/compiler';
import type { Appliance } from '../../call/appliance.ts';
import type { AnyCall, Caller } from '../../call/call.ts';
import { hasOddText } from '../../call/inputs.ts';
import { type CallName, callsOf, pathOf, RECORDS } from '../../call/table.ts';
import { MARK_MS } from '../../core/account/known-browser.ts';
import { holds } from '../../core/account/roles.ts';
import {
  findSignedIn,
  lookSignedIn,
  SESSION_MAX_MS,
  type SignedIn,
} from '../../core/account/session.ts';
import type { GuessBounds, Passwords } from '../../core/account/sign-in.ts';
import { Visits } from '../../core/account/visits.ts';
import { actingAs } from '../../core/core.ts';
import { readProviderCode } from '../../core/formats.ts';
import { REQUEST_BOUNDS } from '../../core/json-input.ts';
import { isRefused, malformed, Refused } from '../../core/outcome.ts';
import type { Provider } from '../../core/port/provider.ts';
import { TooManyDeeds } from '../../core/port/store.ts';
import { callerName, isLarge } from '../answer/large.ts';
import { reportFault } from '../interpreter.ts';
import { readBody } from '../request/body.ts';
import { type CallDeps, CallerGone } from '../request/call.ts';
import { makeGuessBounds } from './guess-bounds.ts';
import {
  type Connection,
  INSECURE,
  isOwnPage,
  markCookie,
  markIn,
  sessionCookie,
  siteOf,
  tokenIn,
} from './site.ts';

/** The longest body of the API, and the fields that the console adds to it. */
const BODY_BYTES_MAX = REQUEST_BOUNDS.bytesMax + 1_024;
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
  const guesses = makeGuessBounds(deps.passwords);
  const shared = { guesses, visits: new Visits() };
  return RECORDS.map(([name, record]) => [pathOf(name), answering(name, record, deps, shared)]);
}

interface Shared {
  guesses: GuessBounds;
  visits: Visits;
}

/** Facts about a call besides its outcome. */
interface About {
  session: number | undefined;
  /** The account, or provider, that the caller says to be; null: none. */
  account: string | null;
}

/** Returns the account, or the provider, at which a call guesses; null: it guesses at none. */
function accountIn({ name, password, code, key }: Readonly<Record<string, unknown>>) {
  if (password !== undefined) return String(name).trim().toLowerCase();
  return key === undefined ? null : String(code);
}

/** The refusal if the room of unread answers is full. */
const CROWDED = new Refused('too_many_requests');

function outcomeJson(outcome: unknown): string {
  if (!(outcome instanceof Refused)) return JSON.stringify({ ok: outcome ?? null });
  return JSON.stringify({ refused: outcome.says, detail: outcome.detail ?? null });
}

function answering(
  name: CallName,
  record: AnyCall,
  deps: ConsoleDeps,
  { guesses, visits }: Shared,
): Answering {
  const { clock, core, large, log, traffic } = deps;
  const input = TypeCompiler.Compile(record.input);
  const { often } = record.serves;
  const tally = traffic.tallyOf(pathOf(name));
  const refuse = record.refuse as (caller: unknown) => unknown;
  const run = record.run as (caller: unknown, given: unknown) => unknown;

  async function outcomeOf(
    request: Request,
    setters: Pick<Caller, 'setMark' | 'setToken'>,
    about: About,
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
      turn: () => large.turns.next(callerName({ session })),
    });
    if (isRefused(given)) return given;
    // The session may have ended while the body arrived.
    const signedIn = await findSignedIn(core, tokenIn(request), nowMs);
    if (record.kind !== 'open' && signedIn === null) return new Refused('signed_out');
    about.session = signedIn?.session.id;
    const provider = await providerOf(signedIn, given);
    if (provider instanceof Refused) return provider;
    const misfit = input.Errors(given).First();
    if (misfit) return malformed(`${misfit.path.slice(1) || 'the body'}: ${misfit.message}`);
    about.account = accountIn(given);
    if (hasOddText(given)) return malformed('a text has a NUL, or half a character');
    if (record.kind === 'account' && signedIn?.account === null) return new Refused('no_account');
    const agent = request.headers.get('user-agent') ?? '';
    const actor = () => {
      if (client === '') throw new CallerGone('the connection was closed');
      return signedIn === null ? core.actor() : { ...signedIn.actor, from: client };
    };
    const acting = actingAs(core, actor);
    if (signedIn && provider) await visits.note(acting, signedIn, provider, nowMs);
    const party = provider?.code ?? `account ${signedIn?.account?.id}`;
    const caller = {
      core: acting,
      nowMs,
      site,
      browser: { client, agent },
      guesses,
      mark: markIn(request),
      ...setters,
      signedIn,
      callsOf,
      provider,
      account: signedIn?.account,
      appliance: deps.appliance,
      eventSenders: deps.eventSenders,
      signal: request.signal,
      admits: () => often === undefined || deps.limits[often].admits(party, nowMs),
      grantPatience: (seconds: number) => deps.grantPatience(request, seconds),
    };
    const { at: _, ...inside } = given;
    return (await refuse(caller)) ?? run(caller, inside);
  }

  /** Checks the right to the call. Returns its provider; null: the call is about none. */
  async function providerOf(
    signedIn: SignedIn | null,
    given: Readonly<Record<string, unknown>>,
  ): Promise<Provider | null | Refused<'no_right'>> {
    const grants = signedIn?.grants ?? [];
    const code = readProviderCode(given['at']);
    const isKnown = record.kind === 'provider' && !isRefused(code);
    const provider = isKnown ? await core.store.findProvider(code) : null;
    // An unknown provider gets the same answer as one without the right.
    if (record.kind === 'provider' && provider === null) return new Refused('no_right');
    const isFree = record.may === null || holds(record.may, grants, provider?.id ?? null);
    return isFree ? provider : new Refused('no_right');
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
    const setMark = (mark: string) =>
      headers.append('set-cookie', markCookie(mark, MARK_MS / 1_000));
    const about: About = { session: undefined, account: null };
    let outcome: unknown;
    try {
      outcome =
        request.method === 'POST'
          ? await outcomeOf(request, { setMark, setToken }, about)
          : new Refused('wrong_method', { detail: 'calls of the console are POST' });
    } catch (fault) {
      outcome = refusalOf(fault, request);
    }
    const says = outcome instanceof Refused ? outcome.says : 'ok';
    const decided = { request, says, startMs, isGuess: GUESSES.has(says), account: about.account };
    const requestId = await traffic.conclude(tally, decided);
    if (requestId !== undefined) headers.set('x-request-id', requestId);
    // A success without a value has `ok`.
    const body = outcomeJson(outcome);
    const isAdmitted = !isLarge(body) || (await large.admit(request, about, body));
    return new Response(isAdmitted ? body : outcomeJson(CROWDED), { headers });
  };
}
