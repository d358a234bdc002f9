/**
 * The record of a call of the console. The page takes its types from here: {@link Given} and
 * {@link Got} of `table.ts`.
 */

import type { Static, TSchema } from '@sinclair/typebox';
import type { Site } from '../../core/account/passkeys.ts';
import type { Browser, SignedIn } from '../../core/account/session.ts';
import type { Passwords } from '../../core/account/sign-in.ts';
import type { Core } from '../../core/core.ts';
import type { EventSenders } from '../../core/outbox/carrier.ts';
import type { Refused } from '../../core/outcome.ts';
import type { Account } from '../../core/port/account.ts';
import type { Provider } from '../../core/port/provider.ts';
import type { MinuteLimiter } from '../bound/limiter.ts';
import type { Appliance } from './appliance.ts';

/** The context of each call. */
export interface Caller {
  /** The core, with the caller as the actor of the audit log. */
  core: Core;
  nowMs: number;
  site: Site;
  browser: Browser;
  passwords: Passwords;
  /** Limits wrong codes of the second factor, by account: the caller knows the password. */
  wrongCodes: MinuteLimiter;
  /** Limits passkey challenges, by client: each adds a row, even without a session. */
  challenges: MinuteLimiter;
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
  signedIn: SignedIn | null;
}

/** The caller of a call that needs a session. */
export type Owner = Caller & { signedIn: SignedIn };

/** The caller of a call about a provider. */
export type Staff = Owner & { provider: Provider };

/** The caller of a call about its own account. */
export type Self = Owner & { account: Account };

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

/** Makes a call without a session. */
export function openCall<S extends TSchema, O>(
  input: S,
  handle: Handle<Caller, S, O>,
): ConsoleCall<S, O> {
  return { kind: 'open', input, handle };
}

/** Makes a call that needs a session. */
export function ownerCall<S extends TSchema, O>(
  input: S,
  handle: Handle<Owner, S, O>,
): ConsoleCall<S, O> {
  return { kind: 'owner', input, handle };
}

/** Makes a call that needs an account; a provider that signed in with its key has none. */
export function accountCall<S extends TSchema, O>(
  input: S,
  handle: Handle<Self, S, O>,
): ConsoleCall<S, O> {
  return { kind: 'account', input, handle };
}

/** Makes a call about a provider; `at` in the input is its code. */
export function staffCall<S extends TSchema, O>(
  input: S,
  handle: Handle<Staff, S, O>,
): ConsoleCall<S, O> {
  return { kind: 'staff', input, handle };
}

/** The input of a record. */
export type GivenTo<C> = C extends ConsoleCall<infer S, unknown> ? Static<S> : never;

/** The answer of a record unless it refuses. */
export type GotFrom<C> =
  C extends ConsoleCall<TSchema, infer O> ? Exclude<Awaited<O>, Refused<string>> : never;
