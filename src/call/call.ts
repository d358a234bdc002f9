/**
 * The record of a call: the roles that may make it, its input, its function of the core, and the
 * entries that it leaves in the audit log. The console serves each call; API and command line run
 * those whose record says so. The page takes its types from here: {@link Given} and {@link Got} of
 * `table.ts`.
 */

import type { Static, TSchema } from '@sinclair/typebox';
import type { Need } from '../core/account/keys.ts';
import type { Site } from '../core/account/passkeys.ts';
import { OPERATE, type Roles, WATCH } from '../core/account/roles.ts';
import { type Browser, hasWayIn, isFresh, type SignedIn } from '../core/account/session.ts';
import type { GuessBounds } from '../core/account/sign-in.ts';
import type { Action } from '../core/audit/entry.ts';
import type { Core } from '../core/core.ts';
import type { EventSenders } from '../core/outbox/carrier.ts';
import { Refused } from '../core/outcome.ts';
import type { Account, Role } from '../core/port/account.ts';
import type { Provider } from '../core/port/provider.ts';
import { refusalByPlan } from '../core/provider.ts';
import type { Appliance } from './appliance.ts';

/** The context that every surface has: console, API and command line. */
export interface Doer {
  /** The core, with the caller as the actor of the audit log. */
  core: Core;
  nowMs: number;
  /** Returns whether the caller may do now what {@link Serves.often} of the call bounds. */
  admits(): boolean;
  /** Sets the time that the answer may take, s. */
  grantPatience(seconds: number): void;
}

/** The context of a call about a provider, or (null, on the command line) about the operator. */
export type DoerAt = Doer & { provider: { id: number | null } };

/** The context of a call about what belongs to providers alone. */
export type DoerFor = Doer & { provider: Pick<Provider, 'id'> };

/** The context of a call that reads the terms of its provider. */
export type DoerOf = Doer & { provider: Provider };

/** Surfaces besides the console. */
export interface Serves {
  /** The path in the API, and the key that opens it. */
  api?: { path: `/${string}`; needs: Need };
  /** The commands that make the call. */
  commands?: readonly string[];
  /** The limiter of how often a party may make it. */
  often?: 'webhookTests' | 'webhookReplays';
}

/** The context of each call of the console. */
export interface Caller extends Doer {
  site: Site;
  browser: Browser;
  guesses: GuessBounds;
  /** The mark of the browser; null: it has none. */
  mark: string | null;
  eventSenders: EventSenders;
  appliance: Appliance;
  /** Aborts when the caller disconnects. */
  signal: AbortSignal;
  /** Sets the session cookie; null removes it. */
  setToken(token: string | null): void;
  /** Sets the cookie of the browser's mark. */
  setMark(mark: string): void;
  signedIn: SignedIn | null;
  /** Returns the calls about a provider and the appliance that a role may make. */
  callsOf(role: Role): string[];
}

/** The caller of a call that needs a session. */
export type Owner = Caller & { signedIn: SignedIn };

/** The caller of a call about a provider. */
export type Staff = Owner & { provider: Provider };

/** The caller of a call about its own account. */
type Self = Owner & { account: Account };

/** A record as the server reads it. */
export interface AnyCall {
  /** The subject of a call; `self`: the signed-in account or provider, `account`: an account. */
  kind: 'open' | 'self' | 'account' | 'provider' | 'appliance';
  /** The roles that may make it; null: everybody, or everybody who has signed in. */
  may: Roles | null;
  /** The actions of the entries that it may leave in the audit log; empty: it changes nothing. */
  audit: readonly Action[];
  serves: Serves;
  input: TSchema;
  /** Returns why the console refuses the caller; null: it does not. */
  refuse(caller: never): unknown;
  run(caller: never, given: never): unknown;
}

/** A record with the types that its surfaces take from it. */
interface Call<S extends TSchema, C, O, R> extends AnyCall {
  input: S;
  refuse(caller: never): R;
  run(caller: C, given: Inside<S>): O;
}

type Audit = AnyCall['audit'];
/** The input as `run` has it: `at` has become the provider. */
export type Inside<S extends TSchema> = Omit<Static<S>, 'at'>;
type Run<C, S extends TSchema, O> = (caller: C, given: Inside<S>) => O;

/** Makes the maker of calls; `refuse` checks a caller in the console before `run`. */
const makerOf =
  <C, R = null>(kind: AnyCall['kind'], refuse: (caller: never) => R = () => null as R) =>
  <S extends TSchema, O>(
    may: Roles | null,
    audit: Audit,
    input: S,
    run: Run<C, S, O>,
  ): Call<S, C, O, R> => ({ kind, may, audit, serves: {}, input, refuse, run });

/** A record that several surfaces read; the console adds `at`, and may not give `M`. */
interface Shared<S extends TSchema, C, O, R, M, V extends Serves> extends AnyCall {
  serves: V;
  input: S;
  refuse(caller: never): R;
  run(caller: C, given: Inside<S> & M): O;
}

