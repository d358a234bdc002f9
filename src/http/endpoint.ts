/**
 * The record of an endpoint, read by the interpreter, the documents, the compiler and the coverage
 * test. It has no logic except `handle`.
 */

import type { Static, TProperties, TSchema } from '@sinclair/typebox';
import type { AnyCall, Serves } from '../call/call.ts';
import type { Need } from '../core/account/keys.ts';
import type { Core } from '../core/core.ts';
import type { AuthenticDevice } from '../core/device.ts';
import type { ClientParts } from '../core/door.ts';
import type { EventSenders } from '../core/outbox/carrier.ts';
import { isRefused, Refused } from '../core/outcome.ts';
import type { Maybe } from '../core/port/maybe.ts';
import type { Provider } from '../core/port/provider.ts';
import { callerName } from './answer/large.ts';
import type { RowList } from './answer/list-text.ts';
import type { MinuteLimiter } from './bound/limiter.ts';
import type { Polls } from './bound/polls.ts';
import type { Turns } from './bound/turns.ts';
import type { TextSettings } from './gate/texts.ts';
import type { MessageKey } from './messages.ts';

/** One parameter. The order of parameters in a record is the order in which they are checked. */
export interface Param<
  S extends TSchema = TSchema,
  R extends boolean = boolean,
  K extends MessageKey = MessageKey,
> {
  schema: S;
  isRequired: R;
  /** The answer when it is missing, malformed or given twice; null: it counts as absent. */
  misfit: K | null;
  /** The rule for `x-error-detail` and the documents: "NAME must be RULE". */
  rule: string;
  /** Its purpose, unless the rule says it: one sentence for the documents. */
  about?: string;
  /** The value in the documents' example call. Without one, the example omits the parameter. */
  example?: string | number;
  /** The form for the providers that accept more values. */
  wider?: Pick<Param, 'schema' | 'rule'> & { isFor(provider: Provider): boolean };
  /** Normalises the value before it is checked. */
  tidy?: (value: string) => string;
  /**
   * The answer when this one and `other`, an earlier parameter, are both absent: one of them is
   * needed.
   */
  neededWithout?: { other: string; says: K };
  /** A request header that takes precedence over the query parameter. */
  header?: string;
  /** A request header of older apps, read if neither of the two is given. */
  olderHeader?: string;
  /** True if an empty value is a value, not absence. */
  keepsEmpty?: boolean;
}

/** The part of a parameter that comes from a format of the core. */
type Form<S extends TSchema> = Pick<Param<S>, 'schema' | 'rule' | 'tidy'>;

type Rest<R extends boolean, K extends MessageKey> = Omit<
  Param<TSchema, R, K>,
  'isRequired' | keyof Form<TSchema>
>;

export function required<S extends TSchema, const K extends MessageKey = never>(
  form: Form<S>,
  rest: Rest<true, K>,
): Param<S, true, K> {
  return { ...form, isRequired: true, ...rest };
}

export function optional<S extends TSchema, const K extends MessageKey = never>(
  form: Form<S>,
  rest: Rest<false, K>,
): Param<S, false, K> {
  return { ...form, isRequired: false, ...rest };
}

/** Parameter values by wire name; an absent optional one is null. */
export type Values<P extends Record<string, Param>> = {
  [N in keyof P]: P[N] extends Param<infer S, true> ? Static<S> : Static<P[N]['schema']> | null;
};

/** A handler's answer: a message by its key, one with the fields of its body, or a refusal. */
export type Answer<K extends MessageKey> = K | Reply<K> | Refused<K | 'malformed'>;

/** A message with the documented fields of its body. */
export interface Reply<K extends MessageKey> {
  says: K;
  body?: Readonly<Record<string, unknown>> | undefined;
  /** The body's `data`, instead of `body`. */
  list?: RowList | undefined;
  /** The detail for `x-error-detail`, instead of the message's own. */
  detail?: string | undefined;
  /** Headers of this answer alone; `answerHeaders` of the record describes them. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The provider that sent the messages in the body. */
  sender?: number | undefined;
  /** False: it is no answer to a guess, whatever it says. */
  isGuess?: false;
}

/**
 * The kind of caller: a provider with credentials and an active subscription, an app without
 * credentials, or a device with a token of the messaging protocol.
 */
export type Audience = 'provider' | 'app' | 'device';

