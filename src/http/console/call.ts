/**
 * The record of a call of the console. The page takes its types from here: {@link Given} and
 * {@link Got} of `table.ts`.
 */

import type { Static, TSchema } from '@sinclair/typebox';
import type { Site } from '../../core/account/passkeys.ts';
import { type Browser, hasWayIn, isFresh, type SignedIn } from '../../core/account/session.ts';
import type { GuessBounds } from '../../core/account/sign-in.ts';
import type { Core } from '../../core/core.ts';
import type { EventSenders } from '../../core/outbox/carrier.ts';
import { Refused } from '../../core/outcome.ts';
import type { Account } from '../../core/port/account.ts';
import type { Provider } from '../../core/port/provider.ts';
import { refusalByPlan } from '../../core/provider.ts';
import type { MinuteLimiter } from '../bound/limiter.ts';
import type { Appliance } from './appliance.ts';

/** The context of each call. */
export interface Caller {
  /** The core, with the caller as the actor of the audit log. */
  core: Core;
  nowMs: number;
  site: Site;
  browser: Browser;
  guesses: GuessBounds;
  /** The mark of the browser; null: it has none. */
  mark: string | null;
  eventSenders: EventSenders;
  appliance: Appliance;
  /** Limits tests of webhooks, by provider, including those of the API. */
  webhookTests: MinuteLimiter;
  /** Aborts when the caller disconnects. */
  signal: AbortSignal;
  /** Sets the time that the answer may take, s. */
  grantPatience(seconds: number): void;
  /** Sets the session cookie; null removes it. */
  setToken(token: string | null): void;
  /** Sets the cookie of the browser's mark. */
  setMark(mark: string): void;
  signedIn: SignedIn | null;
}

/** The caller of a call that needs a session. */
export type Owner = Caller & { signedIn: SignedIn };

/** The caller of a call about a provider. */
export type Staff = Owner & { provider: Provider };

/** The caller of a call about its own account. */
type Self = Owner & { account: Account };

/** A record as the server reads it. */
export interface AnyCall {
  kind: 'open' | 'owner' | 'account' | 'staff';
  input: TSchema;
  handle(caller: never, given: never): unknown;
}

/** A record with the types that the page takes from it. */
interface ConsoleCall<S extends TSchema, O> extends AnyCall {
  input: S;
  handle(caller: never, given: Static<S>): O;
}

type Handle<C, S extends TSchema, O> = (caller: C, given: Static<S>) => O;

/** Makes the maker of calls of a kind; `refuse` checks the caller before `handle`. */
const makerOf =
  <C, R = never>(kind: AnyCall['kind'], refuse: (caller: C) => R | null = () => null) =>
  <S extends TSchema, O>(input: S, handle: Handle<C, S, O>): ConsoleCall<S, O | R> => ({
    kind,
    input,
    handle: (caller: C, given: Static<S>) => refuse(caller) ?? handle(caller, given),
  });

/** Makes a call without a session. */
export const openCall = makerOf<Caller>('open');

/** Makes a call that needs a session. */
export const ownerCall = makerOf<Owner>('owner');

/** Makes a call that needs an account; a provider that signed in with its key has none. */
export const accountCall = makerOf<Self>('account');

/** Makes a call about a provider; `at` in the input is its code. */
export const staffCall = makerOf<Staff>('staff');

/** Returns the refusal of a change by a provider without a subscription, as the API refuses it. */
function unpaid({ provider, nowMs }: Staff) {
  const refusal = refusalByPlan(provider, undefined, nowMs);
  return refusal && new Refused(refusal);
}

/** Makes a call about a provider that needs a subscription. */
export const paidCall = makerOf('staff', unpaid);

/** Returns the refusal of a change of rights or sign-in methods unless the sign-in is recent. */
export const stale = ({ signedIn, nowMs }: Owner) =>
  isFresh(signedIn, nowMs) ? null : new Refused('sign_in_afresh');

/** Makes a call that needs a recent sign-in. */
export const freshCall = makerOf('owner', stale);

/** Returns {@link stale}; `link_too_old` if the account cannot sign in again by itself. */
async function staleAccount(caller: Self) {
  const refusal = stale(caller);
  if (refusal === null || (await hasWayIn(caller.core, caller.account))) return refusal;
  return new Refused('link_too_old');
}

/** Makes a call that needs an account and a recent sign-in. */
export const freshAccountCall = <S extends TSchema, O>(input: S, handle: Handle<Self, S, O>) =>
  accountCall(
    input,
    async (caller, given: Static<S>) => (await staleAccount(caller)) ?? handle(caller, given),
  );

/** The input of a record. */
export type GivenTo<C> = C extends ConsoleCall<infer S, unknown> ? Static<S> : never;

/** The answer of a record unless it refuses. */
export type GotFrom<C> =
  C extends ConsoleCall<TSchema, infer O> ? Exclude<Awaited<O>, Refused<string>> : never;