/** Makes the maker of calls of several surfaces; `refuse` checks a caller in the console. */
const sharer =
  <R = null>(kind: AnyCall['kind'], refuse: (caller: never) => R = () => null as R) =>
  <S extends TSchema, O, const V extends Serves, C extends Doer = DoerFor, M = unknown>(
    may: Roles,
    audit: Audit,
    serves: V,
    input: S,
    run: (caller: C, given: Inside<S> & M) => O,
  ): Shared<S, C, O, R, M, V> => ({ kind, may, audit, serves, input, refuse, run });

/** Makes the maker of calls with rights that are the same for all of them. */
const forAll =
  <C, R>(
    make: <S extends TSchema, O>(
      may: Roles | null,
      audit: Audit,
      input: S,
      run: Run<C, S, O>,
    ) => Call<S, C, O, R>,
    may: Roles | null,
  ) =>
  <S extends TSchema, O>(audit: Audit, input: S, run: Run<C, S, O>): Call<S, C, O, R> =>
    make(may, audit, input, run);

/** Makes a call without a session. */
export const openCall = forAll(makerOf<Caller>('open'), null);

/** Makes a call about the own sessions. */
export const selfCall = forAll(makerOf<Owner>('self'), null);

/** Makes a call that needs an account; a provider that signed in with its key has none. */
export const accountCall = forAll(makerOf<Self>('account'), null);

/** Makes a call that reads about a provider; `at` in the input is its code. */
export const lookCall = <S extends TSchema, O>(may: Roles, input: S, run: Run<Staff, S, O>) =>
  makerOf<Staff>('provider')(may, [], input, run);

/** Makes a call that changes something at a provider. */
export const staffCall = makerOf<Staff>('provider');

/** Returns the refusal of a change by a provider without a subscription, as the API refuses it. */
function unpaid({ provider, nowMs }: Staff) {
  const refusal = refusalByPlan(provider, undefined, nowMs);
  return refusal && new Refused(refusal);
}

/** Makes a call about a provider that needs a subscription. */
export const paidCall = makerOf<Staff, ReturnType<typeof unpaid>>('provider', unpaid);

/** Makes a {@link paidCall} of several surfaces. */
export const sharedCall = sharer('provider', unpaid);

/** Returns the refusal of a session that the key of the provider opened, which a bot has too. */
export const keyed = ({ signedIn }: Pick<Owner, 'signedIn'>) =>
  signedIn.account === null ? new Refused('no_account') : null;

/** Makes a {@link sharedCall} that needs an account in the console. */
export const sharedAccountCall = sharer(
  'provider',
  (staff: Staff) => keyed(staff) ?? unpaid(staff),
);

/** Makes a {@link staffCall} of several surfaces: it checks the subscription itself. */
export const sharedStaffCall = sharer('provider');

/** Makes a call that reads about the appliance. */
export const watchCall = <S extends TSchema, O>(input: S, run: Run<Owner, S, O>) =>
  makerOf<Owner>('appliance')(WATCH, [], input, run);

/** Makes a call that changes something of the appliance. */
export const operatorCall = forAll(makerOf<Owner>('appliance'), OPERATE);

/** Returns the refusal of a change of rights or sign-in methods unless the sign-in is recent. */
export const stale = ({ signedIn, nowMs }: Owner) =>
  isFresh(signedIn, nowMs) ? null : new Refused('sign_in_afresh');

/** Makes an {@link operatorCall} that needs a recent sign-in. */
export const freshCall = forAll(
  makerOf<Owner, ReturnType<typeof stale>>('appliance', stale),
  OPERATE,
);

/** Makes a call of several surfaces that changes something of the appliance. */
export const sharedOperatorCall = sharer('appliance');
export const sharedFreshCall = sharer('appliance', stale);

/** Returns {@link stale}; `link_too_old` if the account cannot sign in again by itself. */
async function staleAccount(caller: Self) {
  const refusal = stale(caller);
  if (refusal === null || (await hasWayIn(caller.core, caller.account))) return refusal;
  return new Refused('link_too_old');
}

/** Makes a call that needs an account and a recent sign-in. */
export const freshAccountCall = forAll(
  makerOf<Self, ReturnType<typeof staleAccount>>('account', staleAccount),
  null,
);

/** The input of a record. */
export type GivenTo<C extends AnyCall> = Static<C['input']>;

/** The answer of a record unless it refuses. */
export type GotFrom<C extends AnyCall> = Exclude<Awaited<ReturnType<C['run']>>, Refused<string>>;

/** The refusals of a record. */
export type SaysOf<C extends AnyCall> = Extract<
  Awaited<ReturnType<C['run']> | ReturnType<C['refuse']>>,
  Refused<string>
>['says'];