type Method = 'GET' | 'POST';
/** The plan that a provider needs beside an active subscription. */
type PlanGate = 'pro' | 'enterprise';

/**
 * The effect of a repeated call. `reads`: none, the call only reads; `same`: none, with the same
 * answer; `noted`: none, and the answer may say so; `again`: the call is done again; `keyed`: as
 * `again`, unless it has an `idempotency_key`.
 */
export type Repeat = 'reads' | 'same' | 'noted' | 'again' | 'keyed';

interface Call<P extends Record<string, Param>> {
  core: Core;
  params: Values<P>;
  /** The JSON object that a POST carried; empty for a GET. */
  body: Readonly<Record<string, unknown>>;
  nowMs: number;
  settings: WireSettings;
  limits: Limits;
  eventSenders: EventSenders;
  /** Returns the address under which the caller is counted. */
  client(): string;
  /** The parts of a call to the door that depend on its client. */
  clientParts: ClientParts;
  /** Gives the rest of the call to a link, and more: as `IncomingCall` has them. */
  isOfLink(installId: number, isInBody: boolean): string | null;
  isShared: boolean;
  /** The bearer token; null: none was sent. */
  token: string | null;
  /** The languages that the caller reads, the preferred first. */
  languages: readonly string[];
  /** Aborts when the caller disconnects or the server stops. */
  signal: AbortSignal;
}

interface ProviderCall<P extends Record<string, Param>> extends Call<P> {
  provider: Provider;
  /** Returns whether the key that made the call may do something. */
  may(need: Need): boolean;
}

interface DeviceCall<P extends Record<string, Param>> extends Call<P> {
  device: AuthenticDevice;
}

/** Limits of how often a caller may do something. */
export interface Limits {
  registrations: MinuteLimiter;
  /** By provider: each test is a call to a receiver. */
  webhookTests: MinuteLimiter;
  /** By provider: each replay may read all kept events, so one runs at a time. */
  webhookReplays: MinuteLimiter;
  polls: Polls;
  turns: Turns;
}

export interface WireSettings extends TextSettings {
  /** The zone of the times in answers: minutes east of UTC. */
  readonly outputOffsetMinutes: number;
  /** The longest wait of a poll, s. */
  readonly pollSecondsMax: number;
  /** True if `rc` 2 of add-install names the link, at providers without a setting of their own. */
  readonly legacyRc2Body: boolean;
}

interface Described<P, K extends MessageKey> {
  method: Method;
  path: `/${string}`;
  /** The path of the same call in older documents. */
  olderPath?: `/${string}`;
  summary: string;
  /** The effect, for the documents: plain paragraphs with `code`. */
  description: string;
  params: P;
  /** The documented form of a POST's JSON object; the core reads and checks it. */
  input?: TSchema;
  /** The longest body, bytes, if shorter than that of other endpoints. */
  bodyBytesMax?: number;
  /** Refuses a call before its body is read if this limit is reached and it has no valid token. */
  limitedBy?: 'registrations';
  /** True if an open call may carry the token of a device. */
  takesToken?: true;
  plan?: PlanGate;
  /** For the documents; each call of a provider has it. */
  repeat?: Repeat;
  /** The key that a call of a provider needs; the main key opens each of them. */
  needs?: Need;
  /** The time that an answer may take, if longer than the server's idle time, s. */
  patienceSeconds?: number;
  /** The answers of `handle` and of misfit parameters; those of the access check are added. */
  says: readonly K[];
  /** The fields of an answer's body beside `rc` and `msg`. */
  fields?: { readonly [A in NoInfer<K>]?: TProperties };
  /** Details that replace those of a message. */
  details?: { readonly [A in NoInfer<K>]?: string };
  /** Headers of every answer. */
  headers?: Readonly<Record<string, string>>;
  /** Headers that some answers have, with their meaning and an example, for the documents. */
  answerHeaders?: Readonly<Record<string, { about: string; example: string }>>;
}

type Params<K extends MessageKey> = Record<string, Param<TSchema, boolean, K>>;

/** Any record of the table. */
export interface Endpoint extends Described<Record<string, Param>, MessageKey> {
  audience: Audience;
  handle(call: never): Maybe<Answer<MessageKey>>;
}

/** Makes a record for providers; the interpreter checks credentials and subscription. */
export function providerEndpoint<const K extends MessageKey, P extends Params<NoInfer<K>>>(
  record: Described<P, K> & {
    repeat: Repeat;
    needs: Need;
    handle(call: ProviderCall<P>): Maybe<Answer<NoInfer<K>>>;
  },
): Endpoint {
  return { audience: 'provider', ...record };
}

/** The part of a call's answer that is no refusal. */
type Success<C extends AnyCall> = Exclude<Awaited<ReturnType<C['run']>>, Refused<string>>;

/**
 * Makes a record for a call that the API serves, with the path, the key, the limit and the function
 * of the call: `given` makes its input of parameters, and `reply` the answer of its result.
 */
export function callEndpoint<
  C extends AnyCall & { serves: { api: NonNullable<Serves['api']> } },
  const K extends MessageKey,
  P extends Params<NoInfer<K>>,
>(
  { run, serves }: C,
  record: Omit<Described<P, K>, 'path' | 'needs'> & {
    repeat: Repeat;
    given(call: ProviderCall<P>): Parameters<C['run']>[1] | Refused<K | 'malformed'>;
    reply(got: Success<C>, params: Values<P>): Answer<NoInfer<K>>;
  },
): Endpoint {
  const { api, often }: Serves & typeof serves = serves;
  const make = run as (doer: unknown, given: unknown) => Maybe<Success<C> | Refused<K>>;
  return {
    audience: 'provider',
    ...record,
    ...api,
    async handle(call: ProviderCall<P>): Promise<Answer<K>> {
      const given = record.given(call);
      if (isRefused(given)) return given as Refused<K>;
      const { core, eventSenders, limits, nowMs, provider, signal } = call;
      const limiter = often && limits[often];
      let isIn = false;
      const doer = {
        core,
        eventSenders,
        nowMs,
        provider,
        signal,
        admits: () => {
          isIn = limiter?.admits(provider.code, nowMs) ?? true;
          return isIn;
        },
        grantPatience: () => {},
        turn: () => limits.turns.next(callerName({ provider })),
      };
      const making = async () => make(doer, given);
      const got = await making().finally(() => isIn && limiter?.done(provider.code));
      if (!isRefused(got)) return record.reply(got as Success<C>, call.params);
      const { says, detail } = got as Refused<K | 'malformed'>;
      return says === 'malformed'
        ? (new Refused('invalid_parameters', { detail }) as Refused<K>)
        : (got as Refused<K>);
    },
  };
}

/** Makes a record for apps: without credentials, names of parameters in any case. */
export function appEndpoint<const K extends MessageKey, P extends Params<NoInfer<K>>>(
  record: Described<P, K> & { handle(call: Call<P>): Maybe<Answer<NoInfer<K>>> },
): Endpoint {
  return { audience: 'app', ...record };
}

/** Makes a record for registered devices; the interpreter checks the token. */
export function deviceEndpoint<const K extends MessageKey, P extends Params<NoInfer<K>>>(
  record: Described<P, K> & { handle(call: DeviceCall<P>): Maybe<Answer<NoInfer<K>>> },
): Endpoint {
  return { audience: 'device', ...record };
}

/** Returns every answer of an endpoint: its own, those of the access check, and the fault. */
export function answersOf({ audience, plan, says }: Endpoint): MessageKey[] {
  const ofAccess: MessageKey[] = [];
  if (audience === 'provider') ofAccess.push('auth_error', 'subscription_required');
  if (audience === 'device') ofAccess.push('device_token_error');
  if (plan) ofAccess.push(plan === 'pro' ? 'pro_required' : 'enterprise_required');
  return [...new Set<MessageKey>([...ofAccess, ...says, 'unknown_error'])];
}

/**
 * Returns whether the documents call a parameter required. Calls of apps read any parameter and
 * refuse later; their ids are required in effect.
 */
export function isNeeded(
  { audience }: Endpoint,
  { header, isRequired, misfit, olderHeader }: Param,
): boolean {
  const isOnlyInQuery = (header ?? olderHeader) === undefined;
  return isRequired || (audience === 'app' && misfit !== null && isOnlyInQuery);
}

/** Returns the paths of an endpoint: its own, and that of older documents. */
export function pathsOf({ path, olderPath }: Endpoint): string[] {
  return olderPath === undefined ? [path] : [path, olderPath];
}
